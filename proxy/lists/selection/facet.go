package selection

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/texts"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/fold"
	"vitrine/rules/label"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// mostValues is the limit on a facet's values, not counting active ones. Values with more rows come first. A menu
// with more is no help to a reader, who can search instead.
const mostValues = 100

// Facet has the values by which readers can narrow a list. Values is not nil, also without values.
type Facet struct {
	Name   string // the parameter
	Values []Choice
}

// Choice is a value of a facet. It is active if the request has it, and fixed if it is the list's frame, so that
// readers cannot take it away. Several values of a frame are one fixed choice, beside those that readers have.
type Choice struct {
	Value string `json:"value"`
	Label string `json:"label"`
	// number of rows under all other choices; what the list would have with this value alone in its filter
	Count  int  `json:"count"`
	Fixed  bool `json:"fixed,omitempty"`
	Active bool `json:"-"`

	SortKey string `json:"-"` // sort key of the label, see fold.Key
	rank    int    // place of a type among the types
}

// Facets counts the facets of the query, each within the frame and under all the reader's choices but its own, and
// with chosen adds other active values: filters without a facet that the reader must be able to take back.
func (m *Matches) Facets(ctx context.Context, chosen bool) (all []Facet, err error) {
	names := m.Query[params.Facets]
	for i, name := range slices.Concat(names, params.Filters()) {
		other := i >= len(names)
		if name == params.None || other && (!chosen || len(m.Query.Both(name)) == 0 || slices.Contains(names, name)) {
			continue
		}
		values, err := m.Values(ctx, name)
		if err != nil {
			return nil, err
		}
		if other {
			values = slices.DeleteFunc(values, func(v Choice) bool { return !v.Active })
		}
		all = append(all, Facet{name, values})
	}
	return all, nil
}

// Values counts the rows by the values of a filter: years descending, all others by count and then by label. Years
// are all returned, since a list has few; of the others, those with the most rows and the active ones.
func (m *Matches) Values(ctx context.Context, name string) ([]Choice, error) {
	found, rows, err := m.facetOf(ctx, name)
	if err != nil {
		return nil, err
	}
	isYear, chosen := name == params.Year, m.Query.Both(name)
	if !isYear {
		if found, err = frequent(ctx, found, chosen); err != nil {
			return nil, err
		}
	}
	counted, err := m.choices(ctx, found, name)
	if err != nil {
		return nil, err
	}
	if isYear {
		slices.Reverse(counted)
	} else {
		err := fair.Sort(ctx, counted, func(a, b Choice) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.SortKey, b.SortKey))
		})
		if err != nil {
			return nil, err
		}
	}
	// Each row has one year at most, so what is left after all years has none.
	all, rest := []Choice{}, rows
	for i, p := range counted {
		rest -= p.Count
		if isYear || i < mostValues || p.Active {
			all = append(all, p)
		}
	}
	if missing := slices.Contains(m.narrowed[name], params.Missing); isYear && (rest > 0 || missing) {
		all = append(all, Choice{Value: params.Missing, Label: m.missingLabel(name), Count: rest, Active: missing})
	}
	for _, value := range m.narrowed[name] { // add ranges of years, and values that no row has
		if !slices.ContainsFunc(all, func(v Choice) bool { return v.Value == value }) {
			all = append(all, m.unlisted(name, value, counted))
		}
	}
	return m.markFrame(name, all, counted, rows), nil
}

// unlisted returns the choice of a value that is not among those counted: a range of years, whose count is the sum
// of its years, or a value that no row has under the other choices.
func (m *Matches) unlisted(name, value string, counted []Choice) Choice {
	one := Choice{Value: value, Label: m.labelOf(name, value, counted), Active: true}
	if name != params.Year {
		return one
	}
	from, to, _ := params.Years(params.Calendar(value, m.Year)) // Parse has checked the value
	for _, p := range counted {
		if year, _, ok := params.Years(p.Value); ok && from <= year && year <= to {
			one.Count += p.Count
		}
	}
	return one
}

// labelOf returns the label of a value that may be among those counted, or a range of years.
func (m *Matches) labelOf(name, value string, counted []Choice) string {
	i := slices.IndexFunc(counted, func(v Choice) bool { return v.Value == value })
	switch {
	case i >= 0:
		return counted[i].Label
	case name == params.Year && value == params.Missing:
		return m.missingLabel(name)
	case name == params.Year:
		return strings.ReplaceAll(params.Calendar(value, m.Year), "..", "–")
	}
	return m.Label(name, value, nil)
}

