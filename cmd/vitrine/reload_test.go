package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/proxy/admin"
)

// sourcesIn are a configuration file and the environment.
func sourcesIn(file string, environ ...string) configs.Sources {
	environ = append(environ, "VITRINE_CONFIG="+file, "VITRINE_LIMITS_REQUEST_TIMEOUT="+slowAnswer.String())
	return configs.Sources{Environ: environ, Checks: checks}
}

// reloading is a program whose configuration file a test changes.
type reloading struct {
	*running
	file string
	head string // beginning of every version of the file: what the program started with and needs a restart
}

// runFile serves the institute of runProgram by a configuration file with some text.
func runFile(t *testing.T, text string, environ ...string) *reloading {
	t.Helper()
	dir := t.TempDir()
	r := &reloading{file: filepath.Join(dir, "vitrine.yml"),
		head: "store: bolt://" + dir +
			"/configured.db\nlisten: 127.0.0.1:0\nadmin: {listen: '127.0.0.1:0'}\nviews: {poll: 1h}\nmaterialize: " +
			"{max_shrink: 0.5}\nshutdown: {delay: 0s}\n"}
	r.write(t, text)
	cfg, err := configs.Load(sourcesIn(r.file, environ...))
	if err != nil {
		t.Fatal(err)
	}
	r.running = runConfigured(t, cfg, func(r *running) {
		r.put("persons", bson.D{{Key: "_id", Value: "p1"}, {Key: "username", Value: "ada"},
			{Key: "mail", Value: "ada@hidden.example"}})
		r.put("activities", activity("a1", "First"), activity("a2", "Second"), activity("a3", "Third"))
		r.put("projects", bson.D{{Key: "_id", Value: "x1"}, {Key: "name", Value: "X"}, {Key: "title", Value: "Owls"},
			{Key: "type", Value: "Drittmittel"}})
	})
	r.program.sources = sourcesIn(r.file, environ...)
	// The harness chooses the store and other values for itself.
	r.program.institute.loaded.Store(must(t, r.program.institute.load, cfg))
	r.checked()
	return r
}

