package lists

import (
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/mark"
)

// fragBibTeX is the fragment with an activity's entry in BibTeX.
const fragBibTeX = "bib"

// Views adds to the definitions of views what public lists need: the words of public rows,
// the indexes of what lists of activities select and count by, and their entries in BibTeX.
func Views(defs []index.Definition, mapping *cite.Rules) []index.Definition {
	for i := range defs {
		d := &defs[i]
		if !slices.Contains(views, d.Name) {
			continue
		}
		read := mapping.View(d.Name)
		if d.Name == rules.ViewActivities {
			d.Warm = append(d.Warm, mark.Public, mark.Year, mark.Type, mark.Subtype, mark.Unit, mark.In, mark.Person, mark.Project, mark.Topic)
			d.Fragments = append(d.Fragments, index.Fragment{Name: fragBibTeX, Bulky: true, Encode: bibTeXOf(read)})
		}
		d.Words = func(row bson.Raw, add func(text string, title bool)) {
			if mark.Of(row) != nil {
				read.Words(row, add)
			}
		}
	}
	return defs
}

// bibTeXOf returns what encodes public rows; the others have no entry.
func bibTeXOf(read *cite.Rules) func(dst []byte, row bson.Raw) []byte {
	items := sync.Pool{New: func() any { return &cite.Item{} }}
	return func(dst []byte, row bson.Raw) []byte {
		if mark.Of(row) == nil {
			return dst
		}
		it := items.Get().(*cite.Item)
		defer items.Put(it)
		read.Read(row, it)
		return cite.AppendBibTeX(dst, it, false)
	}
}
