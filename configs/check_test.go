package configs

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
)

// TestChecks tries good and bad values of each kind on a setting of that kind. The reason for
// refusing a bad value begins with the text in the table.
func TestChecks(t *testing.T) {
	const (
		address  = "want HOST:PORT such as 127.0.0.1:8080 or :8080"
		network  = "want an IP address or a network such as 10.0.0.0/8"
		origin   = "want an origin such as https://www.example.org without a path, or *"
		path     = "want a dotted path such as catalog.topics"
		template = "want a web address with {id} in it"
		token    = "want a name without blanks and separators"
		zone     = "want a time zone such as UTC or Europe/Berlin"
		store    = "want mongodb://HOST/DATABASE, mongodb+srv://HOST/DATABASE or bolt://PATH"
	)
	tests := []struct {
		path string
		good string // separated by blanks
		bad  map[string]string
	}{
		{"listen", ":0 127.0.0.1:8080 [::1]:65535 host.example:1", map[string]string{
			"": "may not be empty", "8080": address, "host": address, ":http": address, ":65536": address,
			":-1": address, "::1:80": address}},
		{"admin.listen", ":0", map[string]string{"x": address}},
		{"views.database", "osiris osiris-views_2", map[string]string{
			"a/b": "the name of a database may not contain '/'", "a.b": "the name of a database may not contain '.'",
			"a$": "the name of a database may not contain '$'", "a?b": "the name of a database may not contain '?'"}},
		{"http.trusted_proxies", "10.0.0.1 ::1 10.0.0.0/8 2001:db8::/32 10.0.0.1,::1", map[string]string{
			"proxy": network, "10.0.0.0/33": network, "10.0.0.1,proxy": network, "10.0.0": network}},
		{"http.cors.origins", "* https://a.example http://localhost:3000 https://a.example,https://b.example",
			map[string]string{
				"a.example": origin, "ftp://a.example": origin, "https://a.example/": origin,
				"https://a.example?x": origin, "https://": origin, "null": origin}},
		{"citation.url", "https://scholar.google.com http://localhost:3000", map[string]string{
			"*":                      strings.TrimSuffix(origin, ", or *"),
			"https://a.example/path": strings.TrimSuffix(origin, ", or *")}},
		{"catalog.topics_path", "topics catalog.topics a.0.b", map[string]string{
			"": "may not be empty", ".a": path, "a.": path, "a..b": path, "a.$b": path, "$a": path}},
		{"catalog.url", "https://openalex.org/{id} http://h/?id={id}#x", map[string]string{
			"https://openalex.org/": template, "{id}": template, "ftp://h/{id}": template}},
		{"auth.session.cookie", "session __Host-a !#$%&'*+.^_`|~", map[string]string{
			"a b": token, "a;b": token, "a=b": token, "a\tb": token, "ä": token, `"a"`: token}},
		{"timezone", "UTC Europe/Berlin America/Sao_Paulo",
			map[string]string{"Mars": zone, "Europe/Berln": zone, "../UTC": zone}},
		{"language", "en de", map[string]string{"fr": `want en or de, have "fr"`,
			"EN": `want en or de, have "EN", did you mean en?`, "": "may not be empty"}},
		{"preset", "osiris", map[string]string{"osirs": `want osiris, have "osirs", did you mean osiris?`}},
		{"materialize.full", "@daily @hourly", map[string]string{
			"TZ=":        `schedule "TZ=": malformed`,
			"60 * * * *": `schedule "60 * * * *": end of range (60) above maximum (59): 60`}},
		{"materialize.max_shrink", "0 0.5 1 1e-3", map[string]string{
			"1.01": "want a share from 0 to 1", "-0.1": "may not be negative", "NaN": "want a share from 0 to 1",
			"Inf": "want a share from 0 to 1", "-Inf": "may not be negative", "half": "want a number"}},
		{"limits.rate", "0 1 +5 1000000",
			map[string]string{"-1": "may not be negative, have -1", "1.5": "want a whole number",
				"1e3": "want a whole number"}},
		{"materialize.lease", "1ms 30s 24h", map[string]string{
			"0": "may not be 0", "-1s": "may not be negative", "24h1ms": "may be at most 24h, have 24h0m0.001s"}},
		{"mongo.batch", "1", map[string]string{"0": "may not be 0", "": "may not be 0"}},
		{"limits.request_timeout", "10s", map[string]string{"0": "may not be 0"}},
		{"limits.filter_bytes", "1 1MiB", map[string]string{"0": "may not be 0"}},
		{"shutdown.grace", "1ms", map[string]string{"0s": "may not be 0"}},
		{"views.budget", "0 1 8KiB 1.5MB", map[string]string{"8 apples": "want a size such as 512MB or 64KiB"}},
		{"views.poll", "1ms 2s 1h30m", map[string]string{"0": "may not be 0", "-2s": "may not be negative, have -2s",
			"2": "want a duration such as 30s or 2h"}},
		{"compat.formatted_single", "true false 1 0 T",
			map[string]string{"yes": "want true or false", "on": "want true or false"}},
		{"store", "bolt://a.db bolt:///a.db mongodb://h/d mongodb+srv://u:p@h/d mongodb://a:1,b:2/d?replicaSet=r",
			map[string]string{
				"": "may not be empty", "a.db": store, "http://h/d": store, "bolt://": "names no file",
				"mongodb:///d": "names no host",
				"mongodb://h":  "names no database", "mongodb://u:p@/d": "names no host",
				"mongodb://h/?x=1":    "names no database",
				"mongodb://u:p?q@h/d": "write @ among the options",
				"mongodb://h/a b":     "the name of a database may not contain ' '"}},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			name := findSetting(func(s *Setting) bool { return s.Path == tt.path }).Env
			for good := range strings.FieldsSeq(tt.good) {
				if _, err := Load(Sources{Environ: []string{name + "=" + good}, Checks: checks}); err != nil {
					t.Errorf("%q: %v", good, err)
				}
			}
			for bad, reason := range tt.bad {
				_, err := Load(Sources{Environ: []string{name + "=" + bad}, Checks: checks})
				if want := name + ": " + tt.path + ": " + reason; err == nil ||
					!strings.HasPrefix(err.Error(), want) {
					t.Errorf("%q: got %v, want %s", bad, err, want)
				}
			}
		})
	}
}

