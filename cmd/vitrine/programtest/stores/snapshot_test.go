package stores

import (
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/cache/view/snapfile"
	"vitrine/cmd/vitrine/programtest"
)

// unreachable is a store that refuses connections.
const unreachable = "mongodb://127.0.0.1:1/institute"

// leftBy makes snapshot files of the demo's views, as if by a process on another store, and returns
// the demo's answers.
func leftBy(t *testing.T, dir, store string) (list string) {
	t.Helper()
	programtest.Setenv(dir, programtest.SnapshotEnv, "files")
	s := programtest.Start(t, dir, "--demo").Ready()
	_, list = s.Get("/api/all-activities")
	if code := s.Stop(); code != 0 {
		t.Fatalf("SIGTERM: exit code %d", code)
	}
	handOver(t, dir, store, 9)
	return list
}

// handOver changes the snapshot files in a folder as if a process on another store had written them
// an hour ago. It expects at least a number of files.
func handOver(t *testing.T, dir, store string, least int) {
	t.Helper()
	files, err := filepath.Glob(snapfile.Path(filepath.Join(dir, "files"), "*"))
	if err != nil || len(files) < least {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		h, rows, err := snapfile.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		h.Store, h.Confirmed = store, h.Confirmed.Add(-time.Hour)
		if err := snapfile.Write(file, h, slices.Values(rows)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStartWithoutStore: a front end with snapshot files starts and serves without the store, and
// says so.
func TestStartWithoutStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := leftBy(t, dir, unreachable)
	s := programtest.Start(t, dir, "--store", unreachable).Ready()
	res, got := programtest.Ask(t, s.Base+"/api/all-activities")
	if res.StatusCode != http.StatusOK || got != want {
		t.Errorf("list: %d, %d bytes; with the store %d", res.StatusCode, len(got), len(want))
	}
	if age := res.Header.Get("Vitrine-Data-Age"); len(age) != 4 || res.Header.Get("Age") != "0" ||
		!strings.Contains(res.Header.Get("Cache-Status"), "stale") {
		t.Errorf("Age %q, Cache-Status %q: the file's hour is not reported", age, res.Header.Get("Cache-Status"))
	}
	if _, body := s.Get("/readyz"); !strings.Contains(body, `"state":"degraded"`) {
		t.Errorf("readyz: %s", body)
	}
	if res, body := programtest.Ask(t, s.Base+"/api/users/unknown"); res.StatusCode !=
		http.StatusServiceUnavailable ||
		res.Header.Get("Retry-After") == "" {
		t.Errorf("read from the store: %d %s", res.StatusCode, body)
	}
	if _, body := programtest.Fetch(t, http.MethodGet, s.Admin+"/metrics"); !strings.Contains(body,
		"vitrine_store_up 0") ||
		!strings.Contains(body, `vitrine_view_file_seconds{view="activities"}`) {
		t.Error("the metrics do not report the outage")
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, s.Log())
	}
}

// TestStartOsirisWithoutStore: the program saves the database's rights, keys and labels beside the
// views, so callers see no more without the database than with it.
func TestStartOsirisWithoutStore(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	dump, err := filepath.Abs("../testdata/osiris")
	if err != nil {
		t.Fatal(err)
	}
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", dump)
	programtest.Setenv(dir, programtest.SnapshotEnv, "files")
	type answer struct {
		status int
		body   string
	}
	answers := func(s *programtest.Server) (all []answer) {
		for _, path := range []string{"/api/activities", "/api/projects", "/api/html", "/portfolio/spectrum",
			"/api/activities?apikey=wrong"} {
			status, body := s.Get(path)
			all = append(all, answer{status, body})
		}
		return all
	}
	s := programtest.Start(t, dir, "--preset", "osiris", "--store", "bolt://v.db").Ready()
	want := answers(s)
	if code := s.Stop(); code != 0 {
		t.Fatalf("SIGTERM: exit code %d", code)
	}
	handOver(t, dir, unreachable, 15)
	got := answers(programtest.Start(t, dir, "--preset", "osiris", "--store", unreachable).Ready())
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %d %.200s, want %d %.200s", got[i].status, got[i].body, want[i].status, want[i].body)
		}
	}
	if want[0].status != http.StatusForbidden {
		t.Errorf("want the institute to require a key, got status %d", want[0].status)
	}
}

