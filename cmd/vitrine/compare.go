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

// comparison has the flags of the command compare.
type comparison struct {
	run                      compare.Run
	old, new, oldKey, newKey string
	accept, state, page      string
	examples                 int
	strict, asJSON           bool
	oldSide                  *compare.Side
	secrets                  auth.Redactor
	failed                   error // why a log could not be read to its end
}

// errDiffer is the error with which compare exits with 1. With others it exits with 2.
var errDiffer = errors.New("answers differ")

// compareCommand asks two servers for what logs have, and reports what differs.
func compareCommand() *cobra.Command {
	var c comparison
	cmd := withConfig("compare", func(cmd *cobra.Command, logs []string, cfg configs.Config) error { return c.compare(cmd, logs, cfg) }, "listen")
	cmd.Args = cobra.ArbitraryArgs
	f := cmd.Flags()
	f.StringVar(&c.old, "old", "", "`URL` of the old server")
	f.StringVar(&c.new, "new", "", "`URL` of the new server; default: Vitrine at --listen")
	f.StringVar(&c.oldKey, "old-key", "", "`FILE` with the old server's API key; its second line is the key for /portfolio")
	f.StringVar(&c.newKey, "new-key", "", "`FILE` with the new server's; default: those of the configuration")
	f.StringVar(&c.accept, "accept", "", "YAML `FILE` of differences that are on purpose")
	f.BoolVar(&c.strict, "strict", false, "count what differs from OSIRIS on purpose, too")
	f.Float64Var(&c.run.Rate, "rate", 10, "`NUMBER` of requests a second to each server; 0: as fast as they answer")
	f.IntVar(&c.run.Concurrency, "concurrency", 2, "`NUMBER` of requests at a time")
	f.IntVar(&c.examples, "examples", 3, "`NUMBER` of examples of each difference")
	f.StringVar(&c.state, "state", "", "`FILE` to continue from, and to write when interrupted")
	f.BoolVar(&c.asJSON, "json", false, "print JSON")
	f.StringVar(&c.page, "html", "", "`FILE` for the report as a page")
	return cmd
}

func (c *comparison) compare(cmd *cobra.Command, logs []string, cfg configs.Config) error {
	if c.old == "" || len(logs) == 0 || c.run.Concurrency < 1 || c.run.Concurrency > 64 || c.run.Rate < 0 || c.examples < 0 {
		return errors.New("want --old URL, at least one LOG (- is standard input), a --concurrency from 1 to 64, and no negative --rate or --examples")
	}
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
		return errors.New("comparison not complete: " + r.Stopped)
	case r.Total.Differ > 0:
		return fmt.Errorf("%d of %d %w", r.Total.Differ, r.Total.Asked, errDiffer)
	case r.Total.Failed > 0:
		return fmt.Errorf("%d of %d requests failed", r.Total.Failed, r.Total.Asked)
	case r.Total.Asked == 0:
		return errors.New("the logs have no request to compare")
	}
	return nil
}

// prepare reads keys, rules and state.
func (c *comparison) prepare(cfg configs.Config) (err error) {
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
	newSide, err := compare.NewSide("new", c.new, keys[1], nil)
	if err != nil {
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
	c.run.Tally = compare.NewTally(c.oldSide, newSide, rules, c.examples)
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
		for _, name := range logs {
			in := cmd.InOrStdin()
			if name != "-" {
				f, err := os.Open(name)
				if err != nil {
					c.failed = err
					return
				}
				defer f.Close() // until all are read: logs are few
				in = f
			}
			for e, err := range accesslog.Read(in) {
				_ = bar.Add(1) // a bar that cannot be shown stops nothing
				var r compare.Request
				if err == nil {
					r, err = c.oldSide.Request(e.Method, e.URL, c.secrets)
				} else if !errors.Is(err, accesslog.ErrLine) {
					c.failed = fmt.Errorf("%s: %w", name, err)
					return
				}
				if err != nil {
					c.run.Tally.NotAsked(err.Error())
				}
				if cmd.Context().Err() != nil || err == nil && !yield(r) {
					return
				}
			}
		}
	}
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
