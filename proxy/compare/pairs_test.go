package compare_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/compare"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/proxytest/mistakes"
	"vitrine/rules"
	"vitrine/rules/access"
)

// reply is what a side sends.
type reply = mistakes.Answer

// object is an object of JSON, with numbers as they are written.
type fields = map[string]any

// world is an institute whose answers are served by Vitrine, and by a translation of them into OSIRIS's form: numeric
// texts as numbers, days that are unknown as the first, rows in the order of a database, and so on. What the
// translation does is what compare has to accept.
type world struct {
	site  *proxytest.Site
	years map[string]float64 // by id of an activity
	ids   []string           // of activities
	users []string
	topic []string

	mu    sync.Mutex
	cache map[string]reply
}

// newWorld serves the demo's records. Every tenth activity has no day.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{years: map[string]float64{}, cache: map[string]reply{}}
	store := proxytest.NewStore()
	topics := map[string]bool{}
	w.publish(t, store, rules.ViewActivities, "activities", func(i int, r fields) {
		id := r["_id"].(fields)["$oid"].(string)
		w.ids = append(w.ids, id)
		if year, ok := r["year"].(float64); ok {
			w.years[id] = year
		}
		spectrum, _ := r["spectrum"].([]any)
		for _, entry := range spectrum {
			topics[entry.(fields)["display_name"].(string)] = true
		}
		rendered, ok := r["rendered"].(fields)
		if !ok || r["year"] == nil || i%10 > 4 {
			return
		}
		date := fmt.Sprintf("%02v.%v", r["month"], r["year"])
		if i%10 == 3 {
			delete(r, "day")
		} else {
			date = fmt.Sprintf("%02v.", r["day"]) + date
		}
		for _, form := range []string{"web", "print"} {
			rendered[form] = fmt.Sprintf("%s (%s)", rendered[form], date)
		}
	})
	w.publish(t, store, rules.ViewPersons, "persons", func(_ int, r fields) {
		if user, ok := r["username"].(string); ok {
			w.users = append(w.users, user)
		}
	})
	for view, file := range map[string]string{rules.ViewProjects: "projects", rules.ViewProposals: "proposals",
		rules.ViewJournals: "journals", rules.ViewEvents: "conferences"} {
		w.publish(t, store, view, file, func(_ int, r fields) {
			if year, ok := r["year"].(float64); ok {
				w.years[r["_id"].(fields)["$oid"].(string)] = year
			}
		})
	}
	for topic := range topics {
		w.topic = append(w.topic, topic)
	}
	slices.Sort(w.topic)
	o := proxytest.Options(t)
	o.Access = access.New(access.Options{Anonymous: []access.Permission{access.ProjectsView}})
	w.site = proxytest.Open(t, store, o)
	return w
}

// publish publishes the demo's records of a collection, after a change to each.
func (w *world) publish(t testing.TB, store *proxytest.Store, view, file string, change func(int, fields)) {
	t.Helper()
	text, err := os.ReadFile(proxytest.InRepo("configs", "demo", file+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []bson.Raw
	for line := range bytes.Lines(text) {
		var r fields
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		change(len(all), r)
		changed, _ := json.Marshal(r) // cannot fail: it was JSON
		all = append(all, proxytest.Parse(t, string(changed))...)
	}
	store.Publish(view, all...)
}

// new returns Vitrine's answer.
func (w *world) new(target string) reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, known := w.cache[target]; known {
		return r
	}
	res := w.site.Exchange(mustRequest(target))
	r := reply{Status: res.StatusCode, Type: res.Header.Get("Content-Type"), Body: string(res.Body)}
	w.cache[target] = r
	return r
}

func mustRequest(target string) *http.Request {
	req, err := http.NewRequest(http.MethodGet, "http://localhost"+target, nil)
	if err != nil {
		panic(err)
	}
	return req
}

// old returns the answer as OSIRIS would send it.
func (w *world) old(target string) reply {
	at, _ := url.Parse(target) // of the test
	query := at.Query()
	paged := query.Get("limit") != "" && at.Path != "/api/html"
	whole := target
	if paged {
		query.Del("limit")
		query.Del("offset")
		whole = at.Path + "?" + query.Encode()
		query = at.Query()
	}
	r := w.new(whole)
	var body fields
	if d := decoder(r.Body); d.Decode(&body) != nil {
		return r
	}
	if body["error"] != nil {
		body["msg"] = "Fehler"
	}
	if rows, ok := body["data"].([]any); ok {
		rows = slices.Clone(rows)
		w.reorder(at, rows)
		if limit := len(rows); paged {
			_, _ = fmt.Sscan(query.Get("limit"), &limit)
			if len(rows) > limit {
				body["limit"], body["offset"] = limit, query.Get("offset") != ""
				if query.Get("offset") != "" {
					rows = rows[1:]
				}
				rows = rows[:min(limit, len(rows))]
			}
		}
		body["data"] = rows
	}
	w.rewrite(at.Path, "", body)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	_ = e.Encode(body) // cannot fail: it was JSON
	return reply{Status: http.StatusOK, Type: "application/json", Body: strings.ReplaceAll(text.String(), "/", `\/`)}
}

func decoder(text string) *json.Decoder {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d
}

// reorder brings rows into the order of a database that sorts by one field at most: by year or a count, and else by
// what looks random.
func (w *world) reorder(at *url.URL, rows []any) {
	hash := func(r any) uint32 {
		text, _ := json.Marshal(r.(fields)["id"]) // the same for all rows of an unwound record
		if value, ok := r.(fields)["value"]; ok {
			text, _ = json.Marshal(value)
		}
		h := fnv.New32a()
		_, _ = h.Write(text) // never fails
		return h.Sum32()
	}
	number := func(r any, name string) float64 {
		n, _ := r.(fields)[name].(json.Number)
		f, _ := n.Float64() // 0 for what is none
		return f
	}
	rank := func(any) float64 { return 0 }
	switch path := at.Path; {
	case at.Query().Has("aggregate"):
		rank = func(r any) float64 { return number(r, "count") }
	case path == "/api/activities" || path == "/api/search/activities" || path == "/api/projects":
		rank = func(r any) float64 { id, _ := r.(fields)["id"].(string); return w.years[id] }
	case path == "/api/spectrum-activities":
		rank = func(r any) float64 { return number(r, "score") }
	case path == "/api/events" || strings.HasPrefix(path, "/portfolio"):
		return
	}
	slices.SortStableFunc(rows, func(a, b any) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(hash(a), hash(b)))
	})
}

