package operations

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/internal/control"
	"vitrine/cmd/vitrine/programtest"
)

// TestBackup: a copy that is made while a server answers, imports and builds opens as a store of its own, and answers
// as the server does.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteDemo(t, dir, 40)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "dump")
	s := programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
	// What is stored meanwhile is in a collection that no answer is made from.
	programtest.WriteLines(t, filepath.Join(dir, "others.jsonl"), numbered(2000, 1000)...)
	imported := make(chan error, 1)
	go func() {
		_, _, err := programtest.Outcome(dir, "import", "--store", "bolt://v.db", "others.jsonl")
		imported <- err
	}()
	if status, body := programtest.Fetch(t, http.MethodPost, s.Admin+"/admin/refresh?full=1"); status != 202 {
		t.Fatalf("refresh: %d %s", status, body)
	}
	for i := range 3 {
		out := programtest.Run(t, dir, "backup", "--store", "bolt://v.db", "copy.db")
		if !strings.Contains(out, "through the running server") {
			t.Errorf("copy %d: %s", i, out)
		}
	}
	if err := <-imported; err != nil {
		t.Error(err)
	}
	if at, err := os.Stat(filepath.Join(dir, "copy.db")); err != nil || at.Mode() != 0o600 {
		t.Errorf("mode %v, %v", at.Mode(), err)
	}
	programtest.Run(t, dir, "check", "--store", "bolt://copy.db")
	copied := programtest.Start(t, dir, "--store", "bolt://copy.db").Ready()
	for _, path := range []string{"/api/activities?sort=title", "/api/projects", "/lists/activities.json", "/api/html",
		"/portfolio/spectrum"} {
		status, want := s.Get(path)
		if gotStatus, got := copied.Get(path); gotStatus != status || got != want {
			t.Errorf("%s: the copy answers %d %.200s; the original %d %.200s", path, gotStatus, got, status, want)
		}
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if out := programtest.Run(t, dir, "backup", "--store", "bolt://v.db", "copy2.db"); strings.Contains(out, "server") {
		t.Error("without a server:", out)
	}
}

