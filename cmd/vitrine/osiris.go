package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize/osiris"
)

// presetOsiris is the preset of databases that describe themselves.
const presetOsiris = "osiris"

// completed returns a configuration with what the database says wherever the
// configuration says nothing. Of rights and visibility that holds role by role and type
// by type. sealed stands for keys that nobody may know.
func completed(cfg configs.Config, said osiris.Settings, sealed string) configs.Config {
	if said.StartYear != 0 && !cfg.Given("start_year") {
		cfg.StartYear = said.StartYear
	}
	if said.Language != "" && !cfg.Given("language") {
		cfg.Language = said.Language
	}
	if said.Portfolio != nil && !cfg.Given("portfolio.enabled") {
		cfg.Portfolio.Enabled = *said.Portfolio
	}
	if !cfg.Given("auth.api_key") {
		cfg.Auth.APIKey = secretOf(said.APIKey, sealed)
	}
	if !cfg.Given("auth.portfolio_key") {
		cfg.Auth.PortfolioKey = secretOf(said.PortfolioKey, sealed)
	}
	cfg.Access.Roles = maps.Clone(cfg.Access.Roles)
	for role, rights := range said.Roles {
		if !cfg.Given("access.roles." + role) {
			setEntry(&cfg.Access.Roles, role, namesOf(rights))
		}
	}
	cfg.Access.Types = maps.Clone(cfg.Access.Types)
	for kind, roles := range said.Visible {
		if !cfg.Given("access.types." + kind) {
			setEntry(&cfg.Access.Types, kind, roles)
		}
	}
	return cfg
}

func secretOf(key osiris.Key, sealed string) configs.Secret {
	if key.Sealed {
		return configs.Secret(sealed)
	}
	return configs.Secret(key.Text)
}

func setEntry(m *map[string][]string, key string, value []string) {
	if *m == nil {
		*m = map[string][]string{}
	}
	(*m)[key] = value
}

func namesOf[T ~string](values []T) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return names
}

// warnings tells each warning once, and again after it has been away.
type warnings struct {
	mu   sync.Mutex                         // guards told
	told map[string]map[osiris.Warning]bool // by what they are about
}

func (w *warnings) tell(log *slog.Logger, about string, now []osiris.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := make(map[osiris.Warning]bool, len(now))
	for _, warning := range now {
		known := fresh[warning]
		for _, told := range w.told {
			known = known || told[warning]
		}
		if fresh[warning] = true; !known {
			log.Warn("settings of the database: passed over",
				"collection", warning.Collection, "id", warning.ID, "reason", warning.Reason)
		}
	}
	if w.told == nil {
		w.told = map[string]map[osiris.Warning]bool{}
	}
	w.told[about] = fresh
}

func osirisCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "osiris",
		Short: "Print what an OSIRIS database says about itself, and what is wrong with it",
		Long: "Print the settings, rights and templates that an OSIRIS database brings along, without its\n" +
			"keys, and every record or part of one that cannot be used. The configuration, which comes\n" +
			"first where it says something, is not looked at but for the store.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg, err := loadConfig(cmd, false)
			if err != nil {
				return err
			}
			store, err := openStore(cmd.Context(), cfg)
			if errors.Is(err, origin.ErrLocked) {
				return fmt.Errorf("%w; the running server has logged what it could not use", err)
			} else if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, store.Close()) }()
			said, err := osiris.Read(cmd.Context(), store, append(osiris.ForAnswers(), osiris.ForRendering()...)...)
			if err != nil {
				return err
			}
			rules, err := loadRules(cfg.Rules)
			if err != nil {
				return err
			}
			_, faults := rules.WithOsiris(said.Render)
			said.Warnings = append(said.Warnings, osiris.Faults(faults)...)
			return printSettings(cmd.OutOrStdout(), said)
		},
	}
	configs.AddFlags(cmd.Flags(), "store")
	return cmd
}

// printSettings writes what a database says, one thing a line.
func printSettings(w io.Writer, said osiris.Settings) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(tw, "%s\t%s\n", name, value)
		}
	}
	if said.StartYear != 0 {
		line("start_year", fmt.Sprint(said.StartYear))
	}
	line("language", said.Language)
	line("auth.api_key", shown(said.APIKey))
	line("auth.portfolio_key", shown(said.PortfolioKey))
	if said.Portfolio != nil {
		line("portfolio.enabled", fmt.Sprint(*said.Portfolio))
	}
	for _, role := range slices.Sorted(maps.Keys(said.Roles)) {
		line("access.roles."+role, strings.Join(namesOf(said.Roles[role]), ", "))
	}
	for _, kind := range slices.Sorted(maps.Keys(said.Visible)) {
		line("access.types."+kind, "seen by "+strings.Join(said.Visible[kind], ", "))
	}
	o := said.Render
	line("types", fmt.Sprintf("%d, with %d subtypes", len(o.Categories), len(o.Types)))
	line("own fields", fmt.Sprint(len(o.Fields)))
	line("journals", fmt.Sprint(len(o.Journals)))
	for _, warning := range said.Warnings {
		fmt.Fprintf(tw, "passed over:\t%s\n", warning)
	}
	return tw.Flush()
}

// shown tells of a key without showing it.
func shown(k osiris.Key) string {
	switch {
	case k.Sealed:
		return "unusable: calls are refused"
	case k.Text != "":
		return "set, not shown"
	}
	return ""
}
