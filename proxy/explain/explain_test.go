package explain_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/auth"
	"vitrine/proxy/explain"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// explaining is a site of the demo's records whose answers are explained.
type explaining struct {
	*proxytest.Site
	t      *testing.T
	secret []byte
	random *rand.Rand
	rows   map[string]map[string]bson.Raw // the current records by view and id
	ids    map[string][]string            // their ids by view, sorted
}

// explainedRequest is a request with the caller's user, and the record in question.
type explainedRequest struct{ view, url, user, id string }

func newExplaining(t *testing.T) *explaining {
	t.Helper()
	x := &explaining{t: t, secret: []byte("secret"), random: rand.New(rand.NewPCG(25, 2)),
		rows: map[string]map[string]bson.Raw{}, ids: map[string][]string{}}
	o := proxytest.ListOptions(t)
	o.Auth.Session = auth.SessionOptions{Secret: x.secret}
	o.Access = access.New(access.Options{
		Roles:      map[string][]access.Permission{"admin": access.Permissions()},
		Restricted: map[string][]string{"review": {"admin"}, "teaching": {"admin", "user"}},
	})
	var err error
	if o.Lists.Rule.Public, err = filter.Parse([]byte(proxytest.PublicRule), filter.Options{}); err != nil {
		t.Fatal(err)
	}
	collections := map[string]string{"activities": rules.ViewActivities, "projects": rules.ViewProjects,
		"persons": rules.ViewPersons}
	store := proxytest.ListStore(t, func(collection string, docs []bson.Raw) []bson.Raw {
		if view := collections[collection]; view != "" {
			x.rows[view] = map[string]bson.Raw{}
			for _, doc := range docs {
				id := doc.Lookup("_id").ObjectID().Hex()
				x.rows[view][id], x.ids[view] = doc, append(x.ids[view], id)
			}
		}
		return docs
	})
	x.Site = proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 0)
	return x
}

// pick returns one of some values.
func pick[T any](x *explaining, from ...T) T { return from[x.random.IntN(len(from))] }

// conditions are conditions of filters on activities, by the field that they test, so that a filter tests each field
// once.
var conditions = map[string][]string{
	"year": {`"year":{"$gte":2020}`, `"year":{"$lt":2019}`, `"year":2021`, `"year":{"$in":[2018,2020,2022]}`,
		`"year":{"$not":{"$gt":2021}}`},
	"type": {`"type":"publication"`, `"type":{"$ne":"publication"}`, `"type":{"$in":["lecture","poster"]}`,
		`"type":{"$nin":["review","award"]}`},
	"units": {`"units":"ECO"`, `"units":{"$all":["ECO","MOTH"]}`, `"units":{"$ne":"LORE"}`, `"units":{"$size":4}`},
	"title": {`"title":{"$regex":"night","$options":"i"}`, `"title":{"$not":{"$regex":"a of"}}`},
	"authors": {`"authors":{"$elemMatch":{"affiliated":true,"position":"first"}}`, `"authors.user":"evigilsk"`,
		`"authors.last":{"$regex":"^S"}`},
	"doi": {`"doi":{"$exists":true}`, `"doi":{"$exists":false}`},
	"epub": {`"$or":[{"epub":true},{"pages":{"$exists":true}}]`,
		`"$nor":[{"epub":true},{"pages":{"$type":"string"}}]`},
	"month": {`"$expr":{"$gt":["$month",6]}`, `"month":{"$mod":[3,1]}`},
}

