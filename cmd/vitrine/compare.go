package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/internal/accesslog"
	"vitrine/configs"
	"vitrine/proxy/compare"
	"vitrine/rules/access"
)

// comparison has the flags of the command compare.
type comparison struct {
	old, new, oldKey, newKey string
	accept, state, page      string
	rate                     float64
	concurrency, examples    int
	strict, asJSON           bool
}

// errDiffer is the error with which compare exits with 1. With others it exits with 2.
var errDiffer = errors.New("answers differ")

// compareCommand asks two servers for what logs have, and reports what differs, by cause.
func compareCommand() *cobra.Command {
	var c comparison
	cmd := withConfig("compare", func(cmd *cobra.Command, logs []string, cfg configs.Config) error {
		return c.compare(cmd, logs, cfg)
	}, "listen")
	cmd.Args = cobra.ArbitraryArgs
	f := cmd.Flags()
	f.StringVar(&c.old, "old", "", "`URL` of the old server")
	f.StringVar(&c.new, "new", "", "`URL` of the new server; default: Vitrine at --listen")
	f.StringVar(&c.oldKey, "old-key", "",
		"`FILE` with the old server's API key; its second line is the key for /portfolio")
	f.StringVar(&c.newKey, "new-key", "", "`FILE` with the new server's; default: those of the configuration")
	f.StringVar(&c.accept, "accept", "", "YAML `FILE` of differences that are on purpose")
	f.BoolVar(&c.strict, "strict", false, "count what differs from OSIRIS on purpose, too")
	f.Float64Var(&c.rate, "rate", 10, "`NUMBER` of requests a second to each server; 0: as fast as they answer")
	f.IntVar(&c.concurrency, "concurrency", 2, "`NUMBER` of requests at a time")
	f.IntVar(&c.examples, "examples", 3, "`NUMBER` of examples for each place of a cause")
	f.StringVar(&c.state, "state", "", "`FILE` to continue from, and to write when interrupted")
	f.BoolVar(&c.asJSON, "json", false, "print JSON")
	f.StringVar(&c.page, "html", "", "`FILE` for the report as a page")
	return cmd
}

// compare checks the flags, asks both servers for what the logs have, and prints the report. It prints it after an
// interruption, too, and before the error of differences.
func (c *comparison) compare(cmd *cobra.Command, logs []string, cfg configs.Config) error {
	if c.old == "" || len(logs) == 0 || c.concurrency < 1 || c.concurrency > 64 || c.rate < 0 || c.examples < 0 {
		return errors.New(
			"want --old URL, at least one LOG (- is standard input), a --concurrency from 1 to 64, and no negative " +
				"--rate or --examples")
	}
	both, err := c.prepare(cfg)
	if err != nil {
		return err
	}
	var files []*os.File // opened at once, so that one that cannot be read is found before any is asked
	for _, name := range logs {
		f := os.Stdin
		if name != "-" {
			if f, err = os.Open(name); err != nil {
				return err
			}
			defer f.Close()
		}
		files = append(files, f)
	}
	// At Go's own 100 percent the process would take twice the memory of the bodies that it compares.
	debug.SetGCPercent(25) // bodies are large and short-lived
	bar := newBar(cmd.ErrOrStderr(), -1, "lines", progressbar.OptionShowCount())
	report, err := both.Run(cmd.Context(), requests(both, files, bar))
	_ = bar.Finish()
	return cmp.Or(errors.Join(err, c.print(cmd.OutOrStdout(), report)), outcome(report))
}

// requests returns the requests of logs, or why there is none.
func requests(both *compare.Comparison, files []*os.File,
	bar *progressbar.ProgressBar) iter.Seq2[compare.Request, error] {
	return func(yield func(compare.Request, error) bool) {
		for _, f := range files {
			for e, err := range accesslog.Read(f) {
				_ = bar.Add(1) // a bar that cannot be shown stops nothing
				var r compare.Request
				switch {
				case err == nil:
					r, err = both.Request(e.Method, e.URL)
				case errors.Is(err, accesslog.ErrLine):
					err = compare.NotAsked(err.Error())
				default:
					err = fmt.Errorf("%s: %w", f.Name(), err)
				}
				if !yield(r, err) {
					return
				}
			}
		}
	}
}

