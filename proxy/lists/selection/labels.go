package selection

import (
	"context"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/params"
	"vitrine/rules/display"
	"vitrine/rules/fold"
	"vitrine/rules/label"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/person"
	"vitrine/rules/raw"
)

// read reads the values of a filter and their labels. A view in the store is asked for them by one query. More than
// mostTabled values make the zero table, in which every text is a value.
func (v *Values) read(ctx context.Context, snap *view.Snapshot, name string) (*table, error) {
	path := paths[name]
	if name == params.Unit {
		path = mark.In // also the units above those of records
	}
	selected, err := snap.SelectUncounted(ctx, v.public)
	if err != nil {
		return nil, err
	}
	found, err := selected.Facets(ctx, index.FacetsAt(path), facetFields(path)...)
	if err != nil {
		return nil, err
	}
	if len(found[0]) > mostTabled {
		return &table{}, nil
	}
	t := &table{
		values: map[string]bool{}, keys: map[string][]string{}, labels: map[string][]string{},
		commas: map[string]bool{}, keywords: name == params.Keyword,
	}
	for _, group := range found[0] {
		if err := fair.TurnOf(ctx).Check(ctx); err != nil {
			return nil, err
		}
		// A clone, because the table may outlive the snapshot.
		t.enter(name, strings.Clone(display.Text(group.Value)), group.Sample)
	}
	v.addTypes(t, snap.Meta().View, name)
	err = fair.Sort(ctx, t.phrases, strings.Compare)
	t.phrases = slices.Compact(t.phrases)
	return t, err
}

// enter adds a value with the names that the mark of a row has for it. It copies texts of the row, because the table
// may outlive the snapshot.
func (t *table) enter(name, value string, row bson.Raw) {
	t.values[value] = true
	t.suggest(value)
	t.phrase(value)
	if name == params.Keyword { // compared by keyword.Key, which tells C++ from C
		t.phrase(raw.StringField(Known(mark.Of(row), name, value), "name"))
		return
	}
	add(t.keys, value, value)
	if !slices.Contains([]string{params.Unit, params.Person, params.Project, params.Topic}, name) {
		return // types have their labels from elsewhere
	}
	one := Known(mark.Of(row), name, value)
	if orcid := raw.StringField(one, "orcid"); orcid != "" {
		t.values[strings.Clone(orcid)] = true
	}
	// These are the fields of an entry that pages show, see NameOf: a reader may copy any of them.
	for _, field := range []string{"name", "name_de", "title"} {
		text := strings.Clone(raw.StringField(one, field))
		if text == "" {
			continue
		}
		t.label(text, value)
		if name == params.Person {
			add(t.labels, spoken(text), value)
			t.phrase(spoken(text))
		}
	}
}

// label adds a label of a value.
func (t *table) label(text, value string) {
	add(t.labels, text, value)
	t.phrase(text)
	if text != value {
		t.suggest(text)
	}
}

// suggest adds a word that may be suggested, unless there are many, or it is long: near compares an unknown text
// with each of them.
func (t *table) suggest(word string) {
	if len(t.words) < mostWords && len(word) <= longestWord {
		t.words = append(t.words, word)
	}
}

// phrase adds a text that requests may write in several parts, since commas separate values. Of one word there are
// no parts.
func (t *table) phrase(text string) {
	key := fold.Key(text)
	if strings.Count(key, " ") < 2 { // one word
		return
	}
	t.phrases = append(t.phrases, key)
	if strings.Contains(text, ",") {
		t.commas[key] = true
	}
}

// spoken returns a name of an index, "Costa, Paul T., Jr.", as it is spoken, "Paul T. Costa Jr.".
func spoken(name string) string {
	var p person.Person
	p.Family, p.Given, _ = strings.Cut(name, ", ")
	p.Given, p.Suffix, _ = strings.Cut(p.Given, ", ")
	return p.Name()
}

// addTypes adds the labels of types and subtypes in all languages. Unlike other labels, they come from the rules of
// the view and not from rows. Only types that public rows have get labels, so that a label finds something.
func (v *Values) addTypes(t *table, view, name string) {
	set := labelSets[view]
	switch name {
	case params.Subtype:
		set = label.ActivitySubtype
	case params.Type:
	default:
		return
	}
	for _, code := range slices.Sorted(maps.Keys(v.labels[set])) {
		names := v.labels[set][code]
		// A label of a subtype stands for the subtype under any type.
		value := code[strings.LastIndexByte(code, '/')+1:] // "publication/article"
		if !t.values[value] {
			continue
		}
		for _, text := range []string{names.EN, names.DE} {
			if text = markup.Plain(text); text != "" {
				t.label(text, value)
			}
		}
	}
}