// TestEmptyTurnsOff sets every setting that may be empty to the empty value.
func TestEmptyTurnsOff(t *testing.T) {
	for _, s := range settings {
		c, err := Load(Sources{Environ: []string{s.Env + "="}})
		if needed := strings.Contains(s.Check, "required") ||
			strings.Contains(s.Check, "positive"); (err != nil) != needed {
			t.Errorf("%s: %v, want an error: %t", s.Path, err, needed)
		}
		v := s.field(&c)
		isList := v.Kind() == reflect.Slice || v.Kind() == reflect.Map
		if err == nil && !v.IsZero() && !(isList && v.Len() == 0) {
			t.Errorf("%s = %v", s.Path, v)
		}
	}
}

// TestParseNetwork: a proxy is recognised in whichever form its address is written.
func TestParseNetwork(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1": "10.0.0.1/32", "::ffff:10.0.0.1": "10.0.0.1/32", "10.0.0.0/8": "10.0.0.0/8",
		"2001:db8::/32": "2001:db8::/32", "::1": "::1/128",
	} {
		if got, err := ParseNetwork(text); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "proxy.example", "10.0.0.0/99", "10.0.0.1:80"} {
		if got, err := ParseNetwork(text); err == nil {
			t.Errorf("%q is accepted for %s", text, got)
		}
	}
}

// TestBundles: each built-in value belongs to an existing setting and differs from its default.
func TestBundles(t *testing.T) {
	all := map[string]bundle{"demo": demoValues}
	for name, values := range presets {
		all["preset "+name] = values
	}
	defaults := Default()
	for name, values := range all {
		c := Default()
		c.use(values, name)
		for path := range values {
			s := findSetting(func(s *Setting) bool { return s.Path == path })
			if s == nil {
				t.Errorf("%s: no setting %s", name, path)
				continue
			}
			origin := path
			if s.Path == "site.title" {
				origin += ".en" // entries of a map have places of their own
			}
			if fmt.Sprint(s.field(&c)) == fmt.Sprint(s.field(&defaults)) || c.origins[origin].String() != name {
				t.Errorf("%s: %s = %v from %q", name, path, s.field(&c), c.origins[origin])
			}
		}
		entries := func(path string, _ Place) bool { return strings.Contains(path, "[") }
		if maps.DeleteFunc(c.origins, entries); len(c.origins) != len(values) {
			t.Errorf("%s: origins %v", name, c.origins)
		}
	}
}

// TestBuiltInMistakesPanic: a mistake in a built-in value is a programming mistake.
func TestBuiltInMistakesPanic(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "preset test: limits.rate: want a whole number") {
			t.Errorf("recovered %s", got)
		}
	}()
	c := Default()
	c.use(bundle{"limits.rate": "many"}, "preset test")
}
