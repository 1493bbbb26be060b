package page

import (
	"slices"
	"strings"
)

// Field describes a parameter of lists for the builder of snippets: it accepts some Words, a number of a range or,
// with neither, any text. From and To are 0 if it has no range. It repeats params.Field, since this package knows
// no parameters.
type Field struct {
	Name     string
	Words    []string
	From, To int
	Many     bool // accepts several values
}

// formField is a field of the form. Kind is typed (several values with suggestions of a facet), chosen (records, which
// are found by their titles), flag, words (a menu), several (boxes), number or text.
type formField struct {
	Name, ID, Label, Kind, Facet string
	Value                        string  // of a flag that is on
	Options                      []Param // words and their labels
	From, To                     int
	Any                          string
	Of                           string // the lists for which the form shows it, see persons; if empty, all
	Ticked                       bool   // all boxes are ticked at first
}

// step has the fields of a step of the builder: those that an editor sees at once, and More.
type step struct{ Fields, More []formField }

// These divide the parameters by name. A new parameter without a place here is among the rarer ones of the look, with
// a field of the kind that its check needs.
var (
	// fields for which the builder suggests values, from the facets of the list
	typedFields = strings.Fields("year type subtype unit person project topic keyword")
	// fields of what is in a list, in their order: those that an editor sees at once, and the others
	mainContents = strings.Fields("person unit deep type year q ids ids-persons")
	moreContents = strings.Fields("keyword topic project subtype oa exclude exclude-persons not.type not.subtype " +
		"not.year not.person not.unit not.project not.topic not.keyword")
	// fields of its look that an editor sees at once
	mainLooks = strings.Fields("group group-2 group-persons sort sort-persons limit style lang show-persons numbered " +
		"jump pager")
	// notBuilt are parameters that are no choice of an editor, or that snippets have already.
	notBuilt = []string{"page", "title", "jsonld", "latex", "embed", "not.oa"}
)

// Lists of persons have fewer parameters than others; the form hides the rest, and shows it again for other lists.
var (
	// forAll are the parameters that mean the same in all lists.
	forAll = strings.Fields("unit deep not.unit q limit lang numbered jump pager counts h theme")
	// forPersons are parameters with a field of their own for lists of persons, and the words of that field, if it has
	// any. Those of show are what such a list shows by default.
	forPersons = map[string][]string{
		"ids": nil, "exclude": nil,
		"group": {"none", "unit"}, "sort": {"author", "-author", "-added"}, "facets": {"unit", "none"},
		"show": {"photo", "position", "units", "contact", "profiles"},
	}
)

// The values of formField.Of.
const persons, others = "persons", "others"

// fields divides the fields of the builder into its steps.
func (d *pageData) fields(all []Field) {
	byName := map[string]formField{}
	var looks []string
	add := func(name string, one formField) {
		byName[name] = one
		if !slices.Contains(slices.Concat(mainContents, moreContents, mainLooks, notBuilt), name) {
			looks = append(looks, name)
		}
	}
	for _, f := range all {
		words, twice := forPersons[f.Name]
		if f.Name == "show" { // without what only persons have
			own := func(word string) bool { return word == "none" || word != "units" && slices.Contains(words, word) }
			f.Words = slices.DeleteFunc(slices.Clone(f.Words), own)
		}
		one := d.formField(f)
		if !slices.Contains(forAll, f.Name) {
			one.Of = others
		}
		add(f.Name, one)
		// A list may be divided twice. The builder's script joins the values of both menus into one parameter.
		if f.Name == "group" { // the heading below it
			one.ID, one.Label = "group-2", d.T("group-2")
			add(one.ID, one)
		}
		if twice {
			f.Words = words
			add(f.Name+"-persons", d.fieldOfPersons(f))
		}
	}
	// A field that the server does not have is left out.
	pick := func(names []string) (some []formField) {
		for _, name := range names {
			if one, known := byName[name]; known {
				some = append(some, one)
			}
		}
		return some
	}
	d.Contents = step{pick(mainContents), pick(moreContents)}
	d.Looks = step{pick(mainLooks), pick(looks)}
}

