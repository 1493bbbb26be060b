package index

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Definition declares a view.
type Definition struct {
	Name      string     // as in package rules
	Order     raw.Sort   // default order of rows; ties go by _id
	Fragments []Fragment // encoded on first use
	Warm      []string   // paths indexed, and fragments encoded, before a snapshot is first shown
	Searched  []string   // paths indexed then, too, with their texts joined for expressions that ignore case
	// Words calls add with each text in which words of a row are searched, and with whether the
	// text belongs to the title. It must be pure: several goroutines call it.
	// If nil, no words are indexed and Search fails.
	Words func(row bson.Raw, add func(text string, title bool))

	places map[string]place // where its fragments are
}
