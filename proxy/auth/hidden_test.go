package auth_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/proxy"
	"vitrine/proxy/auth"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/filter/filtertest"
	"vitrine/rules/raw"
	"vitrine/rules/units"
)

// hiddenFields hides two names at every depth, a path, and all names with a prefix.
func hiddenFields(t testing.TB) *access.Fields {
	t.Helper()
	f, err := access.NewFields([]string{"mail", "phone", "units.note", "private_*"})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// guess is the secret that requests try to confirm. Secrets are written in Extended JSON.
const guess = `"sesam@hidden.example"`

// otherSecrets replace the secret in the records of the other databases.
var otherSecrets = map[string]string{
	"other text": `"zoe@hidden.example"`, "empty": `""`, "number": `77000077`,
	"array":    `["zoe@hidden.example",{"mail":77000077}]`,
	"document": `{"a":"zoe@hidden.example","b":[77000077]}`, "null": `null`,
	"date":   `{"$date":"2019-07-07T07:07:07Z"}`,
	"markup": `"<script>zoe@hidden.example</script>\u2028"`,
	"long":   `"` + strings.Repeat("zoe@hidden.example ", 500) + `"`,
}

// secretive is a store whose records hold a secret in hidden fields, wherever fields can be.
func secretive(t testing.TB, secret string) *proxytest.Store {
	t.Helper()
	s := proxytest.NewStore()
	publish := func(view string, texts ...string) {
		for i := range texts {
			texts[i] = strings.ReplaceAll(texts[i], "SECRET", secret)
		}
		s.Publish(view, proxytest.Parse(t, texts...)...)
	}
	person := `"user":"ada","name":"Ada B","mail":SECRET,"phone":[SECRET,{"phone":SECRET}]`
	deep := `"contact":{"mail":SECRET,"user":"ada"},"only":{"mail":SECRET},"deep":[[{"mail":SECRET}],[[{"x":{"Private_Notes":SECRET}}]]],
		"map":{"0":{"mail":SECRET},"2":{"mail":1,"ok":true}},"some.mail":SECRET,"applicant":{` + person + `},"supervisor":[{"mail":SECRET}],
		"units":[{"unit":"SOIL","note":SECRET},{"unit":"AIR","0":{"note":SECRET}}],"code":{"$code":"f()","$scope":{"mail":SECRET}},
		"title":"World of <b>moths</b>","type":"publication","name":"P1","year":{"mail":SECRET}`
	for _, v := range []string{rules.ViewActivities, rules.ViewProjects, rules.ViewProposals, rules.ViewJournals,
		rules.ViewEvents, rules.ViewDeadlines, rules.ViewPersons} {
		publish(v,
			`{"_id":"r1","mail":SECRET,`+deep+`,"authors":[{`+person+`,"affiliated":true}],"persons":[{`+person+`},{"mail":SECRET}],"editors":{`+person+`},
				"funding_number":["N1",{"mail":SECRET}],"projects":["P1"],"rendered":{"web":"r1","mail":SECRET,"users":["ada"]},"spectrum":[{"display_name":"Soil","score":{"mail":SECRET}}],
				"start":{"mail":SECRET},"start_date":{"mail":SECRET},"tags":[{"mail":SECRET}],"topics":[{"mail":SECRET,"name":"t"}],"epub":{"mail":SECRET},"workflow":{"status":{"mail":SECRET}},
				"_resolved":{"persons":[{"user":"ada","name":"Ada","mail":SECRET}]}}`,
			`{"_id":"r2","title":"Second","type":"publication","year":2020,"created_by":"ada",`+
				`"authors":[{"user":"bob","affiliated":true}],"funding_number":"N1"}`)
	}
	publish(rules.ViewPersons,
		`{"_id":{"$oid":"66c000000000000000000011"},"username":"ada","first":"Ada","last":"B","roles":["user"],`+
			`"mail":SECRET,"phone":SECRET,"units":[{"unit":"SOIL","note":SECRET}],"private_address":{"city":SECRET}}`,
		`{"_id":{"$oid":"66c000000000000000000012"},"username":"adam","first":"Adam","roles":["admin"],"mail":SECRET}`)
	row, err := units.NewNames(proxytest.Parse(t, `{"_id":"g","id":"SOIL","name":"Soil"}`)).
		Row(proxytest.Parse(t, strings.ReplaceAll(
			`{"_id":{"$oid":"66c000000000000000000011"},"username":"ada","first":"Ada","units":[{"unit":"SOIL",`+
				`"note":SECRET,"mail":SECRET}]}`, "SECRET", secret))[0])
	if err != nil {
		t.Fatal(err)
	}
	s.Publish(rules.ViewUserUnits, row)
	publish(rules.ViewSpectrum,
		`{"_id":"T1","name":"Topic","count":2,"share":0.5,"researchers":[{"id":"ada","displayname":"Ada",`+
			`"mail":SECRET}],"units":[{"id":"SOIL","count":1,"note":SECRET}],"timeline":[{"year":2020,`+
			`"count":{"mail":SECRET}}],"keywords":{"mail":SECRET}}`)
	return s
}

// sources are the institute's collections.
type sources map[string][]bson.Raw

// Find implements api.Records.
func (s sources) Find(_ context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		f, err := filter.All(), error(nil)
		if q.Filter != nil {
			f, err = filter.FromBSON(q.Filter, filter.Options{})
		}
		for _, doc := range s[collection] {
			matches := err == nil
			if matches {
				matches, err = f.Match(doc)
			}
			if (matches || err != nil) && !yield(doc, err) {
				return
			}
		}
	}
}

