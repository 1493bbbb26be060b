package wire

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/rules"
)

// Numbers of activities: of the institutes that TestLeaderReadsLittle measures, and of the one that it computes.
const (
	smallInstitute  = 200
	mediumInstitute = 240
	largeInstitute  = 100_000
)

const (
	changedRecords = 100       // activities that move to another year
	recentRecords  = 170       // activities, with these, that lists of topics prefer to all others
	mostRead       = 3_000_000 // bytes that a leader may receive because of the change in a large institute
	// All activities have as many topics as 100 activities of an institute with 7,519 have. Each one has many of
	// them, so that recent activities fill the lists, and rows are the same whatever the number of others.
	manyTopics, topicsOfEach = 80, 6
)

// TestLeaderReadsLittle: 100 activities move from the newest year to an old one, so that others take their places in
// the lists of all topics. The test counts everything that a leader with changed_field receives because of that, also
// from its own collections. It computes the bytes for an institute of 100,000 activities from those for two smaller
// ones: what does not depend on the number of activities is the same in both.
func TestLeaderReadsLittle(t *testing.T) {
	t.Parallel()
	sizes, servers := []int{smallInstitute, mediumInstitute}, []string{mongotest.Start(t), mongotest.Start(t)}
	var read [2]map[string]int // bytes by collection
	t.Run("institutes", func(t *testing.T) {
		for i, size := range sizes {
			t.Run(fmt.Sprint(size), func(t *testing.T) {
				t.Parallel()
				read[i] = newChangingInstitute(t, servers[i], size).change()
			})
		}
	})
	total, text := 0, ""
	for _, collection := range slices.Sorted(maps.Keys(read[1])) {
		n := read[1][collection]
		if growth := n - read[0][collection]; collection != otherReplies && growth > 0 {
			n += growth * (largeInstitute - mediumInstitute) / (mediumInstitute - smallInstitute)
		}
		total += n
		text += fmt.Sprintf(", %d %s", n, collection)
	}
	t.Logf(
		"count: %d of %d activities move to another year: with changed_field a leader receives %d bytes, computed "+
			"from those for %v activities%s", changedRecords, largeInstitute, total, sizes, text)
	if total == 0 || total > mostRead {
		t.Errorf("%d bytes, want at most %d; measured: %v", total, mostRead, read)
	}
}

// changingInstitute is an institute whose leader begins to read for a job only when the test permits it.
type changingInstitute struct {
	t          *testing.T
	store      origin.Store
	activities *driver.Collection
	began      time.Time
	leader     *programtest.Server
	replies    replyCount
	waits      chan struct{} // a job sends to it when it is about to read, and then receives from permits
	permits    chan struct{}
}

