package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/configs"
	"vitrine/proxy/health"
	"vitrine/rules/raw"
)

// longEnv makes the tests of bad data try every wrong value in every field. Without it they try
// some of them in each field.
const longEnv = "VITRINE_TEST_BADDATA"

// few is how many wrong values the short form tries in each field.
const few = 2

// spoil makes records of a collection that are wrong in one field each. Each has its own _id and
// its own names for references, unless these are the wrong field.
func spoil(collection string, docs []bson.Raw) (records []bson.Raw, unusable int) {
	whole := specimen(docs)
	values := wrongValues()
	n := 0
	for i, path := range fieldsOf(whole, 5) {
		tried := values
		if os.Getenv(longEnv) == "" {
			tried = nil
			for k := range few {
				tried = append(tried, values[(i*few+k)%len(values)])
			}
		}
		for _, w := range tried {
			n++
			if path[0] == "_id" {
				continue // the loop below tries every type of it
			}
			doc := renamed(whole, fmt.Sprintf("~bad-%s-%d", collection, n))
			doc = spoiled(doc, path, w.value)
			records = append(records, bson.Raw(doc))
			if raw.Check(doc) != nil {
				unusable++
			}
		}
	}
	for _, w := range values {
		if w.value.Type == bsoncore.TypeArray || w.value.Type == bsoncore.TypeRegex ||
			w.value.Type == bsoncore.TypeUndefined ||
			len(w.value.Data) > 30<<10 || unreadable[w.name] {
			continue // stores refuse these ids
		}
		records = append(records, bson.Raw(spoiled(renamed(whole, "~bad-"+w.name), []string{"_id"}, w.value)))
	}
	return records, unusable
}

// TestBadData adds to the demo's records others with every kind of wrong value in every field, one
// field each, runs all jobs and calls every endpoint.
func TestBadData(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	modes := []string{"memory"}
	if os.Getenv(longEnv) != "" {
		modes = append(modes, "store")
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			cfg := demoConfig(t)
			cfg.Views.Mode = mode
			testBadData(t, cfg)
		})
	}
}

func testBadData(t *testing.T, cfg configs.Config) {
	good := demoCollections(t, configs.Demo(), ".")
	ask := func(r *running) map[string]string {
		answers := map[string]string{}
		for _, call := range callsAboutGood(good) {
			answers[call] = r.sane(call)
		}
		return answers
	}
	want := ask(runConfigured(t, cfg, func(r *running) { r.fill(good) }))

	unusable := map[string]int{}
	r := runConfigured(t, cfg, func(r *running) {
		r.fill(good)
		for collection, docs := range good {
			bad, n := spoil(collection, docs)
			unusable[collection] = n
			r.fill(map[string][]bson.Raw{collection: bad})
		}
	})
	views := r.checked()
	for view, collection := range map[string]string{
		"activities": "activities", "projects": "projects", "proposals": "proposals", "journals": "journals",
		"persons": "persons", "events": "conferences", "deadlines": "deadlines",
	} {
		job := views[view].Job
		if job.Status != "ok" || job.Error != "" || views[view].Rows != job.Scanned-unusable[collection] ||
			job.Skipped < unusable[collection] {
			t.Errorf("%s: %d rows of %d records, %d of which cannot be read: %+v", view, views[view].Rows,
				job.Scanned, unusable[collection], job)
		}
		if len(job.Skips) == 0 && unusable[collection] > 0 || len(job.Skips) > 20 {
			t.Errorf("%s: %d records are listed as skipped", view, len(job.Skips))
		}
		for _, skip := range job.Skips {
			if !strings.HasPrefix(skip.ID, "~bad-") || !strings.Contains(skip.Reason, "malformed record") {
				t.Errorf("%s: skipped %q: %q", view, skip.ID, skip.Reason)
			}
		}
	}
	for view, status := range views {
		if status.Job.Status != "ok" {
			t.Errorf("%s: %+v", view, status.Job)
		}
	}
	calls := callsAboutAll(good)
	total := 0
	for _, status := range views {
		total += status.Job.Scanned
	}
	t.Logf("%d records scanned in all, %d calls", total, len(calls))
	for call, got := range ask(r) {
		if got != want[call] {
			t.Errorf("%s\nbeside bad records: %.600s\notherwise:          %.600s", call, got, want[call])
		}
	}
	for i, call := range calls {
		if i < 40 || i%4 == 0 || os.Getenv(longEnv) != "" {
			r.sane(call)
		}
	}
	var persons []bson.Raw
	bad, _ := spoil("persons", good["persons"])
	for i := 0; i < len(bad); i += len(bad)/150 + 1 {
		persons = append(persons, bad[i])
	}
	for _, p := range persons {
		if id, ok := p.Lookup("_id").StringValueOK(); ok {
			r.sane("/api/users/" + url.PathEscape(id))
			r.sane("/api/user-units/" + url.PathEscape(id))
		}
	}
}

// fill stores documents unchanged.
func (r *running) fill(collections map[string][]bson.Raw) {
	r.t.Helper()
	for collection, docs := range collections {
		if _, err := r.store.Upsert(r.t.Context(), collection, docs); err != nil {
			r.t.Fatal(err)
		}
	}
}

