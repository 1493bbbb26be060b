package selection

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/texts"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/fold"
	"vitrine/rules/label"
	"vitrine/rules/mark"
	"vitrine/rules/parallel"
	"vitrine/rules/raw"
)

// mostValues is how many values a facet has at most, beside those that are active. The rest
// have the fewest items.
const mostValues = 100

// Facets counts what was asked for, each facet under all filters but its own. With chosen
// they have the chosen values of other filters as well. They are counted on several processors.
func (l *Selection) Facets(ctx context.Context, chosen bool) ([]page.Facet, error) {
	names := slices.DeleteFunc(slices.Clone(l.Query[params.Facets]), func(name string) bool { return name == params.None })
	asked := len(names)
	for _, name := range params.Filters() {
		if chosen && l.chosen[name] != nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if _, err := l.Selected(ctx, ""); err != nil { // now it is known to all facets
		return nil, err
	}
	all, errs := make([]page.Facet, len(names)), make([]error, len(names))
	workers := min(fair.Workers(ctx), len(names))
	parallel.Split(workers, workers, func(first, _, _ int) {
		for i := first; i < len(names); i += workers {
			all[i].Name = names[i]
			all[i].Values, errs[i] = l.Values(ctx, names[i])
		}
	})
	for i := asked; i < len(all); i++ {
		all[i].Values = slices.DeleteFunc(all[i].Values, func(v page.FacetValue) bool { return !v.Active })
	}
	return all, cmp.Or(errs...)
}

// Values counts the rows by the values of a filter in their natural order: years from the
// last on, all others by count and then by label.
func (l *Selection) Values(ctx context.Context, name string) ([]page.FacetValue, error) {
	selected, err := l.Selected(ctx, name)
	if err != nil {
		return nil, err
	}
	found, err := selected.Facet(ctx, l.pathOf(name))
	if err != nil {
		return nil, err
	}
	isYear, chosen := name == params.Year, l.Query[name]
	if !isYear {
		found = frequent(found, chosen)
	}
	counted, err := l.labelled(ctx, found, name)
	if err != nil {
		return nil, err
	}
	if isYear {
		slices.Reverse(counted)
	} else {
		slices.SortStableFunc(counted, func(a, b part) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.key, b.key)) })
	}
	all, rest := []page.FacetValue{}, selected.Count()
	for i, p := range counted {
		rest -= p.Count
		if isYear || i < mostValues || p.Active {
			all = append(all, p.FacetValue)
		}
	}
	if missing := slices.Contains(chosen, params.Missing); isYear && (rest > 0 || missing) {
		all = append(all, page.FacetValue{Value: params.Missing, Label: l.missing(name), Count: rest, Active: missing})
	}
	for _, value := range chosen { // ranges of years, and what no row has
		if slices.ContainsFunc(all, func(v page.FacetValue) bool { return v.Value == value }) {
			continue
		}
		one := page.FacetValue{Value: value, Label: l.Label(name, value, nil), Active: true}
		if from, to, _ := params.Years(value); isYear { // checked when it was read
			one.Label = strings.ReplaceAll(value, "..", "–")
			for _, p := range counted {
				if year, _, ok := params.Years(p.Value); ok && from <= year && year <= to {
					one.Count += p.Count
				}
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// Names counts the rows by all values of a filter, in the order of their names.
func (l *Selection) Names(ctx context.Context, name string) (all []Name, err error) {
	selected, err := l.Selected(ctx, "")
	if err != nil {
		return nil, err
	}
	parts, err := l.parts(ctx, selected, level{name: name, ascending: true})
	for _, p := range parts {
		if p.where != nil {
			all = append(all, Name{p.FacetValue, p.key})
		}
	}
	return all, err
}

// Name is a value of a filter with what its name is sorted by: see fold.Key.
type Name struct {
	page.FacetValue
	Key string
}

// missing is the label of the rows without a value.
func (l *Selection) missing(name string) string {
	title := "other"
	if name == params.Year {
		title = "no-year"
	}
	return texts.In(l.Query.Text(params.Lang)).T(title)
}

// frequent returns the values that a facet can show: those with the most rows, all that have
// as many as the last of these, and chosen ones. To label the others would take most of the
// time of a facet.
func frequent(found []index.Group, chosen []string) []index.Group {
	if len(found) <= mostValues {
		return found
	}
	counts := make([]int, len(found))
	for i, v := range found {
		counts[i] = v.Count
	}
	slices.Sort(counts)
	least := counts[len(counts)-mostValues]
	return slices.DeleteFunc(found, func(v index.Group) bool {
		return v.Count < least && !slices.Contains(chosen, display.Text(v.Value))
	})
}

// labelled returns the parts of a selection by the values of a filter, in their order.
func (l *Selection) labelled(ctx context.Context, found []index.Group, name string) ([]part, error) {
	all := make([]part, 0, len(found)+1)
	for _, v := range found {
		if err := fair.TurnOf(ctx).Check(ctx); err != nil {
			return nil, err
		}
		text := display.Text(v.Value)
		value := page.FacetValue{Value: text, Label: l.Label(name, text, v.Sample), Count: v.Count, Active: slices.Contains(l.Query[name], text)}
		all = append(all, part{value, fold.Key(value.Label), v.Value})
	}
	return all, nil
}

// labelSets are the labels of types, by view.
var labelSets = map[string]string{rules.ViewActivities: label.ActivityType, rules.ViewProjects: label.ProjectType}

// Label returns the name of a filter's value in the language of the answer. Names of what
// has a record are those of the mark of a row that has the value.
func (l *Selection) Label(name, value string, row bson.Raw) string {
	lang := l.Query.Text(params.Lang)
	switch name {
	case params.Type:
		return l.Labels.Label(labelSets[l.View], value, lang)
	case params.Subtype:
		if text, ok := l.Labels.Lookup(label.ActivitySubtype, raw.StringField(mark.Of(row), "type")+"/"+value, lang); ok {
			return text
		}
	case params.Unit, params.Person, params.Project, params.Topic:
		if text := NameOf(Known(mark.Of(row), name, value), lang); text != "" {
			return text
		}
	}
	return value
}

// Known returns what a mark has of a unit, person, project or topic; empty if it has nothing.
func Known(about bson.Raw, kind, id string) bson.Raw {
	for _, list := range []string{kind + "s", "above"} { // the units above are in the second
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
