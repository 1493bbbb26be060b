package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"vitrine/cache/kept"
	"vitrine/cache/view/snapfile"
	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/proxy"
	"vitrine/proxy/purge"
	"vitrine/rules/access"
	"vitrine/rules/styles"
)

// configCommand prints the effective configuration and the origin of each value; on standard error, what a server
// would warn of. It prints the configuration before it returns the mistakes: then the operator sees the value that
// is wrong and where it is from.
func configCommand() *cobra.Command {
	return withConfig("config", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		for _, warning := range cfg.Warnings() {
			fmt.Fprintln(cmd.ErrOrStderr(), "warning:", warning)
		}
		return errors.Join(cfg.WriteYAML(cmd.OutOrStdout()), checkServing(cfg))
	})
}

// checkServing returns the mistakes for which a server would not start with a configuration, each with its place. It
// reads the files that settings name and makes a server by them, but opens neither the store nor a listener.
func checkServing(cfg configs.Config) error {
	err := cfg.CheckServing()
	if dir := cfg.Views.Snapshot; dir != "" {
		if wrong := snapfile.CheckFolder(dir); wrong != nil {
			err = errors.Join(err, cfg.Located(configs.Wrong("views.snapshot", "%v", wrong)))
		}
	}
	if err != nil { // what cannot be read cannot be parsed
		return err
	}
	// The program below is never run. It exists because the options of a server are made from the parts of a
	// program; its store stays nil, because no check reads records.
	log := slog.New(slog.DiscardHandler)
	i, err := newInstitute(cfg, nil, log)
	if err != nil {
		return cfg.Located(err)
	}
	p := &program{institute: i, log: log}
	if len(cfg.Upstream.Keep) > 0 {
		// The server checks the rules of upstream.keep together with a keeper. This keeper has no store and never
		// fetches.
		none := func() map[string]int64 { return nil }
		fetch := func(context.Context, kept.Request) (kept.Answer, error) { return kept.Answer{}, nil }
		if p.keeper, err = kept.New(kept.Options{Fetch: fetch, Views: none}); err != nil {
			return err
		}
		defer p.keeper.Close()
	}
	o, err := p.proxyOptions(*i.loaded.Load())
	if err == nil {
		err = proxy.Check(o)
	}
	return cfg.Located(err)
}

// withConfig returns a command that runs with a configuration. It has the flags of the settings with the given
// dotted paths, or of all settings if there are no paths. A command lists only settings that it uses, because its
// --help shows them. Without its flag a setting still comes from the environment or the file: all commands read the
// same configuration, and all report every mistake in it.
func withConfig(name string, run func(cmd *cobra.Command, args []string, cfg configs.Config) error,
	settings ...string) *cobra.Command {
	cmd := newCommand(name)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := loadConfig(cmd, false)
		if err != nil {
			return err
		}
		return run(cmd, args, cfg)
	}
	configs.AddFlags(cmd.Flags(), settings...)
	return cmd
}

// checks are the parsers of the packages that use a setting. Package configs cannot import these packages, because
// they import it. The parsers here are the ones that the packages use at a start, so a value that the check accepts
// is never refused later. They run for every configuration that is loaded, by each command.
var checks = configs.Checks{
	"cron": func(text string) error {
		_, err := materialize.ParseSchedule(text, nil)
		return err
	},
	"filter": func(text string) error {
		_, err := parseListFilter(text)
		return err
	},
	// A key's endpoints are compared with the routes of a server, and the paths of rules with those that it answers
	// itself.
	"path": proxy.CheckPath,
	"field": func(text string) error {
		_, err := access.NewFields([]string{text})
		return err
	},
	"locale": styles.CheckTag,
	"route":  proxy.CheckMoved,
	"style":  styles.CheckName,
	"target": purge.CheckTarget,
	"unkept": proxy.CheckUnkept,
	"warm": func(text string) error {
		_, err := materialize.ParseWarm(text)
		return err
	},
}

// sourcesOf returns where a command's configuration is from. serve keeps the result, so that a reload reads the
// same sources again: the file may have changed, flags and environment have not.
func sourcesOf(cmd *cobra.Command, demo bool) configs.Sources {
	return configs.Sources{Demo: demo, Environ: os.Environ(), Flags: cmd.Flags(), Checks: checks}
}

// loadConfig reads the configuration of a command to which configs.AddFlags added flags. The error lists all
// mistakes, one on each line, below a heading.
func loadConfig(cmd *cobra.Command, demo bool) (configs.Config, error) {
	cfg, err := configs.Load(sourcesOf(cmd, demo))
	if err != nil {
		return cfg, fmt.Errorf("configuration:\n%w", err)
	}
	return cfg, nil
}

// warnOfVisible warns of a password in --store, which the list of processes shows. URI.String masks a password, so
// the two texts differ only if there is one. Refusing the flag was no alternative: stores without a password are
// given by it.
func warnOfVisible(cmd *cobra.Command, log *slog.Logger) {
	f := cmd.Flags().Lookup("store")
	if uri := f.Value.String(); f.Changed && configs.URI(uri).String() != uri {
		log.Warn(
			"the list of processes shows the password in --store: set VITRINE_STORE, or VITRINE_STORE_FILE to the " +
				"name of a file")
	}
}