// hiding returns options under which only adam sees hidden fields.
func hiding(t testing.TB, secret string) proxy.Options {
	t.Helper()
	rights := access.New(access.Options{
		Anonymous: []access.Permission{access.ProjectsView, access.ProposalsView, access.PortfolioSpectrum},
		Roles:     map[string][]access.Permission{"admin": {access.FieldsHidden}},
	})
	source := sources{
		"groups": proxytest.Parse(t, `{"_id":"g","id":"SOIL","name":"Soil"}`),
		"persons": proxytest.Parse(t, strings.ReplaceAll(
			`{"_id":"new","username":"new","first":"New","mail":SECRET,"units":[{"unit":"SOIL","note":SECRET,`+
				`"phone":SECRET}]}`, "SECRET", secret)),
	}
	o := proxytest.Options(t)
	o.Access, o.Hidden, o.Records, o.StartYear = rights, hiddenFields(t), source, 0
	o.Auth.Session = auth.SessionOptions{Secret: []byte(strings.Repeat("k", 32))}
	return o
}

// ask sends a request whose answer may contain records that the API's description does not cover.
func ask(s *proxytest.Site, target string, headers ...string) proxytest.Response {
	s.T.Helper()
	req := httptest.NewRequest(http.MethodGet, target, nil)
	req.Header.Set("X-Request-Id", "r")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return s.Exchange(req)
}

// answered is everything that a client sees of an answer except its duration.
func answered(res proxytest.Response) string {
	var b strings.Builder
	fmt.Fprintln(&b, res.StatusCode, res.ContentLength)
	for _, name := range slices.Sorted(maps.Keys(res.Header)) {
		if name != "Server-Timing" && name != "Date" {
			fmt.Fprintln(&b, name, res.Header[name])
		}
	}
	return b.String() + string(res.Body)
}

// inMemoryAndStore runs a test with views in memory, and with views that stay in the store.
func inMemoryAndStore(t *testing.T, test func(t *testing.T)) {
	for _, mode := range []view.Mode{view.Memory, view.Store} {
		t.Run(string(mode), func(t *testing.T) {
			proxytest.ViewsAre = mode
			defer func() { proxytest.ViewsAre = view.Memory }()
			test(t)
		})
	}
}

// TestHiddenFieldsTellNothing queries databases that differ only in hidden fields: every answer is
// the same, headers included, whether it is fresh, cached, streamed or an error.
func TestHiddenFieldsTellNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("only in a full run: sends many requests one after the other")
	}
	inMemoryAndStore(t, func(t *testing.T) {
		others := otherSecrets
		if proxytest.ViewsAre == view.Store {
			others = map[string]string{"other text": otherSecrets["other text"]}
		}
		compare := func(kept int, headers ...string) {
			ask := func(secret string) map[string]string {
				o := hiding(t, secret)
				o.Limits.KeptBytes = kept
				s := proxytest.Open(t, secretive(t, secret), o)
				answers := map[string]string{}
				for _, target := range probes() {
					answers[target] = answered(ask(s, target, headers...))
				}
				return answers
			}
			want := ask(guess)
			for name, secret := range others {
				for target, got := range ask(secret) {
					for _, word := range []string{"zoe@hidden", "77000077", "2019-07-07"} {
						if strings.Contains(got, word) {
							t.Fatalf("%s: %s: the answer contains the secret: %.600s", name, target, got)
						}
					}
					if withoutEpoch(got) != withoutEpoch(want[target]) {
						t.Fatalf("%s: %s: the answers differ between databases\ngot  %.600s\nwant %.600s", name,
							target, got, want[target])
					}
				}
			}
		}
		compare(0)
		others = map[string]string{"other text": otherSecrets["other text"]}
		compare(0, "Prefer", "handling=strict", "Accept-Encoding", "gzip")
		compare(1) // all answers are streamed
	})
}

