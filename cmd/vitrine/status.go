package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/proxy"
	"vitrine/rules"
)

// statusCommand prints the state of every view.
func statusCommand() *cobra.Command {
	var asJSON bool
	cmd := withConfig("status", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		views, store, err := readStatus(cmd.Context(), cfg)
		if err != nil {
			return err
		}
		if store != nil && !store.Up {
			fmt.Fprintf(cmd.ErrOrStderr(), "store: %s is away, last heard of: %s; the server at %s reports what follows: %s\n",
				store.Name, since(store.Contact), cfg.Admin.Listen, store.Error)
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), views)
		}
		return printStatus(cmd.OutOrStdout(), views, cfg.Views.Optional)
	}, "store", "admin.listen")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// readStatus reads the state of the views from the store, and their modes from a running
// server of that store, if there is one. If such a server has the embedded store open, or
// the store does not answer, everything comes from the server, also the state of the
// store. The answer of a server of another store is an error.
func readStatus(ctx context.Context, cfg configs.Config) ([]proxy.ViewStatus, *proxy.StoreStatus, error) {
	views, name, err := storedStatus(ctx, cfg)
	if err == nil && len(views) == 0 {
		err = fmt.Errorf("%s has no views: is it the right store? vitrine materialize builds them", name)
	}
	needed, patience := errors.Is(err, origin.ErrLocked) || errors.Is(err, rules.ErrUnavailable), storeTime
	if cfg.Admin.Listen == "" || err != nil && !needed {
		return views, nil, err
	}
	if !needed {
		patience = time.Second
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var answer struct {
		Data  []proxy.ViewStatus `json:"data"`
		Store *proxy.StoreStatus `json:"store"`
	}
	asked := askServer(asking, cfg.Admin.Listen, "/admin/views", cfg.Admin.Token.Reveal(), &answer)
	// The port may be that of any server on this machine: its views say nothing of this store.
	switch ours := asked == nil && answer.Store != nil && answer.Store.Name == name; {
	case needed && asked != nil:
		return nil, nil, fmt.Errorf("%w, and the admin listener of a server reports nothing: %w", err, asked)
	case needed && !ours:
		return nil, nil, fmt.Errorf("%w, and the server at %s serves another store", err, cfg.Admin.Listen)
	case needed:
		return answer.Data, answer.Store, nil
	case ours:
		for i := range views {
			for _, s := range answer.Data {
				if s.View == views[i].View {
					views[i].ServedView = s.ServedView
				}
			}
		}
	}
	return views, nil, nil
}

// storeTime bounds the reading of the state of the views from a store, or from a server instead.
const storeTime = 5 * time.Second

// storedStatus reads the state of the views from the store. It returns the name of the
// store also if the store does not answer.
func storedStatus(ctx context.Context, cfg configs.Config) (_ []proxy.ViewStatus, name string, err error) {
	store, err := openExisting(ctx, cfg)
	if err != nil {
		return nil, "bolt://" + embeddedPath(cfg), err // only an embedded store can be in use
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	metas, err := store.Metas(ctx)
	if err != nil {
		return nil, store.Name(), fmt.Errorf("read status of views: %w", err)
	}
	views := make([]proxy.ViewStatus, len(metas))
	for i, m := range metas {
		views[i] = proxy.StatusOf(m)
	}
	return views, store.Name(), nil
}

// printStatus writes one line per view; below them the errors, the views without any
// records except optional ones, and the records that were left out.
func printStatus(w io.Writer, views []proxy.ViewStatus, optional []string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "VIEW\tSTATUS\tMODE\tGENERATION\tROWS\tAGE\tCHECKED\tLAST RUN\tSCANNED\tCHANGED\tREMOVED\tSKIPPED")
	for _, v := range views {
		job, mode := v.Job, "-" // without a server
		if v.ServedView != nil {
			mode = cmp.Or(v.Mode, mode)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\n", v.View, cmp.Or(job.Status, "-"), mode, v.Generation, v.Rows,
			ago(v.Published), ago(job.Checked), time.Duration(job.Seconds*float64(time.Second)).Round(time.Millisecond),
			job.Scanned, job.Changed, job.Removed, job.Skipped)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, v := range views {
		if v.Job.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", v.View, v.Job.Error)
		}
		if v.Job.Empty && !slices.Contains(optional, v.View) {
			fmt.Fprintf(w, "empty: %s: the store has no records for it\n", v.View)
		}
		for _, s := range v.Job.Skips {
			fmt.Fprintf(w, "skipped: %s %s: %s\n", v.View, cmp.Or(s.ID, "-"), s.Reason)
		}
		if more := v.Job.Skipped - len(v.Job.Skips); more > 0 {
			fmt.Fprintf(w, "skipped: %s: %d more\n", v.View, more)
		}
	}
	return nil
}

// ago prints how long ago a time was; a time in the future counts as now.
func ago(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return max(time.Since(*t), 0).Round(time.Second).String()
}

// since is ago for use in a sentence.
func since(t *time.Time) string {
	if t == nil {
		return ago(t)
	}
	return ago(t) + " ago"
}
