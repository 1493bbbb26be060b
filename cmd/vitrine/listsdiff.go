package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"vitrine/configs"
	"vitrine/proxy/admin"
	proxylists "vitrine/proxy/lists"
	"vitrine/rules"
	"vitrine/rules/mark"
	"vitrine/rules/suggest"
)

// listsDiffCommand compares the lists with those after a change. With an embedded store that a server has open, the
// server compares: it gets the changed file as the body of the request, because it may run as another user, which
// cannot read the operator's files.
func listsDiffCommand() *cobra.Command {
	var change admin.ListsChange
	var asJSON bool
	cmd := withConfig("lists diff", func(cmd *cobra.Command, args []string, cfg configs.Config) (err error) {
		if len(args) == 1 {
			change.FileName = args[0]
			if change.File, err = os.ReadFile(args[0]); err != nil {
				return err
			}
		}
		var answer admin.ListsDiff
		err = offline(cmd.Context(), cfg, func(p *program) (err error) {
			p.sources = sourcesOf(cmd, false)
			answer.Data, err = p.listsDiff(cmd.Context(), change)
			return err
		})
		q := url.Values{"public": {change.Public}, "list": {change.List}, "filter": {change.Filter}}
		err = orServed(cmd.Context(), cfg, err, "/admin/lists/diff?"+q.Encode(), change.File, &answer)
		switch {
		case err != nil:
			return err
		case asJSON:
			return printJSON(cmd.OutOrStdout(), answer.Data)
		}
		return errors.Join(printTable(cmd.OutOrStdout(), "lists diff", answer.Data),
			output.ExecuteTemplate(cmd.OutOrStdout(), "lists changes", answer.Data))
	}, "store", "admin.listen")
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.Flags().StringVar(&change.Public, "public", "", "`RULE` instead of lists.public")
	cmd.Flags().StringVar(&change.List, "list", "", "`NAME` of the list that --filter changes")
	cmd.Flags().StringVar(&change.Filter, "filter", "", "`FILTER` of that list; empty: all public records")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listsDiff compares the lists with those after a change. It also answers /admin/lists/diff. Nothing is changed:
// the new lists are compiled beside the ones in use, and both judge the same rows of the same snapshots.
func (p *program) listsDiff(ctx context.Context, c admin.ListsChange) ([]proxylists.Difference, error) {
	s := p.current()
	if !s.Lists.Enabled {
		return nil, rules.Wrongf("", "", "lists are disabled (lists.enabled is false): there is nothing to compare")
	}
	next, unjudged, err := s.changed(p.sources, c)
	if err == nil && c.File != nil {
		next.styles, err = p.institute.loadStyles(next.Lists)
	}
	was, lists, failed := p.compiled(s)
	will, after, invalid := p.compiled(next)
	if err = cmp.Or(err, failed, invalid); err != nil {
		return nil, rules.Wrongf("", "", "%v", err)
	}
	return lists.Diff(ctx, proxylists.Present{Views: p.views, Now: time.Now()}, after, was, will, unjudged)
}

// compiled returns the lists of settings and the rule by which their records are public. Mistakes in a list come
// from the same compiler as at a start, so the command is also a check of a changed file.
func (p *program) compiled(s settings) (rule mark.Rule, _ *proxylists.Lists, err error) {
	if rule.Public, err = publicRule(s.Lists); err != nil {
		return rule, nil, err
	}
	rule.Portal = s.shownBy(s.Lists)
	all, err := proxylists.New(
		proxylists.Options{Lists: s.Lists, Site: s.Site, Cite: p.institute.cite, Styles: s.styles},
		proxylists.Shared{
			Access: rightsOf(s), Language: s.Language, Labels: s.labels, Zone: p.institute.zone,
		})
	return rule, all, err
}

// changed returns changed settings, and the names of changed settings that count only once views are built by them.
// A file stands in for the configuration file; environment and flags still count above it. Of the settings in it
// only those of lists and types are compared. Others change the rows that jobs build, so they are named as not
// judged.
func (s settings) changed(sources configs.Sources, c admin.ListsChange) (_ settings, unjudged []string, err error) {
	if c.File != nil {
		sources.Text, sources.TextName = c.File, c.FileName
		next, err := configs.Load(sources)
		if err != nil {
			return s, nil, err
		}
		next = next.With(s.stored)
		unjudged = slices.DeleteFunc(s.Changed(next), func(path string) bool {
			return !slices.Contains([]string{"preset", "timezone", "access.anonymous", "access.hidden_fields",
				"catalog.topics_path", "rules.file", "rules.cite_file"}, path)
		})
		if s.Preset == "osiris" && s.Lists.Portal != next.Lists.Portal {
			// the marks of other records say which persons count
			unjudged = append(unjudged, "lists.portal, where persons switch off what their own lists have")
		}
		s.Lists, s.Access.Types = next.Lists, next.Access.Types
	}
	s.Lists.Public = cmp.Or(c.Public, s.Lists.Public)
	if c.List == "" {
		return s, unjudged, nil
	}
	before := s.Lists.Named[c.List]
	if before == nil {
		near := suggest.Hint(c.List, slices.Sorted(maps.Keys(s.Lists.Named)))
		return s, nil, fmt.Errorf("lists.named has no list %q%s", c.List,
			cmp.Or(near, "; a configuration file may add one"))
	}
	// Lists.Named belongs to the settings in use, so the changed list is in a copy of the map.
	one := *before
	one.Filter, s.Lists.Named = c.Filter, maps.Clone(s.Lists.Named)
	s.Lists.Named[c.List] = &one
	return s, unjudged, nil
}
