package origin_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

var readerTests = map[string]func(*testing.T, harness){
	"deltas reach back as far as promised": testPruned,
	"a reader may publish":                 testReaderPublishes,
	"readers see whole generations":        testWholeGenerations,
	"a delta may span publications":        testDeltaSpans,
	"pruned rows do not come back":         testNoResurrection,
}

// sorted sorts in place.
func sorted(list []string) []string { slices.Sort(list); return list }

// numberIDs writes the ids of "id:…" as an int32's Extended JSON, and sorts.
func numberIDs(list []string) []string {
	out := make([]string, len(list))
	for i, text := range list {
		id, rest := cut(text)
		out[i] = fmt.Sprintf(`{"$numberInt":"%s"}:%s`, id, rest)
	}
	return sorted(out)
}

// cut splits at the first colon.
func cut(text string) (before, after string) {
	i := slices.Index([]byte(text), ':')
	return text[:i], text[i+1:]
}

func testPruned(t *testing.T, h harness) {
	const keep = 3
	s := h.open(t, settings{keepDeltas: keep})
	l := acquire(t, s, "a")
	publish(t, s, l, 2, row(t, 1, 1), row(t, 2, 1))
	publish(t, s, l, 1, gone(t, 2))
	for n := range 5 {
		publish(t, s, l, 1, row(t, 1, n))
	}
	meta := must(s.Meta(t.Context(), view))(t)
	if want := meta.Generation - keep; meta.Pruned != want {
		t.Errorf("Pruned = %d, want %d", meta.Pruned, want)
	}
	for since := range meta.Generation + 1 {
		_, err := s.Rows(t.Context(), view, since, func(origin.Row) error { return nil })
		if stale := since > 0 && since < meta.Pruned; errors.Is(err, origin.ErrStale) != stale ||
			(err != nil && !stale) {
			t.Errorf("Rows since %d: %v; want stale %t", since, err, stale)
		}
	}
	rows, _ := read(t, s, 0)
	same(t, "rows", rows, numberIDs([]string{at("1:4", meta.Generation)}))
}

func testNoResurrection(t *testing.T, h harness) {
	s := h.open(t, settings{keepDeltas: 1})
	l := acquire(t, s, "a")
	for n := range 4 {
		publish(t, s, l, 1, row(t, 1, n))
	}
	publish(t, s, l, 0, gone(t, 1))
	for range 4 {
		publish(t, s, l, 0, row(t, 2, 0))
		publish(t, s, l, 0, gone(t, 2))
		rows, _ := read(t, s, 0)
		same(t, "rows", rows, []string{})
		same(t, "hashes", hashes(t, s), []string{})
	}
}

// testReaderPublishes publishes inside a reader's loop.
func testReaderPublishes(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	publishNumber(t, s, l)
	var m mirror
	published := false
	newest := map[string]origin.Row{}
	meta, err := s.Rows(t.Context(), view, 0, func(r origin.Row) error {
		if !published {
			published = true
			publishNumber(t, s, l)
			publishNumber(t, s, l)
		}
		newest[r.ID.String()] = r
		return nil
	})
	ok(t, err)
	m.meta, m.rows = meta, map[string]origin.Row{}
	for id, r := range newest {
		if r.Doc != nil {
			m.rows[id] = r
		}
	}
	ok(t, m.check())
	ok(t, m.load(t.Context(), s))
	ok(t, m.check())
	if m.meta.Generation != 3 {
		t.Errorf("generation %d, want 3", m.meta.Generation)
	}
}

func testDeltaSpans(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	publishNumber(t, s, l)
	var m mirror
	ok(t, m.load(t.Context(), s))
	for range 4 {
		publishNumber(t, s, l)
	}
	ok(t, m.load(t.Context(), s))
	ok(t, m.check())
	if m.meta.Generation != 5 {
		t.Errorf("generation %d, want 5", m.meta.Generation)
	}
}

// testWholeGenerations runs readers of both kinds beside a publisher.
func testWholeGenerations(t *testing.T, h harness) {
	s := h.open(t, settings{keepDeltas: 4})
	l := acquire(t, s, "a")
	publishNumber(t, s, l)

	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for reader := range 4 {
		wg.Go(func() {
			if err := follow(ctx, s, reader%2 == 0); err != nil {
				t.Errorf("reader %d: %v", reader, err)
			}
		})
	}
	for range h.rounds {
		publishNumber(t, s, l)
	}
	stop()
	wg.Wait()
	var m mirror
	ok(t, m.load(t.Context(), s))
	ok(t, m.check())
}

// follow reads until ctx ends, from scratch each time or by deltas, and checks each read. It checks
// ctx itself between two reads.
func follow(ctx context.Context, s origin.Store, fresh bool) error {
	var m mirror
	for last := uint64(0); ctx.Err() == nil; last = m.meta.Generation {
		if fresh {
			m = mirror{}
		}
		err := m.load(context.WithoutCancel(ctx), s)
		if errors.Is(err, origin.ErrStale) {
			m = mirror{}
			continue
		}
		if err == nil {
			err = m.check()
		}
		if err == nil && m.meta.Generation < last {
			err = fmt.Errorf("generation %d after %d", m.meta.Generation, last)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// slots is how many ids a numbered generation draws from.
const slots = 60

// alive reports whether generation g has the row of a slot.
func alive(slot int, g uint64) bool { return (uint64(slot)+g)%5 != 0 }

// numberedRows returns the rows of a numbered generation: live ones carry the generation's number,
// the others are tombstones.
func numberedRows(g uint64) (rows []origin.Row, live int, err error) {
	for slot := range slots {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: fmt.Sprint("slot", slot)}, {Key: "n", Value: int64(g)}})
		if err != nil {
			return nil, 0, err
		}
		r := origin.Row{ID: bson.Raw(doc).Lookup("_id"), Hash: g}
		if alive(slot, g) {
			r.Doc = doc
			live++
		}
		rows = append(rows, r)
	}
	return rows, live, nil
}

// publishNumber publishes the next numbered generation.
func publishNumber(t *testing.T, s origin.Store, l origin.Lease) {
	t.Helper()
	p := must(s.Begin(t.Context(), view, l))(t)
	rows, live, err := numberedRows(must(s.Meta(t.Context(), view))(t).Generation + 1)
	ok(t, err)
	half := len(rows) / 2
	ok(t, p.Put(t.Context(), rows[:half]))
	ok(t, p.Put(t.Context(), rows[half:]))
	must(p.Commit(t.Context(), live, "numbers"))(t)
}

// check reports whether the mirror holds exactly its numbered generation; in generation 0 it must
// be empty.
func (m *mirror) check() error {
	g, live := m.meta.Generation, 0
	if g == 0 && len(m.rows) == 0 {
		return nil
	}
	for slot := range slots {
		id := bson.RawValue{}
		_, doc, _ := bson.MarshalValue(fmt.Sprint("slot", slot))
		id.Type, id.Value = bson.TypeString, doc
		r, there := m.rows[id.String()]
		if there != alive(slot, g) {
			return fmt.Errorf("generation %d: row %d there: %t", g, slot, there)
		}
		if !there {
			continue
		}
		live++
		if n := r.Doc.Lookup("n").AsInt64(); uint64(n) != g || r.Generation != g || r.Hash != g {
			return fmt.Errorf("generation %d: row %d is of %d", g, slot, n)
		}
	}
	if live != len(m.rows) || live != m.meta.Rows {
		return fmt.Errorf("generation %d: %d rows, meta says %d, want %d", g, len(m.rows), m.meta.Rows, live)
	}
	return nil
}