// fieldOfPersons returns the field of a parameter for lists of persons.
func (d *pageData) fieldOfPersons(f Field) formField {
	one := d.formField(f)
	one.ID, one.Of, one.Ticked = one.ID+"-persons", persons, f.Name == "show"
	if f.Words == nil || one.Ticked {
		one.Label = d.T(f.Name + "-persons")
	}
	if f.Name == "sort" {
		for i, option := range one.Options {
			one.Options[i].Value = d.sortOfPersons(option.Name)
		}
	}
	return one
}

// formField returns the field of a parameter.
func (d *pageData) formField(f Field) formField {
	one := formField{
		Name: f.Name, ID: idOf(f.Name), Label: d.Value("field", f.Name), From: f.From, To: f.To, Any: d.T("any"),
	}
	// not.type has the suggestions of type.
	base, excluded := strings.CutPrefix(f.Name, "not.")
	if excluded {
		one.Label = d.T("not") + d.T(base)
	}
	switch {
	case slices.Contains(typedFields, base):
		one.Kind, one.Facet = "typed", base
	case f.Name == "ids", f.Name == "exclude":
		one.Kind, one.Facet = "chosen", "ids"
	case slices.Equal(f.Words, []string{"0", "1"}) && !f.Many:
		one.Kind, one.Value = "flag", "1"
		if f.Name == "pager" { // the box is for what is unusual
			one.Value = "0"
		}
	case f.Words != nil:
		one.Kind, one.Any = "words", d.T("group-")
		if f.Many && f.Name != "group" {
			one.Kind = "several"
		}
		for _, word := range f.Words {
			one.Options = append(one.Options, Param{word, d.Value(f.Name, word)})
		}
	case f.To > 0:
		one.Kind = "number"
	default:
		one.Kind = "text"
	}
	return one
}

// recipe is a list that many sites have. It fills in the form; its name is that of its texts.
type recipe struct {
	Name string
	// State has the choices in the form of the builder's address.
	State string
	// Ask are the fields that an editor has to fill in.
	Ask string
	// Match has a facet and words, one of which is in each value that the recipe selects: institutes name their types
	// differently.
	Match string
	// View is the view that the recipe needs; if empty, activities.
	View string
}

// recipes are in the order in which the builder shows them.
var recipes = []recipe{
	{Name: "person", State: "group=year", Ask: "person", Match: "type publication"},
	{Name: "unit", State: "year=last3&group=year&deep=1", Ask: "unit", Match: "type publication"},
	{Name: "years", State: "group=year&jump=1&limit=100"},
	{Name: "latest", State: "sort=-year&limit=5&pager=0&facets=none&with=none"},
	{Name: "selected", State: "facets=none&with=none", Ask: "ids"},
	{Name: "open", State: "oa=1&group=year&show=oa,pdf"},
	{Name: "theses", State: "group=year", Ask: "subtype",
		Match: "subtype thes dissert doctora promotion habilit abschlussarb"},
	{Name: "talks", State: "group=year", Ask: "type", Match: "type lecture talk present vortrag"},
	{Name: "keyword", State: "group=year", Ask: "keyword"},
	{Name: "project", State: "group=type,year", Ask: "project"},
	{Name: "types", State: "group=type,year&counts=1"},
	{Name: "numbered", State: "numbered=1&sort=-year&with=search,more"},
	{Name: "staff", State: "deep=1", Ask: "unit", View: "persons"},
}

// Recipes returns the recipes whose view has a list here.
func (d *pageData) Recipes() []recipe {
	there := map[string]bool{}
	for _, s := range d.Sections {
		for _, l := range s.Lists {
			there[l.Href] = s.Kind == ""
		}
	}
	return slices.DeleteFunc(slices.Clone(recipes), func(r recipe) bool { return !there[d.Base+r.List()] })
}

// List returns the path of the list of the recipe.
func (r recipe) List() string {
	if r.View != "" {
		return "/lists/" + r.View
	}
	return "/lists/activities"
}
