package lists

import (
	"context"
	"fmt"

	"vitrine/cache/view"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
)

// on returns the answer of a listing in snapshots. listed says that it shows the entries, and not just their
// number.
//
// It looks up the values of filters only if they may be labels, or unknown: if the list is empty, or a value is one
// of several, or excludes. For most requests the list itself shows that records have its values. Looking up each
// value first would read the values of a whole view once for each snapshot, even if all requests have proper
// values.
func (l *listing) on(ctx context.Context, s response.Snapshots, listed bool) (*answer, error) {
	compares, uncertain := selection.Compares(l.asked, l.rows.Fixed)
	if uncertain {
		one, unknown, err := l.resolve(ctx, s)
		if err != nil {
			return nil, err
		}
		a, err := one.selected(ctx, s, listed)
		if err == nil {
			a.unknown = unknown
		}
		return a, err
	}
	a, err := l.selected(ctx, s, listed)
	// A record of the list has the only value of each filter, so that value is none that only looks like one.
	if err != nil || !compares || a.count > 0 {
		return a, err
	}
	one, unknown, err := l.resolve(ctx, s)
	// The empty list stays if no value is a label; the unknown ones say why it is empty.
	if err == nil && one != l {
		a, err = one.selected(ctx, s, listed)
	}
	if err != nil {
		return nil, err
	}
	a.unknown = unknown
	return a, nil
}

// resolve returns the listing with values in place of labels, or the same one if it has no labels, and the values of
// the request that no public record has. Those of the configuration are not the client's.
func (l *listing) resolve(ctx context.Context, s response.Snapshots) (*listing, []query.Unknown, error) {
	snap, err := s.Of(l.def.View)
	if err != nil {
		return nil, nil, err
	}
	asked, unknown, err := l.lists.values.Resolve(ctx, snap, l.asked)
	if err != nil {
		return nil, nil, err
	}
	rows, err := l.lists.fixed(ctx, snap, l.rows)
	if err != nil {
		return nil, nil, err
	}
	one := *l
	one.rows, one.asked = rows, l.simple(asked)
	one.rows.Query = one.asked.Over(l.rows.Query.Beyond(l.asked))
	if one.rows.Query.String() == l.rows.Query.String() && rows.Fixed.String() == l.rows.Fixed.String() {
		return l, unknown, nil
	}
	if !asked.Sendable() { // a label stands for very many values: addresses keep it
		one.asked = l.asked
	}
	return &one, unknown, nil
}

// fixed returns a question in whose configured selectors values stand in place of labels.
func (l *Lists) fixed(ctx context.Context, snap *view.Snapshot, q selection.Question) (selection.Question, error) {
	fixed, _, err := l.values.Resolve(ctx, snap, q.Fixed)
	if err == nil {
		q.Fixed = fixed
	}
	return q, err
}

// mostNotes bounds the unknown values that a page names, since a request may have hundreds.
const mostNotes = 8

// notes returns a sentence for readers about each value of the request that no record has.
func (a *answer) notes() (all []string) {
	t := texts.In(a.query.Text(params.Lang))
	for _, u := range a.unknown[:min(len(a.unknown), mostNotes)] {
		end := t.T("unknown-end")
		if u.Near != "" {
			end = fmt.Sprintf(t.T("unknown-near"), u.Near)
		}
		all = append(all, u.Param+"="+u.Value+t.T("unknown")+end)
	}
	if more := len(a.unknown) - len(all); more > 0 {
		all = append(all, fmt.Sprintf(t.T("more"), t.Number(more)))
	}
	return all
}
