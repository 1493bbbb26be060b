package crashes

import (
	"path"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cmd/vitrine/programtest"
)

// newerTokens gives metas tokens that no lease has had.
var newerTokens = bson.D{{Key: "$inc", Value: bson.D{{Key: "token", Value: int64(100)}}}}

// TestSpoiledLease spoils the lease or the metas under a running instance: it drops view_lease, sets it back to an
// older document or to one of an instance that has ended, makes it unreadable, endless, or gives the metas newer
// tokens, as a dump that is not of one moment does. Each time the next change of the sources is published and shown
// without anything being done, by an instance whose token exceeds those of all metas.
func TestSpoiledLease(t *testing.T) {
	t.Parallel()
	g := newGroup(t, stamped{activities: 30})
	db := g.database()
	lease, metas := db.Collection("view_lease"), db.Collection("view_meta")
	one := bson.D{{Key: "_id", Value: "materialize"}}
	var older bson.Raw
	for _, holder := range []string{"gone/1", "gone/2", "gone/3"} {
		l, err := g.store.Acquire(t.Context(), "materialize", holder, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if older == nil {
			if older, err = lease.FindOne(t.Context(), one).Raw(); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.store.Release(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	a := g.instance()
	g.led(a)
	g.converged(a)

	set := func(fields ...bson.E) func() error {
		return func() error {
			_, err := lease.UpdateOne(t.Context(), one, bson.D{{Key: "$set", Value: bson.D(fields)}})
			return err
		}
	}
	for _, fault := range []struct {
		name  string
		spoil func() error
	}{
		{"lost", func() error { return lease.Drop(t.Context()) }},
		{"older", func() error { _, err := lease.ReplaceOne(t.Context(), one, older); return err }},
		{"unreadable", set(bson.E{Key: "holder", Value: 7}, bson.E{Key: "token", Value: "x"},
			bson.E{Key: "rev", Value: "y"}, bson.E{Key: "term", Value: true})},
		{"of another instance, for years",
			set(bson.E{Key: "holder", Value: "gone/4"}, bson.E{Key: "term", Value: int64(1) << 62})},
		{"without a term", func() error {
			without := bson.D{{Key: "_id", Value: "materialize"}, {Key: "holder", Value: "gone/5"}}
			_, err := lease.ReplaceOne(t.Context(), one, without)
			return err
		}},
		{"older than the metas", func() error {
			_, err := metas.UpdateMany(t.Context(), bson.D{}, newerTokens)
			return err
		}},
	} {
		wake := g.still() // a job that ends meanwhile would write its own token
		newest := g.newestToken(metas)
		if err := fault.spoil(); err != nil {
			t.Fatalf("%s: %v", fault.name, err)
		}
		programtest.Status(t, g.dir, []string{"--store", g.uri}, "activities")
		g.advance()
		wake()
		// Jobs have no schedule here: a refused run, or the next renewal, shows the leader that its lease is not
		// valid.
		_, _ = a.Refresh("")
		g.converged(a)
		g.led(a)
		if got := g.newestToken(metas); got <= newest {
			t.Errorf("%s: published under token %d, the metas had %d", fault.name, got, newest)
		}
	}

	if code := a.Stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, a.Log())
	}
	if err := lease.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.advance()
	b := g.instance()
	g.converged(b)
	if t.Failed() {
		t.Logf("%s\n%s", a.Log(), b.Log())
	}
}

// TestFencedOverTheWire: while the metas refuse every lease, the leader does not go on leading in silence: /readyz,
// `vitrine status`, /admin/views and the log say that its job fails. Then it publishes by itself.
func TestFencedOverTheWire(t *testing.T) {
	t.Parallel()
	g := newGroup(t, stamped{activities: 30})
	a := g.instance()
	g.led(a)
	g.converged(a)
	metas := g.database().Collection("view_meta")
	refuse := func() {
		t.Helper()
		if _, err := metas.UpdateMany(t.Context(), bson.D{}, newerTokens); err != nil {
			t.Fatal(err)
		}
	}
	g.advance()
	const reason = "is not the newest in the view's meta"
	g.until("readyz and status say that a job fails", func() bool {
		refuse() // again, because the instance takes a newer token
		_, _ = a.Refresh("")
		_, ready := a.Get("/readyz")
		if !strings.Contains(ready, `"job_failing":true`) || !strings.Contains(ready, `"state":"degraded"`) {
			return false
		}
		admin := strings.TrimPrefix(a.Admin, "http://")
		// It waits for the store and the instance for some seconds only, and fails if both take longer.
		out, _ := programtest.Command(g.dir, "status", "--store", g.uri, "--admin-listen", admin).Output()
		return strings.Contains(string(out), reason)
	})
	const ended = "materializing ended: lease lost, or its token is not the newest"
	programtest.Await(t, "the log says why", func() string { return programtest.Lacking(a.Log(), reason, ended) })
	g.converged(a)
	a.Until("/readyz", `"count":0`)
}

// database returns the database of the group's store.
func (g *group) database() *driver.Database {
	g.t.Helper()
	c, err := driver.Connect(options.Client().ApplyURI(g.uri))
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = c.Disconnect(g.t.Context()) })
	return c.Database(path.Base(g.uri))
}

// newestToken returns the greatest token in the metas.
func (g *group) newestToken(metas *driver.Collection) (newest int64) {
	g.t.Helper()
	found, err := metas.Find(g.t.Context(), bson.D{})
	var all []struct{ Token int64 }
	if err == nil {
		err = found.All(g.t.Context(), &all)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	for _, m := range all {
		newest = max(newest, m.Token)
	}
	return newest
}
