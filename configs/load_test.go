package configs

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// parseCron is the check of cron specs. An external test sets it, because package materialize imports this one.
var parseCron func(text string) error

// SetCron sets the check of cron specs.
func SetCron(parse func(text string) error) { parseCron = parse }

// checks are the checks that the program injects.
var checks = Checks{"cron": func(text string) error {
	return parseCron(text)
}}

// inFile has a configuration file as the only source.
func inFile(name string) Sources {
	return Sources{Environ: []string{"VITRINE_CONFIG=" + name}, Checks: checks}
}

// load reads a file of testdata and reports mistakes as the test's failure.
func load(t *testing.T, s Sources) Config {
	t.Helper()
	s.Checks = checks
	c, err := Load(s)
	if err != nil {
		t.Fatalf("Load(%+v):\n%v", s, err)
	}
	return c
}

// same compares two configurations without their origins.
func same(t *testing.T, got, want Config) {
	t.Helper()
	for _, s := range settings {
		g, w := s.field(&got).Interface(), s.field(&want).Interface()
		empty := s.field(&got).Kind() == reflect.Slice && s.field(&got).Len()+s.field(&want).Len() == 0
		if !empty && !reflect.DeepEqual(g, w) {
			t.Errorf("%s = %v, want %v", s.Path, g, w)
		}
	}
}

func TestGoodFiles(t *testing.T) {
	want := map[string]func(*Config){
		"empty.good.yml":    func(*Config) {},
		"comments.good.yml": func(*Config) {},
		"cleared.good.yml": func(c *Config) {
			c.Access.Anonymous, c.Access.Roles = nil, map[string][]string{}
			c.Materialize.Schedule, c.Materialize.Full = map[string]string{}, ""
			c.Affiliation.Fields = nil
		},
		"anchors.good.yml": func(c *Config) {
			c.Auth.Session.UserHeader, c.Auth.Session.TrustedProxies = "X-User", []string{"10.0.0.1"}
			c.HTTP.ProxyHeader, c.HTTP.TrustedProxies = "X-Forwarded-For", []string{"10.0.0.1"}
		},
		"full.good.yml":  wantFull,
		"lists.good.yml": wantLists,
		"keep.good.yml":  wantKeep,
	}
	files, err := filepath.Glob("testdata/*.good.yml")
	if err != nil || len(files) != len(want) {
		t.Fatalf("have %d files (%v), want %d", len(files), err, len(want))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			w := Default()
			want[filepath.Base(file)](&w)
			same(t, load(t, inFile(file)), w)
		})
	}
}

func wantKeep(c *Config) {
	c.use(presets["osiris"], "")
	c.Preset, c.Upstream.URL, c.Routes = "osiris", "http://osiris.internal",
		map[string]string{"/api/activities": "upstream"}
	none := []string{}
	usual := Keep{
		Until: none, Parameters: none, Warm: none, For: 24 * time.Hour, Stale: 168 * time.Hour,
		Rate: 10, Connections: 4, Budget: 256 << 20,
	}
	portal, media, moved := usual, usual, usual
	portal = Keep{
		Paths: []string{"/portfolio/"}, Until: []string{"activities", "persons", "adminTypes", "date"},
		For: 12 * time.Hour, Revalidate: time.Minute,
		Parameters: []string{"limit", "offset", "lang"}, Auth: "portfolio",
		Type: "application/json", Refresh: "@every 15m",
		Warm: []string{"/portfolio/units", "/portfolio/unit/{groups.id}"}, Rate: 2.5, Connections: 1, Budget: 1 << 30,
	}
	media.Paths, media.Parameters, media.Warm = []string{"/portal/*/staff",
		"/media/*"}, []string{EveryParameter}, none
	moved.Paths = []string{"/api/activities"}
	c.Upstream.Keep = []*Keep{&portal, &media, &moved}
}

