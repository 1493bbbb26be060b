package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cmd/vitrine/internal/backup"
	"vitrine/cmd/vitrine/internal/control"
	"vitrine/configs"
	"vitrine/materialize"
)

// backupCommand copies the embedded store, also while a server has it open. MongoDB has its own programs for this,
// so for other stores the command returns an error that names them.
func backupCommand() *cobra.Command {
	cmd := withConfig("backup", func(cmd *cobra.Command, args []string, cfg configs.Config) error {
		path := embeddedPath(cfg)
		if path == "" {
			return errors.New("the store is MongoDB, which has its own means: mongodump --archive=FILE copies a " +
				"database, and mongorestore or vitrine import reads it; the views need no backup")
		}
		return runBackup(cmd, path, args[0])
	}, "store")
	cmd.Args = cobra.ExactArgs(1)
	return cmd
}

// runBackup copies the store at a path to a file, and prints what the copy contains.
func runBackup(cmd *cobra.Command, path, file string) error {
	started := time.Now()
	bar := newBar(cmd.ErrOrStderr(), 1, "backup", progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond))
	through := "" // ends the report if a server had the store open
	parts, size, err := backup.Write(cmd.Context(), file, backup.Options{
		Store: path,
		Copy: func(ctx context.Context, to bolt.Destination) error {
			err := bolt.Backup(ctx, path, to)
			if !errors.Is(err, origin.ErrLocked) {
				return err
			}
			through = ", through the running server"
			return backupServed(ctx, err, path, to)
		},
		Progress: func(all int64) func(int) {
			bar.ChangeMax64(all)
			_ = bar.Set(0) // an earlier attempt may have come further
			return func(n int) { _ = bar.Add(n) }
		},
		Checking: func() { bar.Describe("check") },
	})
	_ = bar.Clear()
	if err != nil {
		return err
	}
	// ignore the error: standard output may be closed
	_ = output.ExecuteTemplate(cmd.OutOrStdout(), "backup", map[string]any{"File": file, "Size": size, "Parts": parts,
		"Through": through, "Took": time.Since(started).Round(time.Millisecond)})
	return nil
}

// backupServed reads the copy from the server that has the store open. locked is the error of opening the store
// here.
func backupServed(ctx context.Context, locked error, path string, to bolt.Destination) error {
	server, err := control.Dial(ctx, path)
	if err != nil {
		return fmt.Errorf("%w, and %w", locked, err)
	}
	return errors.Join(server.Backup(ctx, to), server.Close())
}

// controlServer returns the server behind the control socket of the store that this process has open, or nil if the
// store is not an embedded one. Imports pass the circuit, as every write does; a copy does not, see
// bolt.Store.Backup.
func (p *program) controlServer(opened origin.Store) *control.Server {
	embedded, ok := opened.(*bolt.Store)
	if !ok {
		return nil
	}
	return control.NewServer(control.Options{
		Path: strings.TrimPrefix(embedded.Name(), "bolt://"), Store: p.store, Backup: embedded.Backup,
		Builds: p.runner != nil, Log: p.log,
		Imported: func() {
			p.log.Info("an import has ended")
			if p.runner != nil {
				// Without the lease the jobs run when this process gets it.
				_ = p.runner.Trigger(materialize.Request{})
			}
		},
	})
}
