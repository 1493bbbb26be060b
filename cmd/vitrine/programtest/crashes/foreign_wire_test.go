package crashes

import (
	"net/http"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cmd/vitrine/programtest"
)

// TestTwoInstitutesOneViewsDatabase: an institute whose views.database has the views of another one does not start,
// and leaves them as they are. If it comes to that while it runs, it keeps its rows and says so, until the database
// is its own again.
func TestTwoInstitutesOneViewsDatabase(t *testing.T) {
	t.Parallel()
	g := newGroup(t, stamped{activities: 30})
	programtest.Setenv(g.dir, "VITRINE_VIEWS_DATABASE", "shared")
	a := g.instance()
	g.converged(a)
	programtest.Status(t, g.dir, []string{"--store", g.uri}, "source: database institute\n")

	other := strings.TrimSuffix(g.uri, "institute") + "other"
	before := a.Generations()
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0", "--admin-listen", ""},
		{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "", "--no-materialize"},
		{"materialize"},
	} {
		out, err := programtest.Command(g.dir,
			append(args, "--config", "v.yml", "--store", other)...).CombinedOutput()
		const reason = "database shared has views of the records in institute, not of those in other"
		if err == nil || !strings.Contains(string(out), reason) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	programtest.Status(t, g.dir, []string{"--config", "v.yml", "--store", other, "--admin-listen", ""},
		"has views of the records in institute")
	if after := a.Generations(); after != before {
		t.Errorf("the views have changed: %s\nbefore: %s", after, before)
	}
	g.led(a) // a busy instance may lose its lease for a while, but not to the other institute
	db := g.database().Client().Database("shared")
	var lease struct{ Source string }
	err := db.Collection("view_lease").FindOne(t.Context(), bson.D{}).Decode(&lease)
	if err != nil || lease.Source != "institute" {
		t.Errorf("the lease is that of %q: %v", lease.Source, err)
	}

	name := func(source string) {
		t.Helper()
		for _, collection := range []string{"view_meta", "view_lease"} {
			update := bson.D{{Key: "$set", Value: bson.D{{Key: "source", Value: source}}}}
			if _, err := db.Collection(collection).UpdateMany(t.Context(), bson.D{}, update); err != nil {
				t.Fatal(err)
			}
		}
	}
	name("other")
	g.until("the other institute's views are reported", func() bool {
		status, text := programtest.Fetch(t, http.MethodGet, a.Base+"/readyz")
		return status == http.StatusOK && strings.Contains(text, "degraded") &&
			strings.Contains(text, "views of another institute")
	})
	for _, q := range g.institute.questions() {
		_, text := programtest.AskInTime(a, func(string) string { return q.path })
		if round, err := q.check(g.institute, []byte(text)); err != nil || round != g.round && q.view != "" {
			t.Errorf("%s: round %d, %v", q.path, round, err)
		}
	}
	g.until("the instance does not lead", func() bool { return !a.Leads() })
	g.advance() // while it does not lead: as soon as it does, it reads the records
	name("institute")
	g.led(a)
	g.converged(a)
}