// TestStartWithNothing: without store and files the program is alive, but not ready, says what it
// waits for, and ends on SIGTERM. If permissions come from the store, it ends by itself.
func TestStartWithNothing(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	s := programtest.Start(t, t.TempDir(), "--store", unreachable)
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/api/activities": 503} {
		res, body := programtest.Ask(t, s.Base+path)
		if res.StatusCode != want {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, s.Log())
	}
	dir := t.TempDir()
	programtest.Setenv(dir, programtest.SnapshotEnv, "files")
	cmd := programtest.Command(dir, "serve", "--store", unreachable, "--preset", "osiris", "--listen", "127.0.0.1:0",
		"--admin-listen", "")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is unavailable since") {
		t.Errorf("start without permissions: %v\n%s", err, out)
	}
}

// TestForeignSnapshotFile: the program does not serve the file of another store.
func TestForeignSnapshotFile(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	leftBy(t, dir, "mongodb://127.0.0.1:1/another")
	s := programtest.Start(t, dir, "--store", unreachable)
	programtest.Await(t, "the view is not refreshed",
		func() string { return programtest.Unless(strings.Contains(s.Log(), "view not refreshed")) })
	if status, body := s.Get("/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("readyz: %d %s", status, body)
	}
	if !strings.Contains(s.Log(), "snapshot file not used") {
		t.Errorf("the log does not mention the file:\n%s", s.Log())
	}
}

// TestSnapshotFilesOfAnotherLayout: after an upgrade or a way back that changes the layout of snapshot files, a front
// end reads its views from the store, says so in a line for each, and replaces the files.
func TestSnapshotFilesOfAnotherLayout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.Setenv(dir, programtest.SnapshotEnv, "files")
	s := programtest.Start(t, dir, "--demo").Ready()
	_, want := s.Get("/api/all-activities")
	if code := s.Stop(); code != 0 {
		t.Fatalf("SIGTERM: exit code %d", code)
	}
	files, err := filepath.Glob(snapfile.Path(filepath.Join(dir, "files"), "*"))
	if err != nil || len(files) < 9 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	own := map[string]byte{}
	for i, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		own[path] = content[len("vitsnap")]
		content[len("vitsnap")] += byte(i%2*2) - 1 // an older layout, or a newer one
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = programtest.Start(t, dir, "--demo").Ready()
	if _, got := s.Get("/api/all-activities"); got != want {
		t.Errorf("%d bytes, before %d", len(got), len(want))
	}
	if said := strings.Count(s.Log(), "snapshot file not used: the view is read from the store"); said != 9 {
		t.Errorf("the log says it %d times for 9 views:\n%s", said, s.Log())
	}
	for _, path := range files { // those of indexes only when these are built, for which no view waits
		programtest.Await(t, path+" is replaced", func() string {
			content, err := os.ReadFile(path)
			return programtest.Unless(err == nil && content[len("vitsnap")] == own[path])
		})
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// TestKilledWhileFiling kills a server that writes its files all the time; the next start serves
// the same from the remaining files.
func TestKilledWhileFiling(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	dir := t.TempDir()
	programtest.Setenv(dir, programtest.SnapshotEnv, "files")
	programtest.Setenv(dir, programtest.FilingEnv, "1ms")
	s := programtest.Start(t, dir, "--demo").Ready()
	_, want := s.Get("/api/all-activities")
	rng := rand.New(rand.NewPCG(7, 9))
	for range rounds {
		s.Kill()
		s = programtest.Start(t, dir, "--demo")
		<-time.After(time.Duration(rng.IntN(150)) * time.Millisecond)
	}
	if _, got := s.Ready().Get("/api/all-activities"); got != want {
		t.Errorf("%d bytes after %d kills; %d before", len(got), rounds, len(want))
	}
	for _, line := range strings.Split(s.Log(), "\n") {
		if strings.Contains(line, "snapshot file not") {
			t.Error(line)
		}
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "files", ".vitrine-*")); err != nil || len(left) > 0 {
		t.Errorf("killed writers have left %v (%v)", left, err)
	}
	info, err := os.Stat(snapfile.Path(filepath.Join(dir, "files"), "persons"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of persons: %v, %v", info, err)
	}
}
