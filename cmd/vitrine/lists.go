package main

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/label"
	"vitrine/rules/mark"
	"vitrine/rules/osiris"
	"vitrine/rules/records"
)

// publicRule compiles the rule by which rows are marked for lists. If lists are disabled, no record is public, so
// that no row has a mark. $nor of a filter that matches everything matches nothing. A rule that matches nothing,
// and not a nil one, turns lists off: jobs then remove the marks of earlier runs from the rows.
func publicRule(cfg configs.Lists) (*filter.Filter, error) {
	text := cfg.Public
	if !cfg.Enabled {
		text = `{"$nor": [{}]}`
	}
	public, err := parseListFilter(text)
	if err != nil {
		return nil, configs.Wrong("lists.public", "%v", err)
	}
	return public, nil
}

// parseListFilter refuses a filter that depends on the time: rows and kept answers do not change with it. HexIDs
// lets a filter name an ObjectID by its text, as URLs do.
func parseListFilter(text string) (*filter.Filter, error) {
	f, err := filter.Parse([]byte(text), filter.Options{HexIDs: true})
	if err == nil && !f.Until().IsZero() {
		return nil, errors.New("may not use $$NOW")
	}
	if wrong := (*rules.Error)(nil); errors.As(err, &wrong) {
		// without the parameter: the caller names the setting
		err = &rules.Error{Kind: wrong.Kind, Where: wrong.Where, Reason: wrong.Reason}
	}
	return f, err
}

// marked returns a job whose rows have marks, by the lists and the portal of the database as they are in each run.
// The options are made anew in each run, because the rule, the portal's switches and the year change while jobs
// exist. Hidden fields are stripped before a record is judged, so that no list shows by its choice what its rows
// hide.
func (i *institute) marked(job materialize.Job) materialize.Job {
	var settings []string
	if i.database != nil && job.View == rules.ViewActivities {
		settings = osiris.ForPortal()
	}
	if job.View == rules.ViewActivities {
		job.Codes = i.codes
	}
	return materialize.MarkedBy(job, settings, func(docs materialize.Deps) mark.Options {
		l := i.loaded.Load()
		o := mark.Options{
			Public: l.public.Public, Topics: l.Catalog.TopicsPath, Now: time.Now().In(i.zone),
			Visible: i.hidden.Strip, Cited: i.citing(docs["organizations"]),
			Rules: i.cite.Fingerprint + " " + l.styles.Fingerprint(),
			Finish: func(view string, made bson.Raw) (bson.Raw, error) {
				return l.styles.Finish(i.cite.View(view), made)
			},
		}
		if i.database != nil && l.Lists.Portal {
			o.Portal = &mark.Portal{} // whose switches of persons concern all views
			if settings != nil && docs != nil {
				o.Portal.Activities = i.database.Portal(docs).Shown()
			}
		}
		return o
	})
}

// codes returns the codes of types that mean something: those in an OSIRIS database, or else those that have labels
// or that citations know. docs are what the job of activities reads besides the records.
func (i *institute) codes(docs materialize.Deps) records.Codes {
	c := records.Codes{Subtypes: map[string][]string{}}
	if i.database != nil {
		stored := osiris.From(docs).Render
		for _, category := range stored.Categories {
			c.Types = append(c.Types, category.ID)
		}
		for _, t := range stored.Types {
			c.Subtypes[t.Parent] = append(c.Subtypes[t.Parent], t.ID)
		}
		return c
	}
	labels := i.loaded.Load().labels
	byType, works := i.cite.Codes()
	c.Works = works
	c.Types = slices.Sorted(maps.Keys(labels[label.ActivityType]))
	c.Types = append(c.Types, slices.Collect(maps.Keys(byType))...)
	slices.Sort(c.Types)
	c.Types = slices.Compact(c.Types)
	for code := range labels[label.ActivitySubtype] {
		for _, t := range c.Types {
			if subtype, ok := strings.CutPrefix(code, t+"/"); ok {
				c.Subtypes[t] = append(c.Subtypes[t], subtype)
			}
		}
	}
	for _, subtypes := range c.Subtypes {
		slices.Sort(subtypes)
	}
	return c
}

// shownBy returns what lists show of the database's portal, or nil if they do not follow it.
func (s settings) shownBy(lists configs.Lists) *mark.Portal {
	if !lists.Portal || s.Preset != "osiris" {
		return nil
	}
	return &mark.Portal{Activities: s.portal.Shown()}
}

// citing returns the function that returns what citations show of a record. The rows of projects have the names of
// organizations, which their records lack. The directory of organizations is made once a run, not once a row.
func (i *institute) citing(organizations []bson.Raw) func(view string, record, about bson.Raw) mark.Citation {
	names := display.NewDirectory(organizations, nil)
	return func(view string, record, about bson.Raw) mark.Citation {
		if view == rules.ViewProjects {
			record, _ = names.Row(record)
		}
		return i.cite.View(view).Cited(record, about)
	}
}
