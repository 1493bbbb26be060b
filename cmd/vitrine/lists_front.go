package main

import (
	"maps"
	"slices"

	"vitrine/configs"
	proxylists "vitrine/proxy/lists"
	"vitrine/rules/cite"
)

// listOptions copies what the public lists need out of the configuration.
func listOptions(cfg configs.Lists, rules *cite.Rules) proxylists.Options {
	o := proxylists.Options{Enabled: cfg.Enabled, BaseURL: cfg.BaseURL, Links: proxylists.Links(cfg.Links), Cite: rules}
	for _, slug := range slices.Sorted(maps.Keys(cfg.Named)) {
		l := cfg.Named[slug]
		o.Named = append(o.Named, proxylists.Definition{
			Slug: slug, Title: map[string]string{"en": l.Title.In("en"), "de": l.Title.In("de")}, View: l.View, Filter: l.Filter,
			Group: l.Group, Style: l.Style, Sort: l.Sort, PageSize: l.PageSize, Facets: l.Facets, PageURL: l.PageURL, Links: proxylists.Links(l.Links),
		})
	}
	return o
}
