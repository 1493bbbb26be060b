package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/proxy/explain"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// queryCommand evaluates a filter as a server does, without a server. A running server of the embedded store
// answers with the same lines, since both print rows by package explain.
func queryCommand() *cobra.Command {
	var name string
	var offset, limit int
	var count bool
	cmd := withConfig("query", func(cmd *cobra.Command, args []string, cfg configs.Config) error {
		text := strings.Join(args, "") // at most one
		f, err := filter.Parse([]byte(cmp.Or(text, "{}")),
			filter.Options{Param: "filter", HexIDs: true, Foreign: true})
		if err != nil {
			return err
		}
		err = queryStore(cmd, cfg, name, func(sel view.Selection) error {
			if count {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), sel.Count())
				return err
			}
			return printRows(cmd, sel.Rows(cmd.Context(), offset, limit))
		}, f)
		q := url.Values{"view": {name}, "offset": {strconv.Itoa(offset)}, "limit": {strconv.Itoa(limit)}}
		if count {
			q.Set("count", "1")
		}
		return orServed(cmd.Context(), cfg, err, "/admin/query?"+q.Encode(), []byte(text), cmd.OutOrStdout())
	}, "store", "admin.listen")
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.Flags().StringVar(&name, "view", rules.ViewActivities, "`NAME` of the view")
	cmd.Flags().IntVar(&offset, "offset", 0, "`NUMBER` of rows to skip")
	cmd.Flags().IntVar(&limit, "limit", 0, "`NUMBER` of rows to print; 0: all")
	cmd.Flags().BoolVar(&count, "count", false, "print the number of rows, not the rows")
	return cmd
}

// queryStore calls show with the rows in the store that a filter selects.
func queryStore(cmd *cobra.Command, cfg configs.Config, name string, show func(view.Selection) error,
	f *filter.Filter) error {
	return withStore(cmd.Context(), cfg, func(store origin.Store) error {
		// open all the time: the database may evaluate a filter that memory does not
		snap, err := loadView(cmd.Context(), cfg, store, name)
		if err != nil {
			return err
		}
		sel, err := snap.Select(cmd.Context(), f)
		if err != nil {
			return err
		}
		return show(sel)
	})
}

// loadView loads the view with a name into memory, whatever views.mode is, because the rows are the same.
//
// The other views are not loaded. Without the database behind it, a view of an embedded store refuses filters that
// memory does not evaluate.
func loadView(ctx context.Context, cfg configs.Config, store origin.Store, name string) (*view.Snapshot, error) {
	var known []string
	for _, def := range viewsOf(cfg) {
		known = append(known, def.Name)
		if def.Name == name {
			snap, err := view.Load(ctx, view.Options{Store: store, Foreign: readThrough(cfg, store)}, def)
			if unloaded := (*rules.Error)(nil); errors.As(err, &unloaded) {
				// the original error is for clients of a server
				return nil, fmt.Errorf("view %s was never built: run vitrine materialize", name)
			}
			return snap, err
		}
	}
	return nil, fmt.Errorf("view %s: %w; want one of %s", name, rules.ErrNotFound, strings.Join(known, ", "))
}

// printRows writes each row as a line.
func printRows(cmd *cobra.Command, rows iter.Seq2[index.Row, error]) error {
	w := bufio.NewWriter(cmd.OutOrStdout())
	var line []byte
	for row, err := range rows {
		if err != nil {
			return err
		}
		line = explain.AppendRow(line[:0], row)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}