func must[A, B any](t *testing.T, call func(A) (B, error), with A) B {
	t.Helper()
	got, err := call(with)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (r *reloading) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(r.file, []byte(r.head+text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reload writes the file and reloads it.
func (r *reloading) reload(t *testing.T, text string) (status int, done admin.Reloaded, msg string) {
	t.Helper()
	r.write(t, text)
	status, body := fetch(t, http.MethodPost, r.admin+"/admin/reload")
	if err := json.Unmarshal([]byte(body), &done); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return status, done, decode(t, body).Msg
}

// keyLines returns the settings of keys with names and texts.
func keyLines(keys map[string]string, limits string) string {
	lines := "auth:\n  keys:\n"
	for name, texts := range keys {
		var sums []string
		for text := range strings.FieldsSeq(texts) {
			sums = append(sums, fmt.Sprintf("%x", sha256.Sum256([]byte(text))))
		}
		lines += fmt.Sprintf("    %s: {sha256: [%s]%s}\n", name, strings.Join(sums, ", "), limits)
	}
	return lines
}

// TestReload: what needs no restart counts from the next request on; the rest is named and stays.
func TestReload(t *testing.T) {
	t.Parallel()
	r := runFile(t, "")
	ask := func(target string, headers ...string) (int, string) {
		return fetch(t, http.MethodGet, r.base+target, headers...)
	}
	keyed := keyLines(map[string]string{"portal": "k1"}, ", permissions: [fields.hidden]")
	var last time.Time // before the last request
	for _, step := range []struct {
		name, text       string
		adopted, refused []string
		target           string
		header           string
		status           int
		body             string
	}{
		{"nothing", "", nil, nil, "/api/activities", "", 200, `"count":3`},
		{"a key", keyed, []string{"auth.keys"}, nil, "/api/activities", "", 403, "valid API key"},
		{"its permission", keyed, nil, nil, "/api/users/ada", "X-API-Key: k1", 200, "ada@hidden.example"},
		{"another key", keyLines(map[string]string{"portal": "k2"}, ""), []string{"auth.keys"}, nil, "/api/users/ada",
			"X-API-Key: k2", 200, `"username":"ada"}`},
		{"access", "auth: {keys: {}}\naccess: {anonymous: [projects.view]}\n",
			[]string{"access.anonymous", "auth.keys"}, nil, "/api/projects", "", 200, `"count":1`},
		{"no access", "access: {anonymous: []}\n", []string{"access.anonymous"}, nil, "/api/projects", "", 200,
			`"count":0`},
		{"hidden fields", "access: {anonymous: [fields.hidden], hidden_fields: [title]}\n", []string{},
			[]string{"access.anonymous", "access.hidden_fields"}, "/api/users/ada", "", 200, `"username":"ada"}`},
		{"lists", "lists: {named: {papers: {title: {en: Papers of ours}}}}\n", []string{"lists.named"}, nil,
			"/lists/papers.json", "", 200, "Papers of ours"},
		{"a site", "site: {title: {en: Owl House}}\n", []string{"lists.named", "site.title"}, nil,
			"/lists/activities", "Accept: text/html", 200, "Owl House"},
		{"CORS", "http: {cors: {origins: ['https://a.example']}}\n", []string{"http.cors.origins", "site.title"}, nil,
			"/api/activities", "Origin: https://a.example", 200, ""},
		{"filters", "limits: {filter_bytes: 200}\n", []string{"http.cors.origins", "limits.filter_bytes"}, nil,
			"/api/activities?json=%7B%22type%22:%22" + strings.Repeat("x", 200) + "%22%7D", "", 400,
			"200 are allowed"},
		{"a limit", "limits: {rate: 1}\n", []string{"limits.filter_bytes", "limits.rate"}, nil, "/api/activities", "",
			200, ""},
		{"a kept limit", "limits: {rate: 1}\nstart_year: 3000\n", []string{"start_year"}, nil, "/api/activities", "",
			429, "Too many requests"},
		{"no limit", "limits: {rate: 0}\nstart_year: 3000\n", []string{"limits.rate"}, nil, "/api/html", "", 200,
			`"count":0`},
		{"what needs a restart", "listen: 127.0.0.1:1\n", nil, nil, "/api/activities", "", 200, `"count":3`},
	} {
		if step.name == "what needs a restart" {
			r.head = strings.NewReplacer("listen: 127.0.0.1:0\n", "", "configured.db", "other.db", "poll: 1h",
				"poll: 3s").Replace(r.head)
			step.adopted, step.refused = []string{"start_year"}, []string{"store", "listen", "routes", "views.poll"}
			step.text += "routes: {/api/projects: upstream}\nupstream: {url: 'https://old.example'}\npurge: " +
				"{targets: {}}\n"
			step.refused = append(step.refused, "upstream.url")
		}
		status, done, msg := r.reload(t, step.text)
		if status != http.StatusOK || !slices.Equal(done.Adopted, step.adopted) ||
			!slices.Equal(done.Refused, step.refused) {
			t.Errorf("%s: %d %s, adopted %q, refused %q", step.name, status, msg, done.Adopted, done.Refused)
		}
		var headers []string
		if name, value, ok := strings.Cut(step.header, ": "); ok {
			headers = []string{name, value}
		}
		if step.name == "CORS" {
			res, err := http.Head(r.base + step.target)
			if err != nil {
				t.Fatal(err)
			}
			if _ = res.Body.Close(); res.Header.Get("Access-Control-Allow-Origin") == "*" {
				t.Error("CORS: all sites may still read answers")
			}
		}
		before := time.Now()
		got, body := ask(step.target, headers...)
		late := step.status == http.StatusTooManyRequests && got == http.StatusOK && time.Since(last) >= time.Second
		if !late && (got != step.status || !strings.Contains(body, step.body)) { // a second gives back a request
			t.Errorf("%s: %s: %d %.300s", step.name, step.target, got, body)
		}
		last = before
	}
}

// TestReloadRoutes: an endpoint moves to the other server, and back.
func TestReloadRoutes(t *testing.T) {
	t.Parallel()
	old := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte("old"))
	}))
	defer old.Close()
	site := "upstream: {url: '" + old.URL + "'}\n"
	r := runFile(t, site)
	for _, step := range []struct{ text, body string }{{"routes: {/api/projects: upstream}\n", "old"},
		{"", `"status":200`}} {
		if status, done, msg := r.reload(t, site+step.text); status != http.StatusOK ||
			!slices.Equal(done.Adopted, []string{"routes"}) {
			t.Errorf("%d %s, adopted %q, refused %q", status, msg, done.Adopted, done.Refused)
		}
		if _, body := fetch(t, http.MethodGet, r.base+"/api/projects"); !strings.Contains(body, step.body) {
			t.Errorf("with %q: %s", step.text, body)
		}
	}
	for _, step := range []struct {
		text             string
		adopted, refused []string
		status           int
	}{
		{"methods: [POST], body_bytes: 2MiB", []string{"upstream.body_bytes", "upstream.methods"}, nil, 200},
		{"methods: [POST, PROPFIND]", []string{"upstream.body_bytes"}, []string{"upstream.methods"}, 200},
		{"", []string{"upstream.methods"}, nil, 405},
	} {
		status, done, msg := r.reload(t, "upstream: {url: '"+old.URL+"', "+step.text+"}\n")
		if status != http.StatusOK || !slices.Equal(done.Adopted, step.adopted) ||
			!slices.Equal(done.Refused, step.refused) {
			t.Errorf("%q: %d %s, adopted %q, refused %q", step.text, status, msg, done.Adopted, done.Refused)
		}
		if status, body := fetch(t, http.MethodPost, r.base+"/form"); status != step.status {
			t.Errorf("POST with %q: %d %s", step.text, status, body)
		}
	}
	site = "upstream: {url: '" + old.URL + "', key: the-key-of-the-other-server}\n"
	if status, done, msg := r.reload(t, site); status != http.StatusOK ||
		!slices.Equal(done.Adopted, []string{"upstream.key"}) {
		t.Errorf("another key for the other server: %d %s, adopted %q, refused %q", status, msg, done.Adopted,
			done.Refused)
	}
}

