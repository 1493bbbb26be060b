package index

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Definition declares a view.
type Definition struct {
	Name      string     // one of the names in package rules
	Order     raw.Sort   // default order of rows; ties are ordered by _id
	Fragments []Fragment // encoded on first use
	Warm      []string   // paths to index, and fragments to encode, before a snapshot is first shown
	Searched  []string   // paths to index then, too, with their texts joined for expressions that ignore case
	// Words calls add with each text of a row whose words can be searched, and with whether the text belongs to the
	// title. It must be pure, because several goroutines call it. If nil, no words are indexed and Search fails.
	Words func(row bson.Raw, add func(text string, title bool))
	// WordsBy identifies Words, whether or not a store has the words. It changes if a row has other words.
	WordsBy string
	// WordsLate: words are indexed at the first search, and not before a snapshot is first shown.
	WordsLate bool
	// WordRules identifies Words. If the rows in a store were published with the words of the same rules, the store
	// searches them. If empty, it does not.
	WordRules string

	places map[string]place // places of its fragments
}
