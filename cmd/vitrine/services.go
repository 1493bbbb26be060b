package main

import (
	"fmt"
	"os"

	"vitrine/cache/citation"
	"vitrine/configs"
	labelsfile "vitrine/configs/labels"
	"vitrine/rules/label"
)

// loadLabels reads the built-in labels and those of the site's own, which are nil if it
// has none.
func loadLabels(cfg configs.Labels) (builtIn, own *label.Sets, err error) {
	if builtIn, err = label.Parse(labelsfile.Default()); err != nil || cfg.File == "" {
		return builtIn, nil, err
	}
	src, err := os.ReadFile(cfg.File)
	if err != nil {
		return nil, nil, fmt.Errorf("labels.file: %w", err)
	}
	own, err = label.Parse(cfg.File, src)
	return builtIn, own, err
}

// newCitations returns the client of the external citation index; nil if none is
// configured.
func newCitations(cfg configs.Citation) (*citation.Client, error) {
	if cfg.URL == "" {
		return nil, nil
	}
	return citation.New(citation.Options{
		BaseURL: cfg.URL, Lifetime: cfg.Lifetime, StaleFor: unlimited(cfg.Stale),
		MinInterval: unlimited(cfg.Interval), Timeout: cfg.Timeout,
	})
}
