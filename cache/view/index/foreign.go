package index

import (
	"context"
	"errors"
	"iter"

	"github.com/bits-and-blooms/bitset"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Foreign asks a database which records of a view match a filter that is not
// evaluated in memory, and yields their ids.
type Foreign func(ctx context.Context, view string, query bson.Raw) iter.Seq2[bson.RawValue, error]

// evalForeign reads a filter through: the rows whose ids the database names.
// Records that became rows since, or are none any more, are simply not among them.
func (s *Snapshot) evalForeign(ctx context.Context, n *filter.ForeignNode) (*bitset.BitSet, error) {
	path, err := raw.ParsePath("_id")
	if err != nil {
		return nil, err
	}
	set := bitset.New(uint(s.size))
	for id, err := range s.foreign.IDs(ctx, s.def.Name, n) {
		if err != nil {
			return nil, err
		}
		equal := &filter.Compare{Op: filter.Eq, Value: id}
		for i, seg := range s.segments {
			q := query{seg: seg, path: path, index: seg.pathIndex(path), base: s.bases[i], into: set}
			if err := q.lookup(ctx, equal); err != nil {
				return nil, err
			}
		}
	}
	return set, nil
}

// IDs yields the ids of a view's records that the database finds for a filter. If the
// database refuses the filter, the error names the parameter that it came from. A nil
// Foreign refuses every filter.
func (f Foreign) IDs(ctx context.Context, view string, n *filter.ForeignNode) iter.Seq2[bson.RawValue, error] {
	return func(yield func(bson.RawValue, error) bool) {
		if f == nil {
			yield(bson.RawValue{}, n.Refusal)
			return
		}
		for id, err := range f(ctx, view, n.Doc) {
			var refused *rules.Error
			if errors.As(err, &refused) && errors.Is(refused, rules.ErrWrongCall) {
				err = rules.Wrongf(n.Refusal.Param, n.Refusal.Where, "%s, and the database refuses it: %s", n.Refusal.Reason, refused.Reason)
			}
			if !yield(id, err) {
				return
			}
		}
	}
}
