package api_test

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// clock is a clock that tests set.
// TestWhoIsMeant: an ObjectID is looked up as such, any other text as username.
func TestWhoIsMeant(t *testing.T) {
	s := proxytest.Open(t, department(t), departmentOptions(t))
	tests := []struct {
		name, id string
		first    string // "" if there is no person
	}{
		{"username", "ada", "Ada"},
		{"ObjectID", "66c000000000000000000011", "Ada"},
		{"ObjectID in capitals", "66C000000000000000000012", "Bob"},
		{"ObjectID of a person without username", "66c000000000000000000013", "Cyd"},
		{"a username that looks like an ObjectID is one", "66c000000000000000000014", "Mallory"},
		{"username with encoded characters", "d%20e%2F%C3%A9", "Dee"},
		{"usernames are case-sensitive", "Ada", ""},
		{"an _id that is not an ObjectID", "plain", ""},
		{"not trimmed", "ada%20", ""},
		{"an unknown ObjectID", "66c0000000000000000000ff", ""},
		{"one digit too few", "66c00000000000000000001", ""},
		{"null is not a username", "null", ""},
		{"a filter is a name", "%7B%22$ne%22:1%7D", ""},
		{"NUL", "ada%00", ""},
		{"very long", strings.Repeat("a", 5000), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			user, memberships := s.Get("/api/users/"+tt.id), s.Get("/api/user-units/"+tt.id)
			if tt.first == "" {
				for _, res := range []proxytest.Response{user, memberships} {
					e := res.Envelope(t)
					if e.Status != 404 || e.Error != "DataNotFound" || e.Msg != "User not found" || *e.Count != 0 {
						t.Errorf("envelope = %s", res.Body)
					}
				}
				return
			}
			if e := user.Envelope(t); !strings.Contains(string(e.Data), `"first":"`+tt.first+`"`) || *e.Count != 1 {
				t.Errorf("user = %s, want %s", user.Body, tt.first)
			}
			if e := memberships.Envelope(t); !strings.HasPrefix(string(e.Data), `{"name":"`+tt.first+` `) ||
				*e.Count != 1 {
				t.Errorf("memberships = %s, want those of %s", memberships.Body, tt.first)
			}
		})
	}
}

func TestUserNotFoundIsTranslated(t *testing.T) {
	o := departmentOptions(t)
	o.Language = "de"
	german := proxytest.Open(t, department(t), o)
	english := proxytest.Open(t, department(t), departmentOptions(t))
	tests := []struct {
		name, query string
		site        *proxytest.Site
		want        string
	}{
		{"configured", "", english, "User not found"},
		{"asked for", "?lang=de", english, "Person nicht gefunden"},
		{"configured German", "", german, "Person nicht gefunden"},
		{"English asked of German", "?lang=en", german, "User not found"},
	}
	for _, path := range []string{"/api/users/unknown", "/api/user-units/unknown"} {
		for _, tt := range tests {
			t.Run(path+" "+tt.name, func(t *testing.T) {
				if got := tt.site.Get(path + tt.query).Envelope(t).Msg; got != tt.want {
					t.Errorf("msg = %q, want %q", got, tt.want)
				}
			})
		}
	}
}

func TestBadInputById(t *testing.T) {
	s := proxytest.Open(t, department(t), departmentOptions(t))
	tests := []struct{ name, target, msg string }{
		{"id is not UTF-8", "/api/users/%ff", "id"},
		{"id of units is not UTF-8", "/api/user-units/%ff%fe", "id"},
		{"id has a broken escape", "/api/users/a%zz", "id"},
		{"an unknown language", "/api/users/ada?lang=fr", "lang"},
		{"language as a list", "/api/user-units/ada?lang[]=de", "lang"},
		{"language in capitals", "/api/user-units/ada?lang=DE", "lang"},
		{"a column with an operator", "/api/users/ada?columns[]=$where", "columns"},
		{"a column that ends in a dot", "/api/users/ada?columns[]=a.", "columns"},
		{"a column whole and in parts", "/api/users/ada?columns=units,units.unit", "columns"},
		{"columns by name", "/api/users/ada?columns[a]=last", "columns"},
		{"too many columns", "/api/users/ada?columns=" + strings.Repeat("a,", 100), "columns"},
		{"a title is needed", "/api/levenshtein", "title"},
		{"an empty title", "/api/levenshtein?title=", "title"},
		{"a blank title", "/api/levenshtein?title=%20%09", "title"},
		{"an identifier instead of a title", "/api/levenshtein?doi=10.1000/1", "title"},
		{"title as a list", "/api/levenshtein?title[]=a", "title"},
		{"title is not UTF-8", "/api/levenshtein?title=%ff", "title"},
		{"limit of the spectrum is a word", "/portfolio/spectrum?limit=all", "limit"},
		{"offset of the spectrum is a fraction", "/portfolio/spectrum?offset=0.5", "offset"},
		{"limit of the spectrum is a list", "/portfolio/spectrum?limit[]=1", "limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := httptest.NewRequest("GET", "/", nil)
			req.RequestURI = tt.target // unchanged: net/url would refuse it
			e := s.Send(req).Envelope(t)
			if e.Status != 400 || e.Error != "WrongCall" || !strings.Contains(e.Msg, tt.msg) {
				t.Errorf("envelope = %+v, want 400 about %s", e, tt.msg)
			}
		})
	}
	for _, path := range []string{"/api/users", "/api/users/", "/api/user-units/", "/api/users/ada/units"} {
		if e := s.Get(path).Envelope(t); e.Status != 404 || e.Error != "DataNotFound" {
			t.Errorf("%s: %+v", path, e)
		}
	}
}

