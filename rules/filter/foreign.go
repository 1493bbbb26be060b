package filter

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// ForeignNode is a whole filter that is valid MongoDB but not evaluated in memory
// ($text, geographic operators, rarer expressions). Who evaluates the tree must
// ask the database for the documents that match Doc. Options.Foreign lets a filter
// have such nodes.
type ForeignNode struct {
	// Doc is the filter as it came, for the database.
	Doc bson.Raw
	// Refusal names what is not evaluated in memory, as an ErrNotInMemory: the
	// answer where there is no database to ask.
	Refusal *rules.Error

	moment string // see parser.moment
}

// Match implements Node: it cannot be found out from the document alone.
func (n *ForeignNode) Match(bson.Raw) (bool, error) { return false, n.Refusal }

func (n *ForeignNode) matchElement(Value) (bool, error) { return false, n.Refusal }

func (n *ForeignNode) appendKey(dst []byte) []byte {
	dst = appendExactValue(append(dst, "foreign "...), bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: n.Doc})
	return append(dst, n.moment...)
}
