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

// formField is a field of the form. Kind is typed (several values with suggestions: those of a facet, or records),
// flag, words (a menu), several (boxes), number or text.
type formField struct {
	Name, ID, Label, Kind, Facet string
	Options                      []Param // words and their labels
	From, To                     int
	Any                          string
}

// These divide the parameters by name. A new parameter without a place here is among the rarer ones, with a field
// of the kind that its check needs.
var (
	// fields for which the builder suggests values, from the facets of the list
	typedFields = strings.Fields("year type subtype unit person project topic keyword")
	// fields that an editor sees at once
	mainFields = slices.Concat([]string{"q"}, typedFields, []string{"sort", "group", "limit"})
	// notBuilt are parameters that are no choice of an editor, or that snippets have already.
	notBuilt = []string{"page", "title", "jsonld", "latex", "embed", "not.oa"}
)

// fields adds the fields of the builder: the main ones, and more.
func (d *pageData) fields(all []Field) {
	for _, f := range all {
		one := formField{
			Name: f.Name, ID: idOf(f.Name), Label: d.Value("field", f.Name), From: f.From, To: f.To, Any: d.T("any"),
		}
		// not.type has the suggestions of type.
		base, excluded := strings.CutPrefix(f.Name, "not.")
		if excluded {
			one.Label = d.T("not") + d.T(base)
		}
		switch {
		case slices.Contains(notBuilt, f.Name):
			continue
		case slices.Contains(typedFields, base):
			one.Kind, one.Facet = "typed", base
		// The builder suggests records for these, by a search for their titles.
		case f.Name == "ids", f.Name == "exclude":
			one.Kind, one.Facet = "typed", "ids"
		case slices.Equal(f.Words, []string{"0", "1"}) && !f.Many:
			one.Kind = "flag"
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
		if slices.Contains(mainFields, f.Name) {
			d.Fields = append(d.Fields, one)
		} else {
			d.More = append(d.More, one)
		}
		// A list may be divided twice. The builder's script joins the values of both menus into one parameter.
		if f.Name == "group" && f.Many { // the heading below it
			one.ID, one.Label = "group-2", d.T("group-2")
			d.Fields = append(d.Fields, one)
		}
	}
}
