package configs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHostsAreMissed: a configuration warns if clients may use a host that is not in it.
func TestHostsAreMissed(t *testing.T) {
	for _, tt := range []struct {
		listen string
		lists  Lists
		warns  bool
	}{
		{":8080", Lists{Enabled: true}, true},
		{"192.0.2.1:8080", Lists{Enabled: true}, true},
		{"127.0.0.1:8080", Lists{Enabled: true}, false},
		{":8080", Lists{}, false},
		{":8080", Lists{Enabled: true, Hosts: []string{"www.example"}}, false},
		{":8080", Lists{Enabled: true, BaseURL: "https://www.example"}, false},
	} {
		all := Config{Listen: tt.listen, Lists: tt.lists}.Warnings()
		if got := slices.ContainsFunc(all,
			func(text string) bool { return strings.Contains(text, "lists.base_url") }); got != tt.warns {
			t.Errorf("%+v: %q", tt, all)
		}
	}
}

// TestEndpoints: an endpoint of a key that opens nothing is refused with its place, or warned of where the other
// server may have it.
func TestEndpoints(t *testing.T) {
	known := Checks{"path": func(path string) error {
		if path == "/api/projets" {
			return errors.New(`no path of Vitrine: "/api/projets", did you mean /api/projects?`)
		} else if strings.HasPrefix(path, "/export") {
			return errors.New(`no path of Vitrine: "/export"`)
		}
		return nil
	}}
	for _, tt := range []struct{ endpoint, more, mistake, warning string }{
		{"/api/projects", "", "", ""},
		{"/lists/activities.bib", "", "", ""},
		{"/lists/unit/BIO", "", "", ""},
		{"/lists/bio-papers", "lists: {named: {bio-papers: {title: {en: x}, filter: '{}'}}}", "", ""},
		{"/lists/bio-paper", "lists: {named: {bio-papers: {title: {en: x}, filter: '{}'}}}",
			`there is no list "bio-paper", did you mean bio-papers?`, ""},
		{"/lists/bio-papers", "upstream: {url: 'https://old.example'}", `there is no list "bio-papers"`, ""},
		{"/api/users/ID", "", "with the placeholder ID", ""},
		{"/api/users/{id}", "", "with the placeholder {id}", ""},
		{"/api/users/:id", "", "with the placeholder :id", ""},
		{"/api/users/*", "", "with the placeholder *", ""},
		{"/api/projets", "", "did you mean /api/projects?", ""},
		{"/api/projets", "upstream: {url: 'https://old.example'}", "", "did you mean /api/projects?"},
		{"/export", "", `no path of Vitrine: "/export"`, ""},
		{"/export", "upstream: {url: 'https://old.example'}", "", ""},
		{"/export", "upstream: {url: 'https://old.example', paths: [/media]}", `no path of Vitrine: "/export"`, ""},
	} {
		text := "auth:\n  keys:\n    web:\n      endpoints: ['" + tt.endpoint + "']\n" + tt.more
		c, err := Load(Sources{Text: []byte(text), TextName: "x.yml", Checks: known})
		if tt.mistake == "" && err != nil || tt.mistake != "" && (err == nil || !strings.HasPrefix(err.Error(),
			"x.yml:4: auth.keys.web.endpoints: ") || !strings.Contains(err.Error(), tt.mistake)) {
			t.Errorf("%s, %s: %v", tt.endpoint, tt.more, err)
		}
		if all := strings.Join(c.Warnings(), "\n"); err == nil && strings.Contains(all,
			"auth.keys.web.endpoints") != (tt.warning != "") || !strings.Contains(all, tt.warning) {
			t.Errorf("%s, %s: warnings %s", tt.endpoint, tt.more, all)
		}
	}
}

