package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRefusedSettings: serve and config refuse settings that would do nothing, and name file, line and the nearest.
func TestRefusedSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "vitrine.yml"), filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	open, broken := filepath.Join(dir, "open"), filepath.Join(dir, "broken")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777),
		os.WriteFile(broken, []byte("a: [b"), 0o600)); err != nil {
		t.Fatal(err)
	}
	const upstream = "upstream: {url: 'https://old.example'}\n"
	const keep = "upstream:\n  url: https://old.example\n  keep:\n    - paths: [/portfolio/]\n    - "
	for text, want := range map[string]string{
		"catalog: {file: DIR/none.json}\n": "2: catalog.file: DIR/none.json: no such " +
			"file or directory",
		"catalog: {file: DIR/pipe}\n": "2: catalog.file: DIR/pipe: is a named pipe; " +
			"want a regular file",
		"rules: {file: DIR/none}\n":  "2: rules.file: DIR/none: no such file",
		"rules:\n  cite_file: DIR\n": "3: rules.cite_file: DIR: is a directory",
		"labels: {file: DIR/none}\n": "2: labels.file: DIR/none: no such file",
		"auth: {session: {public_key: DIR/none}}\n": "2: auth.session.public_key: DIR/none: no " +
			"such file",
		"purge: {targets: {a: purge http://h}, tokens: {a: DIR}}\n": "2: purge.tokens.a: DIR: is a directory",
		"purge: {targets: {a: squid http://h}}\n": "2: purge.targets.a: want one of cloudflare, " +
			"fastly",
		"purge: {targets: {a: fastly https://h}}\n": "2: purge.targets.a: needs a file with its " +
			"token, purge.tokens.a",
		"rules: {file: DIR/broken}\n":       "2: rules.file: DIR/broken: ",
		"rules:\n  cite_file: DIR/broken\n": "3: rules.cite_file: DIR/broken: ",
		"labels: {file: DIR/broken}\n":      "2: labels.file: DIR/broken: ",
		"auth: {session: {public_key: DIR/broken}}\n": "2: auth.session.public_key: want an Ed25519 " +
			"key in PEM",
		"auth:\n  session:\n    user_header: X-User\n": "4: auth.session.user_header: needs " +
			"trusted_proxies",
		"lists: {styles: {a: DIR/none}}\n":                           "2: lists.styles.a: DIR/none: no such file",
		"lists: {styles: {a: }}\n":                                   "2: lists.styles.a: names no file",
		"lists: {locales: {fr-FR: ''}}\n":                            "2: lists.locales.fr-FR: names no file",
		"lists: {styles: {a: DIR/broken}}\n":                         "2: lists.styles.a: DIR/broken:1: ",
		"lists: {styles: {web: DIR/broken}}\n":                       "2: lists.styles.web: is built in",
		"lists: {styles: {a: DIR}}\n":                                "2: lists.styles.a: DIR: is a directory",
		"lists:\n  locales: {fr-FR: DIR/broken}\n":                   "3: lists.locales.fr-FR: DIR/broken:1: ",
		"lists:\n  locales: {french: DIR/broken}\n":                  "3: lists.locales.french: want a language tag",
		"lists:\n  named:\n    a: {style: institut}\n":               "4: lists.named.a.style: want web, print, ",
		"lists:\n  named: {a: {select: yeer=2020}}\n":                "3: lists.named.a.select: ",
		"lists:\n  named: {a: {select: year=soon}}\n":                "3: lists.named.a.select: ",
		"lists:\n  named:\n    a: {view: persons, select: page=2}\n": "4: lists.named.a.select: takes ",
		"views: {snapshot: DIR/open}\n": "2: views.snapshot: other users may write to " +
			"DIR/open",
		"views: {snapshot: DIR/broken}\n":     "2: views.snapshot: ",
		"routes: {/api/projects: upstream}\n": "2: routes./api/projects: needs upstream.url",
		upstream +
			"routes: {/api/project: upstream}\n": "3: routes./api/project: there is no such path, did you mean /" +
			"api/projects?",
		upstream +
			"routes: {/readyz: upstream}\n": "3: routes./readyz: this server always answers it itself",
		keep + "paths: [/api/events]\n": "6: upstream.keep[1].paths: " +
			"this server answers /api/events itself",
		keep + "{paths: [/x], warm: ['/x/{groups}']}\n": "6: upstream.keep[1].warm: " +
			"want placeholders such as {groups.id}",
		keep + "{paths: [/x], refresh: often}\n": `6: upstream.keep[1].refresh: schedule "often"`,
	} {
		if err := os.WriteFile(file, []byte("store: bolt://"+dir+"/none.db\n"+strings.ReplaceAll(text, "DIR", dir)),
			0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"config", "serve"} {
			var out, wrong strings.Builder
			code := run(t.Context(), []string{command, "--config", file}, &out, &wrong)
			if want := file + ":" + strings.ReplaceAll(want, "DIR", dir); code != 1 ||
				!strings.Contains(wrong.String(), want) {
				t.Errorf("%s of %s: %d, %s, want %s", command, text, code, wrong.String(), want)
			}
		}
	}
}