// mostNamed is the most values of a frame that its choice names. A frame may have hundreds of values.
const mostNamed = 5

// markFrame marks the choice that is the frame as fixed, or puts one before the others. All counted rows are in the
// frame.
func (m *Matches) markFrame(name string, all, counted []Choice, rows int) []Choice {
	frame := m.frame[name]
	if len(frame) == 0 {
		return all
	}
	// A frame of one value is that value among the others, not to be taken away.
	if i := slices.IndexFunc(all, func(v Choice) bool { return v.Value == frame[0] }); i >= 0 && len(frame) == 1 {
		all[i].Active, all[i].Fixed = true, true
		return all
	}
	whole := Choice{Value: frame[0], Count: rows, Fixed: true, Active: true}
	if len(frame) > 1 {
		whole.Value = m.frame.FormValue(name)
	}
	var labels []string
	for _, value := range frame[:min(len(frame), mostNamed)] {
		labels = append(labels, m.labelOf(name, value, counted))
	}
	if len(frame) > mostNamed {
		labels = append(labels, "…")
	}
	whole.Label = strings.Join(labels, ", ")
	return append([]Choice{whole}, all...)
}

// facetOf counts the rows by the values of a filter, ignoring what the reader has chosen in it, and all these rows.
// If together has counted them, it reads nothing.
func (m *Matches) facetOf(ctx context.Context, name string) (found []index.Group, rows int, err error) {
	if known, ok := m.others[name]; ok {
		return known.found, known.rows, nil
	}
	selected, err := m.Selected(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	found, err = m.facet(ctx, selected, pathOf(m.Query, name))
	return found, selected.Count(), err
}

// facet counts selected rows by the values at a path in marks. A Sample has what Label reads. The counts of all
// selected rows are kept, because a list may show them and be divided by them.
func (m *Matches) facet(ctx context.Context, selected view.Selection, path string) (found []index.Group, err error) {
	// Facets under other filters are not kept: each is asked for once.
	whole := selected == m.whole
	if found, known := m.counts[path]; known && whole {
		return found, nil
	}
	all, err := selected.Facets(ctx, index.FacetsAt(path), facetFields(path)...)
	if err != nil {
		return nil, err
	}
	if whole {
		m.counts[path] = all[0]
	}
	return all[0], nil
}

// facetFields returns the fields of rows that a facet and its labels need: a store sends only these of each sample.
func facetFields(path string) []string {
	// Two steps, the mark and its field, because a label is in another field of a list's entry than the value.
	fields := []string{raw.PathOf(path).First(2).String()}
	switch path {
	case mark.Subtype:
		fields = append(fields, mark.Type)
	case mark.In:
		fields = append(fields, mark.Units, mark.Above)
	}
	return fields
}

// Names counts the rows by all values of a filter, in the order of their names. Unlike Values it has no limit: the
// index of lists and the chart show all values.
func (m *Matches) Names(ctx context.Context, name string) (all []Choice, err error) {
	selected, err := m.Selected(ctx, "")
	if err != nil {
		return nil, err
	}
	parts, err := m.parts(ctx, selected, level{name: name, ascending: true})
	for _, p := range parts[:max(len(parts)-1, 0)] { // the last part has the rows without a value
		all = append(all, p.Choice)
	}
	return all, err
}

// Accessible counts the matching rows that are open access, by year as facets have it.
func Accessible(ctx context.Context, m *Matches) (map[string]int, error) {
	selected, err := m.Selected(ctx, "")
	if err != nil {
		return nil, err
	}
	open, err := selected.Narrow(ctx, filter.OneOf(mark.OA, "1"), view.Uncounted)
	if err != nil {
		return nil, err
	}
	found, err := m.facet(ctx, open, mark.Year)
	if err != nil {
		return nil, err
	}
	all := map[string]int{}
	for _, year := range found {
		all[display.Text(year.Value)] = year.Count
	}
	return all, nil
}

// Distinct returns the number of values that Names returns, without their labels.
func (m *Matches) Distinct(ctx context.Context, name string) (int, error) {
	selected, err := m.Selected(ctx, "")
	if err != nil {
		return 0, err
	}
	found, err := m.facet(ctx, selected, paths[name])
	return len(found), err
}

// missingLabel returns the title of the rows without a value, in the language of the query.
func (m *Matches) missingLabel(name string) string {
	title := "other"
	if name == params.Year {
		title = "no-year"
	}
	return texts.In(m.Query.Text(params.Lang)).T(title)
}

// frequent returns the values that a facet can show: those with the most rows, including ties, and the chosen ones.
// Labelling the others would take most of a facet's time. Ties stay, because only their labels decide between them.
func frequent(ctx context.Context, found []index.Group, chosen []string) ([]index.Group, error) {
	if len(found) <= mostValues {
		return found, nil
	}
	counts := make([]int, len(found))
	for i, v := range found {
		counts[i] = v.Count
	}
	if err := fair.Sort(ctx, counts, cmp.Compare[int]); err != nil {
		return nil, err
	}
	// This is the count of the last value that fits, so all with more rows fit, too.
	least := counts[len(counts)-mostValues]
	return slices.DeleteFunc(slices.Clone(found), func(v index.Group) bool {
		return v.Count < least && !slices.Contains(chosen, display.Text(v.Value))
	}), nil
}

// choices returns counted values with their labels and sort keys, in the same order. It gives way to other requests
// between values.
func (m *Matches) choices(ctx context.Context, found []index.Group, name string) ([]Choice, error) {
	all := make([]Choice, len(found))
	for i, v := range found {
		if err := fair.TurnOf(ctx).Check(ctx); err != nil {
			return nil, err
		}
		// Values of parameters are texts, so a number in a mark is compared as its text.
		text := display.Text(v.Value)
		active := slices.Contains(m.narrowed[name], text)
		all[i] = Choice{Value: text, Label: m.Label(name, text, v.Sample), Count: v.Count, Active: active}
		all[i].SortKey, all[i].rank = fold.Key(all[i].Label), m.Labels.Rank(m.code(name, text, v.Sample))
	}
	return all, nil
}

// labelSets has the label set for types in each view.
var labelSets = map[string]string{rules.ViewActivities: label.ActivityType, rules.ViewProjects: label.ProjectType}

// code returns the label set and the code of a type or subtype, or no set for other filters. A subtype has its type
// in its code, "publication/article", since types may have subtypes of one name.
func (m *Matches) code(name, value string, row bson.Raw) (set, code string) {
	switch name {
	case params.Type:
		return labelSets[m.View], value
	case params.Subtype:
		return label.ActivitySubtype, raw.StringField(mark.Of(row), "type") + "/" + value
	}
	return "", value
}

// Label returns the name of a filter's value. Names of units, persons, projects, topics and keywords come from a
// row's mark: a keyword as that row writes it. row may be nil; a value without a name is its own label.
func (m *Matches) Label(name, value string, row bson.Raw) string {
	lang := m.Query.Text(params.Lang)
	switch name {
	case params.OA:
		return texts.In(lang).T("oa-" + value)
	case params.Type, params.Subtype:
		set, code := m.code(name, value, row)
		if text, ok := m.Labels.Lookup(set, code, lang); ok {
			return markup.Plain(text)
		}
	case params.Unit, params.Person, params.Project, params.Topic, params.Keyword:
		if text := NameOf(Known(mark.Of(row), name, value), lang); text != "" {
			return text
		}
	}
	return value
}

// Known returns the entry of a unit, person, project, topic or keyword in a mark, or nil. A person may be named by
// username or ORCID. The result refers to the memory of the mark.
func Known(about bson.Raw, kind, id string) bson.Raw {
	for _, list := range []string{kind + "s", "above"} { // the second list has the units above
		for one := range mark.Entries(about, list) {
			if raw.StringField(one, "id") == id || raw.StringField(one, "orcid") == id {
				return one
			}
		}
	}
	return nil
}

// NameOf returns the name in an entry from Known, in a language, or "". A name in another language is better than
// none.
func NameOf(one bson.Raw, lang string) string {
	for _, field := range []string{"name_" + lang, "name", "title", "name_de"} {
		if text := raw.StringField(one, field); text != "" {
			return text
		}
	}
	return ""
}
