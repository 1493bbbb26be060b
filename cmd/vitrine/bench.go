package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"vitrine/configs"
	"vitrine/proxy/bench"
)

func benchCommand() *cobra.Command {
	var o bench.Options
	var demo, asJSON bool
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the endpoints against a bare handler sending the same bytes",
		Long: "Serve the store's views on a free loopback port and measure every endpoint against a bare\n" +
			"Fiber handler that sends the same bytes, in turns, several rounds in one run. The ratio of\n" +
			"the rates is what counts: what else the machine does meets both alike.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd, demo)
			if err != nil {
				return err
			}
			if demo {
				dir, err := os.MkdirTemp("", "vitrine-bench-")
				if err != nil {
					return err
				}
				defer os.RemoveAll(dir)
				cfg.Store = configs.URI("bolt://" + filepath.Join(dir, "demo.db"))
			}
			o.Progress = func(name string) { fmt.Fprintln(cmd.ErrOrStderr(), "measuring", name) }
			results, err := runBench(cmd.Context(), cfg, demo, o)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(results)
			}
			return bench.WriteTable(cmd.OutOrStdout(), results)
		},
	}
	configs.AddFlags(cmd.Flags(), "store")
	cmd.Flags().BoolVar(&demo, "demo", false, "measure on the demo institute")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().IntVar(&o.Rounds, "rounds", 5, "`NUMBER` of rounds; medians are shown")
	cmd.Flags().DurationVar(&o.Duration, "duration", time.Second, "how long each side is driven per round")
	cmd.Flags().IntVar(&o.Conns, "conns", 16, "`NUMBER` of connections at a time")
	return cmd
}

// runBench serves the store on a free port, waits until the views are there, and
// measures.
func runBench(ctx context.Context, cfg configs.Config, demo bool, o bench.Options) (_ []bench.Result, err error) {
	cfg.Listen, cfg.Admin.Listen, cfg.Auth.APIKey, cfg.Limits.Rate = "127.0.0.1:0", "", "", 0
	cfg.Pin(configs.Place{Flag: "bench"}, "auth.api_key")
	store, err := openStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if demo {
		if err := loadDemo(ctx, store); err != nil {
			return nil, err
		}
	}
	p, err := assemble(ctx, cfg, store, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return nil, err
	}
	o.Addr = ln.Addr().String()
	ctx, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- p.run(ctx, ln, nil) }()
	defer func() { stop(); err = errors.Join(err, <-served) }()
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	return bench.Run(ctx, o)
}

// ready waits until every view is loaded.
func (p *program) ready(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !p.views.Ready() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