func newChangingInstitute(t *testing.T, uri string, size int) *changingInstitute {
	t.Helper()
	client, err := driver.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	database := client.Database("institute")
	i := &changingInstitute{
		t: t, store: programtest.OpenStore(t, uri+"institute"), activities: database.Collection("activities"),
		began: time.Now(),
		waits: make(chan struct{}), permits: make(chan struct{}),
	}
	t.Cleanup(func() {
		_ = i.store.Close()
		_ = client.Disconnect(t.Context())
	})
	for name, docs := range i.records(size) {
		for part := range slices.Chunk(docs, mongotest.BatchSize) {
			if _, err := database.Collection(name).InsertMany(t.Context(), part); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir, wire := t.TempDir(), mongotest.NewProxy(t, uri)
	// The leader's own front end loads at once what the leader has published, and polls for nothing else. The server
	// reads a whole collection for each replaced row, so on a busy machine the leader needs much time.
	programtest.WriteLines(t, filepath.Join(dir, "v.yml"), changesConfig+"  lease: 1h", "views: {poll: 1h}")
	i.leader = programtest.Start(t, dir, "--config", "v.yml", "--store", wire.URI()+costDatabase).Ready()
	wire.Set(mongotest.Fault{Request: i.gate, Reply: i.replies.reply})
	<-i.waits
	i.permit() // each job has read the records since the start
	i.permit()
	return i
}

// gate holds the first command by which a job reads: for the version of activities, to which both jobs belong. Jobs
// run one after another, so no job reads meanwhile.
func (i *changingInstitute) gate(command bson.Raw) bool {
	if name, _ := command.Lookup("count").StringValueOK(); name != "activities" {
		return true
	}
	select {
	case i.waits <- struct{}{}:
	case <-i.t.Context().Done():
		return false
	}
	select {
	case <-i.permits:
		return true
	case <-i.t.Context().Done():
		return false
	}
}

// permit lets a job run, and waits until the next one is about to read.
func (i *changingInstitute) permit() {
	i.permits <- struct{}{}
	<-i.waits
}

// records returns the source collections.
func (i *changingInstitute) records(size int) map[string][]bson.D {
	all := map[string][]bson.D{}
	for id := range size {
		year := 2024
		switch {
		case id < changedRecords:
			year = 2025
		case id >= recentRecords:
			year = 2000
		}
		all["activities"] = append(all["activities"], i.activity(id, "before", year, -id))
	}
	for _, c := range []struct {
		name     string
		n, bytes int // as an institute with 7,519 activities has them
	}{{"persons", 263, 400}, {"projects", 150, 600}, {"groups", 13, 100}, {"catalog_topics", manyTopics, 600}} {
		for n := range c.n {
			id := fmt.Sprintf("T%04d", n)
			all[c.name] = append(all[c.name], bson.D{{Key: "_id", Value: n}, {Key: "id", Value: id},
				{Key: "username", Value: id}, {Key: "name", Value: id}, {Key: "description", Value: text(c.bytes)}})
		}
	}
	return all
}

func text(bytes int) string { return strings.Repeat("some words", bytes/10) }

// activity returns a record of 3 kB.
func (i *changingInstitute) activity(id int, title string, year, minute int) bson.D {
	var assigned bson.A
	for n := range topicsOfEach {
		topic := fmt.Sprintf("T%04d", (id+13*n)%manyTopics)
		assigned = append(assigned, bson.D{{Key: "id", Value: topic}, {Key: "name", Value: text(30)},
			{Key: "score", Value: 0.9}, {Key: "path", Value: text(80)}, {Key: "field", Value: text(30)}})
	}
	user := fmt.Sprintf("T%04d", id%260)
	author := bson.D{{Key: "user", Value: user}, {Key: "affiliated", Value: true}, {Key: "last", Value: text(300)}}
	shown := bson.D{{Key: "web", Value: title + text(400)}, {Key: "plain", Value: text(300)},
		{Key: "users", Value: bson.A{user}}}
	return bson.D{
		{Key: "_id", Value: fmt.Sprintf("a%06d", id)}, {Key: "type", Value: "publication"},
		{Key: "title", Value: title + text(80)}, {Key: "year", Value: year}, {Key: "affiliated", Value: true},
		{Key: "authors", Value: bson.A{author}}, {Key: "rendered", Value: shown},
		{Key: "catalog", Value: bson.D{{Key: "topics", Value: assigned}}}, {Key: "abstract", Value: text(500)},
		{Key: "changed", Value: bson.D{{Key: "at", Value: i.began.Add(time.Duration(minute) * time.Minute)}}},
	}
}

// change moves activities to another year, and returns how many bytes the leader receives because of that.
func (i *changingInstitute) change() map[string]int {
	for id := range changedRecords {
		doc := i.activity(id, "after", 2001, 10)
		if _, err := i.activities.ReplaceOne(i.t.Context(), doc[:1], doc); err != nil {
			i.t.Fatal(err)
		}
	}
	i.replies.reset()
	i.published(rules.ViewActivities)
	i.published(rules.ViewSpectrum)
	return i.replies.reset()
}

// published lets jobs run until one has published a view, and waits until the leader serves that. Otherwise the
// leader's front end could load a view while the next job settles another one, and read some rows twice.
func (i *changingInstitute) published(view string) {
	i.t.Helper()
	meta := func() origin.Meta {
		m, err := i.store.Meta(i.t.Context(), view)
		if err != nil {
			i.t.Fatal(err)
		}
		return m
	}
	now := meta()
	for before := now.Generation; now.Generation == before; now = meta() {
		i.permit()
	}
	programtest.Await(i.t, "the leader serves the change", func() string {
		return programtest.Unless(strings.Contains(i.leader.Generations(),
			fmt.Sprintln(now.View, now.Epoch, now.Generation)))
	})
}

// otherReplies are those with at most one document, such as a count, the greatest value of a field, or the result of
// a write. They do not depend on the number of records.
const otherReplies = "in other replies"

// replyCount counts the bytes of replies by collection. The zero value is ready.
type replyCount struct {
	mu    sync.Mutex // guards bytes
	bytes map[string]int
}

func (c *replyCount) reply(message []byte) []byte {
	const header = 16 + 4 + 1 // of a message with one document: also flags, and the kind of the section
	if len(message) < header+4 {
		return message
	}
	doc, _, _ := bsoncore.ReadDocument(message[header:])
	cursor, _ := bson.Raw(doc).Lookup("cursor").DocumentOK()
	batch, ok := cursor.Lookup("firstBatch").ArrayOK()
	if !ok {
		batch, _ = cursor.Lookup("nextBatch").ArrayOK()
	}
	collection := otherReplies
	if found, _ := batch.Values(); len(found) > 1 {
		name, _ := cursor.Lookup("ns").StringValueOK()
		_, collection, _ = strings.Cut(name, ".")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes == nil {
		c.bytes = map[string]int{}
	}
	c.bytes[collection] += len(message)
	return message
}

// reset begins to count anew, and returns the bytes so far.
func (c *replyCount) reset() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	bytes := c.bytes
	c.bytes = nil
	return bytes
}