var (
	digits  = regexp.MustCompile(`^[1-9]\d{0,9}$`)
	monthly = regexp.MustCompile(`\((\d\d\.\d{4})\)`)
)

// rewrite writes the values as OSIRIS does.
func (w *world) rewrite(path, name string, v any) any {
	switch v := v.(type) {
	case fields:
		for name := range v {
			v[name] = w.rewrite(path, name, v[name])
		}
		if list, ok := v["departments"].([]any); ok && len(list) == 0 && path == "/api/all-activities" {
			v["departments"] = nil
		}
	case []any:
		for i := range v {
			v[i] = w.rewrite(path, name, v[i])
		}
	case string:
		switch {
		case name == "link":
			return strings.Replace(v, "https://doi.org/", "https://dx.doi.org/", 1)
		case digits.MatchString(v):
			return json.Number(v)
		case strings.Contains(v, "<"):
			v = strings.Replace(v, "<b>", "<b style='color: #123456'>", 1)
			return monthly.ReplaceAllString(v, "(01.$1)")
		}
		return v
	}
	return v
}

// targets returns 2,000 requests.
func (w *world) targets() (all []string) {
	for _, id := range w.ids {
		of := "json=" + url.QueryEscape(`{"_id":"`+id+`"}`)
		all = append(all, "/api/activities?"+of, "/api/all-activities?"+of,
			"/api/activities?columns[]=web&columns[]=print&columns[]=title&columns[]=doi&columns[]=volume&"+
				"columns[]=units&columns[]=topics&columns[]=affiliated&columns[]=start_date&columns[]=authors.last&"+of)
	}
	for _, user := range append(w.users, "unknown") {
		all = append(all, "/api/users/"+user, "/api/user-units/"+user)
	}
	for _, topic := range w.topic {
		all = append(all, "/api/spectrum-activities?spectrum="+url.QueryEscape(topic))
	}
	for _, list := range []string{"/api/activities?", "/api/search/persons?", "/api/search/journals?",
		"/api/projects?raw=1&", "/api/activities?columns[]=title&"} {
		all = append(all, list+"limit=7", list+"limit=5&offset=5", strings.TrimRight(list, "?&"))
	}
	for _, field := range []string{"type", "year", "units", "authors.user", "subtype", "journal"} {
		all = append(all, "/api/activities?json=%7B%22year%22%3A%7B%22%24gt%22%3A2000%7D%7D&aggregate="+field)
	}
	all = append(all, "/api/html", "/api/all-activities", "/api/events", "/api/activities?limit=5&offset=5000",
		"/api/search/activities?columns[]=authors.user", "/api/search/persons?columns[]=units.unit&columns[]=last",
		"/api/projects-by-funding-number?number=164738,918610",
		"/api/search/persons?columns[]=username&json=%7B%22is_active%22%3Atrue%7D")
	for year := 1990; len(all) < 2000; year++ {
		all = append(all, fmt.Sprintf("/api/activities?json=%%7B%%22year%%22%%3A%d%%7D", year))
	}
	return all[:2000]
}

// comparing returns a comparison of the two sides of a world. change may replace the new side's answer.
func (w *world) comparing(t testing.TB, change func(target string, r reply) reply) *compare.Comparison {
	t.Helper()
	side := func(name string, answer func(string) reply) *compare.Side {
		s, err := compare.NewSide(name, "http://"+name+".example", compare.Keys{}, roundTrip(
			func(r *http.Request) *http.Response {
				a := answer(r.URL.RequestURI())
				return &http.Response{StatusCode: a.Status, Header: http.Header{"Content-Type": {a.Type}},
					Body: io.NopCloser(strings.NewReader(a.Body))}
			}))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return compare.NewComparison(side("old", w.old), side("new", func(target string) reply {
		return change(target, w.new(target))
	}), compare.Settings{Accepted: compare.OSIRIS(), Examples: 2})
}

// TestPairs: between 2,000 answers of Vitrine and the same in OSIRIS's form nothing differs but what is known.
func TestPairs(t *testing.T) {
	w := newWorld(t)
	c := w.comparing(t, func(_ string, r reply) reply { return r })
	for _, target := range w.targets() {
		if outcome, err := c.Ask(t.Context(), compare.Request{Method: "GET", Target: target}); outcome != "agree" &&
			outcome != "purpose" {
			t.Errorf("%s: %s, %v", target, outcome, err)
		}
	}
	r := c.Report()
	for _, g := range r.Differences() {
		if g.Reason == "" {
			t.Errorf("%+v: %+v", g.Place, g.Examples)
		}
	}
	if r.Total.Asked != 2000 || r.Total.Purpose < 1000 {
		t.Errorf("%+v", r.Total)
	}
}