// numbered returns n records of about a size.
func numbered(n, size int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"_id":"r%06d","text":%q}`, i, strings.Repeat("x", size))
	}
	return lines
}

// TestBackupRefused: a copy that cannot be made leaves an earlier one as it is, and says why.
func TestBackupRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteDump(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "copy.db"), []byte("earlier"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("v.db", filepath.Join(dir, "link.db")); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(dir, "damaged.db")
	content, err := os.ReadFile(filepath.Join(dir, "v.db"))
	if err != nil {
		t.Fatal(err)
	}
	content = []byte(strings.Replace(string(content), "First", "Fixed", 1))
	if err := os.WriteFile(damaged, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ store, file, want string }{
		{"bolt://none.db", "copy.db", "no such file"},
		{"bolt://v.db", "none/copy.db", "no such file"},
		{"bolt://v.db", "folder", "not a regular file"},
		{"bolt://v.db", "./v.db", "is the store itself"},
		{"bolt://v.db", "link.db", "is the store itself"},
		{"bolt://v.db", "", "no file"},
		{"bolt://damaged.db", "copy.db", "the copy is damaged, as the store may be, and is not kept"},
		{"mongodb://localhost/institute", "copy.db", "mongodump"},
	} {
		_, stderr, err := programtest.Outcome(dir, "backup", "--store", c.store, c.file)
		if err == nil || !strings.Contains(stderr, c.want) {
			t.Errorf("backup of %s to %s: %v %s; want %q", c.store, c.file, err, stderr, c.want)
		}
	}
	// To this program the disk is full after some kilobytes.
	cmd := programtest.Command(dir, "backup", "--store", "bolt://v.db", "copy.db")
	cmd.Env = append(cmd.Env, programtest.SizeEnv+"=9000")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "copy.db") ||
		!strings.Contains(string(out), "file too large") {
		t.Errorf("full disk: %v %s", err, out)
	}
	if content, err := os.ReadFile(filepath.Join(dir, "copy.db")); string(content) != "earlier" {
		t.Errorf("the earlier copy: %q, %v", content, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestImportServed: an import while a server has the store open prints and stores what it does without one, and the
// server shows the records by itself. What records lack that lists need is in the server's log: it examines them when
// it builds the view.
func TestImportServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteDump(t, dir)
	programtest.Run(t, dir, "import", "--store", "bolt://other.db", "activities.jsonl")
	programtest.Setenv(dir, "VITRINE_MATERIALIZE_MAX_SHRINK", "1")
	programtest.WriteLines(t, filepath.Join(dir, "more.jsonl"),
		`{"_id":"a2","title":"Second"}`, `{"_id":"a2","title":"Second again"}`, `{"title":"Without an id"}`)
	programtest.WriteLines(t, filepath.Join(dir, "bad.jsonl"), `{"_id":"a3"}`, `{"_id":`)
	s := programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
	lacking := regexp.MustCompile("note: activities: (lacking what lists need|no type).*\n")
	for _, args := range [][]string{
		{"--collection", "activities", "more.jsonl"},
		{"--collection", "activities", "bad.jsonl"},
		{"--collection", "activities", "--skip-bad", "bad.jsonl"},
		{"--collection", "activities", "--drop", "more.jsonl"},
		{"--collection", "a$b", "more.jsonl"},
		{"none.jsonl"},
	} {
		out, errs, err := programtest.Outcome(dir, append([]string{"import", "--store", "bolt://v.db"}, args...)...)
		wantOut, wantErrs, wantErr := programtest.Outcome(dir,
			append([]string{"import", "--store", "bolt://other.db"}, args...)...)
		out, wantOut = withoutTime(out), withoutTime(wantOut)
		errs = strings.ReplaceAll(errs,
			"note: the running server stored the records, and builds its views by itself; what the records lack is in "+
				"its log, and in vitrine check --records\n", "")
		wantErrs = lacking.ReplaceAllString(strings.ReplaceAll(wantErrs, "other.db", "v.db"), "")
		if out != wantOut || errs != wantErrs || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%v with a server: %v\n%s%s\nwithout: %v\n%s%s", args, err, out, errs, wantErr, wantOut, wantErrs)
		}
	}
	programtest.Await(t, "the server shows the records", func() string {
		_, body := s.Get("/api/activities?columns[]=title&limit=9")
		return programtest.Lacking(body, `"count":2`, "Second again", "Without an id")
	})
	programtest.Await(t, "the server logs what the records lack", func() string {
		return programtest.Lacking(s.Log(), "of 2 public records, 2 without year, 2 without authors",
			"no type: 2 records")
	})
	if at, err := os.Stat(filepath.Join(dir, "v.db.sock")); err != nil || at.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the socket: %v, %v", at, err)
	}
}

// withoutTime cuts off the time that an import took.
func withoutTime(out string) string {
	before, _, _ := strings.Cut(out, ", time ")
	return before
}

// TestImportServedKilled: an import that is killed leaves whole records and a sound store, and the next one completes
// it; so does one whose server is killed.
func TestImportServedKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteDump(t, dir)
	const records = 30_000
	programtest.WriteLines(t, filepath.Join(dir, "others.jsonl"), numbered(records, 300)...)
	s := programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
	// begin starts an import and waits until the server stores its records, or it has ended already.
	begin := func() (kill func(), ended chan error) {
		cmd := programtest.Command(dir, "import", "--store", "bolt://v.db", "--batch", "50", "others.jsonl")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended = make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		programtest.Await(t, "the import has begun", func() string {
			c, err := control.Dial(t.Context(), filepath.Join(dir, "v.db"))
			if err != nil {
				return err.Error()
			}
			defer c.Close()
			return programtest.Unless(c.Info.Importing || len(ended) > 0)
		})
		return func() { _ = cmd.Process.Kill() }, ended
	}
	kill, ended := begin()
	kill()
	<-ended
	_, ended = begin()
	s.Kill()
	<-ended
	programtest.Run(t, dir, "check", "--store", "bolt://v.db")
	again := programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
	out := programtest.Run(t, dir, "import", "--store", "bolt://v.db", "others.jsonl")
	if !strings.Contains(out, fmt.Sprintf("documents %d,", records)) {
		t.Error(out)
	}
	if code := again.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	programtest.Run(t, dir, "check", "--store", "bolt://v.db")
}