// withoutEpoch removes the tag of an answer streamed from the store, because it names the epoch of
// the view, and each file has its own epochs.
func withoutEpoch(answer string) string {
	if proxytest.ViewsAre == view.Memory || !strings.Contains(answer, "detail=streamed") {
		return answer
	}
	lines := strings.Split(answer, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Etag ") }),
		"\n")
}

// TestHiddenFieldIsRefused: the error for a parameter that names a hidden field says where.
func TestHiddenFieldIsRefused(t *testing.T) {
	inMemoryAndStore(t, func(t *testing.T) {
		s := proxytest.Open(t, secretive(t, guess), hiding(t, guess))
		const hidden = "is hidden from callers without the permission fields.hidden"
		for target, msg := range map[string]string{
			`/api/activities?json={"mail":1}`: "json: mail: " +
				hidden,
			`/api/activities?json={"$or":[{"a":1},{"contact.mail":{"$gt":1}}]}`:                "json: $or.1.contact.mail: " + hidden,
			`/api/all-activities?json={"authors":{"$elemMatch":{"b":1,"mail":{"$regex":""}}}}`: "json: authors.$elemMatch.mail: " + hidden,
			`/api/projects?json={"units":{"$elemMatch":{"note":1}}}`:                           "json: units.$elemMatch.note: " + hidden,
			`/api/projects?filter[persons.0.MAIL][$gt]=a`:                                      "filter: ",
			`/api/search/persons?json={"$expr":{"$eq":["$mail",1]}}`:                           "json: $expr.$eq.0: " + hidden,
			`/api/search/persons?json={"$expr":{"$eq":["$$ROOT.phone",1]}}`:                    "json: $expr.$eq.0: " + hidden,
			`/api/search/persons?json={"$text":{"$search":"a"}}`:                               "json: $text: $text is not evaluated in memory",
			`/api/activities?columns[]=mail`: "columns: mail: " +
				hidden,
			`/api/users/ada?columns[]=private_address.city`:                                    "columns: private_address.city: " + hidden,
			`/api/search/journals?columns[]=authors.mail`:                                      "columns: authors.mail: " + hidden,
			`/api/activities?aggregate=authors.mail`:                                           "aggregate: authors.mail: " + hidden,
			`/api/search/persons?aggregate=first&aggregate_function=sum&aggregate_value=phone`: "aggregate_value: phone: " + hidden,
		} {
			path, query, _ := strings.Cut(target, "?")
			name, value, _ := strings.Cut(query, "=")
			if rest, more, ok := strings.Cut(value, "&"); ok {
				value = url.QueryEscape(rest) + "&" + more
			} else {
				value = url.QueryEscape(value)
			}
			e := ask(s, path+"?"+name+"="+value).Envelope(t)
			if e.Status != http.StatusBadRequest || !strings.Contains(e.Msg, strings.TrimSuffix(msg, ".")) {
				t.Errorf("%s: %d %s, want 400 %s", target, e.Status, e.Msg, msg)
			}
		}
	})
}

// TestHiddenFieldsFuzz queries two databases of random records that differ only in field b, at
// every depth, with random filters that do not name it.
func TestHiddenFieldsFuzz(t *testing.T) {
	if testing.Short() {
		t.Skip("only in a full run: sends many requests one after the other")
	}
	inMemoryAndStore(t, func(t *testing.T) {
		rounds := 1500
		if proxytest.ViewsAre == view.Store {
			rounds = 500 // each reads all rows from the store
		}
		fields, err := access.NewFields([]string{"b"})
		if err != nil {
			t.Fatal(err)
		}
		plain, other := proxytest.NewStore(), proxytest.NewStore()
		g := filtertest.New(11)
		for range 60 {
			doc := g.Doc()
			plain.Publish(rules.ViewActivities, doc)
			other.Publish(rules.ViewActivities, spoil(t, g, doc, "b"))
		}
		o := hiding(t, guess)
		o.Hidden = fields
		one, two := proxytest.Open(t, plain, o), proxytest.Open(t, other, o)
		answers := 0
		for i := range rounds {
			query := g.Filter()
			if i%4 == 0 {
				query = g.Expression()
			}
			text := url.QueryEscape(query.String())
			for _, target := range []string{"/api/activities?full=1&json=", "/api/activities?aggregate=a&json=",
				"/api/search/activities?columns=c,a&json="} {
				got, want := ask(one, target+text), ask(two, target+text)
				if withoutEpoch(answered(got)) != withoutEpoch(answered(want)) {
					t.Fatalf("%s%s\n%.600s\n%.600s", target, query, answered(got), answered(want))
				}
				if got.StatusCode == http.StatusOK {
					answers++
				}
			}
		}
		if answers < rounds/2 {
			t.Errorf("%d answers of %d rounds: too many filters were refused", answers, rounds)
		}
	})
}

