package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime/debug"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/internal/accesslog"
	"vitrine/configs"
	"vitrine/proxy/auth"
	"vitrine/proxy/compare"
)

// exitError ends the program with a code other than 1.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }

// comparison has the flags of the command compare.
type comparison struct {
	run                      compare.Run
	old, new, oldKey, newKey string
	accept, state, page      string
	paths                    []string
	examples                 int
	strict, asJSON           bool
	oldSide, newSide         *compare.Side
	secrets                  auth.Redactor
	failed                   error // why a log could not be read to its end
}

// compareCommand asks two servers for what logs have, and reports what differs. It exits with 1 if answers differ, and
// with 2 if not all could be compared.
func compareCommand() *cobra.Command {
	var c comparison
	cmd := withConfig("compare", func(cmd *cobra.Command, logs []string, cfg configs.Config) error { return c.compare(cmd, logs, cfg) }, "listen")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if err != nil && !errors.As(err, &exitError{}) {
			err = exitError{err, 2}
		}
		return err
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := cobra.MinimumNArgs(1)(cmd, args); err != nil {
			return exitError{errors.New("want at least one log; - is standard input"), 2}
		}
		return nil
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return exitError{suggestFlag(cmd, err), 2} })
	f := cmd.Flags()
	f.StringVar(&c.old, "old", "", "`URL` of the old server")
	f.StringVar(&c.new, "new", "", "`URL` of the new server; default: Vitrine at --listen")
	f.StringVar(&c.oldKey, "old-key", "", "`FILE` with the old server's API key; its second line is the key for /portfolio")
	f.StringVar(&c.newKey, "new-key", "", "`FILE` with the new server's; default: those of the configuration")
	f.StringVar(&c.accept, "accept", "", "YAML `FILE` of differences that are on purpose")
	f.BoolVar(&c.strict, "strict", false, "count what differs from OSIRIS on purpose, too")
	f.StringSliceVar(&c.paths, "path", []string{"/api", "/portfolio", "/lists", "/items", "/oembed"}, "`PATH` below which URLs are asked; repeat it for more")
	f.Float64Var(&c.run.Rate, "rate", 10, "`NUMBER` of requests a second to each server; 0: as fast as they answer")
	f.IntVar(&c.run.Concurrency, "concurrency", 2, "`NUMBER` of requests at a time")
	f.IntVar(&c.examples, "examples", 3, "`NUMBER` of examples of each difference")
	f.StringVar(&c.state, "state", "", "`FILE` to continue from, and to write when interrupted")
	f.BoolVar(&c.asJSON, "json", false, "print JSON")
	f.StringVar(&c.page, "html", "", "`FILE` for the report as a page")
	return cmd
}

func (c *comparison) compare(cmd *cobra.Command, logs []string, cfg configs.Config) error {
	if err := c.prepare(cfg); err != nil {
		return err
	}
	debug.SetGCPercent(25) // bodies are large and short-lived
	stopped := c.run.Do(cmd.Context(), c.requests(cmd, logs))
	report := c.run.Tally.Report()
	switch stopped = cmp.Or(c.failed, stopped); {
	case errors.Is(stopped, context.Canceled):
		report.Stopped = "interrupted"
	case stopped != nil:
		report.Stopped = stopped.Error()
	}
	return cmp.Or(errors.Join(c.keep(report), c.print(cmd.OutOrStdout(), report)), outcome(report))
}

// outcome returns nil if all answers agree, or the error that the program ends with.
func outcome(r compare.Report) error {
	switch {
	case r.Stopped != "":
		return exitError{errors.New("comparison not complete: " + r.Stopped), 2}
	case r.Total.Differ > 0:
		return exitError{fmt.Errorf("%d of %d answers differ", r.Total.Differ, r.Total.Asked), 1}
	case r.Total.Failed > 0:
		return exitError{fmt.Errorf("%d of %d requests failed", r.Total.Failed, r.Total.Asked), 2}
	case r.Total.Asked == 0:
		return exitError{errors.New("the logs have no request to compare"), 2}
	}
	return nil
}

