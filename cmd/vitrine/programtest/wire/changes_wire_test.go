package wire

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/rules"
	"vitrine/rules/raw"
)

const changesConfig = `
mongo: {batch: 50}
materialize:
  changed_field: changed.at
  full: ""
  schedule:
    {persons: "", user_units: "", projects: "", proposals: "", journals: "", events: "", deadlines: "",
    activities: "@every 1s", spectrum: "@every 1s"}
`

// TestLeaderReadsChangesOnly: of 200 activities two are edited, one is added without the field, and one is deleted.
// The leader reads these and little else. What it publishes is what a full run makes.
func TestLeaderReadsChangesOnly(t *testing.T) {
	t.Parallel()
	const records = 200
	server := mongotest.Start(t)
	wire := mongotest.NewProxy(t, server)
	dir, store := t.TempDir(), programtest.OpenStore(t, server+"institute")
	t.Cleanup(func() { _ = store.Close() })
	began := time.Now()
	document := func(d bson.D) bson.Raw {
		doc, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	activity := func(id int, title string, minute any) bson.Raw {
		topic := bson.D{{Key: "id", Value: fmt.Sprint("T", id%40)}, {Key: "score", Value: 0.9}}
		d := bson.D{
			{Key: "_id", Value: fmt.Sprintf("a%04d", id)}, {Key: "type", Value: "publication"},
			{Key: "title", Value: title},
			{Key: "year", Value: 2020}, {Key: "affiliated", Value: true},
			{Key: "catalog", Value: bson.D{{Key: "topics", Value: bson.A{topic}}}},
			{Key: "abstract", Value: strings.Repeat("some thirty bytes of a summary", 80)},
		}
		if minute, ok := minute.(int); ok {
			at := began.Add(time.Duration(minute) * time.Minute)
			d = append(d, bson.E{Key: "changed", Value: bson.D{{Key: "at", Value: at}}})
		}
		return document(d)
	}
	upsert := func(collection string, docs ...bson.Raw) {
		if _, err := store.Upsert(t.Context(), collection, docs); err != nil {
			t.Fatal(err)
		}
	}
	var all []bson.Raw
	size := 0
	for id := range records {
		all = append(all, activity(id, "before", -id))
		size += len(all[id])
	}
	upsert("activities", all...)
	for i := range 40 {
		about := bson.E{Key: "description", Value: strings.Repeat("words ", 100)}
		topic := bson.D{{Key: "_id", Value: i}, {Key: "id", Value: fmt.Sprint("T", i)}, about}
		upsert("catalog_topics", document(topic))
		upsert("persons", document(bson.D{{Key: "_id", Value: i}, {Key: "username", Value: fmt.Sprint("user", i)}}))
	}
	// an instance that takes a lost lease again reads everything
	programtest.WriteLines(t, filepath.Join(dir, "v.yml"), changesConfig+"  lease: 1h")
	leader := programtest.Start(t, dir, "--config", "v.yml", "--store", wire.URI()+"institute").Ready()
	meta := func(view string) origin.Meta {
		m, err := store.Meta(t.Context(), view)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	round := func() { // a scheduled run of each job begins and ends
		for _, view := range []string{rules.ViewActivities, rules.ViewSpectrum} {
			since := time.Now().Truncate(time.Millisecond)
			programtest.Await(t, "a run of "+view,
				func() string { return programtest.Unless(meta(view).Health.Started.After(since)) })
		}
	}
	round()
	for _, step := range []struct {
		name   string
		change func()
		rows   int
	}{
		{"no change", func() {}, records},
		{"2 edited", func() {
			for _, id := range []int{3, 103} {
				upsert("activities", activity(id, "after", 9))
			}
		}, records},
		{"1 new without the field", func() { upsert("activities", activity(1000, "after", nil)) }, records + 1},
		{"1 deleted", func() {
			stays := func(id bson.RawValue) bool { return id.StringValue() != "a0007" }
			if _, err := store.Retain(t.Context(), "activities", stays); err != nil {
				t.Fatal(err)
			}
		}, records},
	} {
		read := countReplies(wire)
		step.change()
		round()
		bytes := read()
		others := bytes["catalog_topics"] + bytes["persons"] + bytes["groups"] + bytes["projects"]
		t.Logf("count: %s, of %d activities with %d bytes: with changed_field a leader reads %d, %d of other sources",
			step.name, records, size, bytes["activities"], others)
		if bytes["activities"] > size/10 || bytes["catalog_topics"] > 40*100 {
			t.Errorf("%s: read %v bytes", step.name, bytes)
		}
		if m := meta(rules.ViewActivities); m.Rows != step.rows || m.Health.Scanned != step.rows {
			t.Errorf("%s: %d rows of %d records, want %d", step.name, m.Rows, m.Health.Scanned, step.rows)
		}
	}
	after := 0
	_, err := store.Rows(t.Context(), rules.ViewActivities, 0, func(r origin.Row) error {
		if raw.StringField(r.Doc, "title") == "after" {
			after++
		}
		return nil
	})
	if err != nil || after != 3 {
		t.Errorf("%d rows show a change, want 3; %v", after, err)
	}
	activities, topics := meta(rules.ViewActivities).Generation, meta(rules.ViewSpectrum).Generation
	leader.RunJobs("full=1&wait=1")
	round()
	if meta(rules.ViewActivities).Generation != activities || meta(rules.ViewSpectrum).Generation != topics {
		t.Error("a full run publishes what runs before it left out")
	}
}

// countReplies counts the bytes that a server sends, until the returned function is called, by collection.
func countReplies(wire *mongotest.Proxy) func() map[string]int {
	var mu sync.Mutex
	bytes := map[string]int{}
	wire.Set(mongotest.Fault{Reply: func(message []byte) []byte {
		const header = 16 + 4 + 1 // of a message with one document: also flags, and the kind of the section
		if len(message) > header+4 {
			reply, _, _ := bsoncore.ReadDocument(message[header:])
			name, _ := bson.Raw(reply).Lookup("cursor", "ns").StringValueOK()
			_, collection, _ := strings.Cut(name, ".")
			mu.Lock()
			bytes[collection] += len(message)
			mu.Unlock()
		}
		return message
	}})
	return func() map[string]int {
		wire.Set(mongotest.Fault{})
		mu.Lock()
		defer mu.Unlock()
		return bytes
	}
}