// TestReloadFiles: the files that settings name are read again; new rules render rows anew.
func TestReloadFiles(t *testing.T) {
	t.Parallel()
	r := runFile(t, "")
	dir := filepath.Dir(r.file)
	_, rules := configs.RenderRules()
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Sprintf(
		"rules: {file: %s/rules.yaml}\nlabels: {file: %s/labels.yaml}\naccess: {anonymous: [projects.view]}\n", dir,
		dir)
	write("rules.yaml", string(rules))
	write("labels.yaml", "project-type: {Drittmittel: {en: Money}}\n")
	shown := func(target, want string) {
		t.Helper()
		await(t, target+" shows "+want, func() string {
			_, body := fetch(t, http.MethodGet, r.base+target)
			if strings.Contains(body, want) {
				return ""
			}
			return body
		})
	}
	if status, done, msg := r.reload(t, text); status != 200 ||
		!slices.Equal(done.Adopted, []string{"access.anonymous", "labels.file", "rules.file"}) {
		t.Fatalf("%d %s %q", status, msg, done.Adopted)
	}
	shown("/api/projects?columns[]=type", "Money")
	write("labels.yaml", "project-type: {Drittmittel: {en: More money}}\n")
	if status, done, msg := r.reload(t, text); status != 200 || !slices.Equal(done.Adopted, []string{"labels.file"}) {
		t.Errorf("%d %s %q", status, msg, done.Adopted)
	}
	shown("/api/projects?columns[]=type", "More money")
	write("rules.yaml", strings.ReplaceAll(string(rules), "newspaper", "owlery"))
	if status, done, msg := r.reload(t, text); status != 200 || !slices.Equal(done.Adopted, []string{"rules.file"}) {
		t.Errorf("%d %s %q", status, msg, done.Adopted)
	}
	shown("/api/activities", "ph-owlery")
}