// outcome returns nil if all answers agree, or the error that the program ends with. A comparison that stopped
// comes first: what it has not compared may differ. One without requests, or whose requests were all forwarded, is
// an error, because a script would take it for agreement.
func outcome(r compare.Report) error {
	switch {
	case r.Stopped != "":
		return errors.New("comparison not complete: " + r.Stopped)
	case r.Total.Differ > 0:
		return fmt.Errorf("%d of %d %w", r.Total.Differ, r.Total.Asked, errDiffer)
	case r.Total.Failed > 0:
		return fmt.Errorf("%d of %d requests failed", r.Total.Failed, r.Total.Asked)
	case r.Total.Asked == 0:
		return errors.New("the logs have no request to compare")
	case r.NothingCompared():
		return fmt.Errorf("nothing was compared: the new server forwards all of the %d paths", r.Total.Asked)
	}
	return nil
}

// prepare returns the comparison, which continues if it was interrupted. The keys of --old-key and --new-key are in
// files, so that the list of processes does not show them. Paths of upstream.keep are compared, too, although their
// answers are the old server's: keeping must not change them.
func (c *comparison) prepare(cfg configs.Config) (*compare.Comparison, error) {
	var keys [2]compare.Keys
	if c.new == "" {
		c.new = "http://" + reachable(cfg.Listen)
		keys[1] = compare.Keys{API: cfg.Auth.APIKey.Reveal(), Portfolio: cfg.Auth.PortfolioKey.Reveal()}
	}
	for i, file := range []string{c.oldKey, c.newKey} {
		if file == "" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		first, second, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		keys[i] = compare.Keys{API: strings.TrimSpace(first), Portfolio: strings.TrimSpace(second)}
	}
	old, oldErr := compare.NewSide("old", c.old, keys[0], nil)
	new, newErr := compare.NewSide("new", c.new, keys[1], nil)
	if err := cmp.Or(oldErr, newErr); err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	rules, err := c.rules()
	if err != nil {
		return nil, err
	}
	hidden, err := access.NewFields(cfg.Access.HiddenFields)
	if err != nil {
		return nil, fmt.Errorf("access.hidden_fields: %w", err)
	}
	both := compare.NewComparison(old, new, compare.Settings{
		Accepted: rules, Examples: c.examples, Rate: c.rate, Concurrency: c.concurrency, State: c.state,
		Hidden: hidden.Hides,
		Kept: func(path string) bool {
			return slices.ContainsFunc(cfg.Upstream.Keep, func(rule *configs.Keep) bool { return rule.Covers(path) })
		},
	})
	return both, both.Resume()
}

// rules returns the rules for what differs on purpose, the operator's first. The first rule that matches names the
// reason, so an operator can give a built-in difference another one.
func (c *comparison) rules() (rules compare.Accepted, err error) {
	if c.accept != "" {
		text, err := os.ReadFile(c.accept)
		if err == nil {
			rules, err = compare.ParseAccepted(c.accept, text)
		}
		if err != nil {
			return nil, err
		}
	}
	if !c.strict {
		rules = append(rules, compare.OSIRIS()...)
	}
	return rules, nil
}

// print writes a report to standard output and to the file of the page.
func (c *comparison) print(w io.Writer, r compare.Report) (err error) {
	if c.asJSON {
		err = printJSON(w, r)
	} else {
		err = errors.Join(printTable(w, "compare", r), output.ExecuteTemplate(w, "compare causes", r))
	}
	if c.page == "" {
		return err
	}
	page, pageErr := r.HTML()
	if pageErr == nil {
		pageErr = os.WriteFile(c.page, page, 0o600) // it has values of answers that may need a key
	}
	return errors.Join(err, pageErr)
}