func wantLists(c *Config) {
	c.Lists.Public, c.Lists.BaseURL = `{"hide": {"$ne": true}}`, "https://data.institute.example/vitrine"
	c.Lists.Hosts = []string{"data.institute.example", "data.institute.example:8443", "[::1]:*"}
	c.Lists.IgnoredParameters = []string{"gclid", "pk_*"}
	c.Lists.Links = map[string]string{"activity": "https://www.institute.example/pub/{id}", "person": "none"}
	none := map[string]string{}
	usual := NamedList{Title: none, Links: none, View: "activities", Group: "none", Style: "web", Sort: "-year",
		PageSize: 25, Facets: []string{"year", "type"}}
	papers, people := usual, usual
	papers.Title, papers.Filter = map[string]string{"en": "Publications",
		"de": "Publikationen"}, `{"type": "publication", "units": "BIO"}`
	papers.Group, papers.Style, papers.Facets = "year,type", "print", []string{"year", "type", "person"}
	papers.PageURL, papers.Links = "/publications?p={page}", map[string]string{"project": "/project/{id}"}
	people.View, people.Sort, people.PageSize, people.Facets = "persons", "author", 100, []string{}
	c.Lists.Named = map[string]*NamedList{"bio-papers": &papers, "people": &people, "defaults": &usual}
}

// TestSectionsComeFromFiles: variables cannot set a map of sections, and its settings have their
// own origins.
func TestSectionsComeFromFiles(t *testing.T) {
	_, err := Load(Sources{Environ: []string{"VITRINE_LISTS_NAMED=a=b"}})
	if err == nil || err.Error() != "VITRINE_LISTS_NAMED: only a file can give this setting" {
		t.Errorf("got %v", err)
	}
	c := load(t, inFile("testdata/lists.good.yml"))
	if !c.given("lists.named.people.view") || c.given("lists.named.people.group") {
		t.Error("settings of a list have wrong origins")
	}
	var out bytes.Buffer
	if err := c.WriteYAML(&out); err != nil ||
		!strings.Contains(out.String(), "      view: persons # testdata/lists.good.yml:15\n      filter: \"\"\n") {
		t.Errorf("%v: wrote\n%s", err, out.String())
	}
}

func wantFull(c *Config) {
	c.Store = "mongodb://reader:s3cret@db1:27017,db2:27017/osiris?replicaSet=rs0"
	c.Listen, c.Preset, c.Timezone, c.Language, c.StartYear = ":8080", "osiris", "Europe/Berlin", "de", 1992
	c.Admin = Admin{Token: "00123"}
	c.Auth.APIKey = "2024-01-05"
	c.Auth.Session.UserHeader = "X-Remote-User"
	c.Auth.Session.TrustedProxies = []string{"10.0.0.0/8", "192.0.2.7", "::1"}
	c.Access.Anonymous = nil
	c.Access.Roles["viewer"] = []string{"projects.view"}
	c.Access.Types = map[string][]string{"misc": {"admin", "viewer"}}
	c.Views = Views{Mode: "auto", Budget: 1_500_000_000, Poll: 500 * time.Millisecond,
		Snapshot: "/var/lib/vitrine/snapshots", Optional: []string{"deadlines", "journals"}}
	c.Materialize.Schedule["activities"] = "0,30 * * * *"
	c.Materialize.Schedule["journals"] = ""
	c.Materialize.Schedule["persons"] = "CRON_TZ=America/Sao_Paulo 0 0 * * *"
	c.Materialize.MaxShrink = 1
	c.Limits.Rate, c.Limits.RequestTimeout = 50, time.Minute
	c.HTTP.CORS.Origins = []string{"https://www.example.org", "http://localhost:3000"}
	c.HTTP.CORS.Credentials = true
	c.Catalog.TopicsPath, c.Catalog.File = "openalex.topics", "topics.json"
	c.Affiliation.Fields = []string{"aoi"}
	c.Compat.FormattedSingle = true
}

func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.yml")
	if err != nil || len(files) != len(badFiles) {
		t.Fatalf("have %d files (%v), want %d", len(files), err, len(badFiles))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, err := Load(inFile(file))
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.ReplaceAll(err.Error(), "testdata/", "")
			if want := strings.Join(badFiles[filepath.Base(file)], "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if strings.Contains(got, "s3cret") {
				t.Error("the message contains a secret")
			}
		})
	}
}

