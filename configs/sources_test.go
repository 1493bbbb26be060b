package configs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestEnvironment(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("from file\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		env  []string
		want func(*Config)
	}{
		{"text", []string{"VITRINE_STORE=bolt://x.db"}, func(c *Config) { c.Store = "bolt://x.db" }},
		{"list", []string{"VITRINE_ACCESS_ANONYMOUS= projects.view , proposals.view,"}, func(c *Config) {
			c.Access.Anonymous = []string{"projects.view", "proposals.view"}
		}},
		{"empty list", []string{"VITRINE_ACCESS_ANONYMOUS="}, func(c *Config) { c.Access.Anonymous = nil }},
		{"map with commas in cron specs",
			[]string{"VITRINE_MATERIALIZE_SCHEDULE=activities=0,30 * * * *, journals=,events=CRON_TZ=UTC @daily"},
			func(c *Config) {
				c.Materialize.Schedule["activities"] = "0,30 * * * *"
				c.Materialize.Schedule["journals"] = ""
				c.Materialize.Schedule["events"] = "CRON_TZ=UTC @daily"
			}},
		{"empty map", []string{"VITRINE_MATERIALIZE_SCHEDULE="},
			func(c *Config) { c.Materialize.Schedule = map[string]string{} }},
		{"map of lists", []string{"VITRINE_ACCESS_TYPES=misc=admin, viewer,teaching="}, func(c *Config) {
			c.Access.Types["misc"] = []string{"admin", "viewer"}
			c.Access.Types["teaching"] = []string{}
		}},
		{"secret from a file, without its last newline", []string{"VITRINE_AUTH_API_KEY_FILE=" + secret},
			func(c *Config) { c.Auth.APIKey = "from file\n" }},
		{"keys that end in FILE", []string{"VITRINE_RULES_FILE=r.yml", "VITRINE_CATALOG_FILE=t.json"},
			func(c *Config) {
				c.Rules.File, c.Catalog.File = "r.yml", "t.json"
			}},
		{"foreign variables", []string{"HOME=/", "VITRINE_TEST_MONGO=x", "VITRINES=1"}, func(*Config) {}},
		{"empty turns off", []string{"VITRINE_CACHE_BUDGET=", "VITRINE_MATERIALIZE_ENABLED="}, func(c *Config) {
			c.Cache.Budget, c.Materialize.Enabled = 0, false
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := Default()
			tt.want(&want)
			same(t, load(t, Sources{Environ: tt.env}), want)
		})
	}
}

func TestBadEnvironment(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, env, want string }{
		{"unknown", "VITRINE_LISTN=x", "VITRINE_LISTN: unknown variable, did you mean VITRINE_LISTEN?"},
		{"unknown and far from all", "VITRINE_FOO=x", "VITRINE_FOO: unknown variable"},
		{"bad value", "VITRINE_LISTEN=8080",
			`VITRINE_LISTEN: listen: want HOST:PORT such as 127.0.0.1:8080 or :8080, have "8080"`},
		{"bad number", "VITRINE_LIMITS_RATE=many",
			`VITRINE_LIMITS_RATE: limits.rate: want a whole number, have "many"`},
		{"bad map", "VITRINE_MATERIALIZE_SCHEDULE=@daily",
			`VITRINE_MATERIALIZE_SCHEDULE: materialize.schedule: want key=value, …, have "@daily"`},
		{"unknown entry", "VITRINE_MATERIALIZE_SCHEDULE=person=@daily",
			"VITRINE_MATERIALIZE_SCHEDULE: materialize.schedule.person: unknown key, did you mean persons?"},
		{"entry without name", "VITRINE_ACCESS_TYPES==admin",
			"VITRINE_ACCESS_TYPES: access.types.: an entry needs a name"},
		{"no such file", "VITRINE_ADMIN_TOKEN_FILE=absent",
			"VITRINE_ADMIN_TOKEN_FILE: admin.token: cannot be read from absent: no such file or directory"},
		{"an empty file", "VITRINE_ADMIN_TOKEN_FILE=" + empty,
			"VITRINE_ADMIN_TOKEN_FILE: admin.token: " + empty +
				" is empty: leave the variable out if no secret is meant"},
		{"file for a setting that is not a secret", "VITRINE_LISTEN_FILE=x",
			"VITRINE_LISTEN_FILE: only secrets are read from files, and listen is not a secret"},
		{"empty where needed", "VITRINE_STORE=", "VITRINE_STORE: store: may not be empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Load(Sources{Environ: []string{tt.env}}); err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestSecretGivenTwice(t *testing.T) {
	_, err := Load(Sources{Environ: []string{"VITRINE_STORE_FILE=load_test.go", "VITRINE_STORE=bolt://x"}})
	want := "VITRINE_STORE_FILE: store: given twice, also by VITRINE_STORE"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// flags returns the flags of all settings, parsed.
func flags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return fs
}

func TestPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.yml")
	content := "preset: osiris\nlisten: :1\nlanguage: de\ntimezone: Europe/Berlin\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t, Sources{
		Environ: []string{"VITRINE_LISTEN=:2", "VITRINE_LANGUAGE=en", "VITRINE_CONFIG=" + file},
		Flags:   flags(t, "--listen=:3", "--no-materialize"),
	})
	got := []string{c.Listen, c.Language, c.Timezone, c.Catalog.TopicsPath, c.Log.Level}
	want := []string{":3", "en", "Europe/Berlin", "openalex.topics", "info"}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %v, want %v", got, want)
	}
	if c.Materialize.Enabled {
		t.Error("--no-materialize did not disable materializing")
	}
	origins := map[string]string{
		"listen": "--listen", "language": "VITRINE_LANGUAGE", "timezone": file + ":4",
		"catalog.topics_path": "preset osiris", "materialize.enabled": "--no-materialize", "log.level": "",
	}
	for path, want := range origins {
		if got := c.origins[path].String(); got != want {
			t.Errorf("origin of %s = %q, want %q", path, got, want)
		}
	}
}

