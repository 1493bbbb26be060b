package wire

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cache/origin/open"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest"
)

// calls are the arguments of commands while the test watches their store. A command that is not
// listed gets no arguments, and may fail.
var calls = map[string][]struct {
	args []string
	want string // empty: it succeeds; otherwise part of its error
}{
	"serve":       {{[]string{"--demo"}, "VITRINE_STORE: store: cannot be given with --demo"}},
	"materialize": {{nil, ""}, {[]string{"--full", "--force"}, ""}},
	"status":      {{[]string{"--admin-listen", ""}, ""}},
	"query":       {{[]string{"--limit", "1"}, ""}},
	"osiris":      {{nil, ""}},
	"config":      {{nil, ""}},
	"key":         {{[]string{"add", "portal"}, ""}, {[]string{"add", "My key"}, "not a name"}},
	"token":       {{[]string{"--user", "ssandman", "--secret", strings.Repeat("s", 32)}, ""}},
	"bench": {
		{[]string{"--demo", "--cases", "list-304|refresh", "--size", "250", "--rounds", "1", "--duration", "100ms"},
			""},
		{nil, "--demo or a dump"},
	},
}

// callEverything runs every command but import on the store that the environment names, and sends
// serve every request.
func callEverything(t *testing.T, dir string) {
	t.Helper()
	_, list, _ := strings.Cut(programtest.Run(t, dir, "--help"), "Available Commands:\n")
	names := regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(list, -1)
	if len(names) < 12 {
		t.Errorf("commands %v", names)
	}
	for _, found := range names {
		name := found[1]
		if name == "import" {
			continue
		}
		listed := calls[name]
		for _, call := range listed {
			if name == "status" {
				programtest.Status(t, dir, call.args)
				continue
			}
			out, err := programtest.Command(dir, append([]string{name}, call.args...)...).CombinedOutput()
			if call.want == "" && err != nil ||
				call.want != "" && (err == nil || !strings.Contains(string(out), call.want)) {
				t.Errorf("%s %q: %v, want %q: %.1000s", name, call.args, err, call.want, out)
			}
		}
		if len(listed) == 0 {
			_, _ = programtest.Command(dir, name).CombinedOutput()
		}
	}
	s := programtest.Start(t, dir, "--preset", "osiris").Ready()
	for _, call := range append(programtest.CallsOfPersons(t, s)[:45], "/api/users/unknown-user",
		"/api/user-units/unknown-user") {
		s.Get(call)
	}
	s.RunJobs("full=1&force=1")
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// sources returns checksums of a store's source collections.
func sources(t *testing.T, uri string) map[string]string {
	t.Helper()
	store, err := open.Store(t.Context(), uri, bolt.Options{}, mongo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	names, err := store.Collections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, name := range names {
		sum, n := sha256.New(), 0
		for doc, err := range store.Scan(t.Context(), name) {
			if err != nil {
				t.Fatal(err)
			}
			sum.Write(doc)
			n++
		}
		sums[name] = fmt.Sprintf("%d records, %x", n, sum.Sum(nil)[:8])
	}
	return sums
}

// TestOnlyImportWrites calls every command on a store: the records stay as import stored them.
func TestOnlyImportWrites(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		programtest.WriteDemo(t, dir, 20)
		uri := "bolt://" + filepath.Join(dir, "v.db")
		programtest.Run(t, dir, "import", "--store", uri, "dump")
		before := sources(t, uri)
		programtest.Setenv(dir, programtest.StoreEnv, uri)
		callEverything(t, dir)
		if after := sources(t, uri); len(before) != 10 || !maps.Equal(before, after) {
			t.Errorf("before\n%v\nafter\n%v", before, after)
		}
	})
	t.Run("MongoDB", func(t *testing.T) {
		t.Parallel()
		uri := mongotest.Start(t) // skips unless the environment asks for such a server
		dir := t.TempDir()
		programtest.WriteDemo(t, dir, 20)
		programtest.Run(t, dir, "import", "--store", uri+"institute", "--batch", "50", "dump")
		before := sources(t, uri+"institute")
		log, watched := record(t, uri)
		programtest.Setenv(dir, programtest.StoreEnv, watched+"institute")
		programtest.Setenv(dir, "VITRINE_MONGO_BATCH", "50")
		callEverything(t, dir)
		for _, s := range log.all() {
			if s.writes() && !strings.HasPrefix(s.collection, "view_") {
				t.Errorf("sent %s", s)
			}
		}
		if after := sources(t, uri+"institute"); len(before) < 10 || !maps.Equal(before, after) {
			t.Errorf("before\n%v\nafter\n%v", before, after)
		}
	})
}

// TestDemoInContainers: with the settings of docker-compose.yml the demo ends with an error before
// it changes anything; with the image alone, which names no store, it runs.
func TestDemoInContainers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct{ Environment map[string]string }
	}
	if err := yaml.Unmarshal(text, &compose); err != nil {
		t.Fatal(err)
	}
	env := compose.Services["materializer"].Environment
	if env[programtest.StoreEnv] == "" {
		t.Errorf("the materializer's store is not in its environment: %v", env)
	}
	dir := t.TempDir()
	cmd := programtest.Command(dir, "serve", "--demo")
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "VITRINE_STORE: store: cannot be given with --demo") {
		t.Errorf("compose: %v\n%.1000s", err, out)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("compose: %s was written", left[0].Name())
	}

	image, err := os.ReadFile("../../../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if given := regexp.MustCompile(`VITRINE_[A-Z_]+`).FindAllString(string(image), -1); len(given) != 1 ||
		given[0] != "VITRINE_LISTEN" {
		t.Errorf("the image gives %v", given)
	}
}

// TestDemoFollowsNoLink: if the demo's own file is a link to a store, the demo does not fill that
// store.
func TestDemoFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "persons.jsonl"), []byte(`{"_id": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	uri := "bolt://" + filepath.Join(dir, "v.db")
	programtest.Run(t, dir, "import", "--store", uri, "persons.jsonl")
	before := sources(t, uri)
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "data"), 0o700),
		os.Symlink("../v.db", filepath.Join(dir, "data", "demo.db"))); err != nil {
		t.Fatal(err)
	}
	cmd := programtest.Command(dir, "serve", "--demo", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(proxytest.Patience, func() { _ = cmd.Process.Kill() }).Stop() // if it serves
	if err := cmd.Wait(); err == nil || !strings.Contains(out.String(), "not a regular file") {
		t.Errorf("%v: %.500s", err, out.String())
	}
	if after := sources(t, uri); !maps.Equal(before, after) {
		t.Errorf("before\n%v\nafter\n%v", before, after)
	}
}
