package main

import (
	"maps"
	"slices"

	"vitrine/proxy/fields"
	"vitrine/rules"
)

// listed are the views whose rows have the mark of being public. Package mark writes that mark; the other views are
// of no list.
var listed = []string{rules.ViewActivities, rules.ViewProjects, rules.ViewPersons, rules.ViewEvents}

// fieldUses returns the fields of records that given settings name. A default may name a field that an institute
// lacks, so settings with their default are left out. Package fields reports those that no record has: a misspelled
// field is no error anywhere else, it only selects nothing.
func fieldUses(cfg settings) (all []fields.Use) {
	add := func(setting string, views []string, paths ...string) {
		for _, path := range paths {
			all = append(all, fields.Use{Setting: setting, Path: path, Views: views})
		}
	}
	activities := []string{rules.ViewActivities}
	if cfg.Lists.Enabled {
		if cfg.Given("lists.public") && cfg.public.Public != nil {
			add("lists.public", listed, cfg.public.Public.Fields()...)
		}
		for _, name := range slices.Sorted(maps.Keys(cfg.Lists.Named)) {
			l := cfg.Lists.Named[name]
			if l.Filter == "" {
				continue
			}
			if f, err := parseListFilter(l.Filter); err == nil { // package proxy/lists reports the error
				add("lists.named."+name+".filter", []string{l.View}, f.Fields()...)
			}
		}
	}
	// A type is a value and not a field: the use says so by Value.
	for _, name := range slices.Sorted(maps.Keys(cfg.Access.Types)) {
		if setting := "access.types." + name; cfg.Given(setting) { // the database has types without records, too
			all = append(all, fields.Use{Setting: setting, Path: "type", Value: name, Views: activities})
		}
	}
	if cfg.Given("affiliation.fields") {
		for _, field := range cfg.Affiliation.Fields {
			add("affiliation.fields", activities, "authors."+field)
		}
	}
	if cfg.Given("catalog.topics_path") {
		add("catalog.topics_path", activities, cfg.Catalog.TopicsPath)
	}
	if cfg.Materialize.ChangedField != "" {
		add("materialize.changed_field", listed, cfg.Materialize.ChangedField)
	}
	return all
}