func TestWhatIsGivenBeatsThePreset(t *testing.T) {
	c := load(t, Sources{Environ: []string{"VITRINE_PRESET=osiris", "VITRINE_CATALOG_TOPICS_PATH=a.b"}})
	if c.Catalog.TopicsPath != "a.b" {
		t.Errorf("got %s, want a.b", c.Catalog.TopicsPath)
	}
}

func TestGiven(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.yml")
	if err := os.WriteFile(file, []byte("preset: osiris\naccess: {types: {}, roles: {editor: []}}\n"), 0o600); err !=
		nil {
		t.Fatal(err)
	}
	c := load(t,
		Sources{Environ: []string{"VITRINE_CONFIG=" + file, "VITRINE_AUTH_API_KEY=", "VITRINE_START_YEAR=1950"},
			Flags: flags(t, "--listen=:3")})
	for path, want := range map[string]bool{
		"listen":              true,
		"auth.api_key":        true, // as empty
		"auth.portfolio_key":  false,
		"access.roles.editor": true,
		"access.roles.admin":  false, // a default
		"access.roles":        false, // only an entry
		"access.types":        true,
		"access.types.poster": true, // cleared with the rest
		"catalog.topics_path": false,
		"start_year":          true,
		"language":            false,
		"":                    false,
	} {
		if got := c.given(path); got != want {
			t.Errorf("given(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestConfigFlagBeatsVariable(t *testing.T) {
	_, err := Load(Sources{Environ: []string{"VITRINE_CONFIG=b.yml"}, Flags: flags(t, "--config", "a.yml")})
	if err == nil || err.Error() != "a.yml: cannot be read: no such file or directory" {
		t.Errorf("got %v", err)
	}
}

func TestFlagsOfSomeKeys(t *testing.T) {
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(fs, "store", "materialize.enabled")
	var names []string
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if got := strings.Join(names, " "); got != "config no-materialize store" {
		t.Errorf("flags = %s", got)
	}
	if got := fs.Lookup("store").DefValue; got != "bolt://data/vitrine.db" {
		t.Errorf("default shown for --store = %s", got)
	}
}

func TestBadFlags(t *testing.T) {
	_, err := Load(Sources{Flags: flags(t, "--language=fr", "--timezone=Mars")})
	want := "--language: language: want en or de, have \"fr\"\n" +
		"--timezone: timezone: want a time zone such as UTC or Europe/Berlin, have \"Mars\""
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestDemo(t *testing.T) {
	c := load(t, Sources{Demo: true})
	demo := Default()
	demo.use(demoValues, "demo")
	same(t, c, demo)
	if got := c.origins["access.anonymous"].String(); got != "demo" {
		t.Errorf("origin = %q, want demo", got)
	}
	var out bytes.Buffer
	if err := c.WriteYAML(&out); err != nil {
		t.Fatal(err)
	}
	if want := "store: bolt://data/demo.db # demo\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%s lacks %q", out.String(), want)
	}
	_, err := Load(Sources{Demo: true, Environ: []string{"VITRINE_STORE=bolt://data/demo.db"}})
	if want := "VITRINE_STORE: store: cannot be given with --demo"; err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("a store together with the demo: got %v, want %q", err, want)
	}
}
