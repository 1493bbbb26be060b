package crashes

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/programtest"
)

// stamped is an institute that a writer changes round after round. Its records, and with them the
// rows and answers made of them, all name their round: an answer with two rounds mixes two
// generations.
type stamped struct {
	activities int // about how many
	// live: jobs run while it is written, and may find activities that are about to go.
	live bool
}

// has reports whether a round has an activity: some come, some go.
func (s stamped) has(id, round int) bool {
	return id < s.activities+round%7 && (id+round)%10 != 0
}

// count returns how many activities a round has.
func (s stamped) count(round int) int {
	n := 0
	for id := range s.activities + 7 {
		if s.has(id, round) {
			n++
		}
	}
	return n
}

// leaving returns the activities of the previous round that a round removes.
func (s stamped) leaving(round int) (ids []int) {
	for id := range s.activities + 7 {
		if s.has(id, round-1) && !s.has(id, round) {
			ids = append(ids, id)
		}
	}
	return ids
}

// fits reports whether an answer of a round may have n activities.
func (s stamped) fits(n, round int) bool {
	return n == s.count(round) || s.live && n == s.count(round)+len(s.leaving(round))
}

// The numbers of other records.
const (
	stampedPersons  = 5
	stampedProjects = 6
	stampedTopics   = 4
	stampedOthers   = 3 // journals, events and deadlines
)

// stamp is the text in which a record names its round.
func stamp(round int) string { return "Round " + strconv.Itoa(round) }

// records returns the institute's records in a round, by collection.
func (s stamped) records(round int) map[string][]bson.D {
	all := map[string][]bson.D{"groups": {
		{{Key: "_id", Value: "u1"}, {Key: "id", Value: "U1"}, {Key: "name", Value: "Unit"},
			{Key: "level", Value: 0}}}}
	for id := range s.activities + 7 {
		if s.has(id, round) {
			all["activities"] = append(all["activities"], stampedActivity(id, round))
		}
	}
	for i := range stampedPersons {
		all["persons"] = append(all["persons"], bson.D{
			{Key: "_id", Value: fmt.Sprint("p", i)}, {Key: "username", Value: fmt.Sprint("user", i)},
			{Key: "first", Value: "A."},
			{Key: "last", Value: fmt.Sprint("Keeper ", i)}, {Key: "about", Value: stamp(round)},
			{Key: "units",
				Value: bson.A{bson.D{{Key: "unit", Value: "U1"}, {Key: "start", Value: "2020-01-01"},
					{Key: "note", Value: stamp(round)}}}},
		})
	}
	for i := range stampedProjects {
		project := bson.D{
			{Key: "_id", Value: fmt.Sprint("r", i)}, {Key: "type", Value: "own"},
			{Key: "name", Value: fmt.Sprintf("%s, project %d", stamp(round), i)},
			{Key: "funding_number", Value: fmt.Sprint("F", i)},
			{Key: "persons", Value: bson.A{bson.D{{Key: "user", Value: fmt.Sprint("user", i%stampedPersons)}}}},
		}
		all["projects"], all["proposals"] = append(all["projects"], project), append(all["proposals"], project)
	}
	described := stamp(round)
	if s.live { // a job reads topics and activities at different moments
		described = "of any round"
	}
	for i := range stampedTopics {
		all["catalog_topics"] = append(all["catalog_topics"], bson.D{
			{Key: "_id", Value: fmt.Sprint("t", i)}, {Key: "id", Value: fmt.Sprint("T", i)},
			{Key: "name", Value: fmt.Sprint("Topic ", i)}, {Key: "description", Value: described},
		})
	}
	for i := range stampedOthers {
		named := bson.D{
			{Key: "_id", Value: fmt.Sprint("o", i)}, {Key: "journal", Value: stamp(round)},
			{Key: "title", Value: stamp(round)}, {Key: "start", Value: "2024-05-01"},
		}
		for _, collection := range []string{"journals", "conferences", "deadlines"} {
			all[collection] = append(all[collection], named)
		}
	}
	return all
}