// spoil returns the document with other values in all fields with a name, at any depth.
func spoil(t testing.TB, g filtertest.Generator, doc bson.Raw, name string) bson.Raw {
	t.Helper()
	var replaced func(v bson.RawValue) bson.RawValue
	replaced = func(v bson.RawValue) bson.RawValue {
		if v.Type != bson.TypeEmbeddedDocument && v.Type != bson.TypeArray {
			return v
		}
		var b raw.Builder
		for e := range raw.All(v.Value) {
			if v.Type == bson.TypeEmbeddedDocument && string(e.Key) == name {
				if another := g.Doc().Lookup("a"); !another.IsZero() { // else the field was removed
					b.Add(name, another)
				}
			} else {
				b.Add(string(e.Key), replaced(e.Value()))
			}
		}
		return b.Finish(v.Type)
	}
	return replaced(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}).Value
}

// TestHiddenFieldsAreSeen: callers with the permission see hidden fields and may filter by them,
// and no cache serves their answers to others.
func TestHiddenFieldsAreSeen(t *testing.T) {
	inMemoryAndStore(t, func(t *testing.T) {
		o := hiding(t, guess)
		o.Auth.APIKey = "key-key-key-key"
		db := secretive(t, guess)
		db.Twinned = true
		s := proxytest.Open(t, db, o)
		session := []string{"Authorization", "Bearer " + proxytest.Token(t, "adam", o.Auth.Session.Secret)}
		keyed := []string{"X-API-Key", "key-key-key-key"}
		ada := []string{"Authorization", "Bearer " + proxytest.Token(t, "ada", o.Auth.Session.Secret)}
		const secret = "sesam@hidden.example"
		for _, target := range []string{
			"/api/activities?full=1", "/api/activities?columns[]=mail", "/api/activities?aggregate=mail",
			"/api/projects?full=1", "/api/projects?columns[]=contact&raw", "/api/search/persons?columns[]=mail",
			"/api/events", "/api/deadlines", "/api/users/ada", "/api/users/new", "/api/user-units/ada",
			"/api/user-units/new", `/api/search/persons?columns=mail&json={"mail":{"$regex":"^sesam"}}`,
			`/api/activities?full=1&json={"contact":{"mail":"sesam@hidden.example","user":"ada"}}`,
			`/api/activities?full=1&json={"$expr":{"$eq":["$only.mail","sesam@hidden.example"]}}`,
		} {
			if path, json, ok := strings.Cut(target, "json="); ok {
				target = path + "json=" + url.QueryEscape(json)
			}
			for range 2 { // fresh, and perhaps cached
				for _, who := range [][]string{keyed, ada} {
					if res := ask(s, target, who...); strings.Contains(string(res.Body), secret) {
						t.Errorf("%s: shown to %s", target, who[0])
					}
				}
				res := ask(s, target, session...)
				if res.StatusCode != http.StatusOK || !strings.Contains(string(res.Body), secret) {
					t.Errorf("%s: %d, not shown to the admin: %.300s", target, res.StatusCode, res.Body)
				}
				if cc := res.Header.Get("Cache-Control"); !strings.HasPrefix(cc, "private") {
					t.Errorf("%s: Cache-Control %s", target, cc)
				}
				if tag := res.Header.Get("Etag"); tag != "" {
					if again := ask(s, target,
						append(slices.Clone(keyed), "If-None-Match", tag)...); again.StatusCode ==
						http.StatusNotModified {
						t.Errorf("%s: the admin's tag is valid for others", target)
					}
				}
			}
		}
		// A caller with the permission sees a new version, too, and others do not.
		s.Refresh(rules.ViewEvents, proxytest.Parse(t, `{"_id":"e9","title":"New","mail":"neu@hidden.example"}`)...)
		shown, whole := string(ask(s, "/api/events", keyed...).Body), string(ask(s, "/api/events", session...).Body)
		if !strings.Contains(shown, `"New"`) || strings.Contains(shown, "neu@hidden") ||
			!strings.Contains(whole, "neu@hidden") {
			t.Error("a refreshed view hides or reveals the wrong fields")
		}
	})
}

// TestNothingHidden: views without hidden fields are read from memory by all callers.
func TestNothingHidden(t *testing.T) {
	o := hiding(t, guess)
	s := proxytest.Open(t, proxytest.Institute(t), o)
	session := []string{"Authorization", "Bearer " + proxytest.Token(t, "adam", o.Auth.Session.Secret)}
	snapshot, err := s.Views.Snapshot(rules.ViewActivities)
	if err != nil {
		t.Fatal(err)
	}
	if snapshot.Whole() != snapshot {
		t.Error("rows without hidden fields are read from the store")
	}
	if got, want := ask(s, "/api/activities?full=1", session...).Body, ask(s,
		"/api/activities?full=1").Body; string(got) != string(want) {
		t.Error("answers differ although nothing is hidden")
	}
}