// TestSecretFiles: in a file, too, a secret can be the content of another file.
func TestSecretFiles(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(secret, []byte("from file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ text, mistake string }{
		{"upstream: {key_file: " + secret + "}", ""},
		{"upstream:\n  key_file: absent",
			"x.yml:2: upstream.key: cannot be read from absent: no such file or directory"},
		{"upstream:\n  key_file: [a]", "x.yml:2: upstream.key_file: want the name of a file"},
		{"upstream:\n  key: x\n  key_file: " + secret,
			"x.yml:3: upstream.key_file: given twice, also by upstream.key"},
		{"upstream:\n  key_file: " + secret + "\n  key: x",
			"x.yml:3: upstream.key: given twice, also by upstream.key_file"},
		{"upstream:\n  host_file: " + secret, "x.yml:2: upstream.host_file: unknown key"},
	} {
		c, err := Load(Sources{Text: []byte(tt.text), TextName: "x.yml"})
		if tt.mistake == "" && (err != nil || c.Upstream.Key.Reveal() != "from file") || tt.mistake != "" &&
			(err == nil || !strings.HasPrefix(err.Error(), tt.mistake)) {
			t.Errorf("%s: %q, %v", tt.text, c.Upstream.Key.Reveal(), err)
		}
	}
}

// TestIdleSettingsAreNamed: a setting without effect, because another is not set, is named with its place. If the
// other was turned off on purpose, or the setting has its default, there is no warning.
func TestIdleSettingsAreNamed(t *testing.T) {
	const tokens = "auth.session.jwt_secret or auth.session.public_key"
	for content, want := range map[string]string{
		"http: {proxy_header: X-Forwarded-For}\n": "http.proxy_header (FILE:1) has no " +
			"effect: it needs http.trusted_proxies",
		"http: {proxy_header: X-Forwarded-For, trusted_proxies: [10.0.0.1]}\n": "",
		"http: {cors: {credentials: true}}\n": "http.cors.credentials (FILE:1) " +
			"has no effect: it needs http.cors.origins",
		"auth:\n  session: {audience: a}\n": "auth.session.audience (FILE:2) " +
			"has no effect: it needs " + tokens,
		"auth: {session: {cookie: c}}\n": "auth.session.cookie (FILE:1) has " +
			"no effect: it needs " + tokens,
		"auth: {session: {cookie: vitrine_session}}\n":   "",
		"auth: {session: {cookie: c, jwt_secret: ''}}\n": "",
		"auth: {session: {trusted_proxies: [10.0.0.1]}}\n": "auth.session.trusted_proxies " +
			"(FILE:1) has no effect: it needs auth.session.user_header",
		"upstream: {paths: [/media]}\n": "upstream.paths (FILE:1) has no " +
			"effect: it needs upstream.url",
		"upstream: {paths: [/media], url: 'https://a.example'}\n": "",
		"purge: {tokens: {a: b}}\n": "purge.tokens (FILE:1) has no " +
			"effect: it needs purge.targets",
		"compare: {shadow: {share: 1}}\n": "compare.shadow.share (FILE:1) has " +
			"no effect: it needs compare.shadow.url",
		"views: {budget: 1GB}\n": "views.budget (FILE:1) has no " +
			"effect: it needs views.mode: auto",
		"views: {database: d}\n": "views.database (FILE:1) has no " +
			"effect: an embedded store has no databases",
		"mongo: {batch: 1000}\n": "",
	} {
		s := write(t, content)
		want = strings.ReplaceAll(want, "FILE", s.File())
		var got []string
		for _, text := range load(t, s).Warnings() {
			if strings.Contains(text, "has no effect") {
				got = append(got, text)
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s got %q, want %q", content, got, want)
		}
	}
	if got := Default().idle(); got != nil {
		t.Errorf("the defaults: %q", got)
	}
}

// TestIdleKeysAreNamed: so are keys that open nothing, and origins whose pages may not read what the key opens.
func TestIdleKeysAreNamed(t *testing.T) {
	s := write(t, `auth:
  keys:
    none: {rate: 1}
    web:
      sha256: [0000000000000000000000000000000000000000000000000000000000000000]
      origins: ['https://a.example', 'https://b.example']
    lists: {sha256: [1111111111111111111111111111111111111111111111111111111111111111], endpoints: [/lists], origins: ['https://b.example']}
http: {cors: {origins: ['https://a.example']}}
`)
	want := []string{
		"auth.keys.none (" + s.File() + ":3) has no sha256: it opens nothing",
		"auth.keys.web.origins (" + s.File() +
			":6): pages of https://b.example cannot read answers: http.cors.origins lacks it",
	}
	if got := load(t, s).idleKeys(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNeedsAreSettings: each setting that another needs exists.
func TestNeedsAreSettings(t *testing.T) {
	for _, s := range settings {
		for _, path := range s.Needs {
			if settingAt(path) == nil {
				t.Errorf("%s needs %s, which is no setting", s.Path, path)
			}
		}
	}
}
