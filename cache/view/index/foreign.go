package index

import (
	"context"
	"errors"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Foreign asks a database which records of a view match a filter that memory does not evaluate, and yields their ids.
type Foreign func(ctx context.Context, view string, query bson.Raw) iter.Seq2[bson.RawValue, error]

// Leaf returns the condition that replaces a filter on a view: an _id that the database has found. Ids of records
// without a row match nothing. If the database refuses the filter, the error names the filter's parameter. A nil
// Foreign refuses every filter.
func (f Foreign) Leaf(ctx context.Context, view string, n *filter.ForeignNode) (*filter.Leaf, error) {
	if f == nil {
		return nil, n.Refusal
	}
	var ids []bson.RawValue
	for id, err := range f(ctx, view, n.Doc) {
		var refused *rules.Error
		if errors.As(err, &refused) && errors.Is(refused, rules.ErrWrongCall) {
			err = rules.Wrongf(n.Refusal.Param, n.Refusal.Where, "%s, and the database refuses it: %s", n.Refusal.Reason, refused.Reason)
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return &filter.Leaf{Path: raw.ByID.Path, Test: &filter.In{Values: raw.SortUnique(ids)}}, nil
}