// TestConfigWarns: config prints what a server would warn of beside the configuration.
func TestConfigWarns(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "vitrine.yml")
	if err := os.WriteFile(file, []byte("http: {proxy_header: X-Forwarded-For}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, wrong strings.Builder
	want := "warning: http.proxy_header (" + file + ":1) has no effect: it needs http.trusted_proxies\n"
	if code := run(t.Context(), []string{"config", "--config", file}, &out, &wrong); code != 0 ||
		wrong.String() != want {
		t.Errorf("%d %q, want %q", code, wrong.String(), want)
	}
}

// TestReloadOfMissingFiles: a file that is gone, or became a pipe, refuses a reload at once, and the old settings
// stay.
func TestReloadOfMissingFiles(t *testing.T) {
	t.Parallel()
	r := runFile(t, "")
	dir := filepath.Dir(r.file)
	labels := filepath.Join(dir, "labels.yaml")
	text := "labels: {file: " + labels + "}\nauth: {api_key: right-key-of-sixteen}\n"
	write := func() error { return os.WriteFile(labels, []byte("project-type: {x: {en: X}}\n"), 0o600) }
	pipe := func(name string) func() error {
		return func() error { return syscall.Mkfifo(name, 0o600) }
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	if status, _, msg := r.reload(t, text); status != http.StatusOK {
		t.Fatalf("%d %s", status, msg)
	}
	for _, step := range []struct {
		name, at string
		make     func() error
		want     string
	}{
		{"gone", labels, func() error { return nil },
			r.file + ":7: labels.file: " + labels + ": no such file or directory"},
		{"a pipe", labels, pipe(labels), r.file + ":7: labels.file: " + labels + ": is a named pipe"},
		{"a huge file", labels, func() error { return os.WriteFile(labels, make([]byte, 2<<20), 0o600) },
			"is too long: at most 1.0 MiB are read"},
		{"the configuration as a pipe", r.file, pipe(r.file), r.file + ": cannot be read: is a named pipe"},
		{"the configuration as comments", r.file,
			func() error { return os.WriteFile(r.file, []byte(strings.Repeat("# x\n", 1<<20)), 0o600) },
			"is too long: at most 1.0 MiB are read"},
	} {
		if err := os.Remove(step.at); err != nil && step.name != "a pipe" {
			t.Fatal(err)
		}
		if err := step.make(); err != nil {
			t.Fatal(err)
		}
		status, body := fetch(t, http.MethodPost, r.admin+"/admin/reload")
		if msg := decode(t, body).Msg; status != http.StatusBadRequest || !strings.Contains(msg, step.want) {
			t.Errorf("%s: %d %q, want %q", step.name, status, msg, step.want)
		}
		if status, _ := fetch(t, http.MethodGet, r.base+"/api/activities", "X-API-Key",
			"right-key-of-sixteen"); status != http.StatusOK {
			t.Errorf("%s: %d with the key", step.name, status)
		}
		if status, body := fetch(t, http.MethodGet, r.admin+"/admin/config"); status != http.StatusOK ||
			!strings.Contains(body, labels) {
			t.Errorf("%s: configuration %d %s", step.name, status, body)
		}
		if step.at == labels && step.name == "a huge file" {
			if err := os.Remove(labels); err != nil {
				t.Fatal(err)
			}
			if err := write(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