// TestRotation replaces a key while clients ask all the time: the one that is right at a time is never refused.
func TestRotation(t *testing.T) {
	t.Parallel()
	r := runFile(t, keyLines(map[string]string{"portal": "old-text"}, ""))
	var right atomic.Pointer[string]
	use := func(text string) { right.Store(&text) }
	use("old-text")
	const clients = 4
	var asked [clients]map[string]*atomic.Int64
	var running sync.WaitGroup
	stop := make(chan struct{})
	for i := range asked {
		asked[i] = map[string]*atomic.Int64{"old-text": {}, "new-text": {}}
		running.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				text := *right.Load()
				target, headers := "/api/activities?limit=1", []string{"X-API-Key", text}
				if i%2 == 0 {
					target, headers = target+"&apikey="+text, nil
				}
				if status, body := fetch(t, http.MethodGet, r.base+target, headers...); status != http.StatusOK {
					t.Errorf("%s: %d %s", text, status, body)
				}
				asked[i][text].Add(1)
			}
		})
	}
	each := func(text string, more int64) { // every client asks some times from now on
		t.Helper()
		for i := range asked {
			goal := asked[i][text].Load() + more
			await(t, "a client asks", func() string { return unless(asked[i][text].Load() >= goal) })
		}
	}
	defer running.Wait()
	defer close(stop)
	each("old-text", 20)
	for _, step := range []struct{ texts, right string }{{"old-text new-text", "new-text"},
		{"new-text", "new-text"}} {
		if status, _, msg := r.reload(t, keyLines(map[string]string{"portal": step.texts}, "")); status !=
			http.StatusOK {
			t.Fatalf("%d %s", status, msg)
		}
		use(step.right)
		each(step.right, 20) // no client has the old key in a request any more
	}
	if status, _ := fetch(t, http.MethodGet, r.base+"/api/activities", "X-API-Key", "old-text"); status !=
		http.StatusForbidden {
		t.Errorf("the old key: %d", status)
	}
	if _, body := fetch(t, http.MethodGet, r.admin+"/metrics"); !strings.Contains(body,
		`vitrine_key_requests_total{key="portal",outcome="admitted"}`) || strings.Contains(body, "-text") {
		t.Error("the metrics lack the key, or have its text")
	}
}

// TestKeyAdd: the printed lines accept the printed key.
func TestKeyAdd(t *testing.T) {
	var out, wrong strings.Builder
	if code := run(t.Context(), []string{"key", "add", "portal"}, &out, &wrong); code != 0 {
		t.Fatal(wrong.String())
	}
	comment, rest, _ := strings.Cut(out.String(), "\n")
	key, lines, _ := strings.Cut(rest, "\n")
	cfg, err := configs.Load(configs.Sources{Text: []byte(lines)})
	if err != nil || len(cfg.Auth.Keys) != 1 {
		t.Fatalf("%v: %s", err, lines)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(key))); !slices.Equal(cfg.Auth.Keys["portal"].SHA256,
		[]string{want}) || !strings.HasPrefix(comment, "#") {
		t.Errorf("the lines have another hash: %s", out.String())
	}
	if code := run(t.Context(), []string{"key", "add", "My key"}, &out, &wrong); code != 1 ||
		!strings.Contains(wrong.String(), "want a name") {
		t.Errorf("a wrong name: %d %s", code, wrong.String())
	}
}

// TestInvalidReload: after a mistake anywhere nothing has changed, and the answer says where it is.
func TestInvalidReload(t *testing.T) {
	t.Parallel()
	r := runFile(t, "auth: {api_key: before-the-reload}\n")
	dir := filepath.Dir(r.file)
	for name, text := range map[string]string{"rules.yaml": "activities: 7\n", "labels.yaml": "- x\n",
		"cite.yaml": "- x\n", "key.pem": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ text, msg string }{
		{"limits: {rate: fast}\n", "vitrine.yml:7: limits.rate: want a whole number"},
		{"limits: {rote: 1}\n", "vitrine.yml:7: limits.rote: unknown key, did you mean limits.rate?"},
		{"lists: {public: '{'}\n", "vitrine.yml:7: lists.public: "},
		{"auth: [\n", "vitrine.yml:"},
		{"rules: {file: " + dir + "/rules.yaml}\n", "rules.yaml"},
		{"rules: {file: " + dir + "/none.yaml}\n", "rules.file: "},
		{"labels: {file: " + dir + "/labels.yaml}\n", "labels.yaml"},
		{"lists: {named: {papers: {select: 'size=2'}}}\n", "lists.named.papers.select: "},
	} {
		text := tt.text
		if !strings.HasPrefix(text, "auth") {
			text += "auth: {api_key: after-the-reload}\n"
		}
		status, done, msg := r.reload(t, text)
		if status != http.StatusBadRequest || !strings.Contains(msg, tt.msg) || done.Adopted != nil ||
			strings.Contains(msg, "the-reload") {
			t.Errorf("%s: %d %q, adopted %q", tt.text, status, msg, done.Adopted)
		}
		for key, want := range map[string]int{"before-the-reload": 200, "after-the-reload": 403} {
			if status, body := fetch(t, http.MethodGet, r.base+"/api/activities", "X-API-Key", key); status != want {
				t.Errorf("%s: %s: %d %s", tt.text, key, status, body)
			}
		}
	}
}

