package main

import (
	"context"
	"fmt"
	"os"

	"vitrine/cache/origin"
	"vitrine/cache/origin/dump"
	"vitrine/configs"
)

// openDemo opens the demo's own file, whose content the demo replaces. It refuses a link, which may lead to a store
// with records.
//
// The path is that of demoValues in package configs, because store cannot be given with --demo.
func openDemo(ctx context.Context, cfg configs.Config) (origin.Store, error) {
	path := embeddedPath(cfg)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil,
			fmt.Errorf("%s, which --demo replaces, is not a regular file (%s): remove it, or start in another folder",
				path, info.Mode())
	}
	return openStore(ctx, cfg)
}

// loadDemo replaces the content of a store by the demo institute, so that every demo starts the same. Drop removes
// what the institute does not have, such as records that an earlier version of the demo had.
func loadDemo(ctx context.Context, store origin.Store) error {
	d, err := dump.OpenFS(configs.Demo(), ".", dump.Options{})
	if err != nil {
		return fmt.Errorf("demo institute: %w", err)
	}
	defer d.Close()
	if _, err := dump.Load(ctx, store, d, dump.LoadOptions{Drop: true}); err != nil {
		return fmt.Errorf("demo institute: %w", err)
	}
	return nil
}

// tour lists requests to try, by path and query. Each answer begins with ordinary records; TestTour checks that.
// They are escaped, because an operator pastes them into a shell or a browser.
var tour = []string{
	"/api/activities?limit=3",
	"/api/activities?columns[]=title&columns[]=year&filter[type]=publication&limit=3",
	"/api/activities?aggregate=type",
	"/api/activities?json=%7B%22year%22%3A%7B%22%24gte%22%3A2024%7D%7D&limit=3",
	"/api/html?limit=3",
	"/api/all-activities?page=portal",
	"/api/projects?limit=3",
	"/portfolio/spectrum?limit=3",
	"/api/levenshtein?title=Twilight+colors+over+fjords",
}