func stampedActivity(id, round int) bson.D {
	topic := fmt.Sprint("T", id%stampedTopics)
	return bson.D{
		{Key: "_id", Value: fmt.Sprint("a", id)}, {Key: "type", Value: "publication"},
		{Key: "subtype", Value: "article"},
		{Key: "title", Value: fmt.Sprintf("%s, activity %d", stamp(round), id)},
		{Key: "year", Value: int32(time.Now().Year() - id%5)},
		{Key: "authors",
			Value: bson.A{bson.D{{Key: "last", Value: "Keeper"}, {Key: "first", Value: "A."},
				{Key: "user", Value: fmt.Sprint("user", id%stampedPersons)}, {Key: "affiliated", Value: true}}}},
		{Key: "affiliated", Value: true}, {Key: "units", Value: bson.A{"U1"}},
		{Key: "catalog",
			Value: bson.D{{Key: "topics",
				Value: bson.A{bson.D{{Key: "id", Value: topic}, {Key: "name", Value: "Topic"},
					{Key: "score", Value: 0.9}}}}}},
		{Key: "abstract", Value: strings.Repeat("so many words ", 100)},
	}
}

// roundChange brings the sources to a round: it has records to write, and then the activities that
// stay. So a job that runs meanwhile finds one round in every collection.
type roundChange struct {
	Records map[string][][]byte // BSON, by collection
	Stay    map[string]bool     // the ids of activities
}

// change returns the change that brings the sources to a round.
func (s stamped) change(round int) roundChange {
	c := roundChange{map[string][][]byte{}, map[string]bool{}}
	for collection, docs := range s.records(round) {
		if collection == "activities" {
			for _, doc := range docs {
				c.Stay[doc[0].Value.(string)] = true
			}
			for _, id := range s.leaving(round) { // activities about to be removed name the new round, too
				docs = append(docs, stampedActivity(id, round))
			}
		}
		for _, doc := range docs {
			raw, err := bson.Marshal(doc)
			if err != nil {
				panic(err) // our own records can be encoded
			}
			c.Records[collection] = append(c.Records[collection], raw)
		}
	}
	return c
}

// write brings a store's sources to a round.
func (s stamped) write(ctx context.Context, store origin.Store, round int) error {
	change := s.change(round)
	for collection, docs := range change.Records {
		raws := make([]bson.Raw, len(docs))
		for i, doc := range docs {
			raws[i] = doc
		}
		if _, err := store.Upsert(ctx, collection, raws); err != nil {
			return err
		}
	}
	_, err := store.Retain(ctx, "activities", func(id bson.RawValue) bool { return change.Stay[id.StringValue()] })
	return err
}

// question is a request whose answer names one round, and which a test can check for completeness.
type question struct {
	path string
	view string
	// count and rows check the numbers in an answer of a round; nil accepts any.
	count, rows func(n, round int) bool
}

// questions request every view, in every form that shows the round of a row.
func (s stamped) questions() []question {
	n := func(want int) func(int, int) bool { return func(n, _ int) bool { return n == want } }
	return []question{
		{"/api/activities", "activities", s.fits, s.fits},
		{"/api/activities?limit=7&offset=3", "activities", s.fits, n(7)},
		{"/api/activities?full=1", "activities", s.fits, s.fits},
		{"/api/activities?columns[]=title&filter[type]=publication", "activities", s.fits, s.fits},
		{"/api/html", "activities", s.fits, s.fits},
		{"/api/all-activities", "activities", s.fits, s.fits},
		{"/api/all-activities?page=portal", "activities", s.fits, s.fits},
		{"/api/search/activities?columns[]=title", "activities", s.fits, s.fits},
		{"/api/projects?raw", "projects", n(stampedProjects), n(stampedProjects)},
		{"/api/projects", "projects", n(stampedProjects), n(stampedProjects)},
		{"/api/projects?full", "projects", n(stampedProjects), n(stampedProjects)},
		{"/api/projects-by-funding-number?number=F1", "projects", nil, nil},
		{"/api/proposals?raw", "proposals", n(stampedProjects), n(stampedProjects)},
		{"/api/search/proposals?columns[]=name", "proposals", n(stampedProjects), n(stampedProjects)},
		{"/api/search/journals", "journals", n(stampedOthers), n(stampedOthers)},
		{"/api/search/persons?columns[]=about", "persons", n(stampedPersons), n(stampedPersons)},
		{"/api/users/user1", "persons", n(1), nil},
		{"/api/user-units/user1", "user_units", n(1), nil},
		{"/api/events", "events", n(0), n(stampedOthers)},
		{"/api/deadlines", "deadlines", n(0), n(stampedOthers)},
		{"/portfolio/spectrum", "spectrum", n(stampedTopics), n(stampedTopics)},
		{"/api/levenshtein?title=activity%201", "", nil, nil},
		{"/api/spectrum-activities?spectrum=none", "", nil, nil},
	}
}