// TestEmptiedReload: a file that an editor has just emptied to write it anew does not open what keys close.
func TestEmptiedReload(t *testing.T) {
	t.Parallel()
	r := runFile(t, "auth: {api_key: right}\n")
	r.head = ""
	for _, text := range []string{"", "\n", "# a comment\n", "---\n", "{}\n", "auth:\n"} {
		if status, done, msg := r.reload(t, text); status != http.StatusBadRequest ||
			!strings.Contains(msg, "file sets nothing") {
			t.Errorf("%q: %d %q, adopted %q", text, status, msg, done.Adopted)
		}
		if status, _ := fetch(t, http.MethodGet, r.base+"/api/activities"); status != http.StatusForbidden {
			t.Errorf("%q: %d without a key", text, status)
		}
	}
}

// TestCutReload: after a file that an editor has written only in part, what keys and rights closed is closed, until a
// file says otherwise. Answer, log and configuration name what stays.
func TestCutReload(t *testing.T) {
	t.Parallel()
	whole :=
		"limits: {rate: 1000}\nauth:\n  api_key: first-right-key\n  portfolio_key: second-right-key\naccess:\n  " +
			"anonymous: []\n  types:\n" +
			"    review: [admin]\n    publication: [admin]\n"
	r := runFile(t, whole)
	probe := func() (all string) {
		for _, ask := range [][]string{{"/api/activities"}, {"/api/activities", "X-API-Key", "first-right-key"},
			{"/portfolio/spectrum"}, {"/lists/activities.json"}} {
			status, body := fetch(t, http.MethodGet, r.base+ask[0], ask[1:]...)
			all += fmt.Sprintf("%s %d %d\n", ask[0], status, decode(t, body).Count)
		}
		return all
	}
	want := probe()
	if !strings.HasPrefix(want,
		"/api/activities 403 0\n/api/activities 200 3\n/portfolio/spectrum 403 0\n/lists/activities.json 200 0\n") {
		t.Fatal(want)
	}
	for n := range len(whole) {
		status, _, msg := r.reload(t, whole[:n])
		if cut := n > 0 && whole[n-1] != '\n'; cut != strings.Contains(msg,
			"last line of the configuration file does not end") && (status == http.StatusOK) == cut {
			t.Errorf("%d bytes: %d %s", n, status, msg)
		}
		if got := probe(); got != want {
			t.Fatalf("after %d bytes:\n%sgot\n%swant\n%s", n, whole[:n], got, want)
		}
	}
	status, done, msg := r.reload(t, "")
	if stays := []string{"access.anonymous", "access.types.publication", "access.types.review", "auth.api_key",
		"auth.portfolio_key", "limits.rate"}; status != http.StatusOK || !slices.Equal(done.Kept, stays) {
		t.Errorf("%d %s, kept %q, want %q", status, msg, done.Kept, stays)
	}
	if _, body := fetch(t, http.MethodGet, r.admin+"/admin/config"); !strings.Contains(body,
		"set, not shown; kept from "+r.file+":9, which is gone\n") {
		t.Error(body)
	}
	if status, done, msg = r.reload(t, "auth: {api_key: ''}\naccess: {types: {}}\n"); status != http.StatusOK ||
		len(done.Kept) != 3 {
		t.Errorf("%d %s, kept %q", status, msg, done.Kept)
	}
	if got := probe(); !strings.HasPrefix(got, "/api/activities 200 3\n") {
		t.Errorf("after the end of the key: %s", got)
	}
}

// TestShownConfig: the operator's listener shows what is in force and where it comes from, without secrets.
func TestShownConfig(t *testing.T) {
	t.Parallel()
	r := runFile(t, "auth: {api_key: secret-words}\n", "VITRINE_START_YEAR=1999")
	r.reload(t, "auth: {api_key: other-secret-words}\nlimits: {rate: 1000}\ncache: {budget: 1MB}\n"+
		"site: {url: 'https://www.example'}\n")
	status, body := fetch(t, http.MethodGet, r.admin+"/admin/config")
	for _, want := range []string{
		"start_year: 1999 # VITRINE_START_YEAR\n", `api_key: "" # set, not shown; ` + r.file + ":7\n",
		"rate: 1000 # " + r.file + ":8\n", "  budget: 96MiB\n",
		"url: https://www.example # " + r.file + ":10\n", "language: en\n",
	} {
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("lacks %q", want)
		}
	}
	if strings.Contains(body, "secret-words") || t.Failed() {
		t.Error(body)
	}
}
