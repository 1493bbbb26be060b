package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/proxy/health"
	"vitrine/proxy/keptadmin"
	"vitrine/proxy/purge"
	"vitrine/proxy/upstream/traffic"
	"vitrine/rules"
)

// statusCommand prints the state of the views, of the caches in front, of the kept answers and of the other server.
// Parts that have nothing to report print nothing, so a healthy server has a short status.
func statusCommand() *cobra.Command {
	var asJSON bool
	cmd := withConfig("status", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		read, err := readStatus(cmd.Context(), cfg)
		if err != nil {
			return err
		}
		views, store := read.Data, read.Store
		if store != nil && !store.Up {
			// ignore the error: standard error may be closed
			_ = output.ExecuteTemplate(cmd.ErrOrStderr(), "store away",
				map[string]any{"Store": store, "Server": cfg.Admin.Listen})
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), views)
		}
		for i, v := range views {
			views[i].Job.Empty = v.Job.Empty && !slices.Contains(cfg.Views.Optional, v.View)
		}
		// Each template prints nothing without data, so the parts need no conditions here.
		out := cmd.OutOrStdout()
		return errors.Join(printTable(out, "status", views), output.ExecuteTemplate(out, "status of views", views),
			output.ExecuteTemplate(out, "sources of views", databasesOf(views)),
			output.ExecuteTemplate(out, "status of purges", read.Purge),
			printTable(out, "status of rules", read.Kept),
			output.ExecuteTemplate(out, "failures of rules", read.Kept),
			output.ExecuteTemplate(out, "other server", read.Upstream),
			printTable(out, "forwarded", trafficOf(read.Upstream)),
			output.ExecuteTemplate(out, "unknown fields", read.Unknown))
	}, "store", "admin.listen")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// databasesOf returns the source databases of views. There is more than one only if two institutes share a views
// database. Example: views of the databases a, a and b give a and b.
func databasesOf(views []health.ViewStatus) (sources []string) {
	for _, v := range views {
		if v.Source != "" && !slices.Contains(sources, v.Source) {
			sources = append(sources, v.Source)
		}
	}
	return sources
}

// trafficOf returns the traffic of the other server by path; nil without such a server.
func trafficOf(s *traffic.Status) []traffic.Row {
	if s == nil {
		return nil
	}
	return s.Traffic
}

// statusReport is the state of the views, and of what only a server knows. Its JSON form is that of GET
// /admin/views, so servedStatus decodes an answer into it.
type statusReport struct {
	Data  []health.ViewStatus `json:"data"`
	Store *health.StoreStatus `json:"store"` // nil if no server was asked for it
	Purge []purge.Status      `json:"purge"` // the caches in front of the server
	Kept  []keptadmin.Status  `json:"kept"`  // the rules by which it keeps answers of another one
	// Upstream is that other server; nil if there is none.
	Upstream *traffic.Status `json:"upstream"`
	// Unknown has the fields that settings name and no record has.
	Unknown []string `json:"unknown_fields"`
}

// readStatus reads the state of the views from the store, and their modes from a running server of that store, if
// there is one. If such a server has the embedded store open, or the store does not answer, everything comes from the
// server, including the state of the store.
//
// The store is the better source, because it also knows what other instances have done; a server is the only source
// for modes, for kept answers, and for failures that it could not write down.
func readStatus(ctx context.Context, cfg configs.Config) (statusReport, error) {
	views, store, err := storedStatus(ctx, cfg)
	switch {
	case err == nil && len(views) == 0:
		return statusReport{}, fmt.Errorf("%s has no views: is it the right store? vitrine materialize builds them",
			store)
	case cfg.Admin.Listen == "":
		return statusReport{Data: views}, err
	case errors.Is(err, origin.ErrLocked), errors.Is(err, rules.ErrUnavailable):
		served, failed := servedStatus(ctx, cfg, store, storeTime)
		if failed != nil {
			return statusReport{}, fmt.Errorf("%w, and %w", err, failed)
		}
		return served, nil
	case err != nil:
		return statusReport{}, err
	}
	served, _ := servedStatus(ctx, cfg, store, time.Second) // ignore the error: there may be no server
	for i := range views {
		for _, s := range served.Data {
			if s.View == views[i].View {
				views[i].ServedView = s.ServedView
				if sameRun(s.Job, views[i].Job) {
					// a server also reports failures that it could not write to the store
					views[i].Job = s.Job
				}
			}
		}
	}
	served.Data, served.Store = views, nil
	return served, nil
}

// sameRun reports whether two states of a job are based on the same run in the store. Times are compared by Equal,
// because one of them came through JSON and has another location.
func sameRun(a, b health.JobStatus) bool {
	if a.Started == nil || b.Started == nil {
		return a.Started == b.Started
	}
	return a.Started.Equal(*b.Started)
}

// servedStatus asks the server at the admin address, which must be one of the same store. The name of the store
// decides, which a server reports for that purpose: another server may listen at the default address.
func servedStatus(ctx context.Context, cfg configs.Config, store string,
	patience time.Duration) (statusReport, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var answer statusReport
	if err := askServer(ctx, cfg.Admin.Listen, "/admin/views", cfg.Admin.Token.Reveal(), nil, &answer); err != nil {
		return statusReport{}, fmt.Errorf("the admin listener of a server reports nothing: %w", err)
	}
	if answer.Store == nil || answer.Store.Name != store {
		return statusReport{}, fmt.Errorf("the server at %s serves another store", cfg.Admin.Listen)
	}
	return answer, nil
}

// storeTime bounds how long reading the state of the views from a store, or else from a server, may take.
const storeTime = 5 * time.Second

// storedStatus reads the state of the views from the store; its name is returned even if it is away.
func storedStatus(ctx context.Context, cfg configs.Config) (_ []health.ViewStatus, name string, err error) {
	store, err := openExisting(ctx, cfg)
	if err != nil {
		return nil, "bolt://" + embeddedPath(cfg), err // only an embedded store can be locked
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	metas, err := store.Metas(ctx)
	if err != nil {
		return nil, store.Name(), fmt.Errorf("read status of views: %w", err)
	}
	views := make([]health.ViewStatus, len(metas))
	for i, m := range metas {
		views[i] = health.StatusOf(m)
	}
	return views, store.Name(), nil
}