// filter returns a random filter on activities.
func (x *explaining) filter() string {
	var parts []string
	names := make([]string, 0, len(conditions))
	for name := range conditions {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, i := range x.random.Perm(len(names))[:1+x.random.IntN(3)] {
		parts = append(parts, pick(x, conditions[names[i]]...))
	}
	return url.QueryEscape("{" + strings.Join(parts, ",") + "}")
}

// request returns a random request and record.
func (x *explaining) request() (r explainedRequest) {
	r.view = rules.ViewActivities
	users := []string{"", "xmoonwri", "evigilsk", "fdammerl"}
	switch x.random.IntN(10) {
	case 0, 1, 2:
		r.url = "/api/activities?json=" + x.filter() +
			pick(x, "", "", "&full=1", "&limit=40&offset=20", "&columns[]=title&columns[]=authors.user",
				"&q=night&sort=-title", "&sort=title,-year&limit=30&offset=10")
	case 3:
		r.url, r.user = "/api/all-activities?json="+x.filter()+
			pick(x, "", "&type=publication", "&page=portal"), pick(x, users...)
	case 4:
		r.url = "/api/search/activities?json=" + x.filter() + pick(x, "", "&columns[]=authors.user&limit=100")
	case 5:
		r.view, r.user = rules.ViewProjects, pick(x, users...)
		r.url = "/api/projects?" + pick(x, "", "raw=1", "search=owl", `json={"public":true}`,
			`json={"status":"approved"}`, "filter[units]=ECO")
	case 6:
		r.view, r.url = rules.ViewPersons, "/api/search/persons?"+
			pick(x, "", `json={"last":{"$regex":"^[M-Z]"}}`, `json={"first":{"$gte":"M"}}`)
	case 7:
		r.view, r.url = rules.ViewProjects, "/lists/projects.json?limit=200"+
			pick(x, "", "&year=2019..", "&unit=ECO", "&type=third-party")
	default:
		r.url = pick(x, "/lists/activities.json?", "/lists/unit/ECO.json?", "/lists/activities.csv?",
			"/lists/activities.jsonld?") + pick(x, "", "", "limit=200") +
			pick(x, "", "&year=2018..2021", "&year=missing", "&year=2020,2022") +
			pick(x, "", "&type=publication", "&not.type=publication") +
			pick(x, "", "&unit=MOTH", "&person=evigilsk") + pick(x, "", "", "&q=night")
	}
	r.id = pick(x, x.ids[r.view]...)
	return r
}

// explain returns what the operator's listener says of a request.
func (x *explaining) explain(r explainedRequest) (e explain.Explanation) {
	x.t.Helper()
	res := x.Admin(http.MethodGet, "/admin/explain?id="+r.id+"&user="+r.user+"&url="+url.QueryEscape(r.url))
	if err := json.Unmarshal(res.Body, &e); err != nil || res.StatusCode != http.StatusOK {
		x.t.Fatalf("%+v: %d %v %s", r, res.StatusCode, err, res.Body)
	}
	return e
}

// idsIn matches the ids of records in answers.
var idsIn = regexp.MustCompile(`(?:"|\n|/items/)([0-9a-f]{24})`)

// answer returns the ids in the answer to a request.
func (x *explaining) answer(r explainedRequest) (ids []string) {
	x.t.Helper()
	var headers []string
	if r.user != "" {
		headers = []string{"Authorization", "Bearer " + proxytest.Token(x.t, r.user, x.secret)}
	}
	res := x.Get(proxytest.OnTheWire(r.url), headers...)
	if res.StatusCode != http.StatusOK {
		x.t.Fatalf("%+v: %d %s", r, res.StatusCode, res.Body)
	}
	for _, match := range idsIn.FindAllSubmatch(res.Body, -1) {
		if id := string(match[1]); x.rows[r.view][id] != nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// madeOf has the fields that parts of marks are made of.
var madeOf = map[string][]string{
	"_list.year": {"year", "start_date", "start"}, "_list.type": {"type"}, "_list.units.id": {"units", "authors"},
	"_list.persons.id": {"authors"},
}

// fields returns the top-level fields of records that a condition tests.
func fields(c explain.Clause) (all []string) {
	for _, part := range c.Clauses {
		all = append(all, fields(part)...)
	}
	if made := madeOf[c.Path]; made != nil {
		return append(all, made...)
	}
	if name, _, _ := strings.Cut(c.Path, "."); name != "" && name != "_list" {
		all = append(all, name)
	}
	return all
}

// flip is a change of a record that must change whether an answer has it.
type flip struct {
	explainedRequest
	was  bool
	says []string
}

// TestExplain explains random requests and records. What it says of membership is what the answer holds; and if the
// fields that it names get the values of a record for which the explanation is the opposite, the answer changes.
// VITRINE_TEST_EXPLAIN is the number of pairs.
func TestExplain(t *testing.T) {
	proxytest.WholeOnly(t)
	x, pairs := newExplaining(t), 150
	if proxytest.ViewsAre == view.Store {
		pairs = 80
	}
	if n, err := strconv.Atoi(os.Getenv("VITRINE_TEST_EXPLAIN")); err == nil {
		pairs = n
	}
	in, flipped, reasons := 0, 0, map[string]int{}
	for done := 0; done < pairs; {
		var flips []flip
		changed := map[string]bson.Raw{} // by id
		for ; done < pairs && len(flips) < 25; done++ {
			r := x.request()
			e, ids := x.explain(r), x.answer(r)
			has := slices.Contains(ids, r.id)
			if e.Record.InAnswer != has || has && !e.Selected.Has {
				t.Fatalf("%+v: the answer has it: %v, explained %+v", r, has, e)
			}
			reasons[e.Record.Reason]++
			if has {
				in++
			}
			if changed[r.id] != nil || e.Record.Reason == "other page" {
				continue
			}
			if doc := x.opposite(r, e, ids); doc != nil {
				changed[r.id] = doc
				flips = append(flips, flip{r, e.Selected.Has, e.Record.Because})
			}
		}
		x.publish(flips, changed)
		for _, f := range flips {
			e := x.explain(f.explainedRequest)
			has := slices.Contains(x.answer(f.explainedRequest), f.id)
			if e.Record.InAnswer != has {
				t.Fatalf("changed %+v: the answer has it: %v, explained %+v", f, has, e)
			}
			if e.Selected.Has == f.was {
				t.Errorf("%+v: changed to %s, it is as before: %+v", f, changed[f.id], e.Record)
			}
		}
		flipped += len(flips)
	}
	t.Logf("%d pairs, %d in the answer, %d changed, reasons %v", pairs, in, flipped, reasons)
	if in < pairs/8 || in > pairs*7/8 || flipped < pairs/2 {
		t.Error("too few pairs of a kind")
	}
}

// TestExplainInStore explains answers from rows that stay in the store.
func TestExplainInStore(t *testing.T) {
	proxytest.InStore(t, map[string]func(*testing.T){"Explain": TestExplain})
}

// opposite returns the record of a request with the named fields of another record, for which the named conditions
// have the opposite result. It returns nil if there is none.
func (x *explaining) opposite(r explainedRequest, e explain.Explanation, ids []string) bson.Raw {
	want := !e.Selected.Has
	var decisive []int
	for i, c := range e.Selected.Clauses {
		if c.Holds != nil && *c.Holds == e.Selected.Has && len(fields(c)) > 0 {
			decisive = append(decisive, i)
		} else if !e.Selected.Has && (c.Holds == nil || !*c.Holds) {
			return nil // words
		}
	}
	if len(decisive) == 0 {
		return nil
	}
	donor := ""
	if want && len(ids) > 0 {
		donor = pick(x, ids...)
	}
	if !want { // one of the conditions is enough
		decisive = decisive[x.random.IntN(len(decisive)):][:1]
		for range 20 {
			other := r
			other.id = pick(x, x.ids[r.view]...)
			if c := x.explain(other).Selected.Clauses[decisive[0]]; c.Holds != nil && !*c.Holds {
				donor = other.id
				break
			}
		}
	}
	if donor == "" {
		return nil
	}
	doc := x.rows[r.view][r.id]
	for _, i := range decisive {
		for _, field := range fields(e.Selected.Clauses[i]) {
			if want && field == "authors" && strings.Contains(r.url, "q=") {
				return nil // the record may have the words only in the names that it would lose
			}
			var b raw.Builder
			if err := b.Copy(doc, func(name string) bool { return name != field }); err != nil {
				x.t.Fatal(err)
			}
			if v, err := x.rows[r.view][donor].LookupErr(field); err == nil {
				b.Add(field, v)
			}
			doc = b.Document()
		}
	}
	return doc
}

// publish publishes changed records and waits until they are shown.
func (x *explaining) publish(flips []flip, changed map[string]bson.Raw) {
	x.t.Helper()
	for _, name := range []string{rules.ViewActivities, rules.ViewProjects, rules.ViewPersons} {
		var docs []bson.Raw
		for _, f := range flips {
			if f.view == name {
				x.rows[name][f.id] = changed[f.id]
				docs = append(docs, changed[f.id])
			}
		}
		if len(docs) == 0 {
			continue
		}
		x.Store.PublishMarked(x.t, name, docs...)
		want := x.Store.Generation(name)
		x.Views.Notify(name)
		proxytest.Until(x.t, "the change is shown", func() bool {
			snap, err := x.Views.Snapshot(name)
			return err == nil && snap.Meta().Generation == want
		})
	}
}

// TestExplainItem: the record in question of an item's path is the one that the request reads it as: of several ways
// the longest id that a public record has, or else the shortest.
func TestExplainItem(t *testing.T) {
	const work = `"type":"publication","subtype":"article","title":"T","year":2021`
	s := proxytest.OpenLists(t, func(collection string, docs []bson.Raw) []bson.Raw {
		if collection == "activities" {
			return append(docs, proxytest.Parse(t, `{"_id":"web.bib",`+work+`}`, `{"_id":"two",`+work+`}`,
				`{"_id":"two.csl",`+work+`}`, `{"_id":"secret",`+work+`,"hide":true}`)...)
		}
		if collection == "projects" {
			return append(docs, proxytest.Parse(t, `{"_id":"pro.ris","name":"P","title":"T","public":true}`)...)
		}
		return docs
	})
	for path, want := range map[string]struct{ id, reason string }{
		"/items/web.bib":      {"web.bib", "selected"},
		"/items/web.bib/":     {"web.bib", "selected"},
		"/items/web%2Ebib":    {"web.bib", "selected"},
		"/items/web.bib.ris":  {"web.bib", "selected"},
		"/items/two.csl.json": {"two.csl", "selected"},
		"/items/two.bib":      {"two", "selected"},
		"/items/pro.ris":      {"pro.ris", "selected"},
		"/items/pro.ris.json": {"pro.ris", "selected"},
		"/items/secret.bib":   {"secret", "not public"},
		"/items/none.bib.ris": {"none.bib", "not materialized"},
		"/items/web.html":     {"web", "not materialized"},
	} {
		var e explain.Explanation
		res := s.Admin(http.MethodGet, "/admin/explain?url="+url.QueryEscape(path))
		if err := json.Unmarshal(res.Body, &e); err != nil || e.Record == nil {
			t.Fatalf("%s: %v %s", path, err, res.Body)
		}
		in := want.reason == "selected"
		if r := e.Record; r.ID != want.id || r.Reason != want.reason || r.InAnswer != in || (e.Error == "") != in {
			t.Errorf("%s: %+v, error %q, want %+v", path, e.Record, e.Error, want)
		}
		if in && e.Selected.Rows != 1 {
			t.Errorf("%s selects %d rows", path, e.Selected.Rows)
		}
	}
}

// TestExplainFails: a request that fails is answered by the operator's listener as by the public one, and no answer
// has its key.
func TestExplainFails(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Auth.APIKey, o.Admin.Token = "the-api-key", "the-token"
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	explain := func(target string, headers ...string) proxytest.Response {
		return s.Admin(http.MethodGet, "/admin/explain?id=x&url="+url.QueryEscape(target),
			append(headers, "Authorization", "Bearer the-token")...)
	}
	if res := s.Admin(http.MethodGet, "/admin/explain?url=/api/activities"); res.StatusCode != http.StatusForbidden {
		t.Errorf("without the token: %d", res.StatusCode)
	}
	for _, target := range []string{
		"/api/activitis", "/lists/activitis", "/api/activities", "/api/activities?apikey=wrong",
		"/lists/activities?yaer=2020", "/lists/activities.json?page=x",
		"/api/activities?apikey=the-api-key&json={", "/api/activities?apikey=the-api-key&limit=x",
		"/api/users/unknown?apikey=the-api-key", "/", "/admin/views", "/api%2factivities",
		"/api/activities?json=" + strings.Repeat("x", 64<<10), "/items/", "/lists/unit/none",
	} {
		got, want := explain(target), s.Get(proxytest.OnTheWire(target))
		if target == "/" { // an answer without records
			want.StatusCode, want.Body = http.StatusNotFound, got.Body
		}
		if got.StatusCode != want.StatusCode || string(got.Body) != string(want.Body) ||
			strings.Contains(string(got.Body), "the-api-key") {
			t.Errorf("%.60s: %d %s, want %d %s", target, got.StatusCode, got.Body, want.StatusCode, want.Body)
		}
	}
	for target, want := range map[string]int{
		"https://data.example/lists/activities.rss": 200, "ftp://data.example/api/activities": 400, "": 400,
		"api/activities": 400, "/lists/list.js": 400,
		"/api/citation-index?user=x": 400, "/api/activities?apikey=the-api-key#x": 200, "/lists": 200,
		"/items/none": 200, "/api/levenshtein?title=night&apikey=the-api-key": 200,
	} {
		if res := explain(target); res.StatusCode != want || strings.Contains(string(res.Body), "the-api-key") {
			t.Errorf("%s: %d %s, want %d", target, res.StatusCode, res.Body, want)
		}
	}
	if res := explain("/api/activities", "X-API-Key", "the-api-key"); res.StatusCode != http.StatusOK {
		t.Errorf("with a key: %d %s", res.StatusCode, res.Body)
	}
	res := s.Admin(http.MethodGet, "/admin/explain?url=/api/activities&usr=x", "Authorization", "Bearer the-token")
	if res.StatusCode != http.StatusBadRequest || !strings.Contains(string(res.Body), "usr (did you mean user?)") {
		t.Errorf("an unknown parameter: %d %s", res.StatusCode, res.Body)
	}
}
