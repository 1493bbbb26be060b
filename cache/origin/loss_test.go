package origin_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

var lossTests = map[string]func(*testing.T, harness){
	"one unreadable meta hides no other":             testUnreadableMeta,
	"a fingerprint stays while nothing is written":   testFingerprintAtRest,
	"a fingerprint changes when a view loses rows":   testFingerprint,
	"a count after a loss is that of the other rows": testCountAfterLoss,
}

// loseMongo deletes some rows of a view behind the store's back, or with none its collection.
func loseMongo(t *testing.T, s origin.Store, view string, ids ...string) {
	t.Helper()
	rows := beside(t, s).Collection(origin.SidePrefix + view)
	if len(ids) == 0 {
		ok(t, rows.Drop(t.Context()))
		return
	}
	for _, id := range ids {
		must(rows.DeleteOne(t.Context(), bson.D{{Key: "_id", Value: id}}))(t)
	}
}

func testUnreadableMeta(t *testing.T, h harness) {
	s := h.open(t, settings{})
	l := acquire(t, s, "a")
	for _, name := range []string{"activities", "persons", "projects"} {
		p := must(s.Begin(t.Context(), name, l))(t)
		ok(t, p.Put(t.Context(), []origin.Row{row(t, name, 1)}))
		must(p.Commit(t.Context(), 1, ""))(t)
	}
	unreadable := func(doc bson.Raw) any { return changed(t, doc, "gen", "many") }
	s = h.rewrite(t, s, settings{}, storedMeta("persons"), unreadable)
	read := []string{}
	for _, m := range must(s.Metas(t.Context()))(t) {
		if m.View != "persons" {
			read = append(read, m.View)
		}
		spoilt := m.View == "persons"
		failed, unread := errors.Is(m.Err, origin.ErrDamaged), m.Generation == 0 && m.Health.Error != ""
		if failed != spoilt || unread != spoilt {
			t.Errorf("meta: %+v", m)
		}
	}
	same(t, "readable metas", read, []string{"activities", "projects"})
	// The embedded store drops it when it opens the file.
	if m, err := s.Meta(t.Context(), "persons"); err == nil && m.Generation != 0 {
		t.Errorf("the unreadable meta was read: %+v", m)
	}
}

// fingerprints returns those of all views, and of one.
func fingerprints(t *testing.T, s origin.Store) [2]string {
	t.Helper()
	return [2]string{must(s.Fingerprint(t.Context(), ""))(t), must(s.Fingerprint(t.Context(), view))(t)}
}

func testFingerprintAtRest(t *testing.T, h harness) {
	s := h.open(t, settings{})
	fingerprints(t, s) // of an empty store
	publish(t, s, acquire(t, s, "a"), 2, row(t, name(1), 1), row(t, name(2), 2))
	before := fingerprints(t, s)
	read(t, s, 0)
	if after := fingerprints(t, s); after != before {
		t.Errorf("fingerprints %q, then %q", before, after)
	}
}

func testFingerprint(t *testing.T, h harness) {
	if h.lose == nil {
		t.Skip("only this process writes to the store")
	}
	s := h.open(t, settings{})
	publish(t, s, acquire(t, s, "a"), 3, row(t, name(1), 1), row(t, name(2), 2), row(t, name(3), 3))
	for _, lost := range [][]string{{name(2)}, nil} {
		before := fingerprints(t, s)
		h.lose(t, s, view, lost...)
		if after := fingerprints(t, s); after[0] == before[0] || after[1] == before[1] {
			t.Errorf("fingerprints %q after the loss of rows %q, before %q", after, lost, before)
		}
	}
}

func testCountAfterLoss(t *testing.T, h harness) {
	if h.lose == nil {
		t.Skip("only this process writes to the store")
	}
	s := h.open(t, settings{})
	publish(t, s, acquire(t, s, "a"), 3, row(t, name(1), 1), row(t, name(2), 2), row(t, name(3), 3))
	h.lose(t, s, view, name(1))
	if n := must(s.RowCount(t.Context(), view))(t); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
	h.lose(t, s, view)
	if n := must(s.RowCount(t.Context(), view))(t); n != 0 {
		t.Errorf("%d rows of a dropped collection", n)
	}
}
