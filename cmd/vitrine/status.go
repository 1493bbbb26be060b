package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
)

func statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how every view stands",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, false)
			if err != nil {
				return err
			}
			views, err := readStatus(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(views)
			}
			return printStatus(cmd.OutOrStdout(), views)
		},
	}
	configs.AddFlags(cmd.Flags(), "store", "admin.listen")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// readStatus asks the store, or, if a running server has the embedded store
// open, that server.
func readStatus(ctx context.Context, cfg configs.Config) (_ []materialize.ViewStatus, err error) {
	store, err := openExisting(ctx, cfg)
	if errors.Is(err, origin.ErrLocked) && cfg.Admin.Listen != "" {
		views, asked := askStatus(ctx, cfg)
		if asked != nil {
			return nil, fmt.Errorf("%w, and its admin listener does not tell: %w", err, asked)
		}
		return views, nil
	} else if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return materialize.Status(ctx, store, time.Now())
}

// printStatus writes one line per view, and the errors below.
func printStatus(w io.Writer, views []materialize.ViewStatus) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "VIEW\tSTATUS\tGENERATION\tROWS\tAGE\tCHECKED\tLAST RUN\tSCANNED\tCHANGED\tREMOVED\tSKIPPED")
	for _, v := range views {
		h := v.Health
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\n", v.View, orDash(h.Status), v.Generation, v.Rows,
			ago(v.Age), ago(v.Unchecked), h.Took.Round(time.Millisecond), h.Scanned, h.Changed, h.Removed, h.Skipped)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, v := range views {
		if v.Health.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", v.View, v.Health.Error)
		}
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func ago(d time.Duration) string {
	if d == 0 {
		return "never"
	}
	return d.Round(time.Second).String()
}

// adminView is the part of the admin listener's answer that a status is made of.
type adminView struct {
	View       string     `json:"view"`
	Generation uint64     `json:"generation"`
	Rows       int        `json:"rows"`
	Published  *time.Time `json:"published"`
	Checked    *time.Time `json:"checked"`
	Job        struct {
		Status  string  `json:"status"`
		Error   string  `json:"error"`
		Seconds float64 `json:"seconds"`
		Scanned int     `json:"scanned"`
		Changed int     `json:"changed"`
		Removed int     `json:"removed"`
		Skipped int     `json:"skipped"`
	} `json:"job"`
}

// status is what the store would have told of the view.
func (v adminView) status(now time.Time) materialize.ViewStatus {
	st := materialize.ViewStatus{Meta: origin.Meta{View: v.View, Generation: v.Generation, Rows: v.Rows}}
	st.Health = origin.Health{
		Status: v.Job.Status, Error: v.Job.Error, Took: time.Duration(v.Job.Seconds * float64(time.Second)),
		Scanned: v.Job.Scanned, Changed: v.Job.Changed, Removed: v.Job.Removed, Skipped: v.Job.Skipped,
	}
	if v.Published != nil {
		st.Published, st.Age = *v.Published, now.Sub(*v.Published)
	}
	if v.Checked != nil {
		st.Checked, st.Unchecked = *v.Checked, now.Sub(*v.Checked)
	}
	return st
}