// TestParametersNotRead: parameters that the API's description calls unsupported change nothing.
func TestParametersNotRead(t *testing.T) {
	s := proxytest.Open(t, department(t), departmentOptions(t))
	rest := "&limit=1&offset=2&full=1&json=%7Bbroken&filter[x]=y&search=absent&aggregate=x"
	for _, target := range []string{
		"/api/users/ada?", "/api/user-units/ada?", "/api/events?", "/api/conferences?", "/api/deadlines?",
		"/api/levenshtein?title=Word", "/portfolio/spectrum?limit=0",
	} {
		want := string(s.Get(target).Body)
		more := rest
		if strings.HasPrefix(target, "/portfolio") {
			more = strings.TrimPrefix(rest, "&limit=1")
		}
		if got := string(s.Get(target + more).Body); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", target+more, got, want)
		}
	}
	if got, want := string(s.Get("/api/conferences").Body), string(s.Get("/api/events").Body); got != want {
		t.Errorf("conferences = %s\nevents = %s", got, want)
	}
}

func person(t testing.TB, id, username string) bson.Raw {
	t.Helper()
	oid, err := bson.ObjectIDFromHex(id)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := bson.Marshal(bson.D{
		{Key: "_id", Value: oid}, {Key: "username", Value: username}, {Key: "first", Value: "New"},
		{Key: "units", Value: bson.A{bson.D{{Key: "unit", Value: "SOIL"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestNewcomer: a person who is not in the view is read from the source and cached for a while; so is
// the fact that there is no such person.
func TestNewcomer(t *testing.T) {
	const id = "66c0000000000000000000aa"
	source := &sources{}
	source.set("groups", ofDepartment(t, "groups")...)
	now := proxytest.NewClock(proxytest.Published)
	o := departmentOptions(t)
	o.Records, o.Now = source, now.Now
	s := proxytest.Open(t, department(t), o)
	status := func(path string, want, finds int) {
		t.Helper()
		before := source.times("persons")
		if got := s.Get(path).StatusCode; got != want {
			t.Errorf("%s: status %d, want %d", path, got, want)
		}
		if got := source.times("persons") - before; got != finds {
			t.Errorf("%s: %d look-ups, want %d", path, got, finds)
		}
	}
	status("/api/users/ada", 200, 0)
	status("/api/users/new", 404, 1)
	status("/api/users/new", 404, 0)
	status("/api/user-units/new", 404, 0) // the same person
	status("/api/users/"+id, 404, 1)

	source.set("persons", person(t, id, "new"))
	status("/api/users/new", 404, 0)
	now.Advance(10 * time.Second)
	status("/api/users/new", 200, 1)
	status("/api/users/new?columns[]=first", 200, 0)
	status("/api/users/"+id, 200, 1)
	want :=
		`{"status":200,"count":1,"data":{"name":"New","units":[{"unit":"SOIL","name":"Soil group","in_past":false}]}}`
	if got := string(s.Get("/api/user-units/new").Body); got != want {
		t.Errorf("units = %s\nwant    %s", got, want)
	}

	now.Advance(10 * time.Second)
	changed, err := bson.Marshal(bson.D{{Key: "_id", Value: 5}, {Key: "username", Value: "new"},
		{Key: "first", Value: "Newer"}})
	if err != nil {
		t.Fatal(err)
	}
	source.set("persons", changed)
	if got := string(s.Get("/api/users/new").Body); !strings.Contains(got, "Newer") {
		t.Errorf("after a change: %s", got)
	}

	source.fail(true)
	status("/api/users/other", 503, 1)
	status("/api/users/other", 503, 1)
	source.fail(false)
	status("/api/users/other", 404, 1)
	status("/api/users/"+strings.Repeat("x", 1000), 404, 0)
}

// TestNewcomerAppearsInTheView: once the view has the person, its record counts.
func TestNewcomerAppearsInTheView(t *testing.T) {
	source := &sources{}
	source.set("persons", person(t, "66c0000000000000000000aa", "new"))
	o := departmentOptions(t)
	o.Records = source
	store := department(t)
	s := proxytest.Open(t, store, o)
	if got := s.Get("/api/users/new").StatusCode; got != 200 {
		t.Fatalf("status %d", got)
	}
	row, err := bson.Marshal(bson.D{{Key: "_id", Value: 7}, {Key: "username", Value: "new"},
		{Key: "first", Value: "Viewed"}})
	if err != nil {
		t.Fatal(err)
	}
	s.Refresh(rules.ViewPersons, row)
	if got := string(s.Get("/api/users/new").Body); !strings.Contains(got, "Viewed") {
		t.Errorf("got %s", got)
	}
}

// TestOneLookUpAtATime: concurrent callers who request the same newcomer wait for the running
// look-up or get its result.
func TestOneLookUpAtATime(t *testing.T) {
	source := &sources{held: make(chan struct{})}
	source.set("persons", person(t, "66c0000000000000000000aa", "new"))
	o := departmentOptions(t)
	o.Records = source
	s := proxytest.Open(t, department(t), o)
	var asking sync.WaitGroup
	for i := range 20 {
		asking.Go(func() {
			if got := s.Get(fmt.Sprintf("/api/users/new?columns=c%d", i)).StatusCode; got != 200 {
				t.Errorf("status %d", got)
			}
		})
	}
	for source.times("persons") == 0 {
		runtime.Gosched()
	}
	close(source.held)
	asking.Wait()
	if got := source.times("persons"); got != 1 {
		t.Errorf("%d look-ups, want 1", got)
	}
}

// TestManyStrangers: the cache of unknown users is bounded, and correct.
func TestManyStrangers(t *testing.T) {
	source := &sources{}
	o := departmentOptions(t)
	o.Records = source
	s := proxytest.Open(t, department(t), o)
	const many = 5000 // more than the cache holds
	for i := range many {
		if got := s.Get(fmt.Sprintf("/api/users/s%d", i)).StatusCode; got != 404 {
			t.Fatalf("status %d", got)
		}
	}
	s.Get("/api/users/s0")
	s.Get(fmt.Sprintf("/api/users/s%d", many-1))
	if got := source.times("persons"); got != many+1 {
		t.Errorf("%d look-ups, want %d: the cache drops the oldest, not the newest", got, many+1)
	}
}

// FuzzPerson: for any path and query the response is a valid envelope and never a 5xx.
func FuzzPerson(f *testing.F) {
	for _, seed := range [][2]string{
		{"ada", ""}, {"66c000000000000000000011", "columns[]=units.unit"}, {"%ff", "lang=de"},
		{"a%2", "columns=a,a.b"},
		{"%2e%2e", "lang=fr"}, {"%00", "lang[]=en"}, {"d%20e%2F%C3%A9", "columns[]=$x"}, {"..", ""}, {"*", ""},
		{":id", "&&"},
	} {
		f.Add(seed[0], seed[1])
	}
	o := departmentOptions(f)
	o.Records = &sources{}
	s := proxytest.Open(f, department(f), o)
	f.Fuzz(func(t *testing.T, id, query string) {
		for _, path := range []string{"/api/users/", "/api/user-units/"} {
			req := httptest.NewRequest("GET", "/", nil)
			req.RequestURI = path + proxytest.OnTheWire(strings.ReplaceAll(id, "?", "%3F")) + "?" +
				proxytest.OnTheWire(query)
			res := (&proxytest.Site{T: t, Server: s.Server}).Send(req)
			if res.StatusCode >= 500 {
				t.Fatalf("%s: %d %s", req.RequestURI, res.StatusCode, res.Body)
			}
			res.Envelope(t)
		}
	})
}
