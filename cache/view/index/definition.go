package index

import "vitrine/rules/raw"

// Definition declares a view.
type Definition struct {
	Name      string     // as in package rules
	Order     raw.Sort   // default order of rows; ties go by _id
	Fragments []Fragment // encoded on first use
	Warm      []string   // paths indexed, and fragments encoded, before a snapshot is first shown
	Searched  []string   // paths indexed, and their texts joined for expressions that ignore case, before that, too

	places map[string]place // where its fragments are
}