// sane calls an endpoint, reports answers that no client could read or that blame the server, and
// returns the body.
func (r *running) sane(call string) string {
	r.t.Helper()
	status, body := fetch(r.t, http.MethodGet, r.base+call, "X-API-Key", r.key)
	switch {
	case status >= 500:
		r.t.Errorf("%s: status %d: %.300s", call, status, body)
	case strings.HasPrefix(call, "/api/projects?formatted"), strings.HasPrefix(call, "/api/proposals?formatted"):
		// two documents in a row, as stored
	case !json.Valid([]byte(body)):
		r.t.Errorf("%s: not JSON: %.300s", call, body)
	}
	if !utf8.ValidString(body) {
		r.t.Errorf("%s: not UTF-8", call)
	}
	return body
}

// checked checks what the operator sees once every job has run.
func (r *running) checked() (all map[string]health.ViewStatus) {
	r.t.Helper()
	await(r.t, "all jobs have ended", func() string {
		_, body := fetch(r.t, http.MethodGet, r.admin+"/admin/views")
		var answer struct{ Data []health.ViewStatus }
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			r.t.Fatal(err)
		}
		all = map[string]health.ViewStatus{}
		for _, v := range answer.Data {
			if all[v.View] = v; v.Job.Status == "" {
				return body
			}
		}
		return ""
	})
	return all
}

// callsAboutGood only request the good records.
func callsAboutGood(good map[string][]bson.Raw) []string {
	only := func(collection string) string {
		ids := bson.A{}
		for _, doc := range good[collection][:min(60, len(good[collection]))] {
			ids = append(ids, doc.Lookup("_id"))
		}
		text, err := bson.MarshalExtJSON(bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, false, false)
		if err != nil {
			panic(err)
		}
		return "json=" + url.QueryEscape(string(text))
	}
	calls := []string{
		"/api/activities?full=1&" + only("activities"), "/api/activities?" + only("activities"),
		"/api/activities?aggregate=type&" + only("activities"), "/api/all-activities?" + only("activities"),
		"/api/search/activities?columns[]=authors.user&columns[]=title&" + only("activities"),
		"/api/search/journals?" + only("journals"), "/api/search/persons?" + only("persons"),
		"/api/search/conferences?" + only("conferences"),
	}
	for _, name := range []string{"projects", "proposals"} {
		for _, form := range []string{"", "raw&", "full&", "lang=de&", "columns[]=persons&columns[]=title&"} {
			calls = append(calls, "/api/"+name+"?"+form+only(name))
		}
	}
	for _, p := range good["persons"][:10] {
		id := p.Lookup("_id").ObjectID().Hex()
		calls = append(calls, "/api/users/"+id, "/api/user-units/"+id)
	}
	return calls
}

// callsAboutAll request all records in every form.
func callsAboutAll(good map[string][]bson.Raw) []string {
	calls := []string{
		"/api/activities", "/api/activities?full=1", "/api/activities?lang=de&limit=5&offset=3", "/api/html",
		"/api/html?limit=7",
		"/api/activities?columns=web,print,icon,type,subtype,authors,title,departments,year,doi,units,workflow.status",
		"/api/all-activities", "/api/all-activities?page=portal", "/api/all-activities?path=https://www.example.org",
		"/api/all-activities?page=my-activities&user=x", "/api/spectrum-activities?spectrum=x",
		"/api/spectrum-activities?spectrum=" + url.QueryEscape("Counting What Is Not Seen"),
		"/api/projects?formatted", "/api/proposals?formatted", "/api/projects?search=x", "/api/proposals?search=x",
		"/api/search/persons?search=x", "/api/search/activities?search=moth",
		"/api/projects-by-funding-number?number=x,LF-980046",
		"/api/events", "/api/conferences", "/api/deadlines", "/portfolio/spectrum",
		"/portfolio/spectrum?limit=5&offset=2",
		"/api/levenshtein?title=" + url.QueryEscape("Größe der Nacht"), "/api/levenshtein?title=x&doi=x&pubmed=1",
	}
	for _, name := range []string{"projects", "proposals"} {
		for _, form := range []string{"", "?raw", "?full", "?lang=de"} {
			calls = append(calls, "/api/"+name+form)
		}
	}
	lists := map[string]string{
		"activities": "/api/search/activities", "projects": "/api/search/projects",
		"proposals": "/api/search/proposals",
		"journals":  "/api/search/journals", "persons": "/api/search/persons",
		"conferences": "/api/search/conferences",
	}
	for collection, path := range lists {
		for _, field := range fieldsOf(specimen(good[collection]), 3) {
			var names []string
			for _, name := range field {
				if name != "0" {
					names = append(names, name)
				}
			}
			f := url.QueryEscape(strings.Join(names, "."))
			calls = append(calls, path+"?limit=50&columns[]="+f, path+"?aggregate="+f,
				path+"?aggregate=type&aggregate_function=median&aggregate_value="+f,
				path+"?limit=3&json="+url.QueryEscape(fmt.Sprintf(
					`{"$or":[{%[1]q:{"$gt":5}},{%[1]q:{"$regex":"x","$options":"i"}},{%[1]q:{"$type":"array"}},`+
						`{%[1]q:{"$lt":{"$date":0}}}]}`, strings.Join(names, "."))))
		}
	}
	return calls
}