var stampText = regexp.MustCompile(`Round (\d+)`)

// roundOf returns the one round that a text names; 0 if it names none.
func roundOf(text []byte) (round int, err error) {
	for _, found := range stampText.FindAllSubmatch(text, -1) {
		n, err := strconv.Atoi(string(found[1]))
		if err != nil {
			return 0, err
		}
		if round != 0 && n != round {
			return 0, fmt.Errorf("answer mixes rounds %d and %d", round, n)
		}
		round = n
	}
	return round, nil
}

// check returns what is wrong with an answer, and the answer's round.
func (q question) check(s stamped, body []byte) (round int, err error) {
	var e struct {
		Status, Count int
		Data          json.RawMessage
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return 0, err
	}
	if q.view == "" {
		return 0, nil
	}
	if e.Status != 200 {
		return 0, fmt.Errorf("status %d", e.Status)
	}
	if round, err = roundOf(body); err != nil {
		return 0, err
	}
	if round == 0 {
		return 0, fmt.Errorf("answer names no round: %.200s", body)
	}
	if q.count != nil && !q.count(e.Count, round) {
		return round, fmt.Errorf("round %d: count is %d", round, e.Count)
	}
	if q.rows == nil {
		return round, nil
	}
	var rows []struct{ Count int }
	if err := json.Unmarshal(e.Data, &rows); err != nil {
		return round, err
	}
	if !q.rows(len(rows), round) {
		return round, fmt.Errorf("round %d: %d rows", round, len(rows))
	}
	if q.view == "spectrum" { // every activity is in one topic
		sum := 0
		for _, r := range rows {
			sum += r.Count
		}
		if !s.fits(sum, round) {
			return round, fmt.Errorf("round %d: topics count %d activities, want %d", round, sum, s.count(round))
		}
	}
	return round, nil
}

// TestStampedQuestions: an undisturbed institute answers every question.
func TestStampedQuestions(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	s, dir := stamped{activities: 40}, t.TempDir()
	programtest.Setenv(dir, "VITRINE_ACCESS_ANONYMOUS", programtest.Everything)
	for _, round := range []int{3, 4} {
		programtest.WithStore(t, "bolt://"+dir+"/v.db", func(store origin.Store) {
			if err := s.write(t.Context(), store, round); err != nil {
				t.Fatal(err)
			}
		})
		programtest.Run(t, dir, "materialize", "--store", "bolt://v.db")
		server := programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
		for _, q := range s.questions() {
			_, body := server.Get(q.path)
			if got, err := q.check(s, []byte(body)); err != nil || q.view != "" && got != round {
				t.Errorf("%s: round %d, want %d: %v", q.path, got, round, err)
			}
		}
		if _, err := questionOf(t, s, "/api/html").check(s,
			[]byte(strings.Replace(programtest.Body(server, "/api/html"), stamp(round), stamp(9), 1))); err == nil {
			t.Error("check accepts a mixed answer")
		}
		server.Stop()
	}
}

func questionOf(t testing.TB, s stamped, path string) question {
	t.Helper()
	for _, q := range s.questions() {
		if q.path == path {
			return q
		}
	}
	t.Fatalf("no question %s", path)
	return question{}
}
