package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"vitrine/cache/origin"
	"vitrine/configs"
	osirisdb "vitrine/materialize/osiris"
	"vitrine/rules/osiris"
	"vitrine/rules/render"
)

// osirisCommand prints what the preset osiris takes from the database, whether or not the preset is set, so that an
// operator sees it before setting that.
func osirisCommand() *cobra.Command {
	return withConfig("osiris", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		stored, err := readOsiris(cmd.Context(), cfg)
		if err != nil {
			return err
		}
		return printTable(cmd.OutOrStdout(), "osiris", stored)
	}, "store")
}

// readOsiris reads all settings in the database, with a warning for each record that cannot be used. No server can
// answer instead: it keeps only what it uses.
func readOsiris(ctx context.Context, cfg configs.Config) (stored osiris.Settings, err error) {
	rules, err := loadRules(cfg.Rules)
	if err != nil {
		return stored, err
	}
	err = withStore(ctx, cfg, func(store origin.Store) (err error) {
		stored, err = osirisdb.Read(ctx, store, append(osiris.ForAnswers(), osiris.ForRendering()...)...)
		return err
	})
	if errors.Is(err, origin.ErrLocked) {
		err = fmt.Errorf("%w; the running server has logged the settings that it ignores", err)
	}
	if err != nil {
		return stored, err
	}
	_, faults := rules.WithOsiris(stored.Render)
	stored.Warnings = append(stored.Warnings, faults...)
	// Faults of templates come after those of other records. Sorting puts the faults of one record together.
	slices.SortStableFunc(stored.Warnings, func(a, b render.Fault) int { return cmp.Compare(a.From, b.From) })
	return stored, nil
}
