package selection

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/texts"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/fold"
	"vitrine/rules/label"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// Facet is how many items a list would have by each value of a filter.
type Facet struct {
	Name   string
	Values []Value
}

// Value is a value of a facet. One that is chosen is active.
type Value struct {
	Value  string `json:"value"`
	Label  string `json:"label"`
	Count  int    `json:"count"`
	Active bool   `json:"-"`

	key  string        // the label as it is sorted
	mark bson.RawValue // as marks have it; null: the rows without one
}

// mostValues is how many values a facet has at most, beside those that are active. The rest
// have the fewest items.
const mostValues = 100

// Facets counts what was asked for, each facet under all filters but its own. With chosen
// they have the chosen values of other filters as well.
func (l *Selection) Facets(ctx context.Context, chosen bool) ([]Facet, error) {
	var all []Facet
	names := slices.DeleteFunc(slices.Clone(l.Query[params.Facets]), func(name string) bool { return name == params.None })
	for _, name := range params.Filters() {
		if chosen && l.chosen[name] != nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		values, err := l.Values(ctx, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(l.Query[params.Facets], name) {
			values = slices.DeleteFunc(values, func(v Value) bool { return !v.Active })
		}
		all = append(all, Facet{name, values})
	}
	return all, nil
}

// Values counts the rows by the values of a filter in their natural order: years from the
// last on, all others by count and then by label.
func (l *Selection) Values(ctx context.Context, name string) ([]Value, error) {
	selected, err := l.Selected(ctx, name)
	if err != nil {
		return nil, err
	}
	all, err := l.counted(ctx, selected, name, l.pathOf(name))
	if err != nil {
		return nil, err
	}
	chosen := l.Query[name]
	if name == params.Year {
		slices.Reverse(all)
		rest := selected.Count()
		for _, v := range all {
			rest -= v.Count
		}
		if rest > 0 {
			all = append(all, Value{Value: params.Missing, Label: l.without(name), Count: rest, Active: slices.Contains(chosen, params.Missing)})
		}
	} else {
		slices.SortStableFunc(all, func(a, b Value) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.key, b.key)) })
		n := 0
		all = slices.DeleteFunc(all, func(v Value) bool { n++; return n > mostValues && !v.Active })
	}
	for _, value := range chosen { // ranges of years, and what no row has
		if !slices.ContainsFunc(all, func(v Value) bool { return v.Value == value }) {
			all = append(all, Value{Value: value, Label: strings.ReplaceAll(value, "..", "–"), Count: within(all, name, value), Active: true})
		}
	}
	return all, nil
}

// counted returns the values at a path of a filter in a selection, in MongoDB's order.
func (l *Selection) counted(ctx context.Context, selected view.Selection, name, path string) ([]Value, error) {
	found, err := selected.Facet(ctx, path)
	all := make([]Value, 0, len(found)+1)
	for _, v := range found {
		text := display.Text(v.Value)
		label := l.Label(name, text, v.Sample)
		all = append(all, Value{text, label, v.Count, slices.Contains(l.Query[name], text), strings.Join(fold.Words(label), " "), v.Value})
	}
	return all, err
}

// within counts the items in a range of years.
func within(all []Value, name, value string) (count int) {
	from, to, ok := params.Years(value)
	for _, v := range all {
		if year, _, single := params.Years(v.Value); name == params.Year && ok && single && from <= year && year <= to {
			count += v.Count
		}
	}
	return count
}

// labelSets are the labels of types, by view.
var labelSets = map[string]string{rules.ViewActivities: label.ActivityType, rules.ViewProjects: label.ProjectType}

// Label returns the name of a filter's value in the language of the answer. Names of what
// has a record are those of the mark of a row that has the value.
func (l *Selection) Label(name, value string, row bson.Raw) string {
	lang, about := l.Query.Text(params.Lang), mark.Of(row)
	switch name {
	case params.Type:
		return l.Labels.Label(labelSets[l.View], value, lang)
	case params.Subtype:
		kind, _ := about.Lookup("type").StringValueOK()
		if text, ok := l.Labels.Lookup(label.ActivitySubtype, kind+"/"+value, lang); ok {
			return text
		}
	case params.Unit, params.Person, params.Project, params.Topic:
		if text := NameOf(Known(about, name, value), lang); text != "" {
			return text
		}
	}
	return value
}

// Known returns what a mark has of a unit, person, project or topic; empty if it has nothing.
func Known(about bson.Raw, kind, id string) bson.Raw {
	for _, list := range []string{kind + "s", map[string]string{params.Unit: "above"}[kind]} {
		for one := range mark.Entries(about, list) {
			if raw.StringField(one, "id") == id || raw.StringField(one, "orcid") == id {
				return one
			}
		}
	}
	return nil
}

// NameOf is the name of what Known found, in a language; empty if it has none.
func NameOf(one bson.Raw, lang string) string {
	for _, field := range []string{"name_" + lang, "name", "title", "name_de"} {
		if text := raw.StringField(one, field); text != "" {
			return text
		}
	}
	return ""
}

// without is the title of what has no value of a filter.
func (l *Selection) without(name string) string {
	ours := texts.In(l.Query.Text(params.Lang))
	if name == params.Year {
		return ours.T("no-year")
	}
	return ours.T("other")
}
