package main

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"vitrine/cache/citation"
	"vitrine/configs"
	labelsfile "vitrine/configs/labels"
	"vitrine/rules/label"
)

// loadLabels reads the built-in labels and lays the site's own over them.
func loadLabels(cfg configs.Labels) (*label.Sets, error) {
	labels, err := label.Parse(labelsfile.Default())
	if err != nil || cfg.File == "" {
		return labels, err
	}
	src, err := os.ReadFile(cfg.File)
	if err != nil {
		return nil, fmt.Errorf("labels.file: %w", err)
	}
	own, err := label.Parse(cfg.File, src)
	if err != nil {
		return nil, err
	}
	return labels.With(own), nil
}

// newCitations makes the client of the external citation index; nil where none
// is configured.
func newCitations(cfg configs.Citation) (*citation.Client, error) {
	if cfg.URL == "" {
		return nil, nil
	}
	off := func(d time.Duration) time.Duration { return cmp.Or(d, -1) } // 0 turns off, which the client spells as less
	return citation.New(citation.Options{
		BaseURL: cfg.URL, Lifetime: cfg.Lifetime, StaleFor: off(cfg.Stale),
		MinInterval: off(cfg.Interval), Timeout: cfg.Timeout,
	})
}