// TestCheckServing: a server whose operator's listener is reachable by others does not start without a
// token, unless the configuration allows it.
func TestCheckServing(t *testing.T) {
	for listen, refused := range map[string]bool{
		"": false, "127.0.0.1:8081": false, "127.8.9.1:0": false, "[::1]:8081": false, "localhost:8081": false,
		"[::ffff:127.0.0.1]:1": false,
		":8081":                true, "0.0.0.0:8081": true, "[::]:8081": true, "10.0.0.1:8081": true,
		"admin.example:8081": true,
	} {
		environ := []string{"VITRINE_ADMIN_LISTEN=" + listen}
		err := load(t, Sources{Environ: environ}).CheckServing()
		if want := "VITRINE_ADMIN_LISTEN: admin.listen: others can reach"; (err != nil) != refused ||
			refused && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want an error: %t", listen, err, refused)
		}
		for _, said := range []string{"VITRINE_ADMIN_TOKEN=t", "VITRINE_ADMIN_OPEN=true"} {
			if err := load(t, Sources{Environ: append(environ, said)}).CheckServing(); err != nil {
				t.Errorf("%q with %s: %v", listen, said, err)
			}
		}
	}
}

// TestWith: a stored setting counts if no source sets it.
func TestWith(t *testing.T) {
	off := false
	stored := Stored{
		StartYear: 1999, Language: "de", APIKey: "k", PortfolioKey: "p", Portfolio: &off,
		Roles: map[string][]string{"admin": nil, "editor": {"projects.view"}, "leader": {"proposals.view"}},
		Types: map[string][]string{"review": {"editor"}, "award": nil},
	}
	load := func(environ ...string) Config {
		return load(t, Sources{Environ: append(environ, "VITRINE_PRESET=osiris")})
	}
	for _, tt := range []struct {
		name    string
		environ []string
		want    func(*Config)
	}{
		{"nothing given", nil, func(c *Config) {}},
		{"start year", []string{"VITRINE_START_YEAR=1900"}, func(c *Config) { c.StartYear = 1900 }},
		{"language", []string{"VITRINE_LANGUAGE=en"}, func(c *Config) { c.Language = "en" }},
		{"keys, as none", []string{"VITRINE_AUTH_API_KEY=", "VITRINE_AUTH_PORTFOLIO_KEY=own"},
			func(c *Config) { c.Auth.APIKey, c.Auth.PortfolioKey = "", "own" }},
		{"spectrum", []string{"VITRINE_PORTFOLIO_ENABLED=true"}, func(c *Config) { c.Portfolio.Enabled = true }},
		{"a role", []string{"VITRINE_ACCESS_ROLES=editor=proposals.view"},
			func(c *Config) { c.Access.Roles["editor"] = []string{"proposals.view"} }},
		{"a type", []string{"VITRINE_ACCESS_TYPES=review=admin"},
			func(c *Config) { c.Access.Types["review"] = []string{"admin"} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := load(tt.environ...)
			got := cfg.With(stored)
			want := load(tt.environ...)
			want.StartYear, want.Language, want.Auth.APIKey, want.Auth.PortfolioKey = 1999, "de", "k", "p"
			want.Portfolio.Enabled = false
			want.Access.Roles = map[string][]string{"admin": nil, "editor": {"projects.view"},
				"leader": {"proposals.view"}}
			want.Access.Types = map[string][]string{"review": {"editor"}, "award": nil}
			tt.want(&want)
			for _, path := range []string{"start_year", "language", "portfolio.enabled", "auth.api_key",
				"auth.portfolio_key",
				"access.roles.admin", "access.roles.editor", "access.roles.leader", "access.types.review",
				"access.types.award"} {
				if !want.given(path) {
					want.record(path, Place{name: "database"})
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if !reflect.DeepEqual(cfg, load(tt.environ...)) {
				t.Error("the configuration itself has changed")
			}
		})
	}
}

// TestDefaultsOfOtherSettings: a default that depends on another setting counts only where no source gives a value.
func TestDefaultsOfOtherSettings(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0,
		"materialize: {changed_field: updated}\n":                      time.Hour,
		"materialize: {changed_field: updated, read_all_every: 0s}\n":  0,
		"materialize: {changed_field: updated, read_all_every: 10m}\n": 10 * time.Minute,
		"materialize: {read_all_every: 10m}\n":                         10 * time.Minute,
	} {
		if got := load(t, write(t, text)).Materialize.ReadAllEvery; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