// prepare reads keys, rules and state.
func (c *comparison) prepare(cfg configs.Config) (err error) {
	if c.old == "" || c.run.Concurrency < 1 || c.run.Concurrency > 64 || c.run.Rate < 0 || c.examples < 0 {
		return errors.New("want --old URL, a --concurrency from 1 to 64, and no negative --rate or --examples")
	}
	keys := [2]compare.Keys{}
	if c.new == "" {
		c.new = "http://" + reachable(cfg.Listen)
		keys[1] = compare.Keys{API: cfg.Auth.APIKey.Reveal(), Portfolio: cfg.Auth.PortfolioKey.Reveal()}
	}
	for i, file := range []string{c.oldKey, c.newKey} {
		if file != "" {
			if keys[i], err = readKeys(file); err != nil {
				return err
			}
		}
		c.secrets = append(c.secrets, auth.NewSecret(keys[i].API), auth.NewSecret(keys[i].Portfolio))
	}
	if c.oldSide, err = compare.NewSide("old", c.old, keys[0], nil); err != nil {
		return fmt.Errorf("--%w", err)
	}
	if c.newSide, err = compare.NewSide("new", c.new, keys[1], nil); err != nil {
		return fmt.Errorf("--%w", err)
	}
	var rules compare.Rules
	if c.accept != "" {
		text, err := os.ReadFile(c.accept)
		if err == nil {
			rules, err = compare.ParseRules(c.accept, text)
		}
		if err != nil {
			return err
		}
	}
	if !c.strict {
		rules = append(rules, compare.OSIRIS()...)
	}
	c.run.Tally = compare.NewTally(c.oldSide, c.newSide, rules, c.examples)
	if c.state != "" {
		return c.run.Resume(c.state)
	}
	return nil
}

// readKeys reads a file of keys.
func readKeys(file string) (k compare.Keys, err error) {
	text, err := os.ReadFile(file)
	first, second, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	return compare.Keys{API: string(bytes.TrimSpace(first)), Portfolio: string(bytes.TrimSpace(second))}, err
}

// requests returns the requests of logs, and counts those that are not asked.
func (c *comparison) requests(cmd *cobra.Command, logs []string) iter.Seq[compare.Request] {
	return func(yield func(compare.Request) bool) {
		bar := newBar(cmd.ErrOrStderr(), -1, "lines", progressbar.OptionShowCount())
		defer bar.Finish()
		for e, err := range entries(cmd.InOrStdin(), logs) {
			_ = bar.Add(1) // a bar that cannot be shown stops nothing
			var r compare.Request
			switch {
			case cmd.Context().Err() != nil:
				return
			case err == nil:
				r, err = c.request(e)
			case !errors.Is(err, accesslog.ErrLine):
				c.failed = err
				return
			}
			if err != nil {
				c.run.Tally.NotAsked(err.Error())
			} else if !yield(r) {
				return
			}
		}
	}
}

// entries returns the entries of logs. Other errors than accesslog.ErrLine end them.
func entries(stdin io.Reader, logs []string) iter.Seq2[accesslog.Entry, error] {
	return func(yield func(accesslog.Entry, error) bool) {
		for _, name := range logs {
			in := io.NopCloser(stdin)
			if name != "-" {
				var err error
				if in, err = os.Open(name); err != nil {
					yield(accesslog.Entry{}, err)
					return
				}
			}
			defer in.Close() // until all are read: logs are few
			for e, err := range accesslog.Read(in) {
				if err != nil && !errors.Is(err, accesslog.ErrLine) {
					err = fmt.Errorf("%s: %w", name, err)
				}
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// request returns the request for an entry of a log, or why it is not asked.
func (c *comparison) request(e accesslog.Entry) (compare.Request, error) {
	r, err := compare.NewRequest(e.Method, e.URL, c.secrets)
	if err != nil {
		return r, err
	}
	if r.Target = c.oldSide.Below(r.Target); !r.Under(c.paths) {
		return r, compare.ErrPath
	}
	return r, nil
}

// keep writes the state of a comparison that is not complete, and removes that of one that is.
func (c *comparison) keep(r compare.Report) error {
	switch {
	case c.state == "":
		return nil
	case r.Stopped != "" || r.Total.Failed > 0:
		return c.run.Save(c.state)
	}
	if err := os.Remove(c.state); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// print writes a report to standard output and to the file of the page.
func (c *comparison) print(w io.Writer, r compare.Report) error {
	if c.page != "" {
		html, err := r.HTML()
		if err == nil {
			err = os.WriteFile(c.page, html, 0o600) // it has values of answers that may need a key
		}
		if err != nil {
			return err
		}
	}
	if c.asJSON {
		return printJSON(w, r)
	}
	return errors.Join(printTable(w, "compare", r), output.ExecuteTemplate(w, "compare differences", r))
}
