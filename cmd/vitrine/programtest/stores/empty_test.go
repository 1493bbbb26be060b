package stores

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestNoStore: on a path without a store, or with an empty file, every command that needs a store
// fails with an error that says which command makes one, and leaves the path unchanged.
func TestNoStore(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteLines(t, filepath.Join(dir, "bad.jsonl"), `{"_id":1}`, `{"_id":2,}`)
	programtest.WriteLines(t, filepath.Join(dir, "good.jsonl"), `{"_id":1}`)
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0"},
		{"serve", "--listen", "127.0.0.1:0", "--no-materialize"},
		{"materialize"}, {"status"}, {"query"}, {"osiris"},
	} {
		for _, name := range []string{"missing.db", "sub/missing.db", "empty.db"} {
			file := filepath.Join(dir, name)
			if name == "empty.db" {
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := programtest.Command(dir, args...)
			cmd.Env = append(cmd.Env, programtest.StoreEnv+"=bolt://"+name, "VITRINE_ADMIN_LISTEN=",
				programtest.SnapshotEnv+"="+filepath.Join(dir, "files"))
			out, err := cmd.CombinedOutput()
			for _, want := range []string{"no store at bolt://" + file, "vitrine import", "--demo"} {
				if err == nil || !strings.Contains(string(out), want) {
					t.Errorf("%v on %s: %v, want %q: %.500s", args, name, err, want, out)
				}
			}
			if info, err := os.Stat(file); name == "empty.db" && info.Size() > 0 || name != "empty.db" && err == nil {
				t.Errorf("%v wrote %s", args, name)
			}
		}
	}
	for _, call := range [][2]string{{"new.db", "bad.jsonl"}, {"new.db", "none.jsonl"},
		{"new/folder/new.db", "bad.jsonl"}, {"empty.db", "bad.jsonl"}} {
		if out, err := programtest.Command(dir, "import", "--store", "bolt://"+call[0],
			call[1]).CombinedOutput(); err == nil {
			t.Errorf("import %q: %s", call, out)
		}
	}
	programtest.Run(t, dir, "import", "--store", "bolt://old.db", "good.jsonl")
	if err := programtest.Command(dir, "import", "--store", "bolt://old.db", "bad.jsonl").Run(); err == nil {
		t.Error("import bad.jsonl succeeded")
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.db*"))
	if err != nil || len(left) != 2 || !strings.HasSuffix(left[0], "empty.db") ||
		!strings.HasSuffix(left[1], "old.db") {
		t.Errorf("files left behind: %v, %v", left, err)
	}
	if info, err := os.Stat(left[0]); err != nil || info.Size() > 0 {
		t.Errorf("the empty file: %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
		t.Error("the folder that the import made is still there")
	}
}

// TestStatusOfAnotherServer: if a store does not answer, status reports nothing from the server of
// another store, even if that server answers at the admin address.
func TestStatusOfAnotherServer(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	programtest.WriteLines(t, filepath.Join(dir, "things.jsonl"), `{"_id":1}`)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "things.jsonl")
	programtest.Run(t, other, "import", "--store", "bolt://v.db", filepath.Join(dir, "things.jsonl"))
	s, _ := programtest.Start(t, dir, "--store", "bolt://v.db").Ready(), programtest.Start(t, other, "--store",
		"bolt://v.db").Ready()
	for _, d := range []string{dir, other} {
		programtest.Setenv(d, "VITRINE_ADMIN_LISTEN", strings.TrimPrefix(s.Admin, "http://"))
	}
	for name, call := range map[string]struct{ dir, store string }{
		"away":                     {dir, unreachable + "?serverSelectionTimeoutMS=100&connectTimeoutMS=100"},
		"in use, of the same name": {other, "bolt://v.db"},
	} {
		out, errs, err := programtest.Outcome(call.dir, "status", "--store", call.store)
		if err == nil || !strings.Contains(errs, "serves another store") || strings.Contains(out+errs, "activities") {
			t.Errorf("%s: %v\n%.1000s", name, err, out+errs)
		}
	}
	if out := programtest.Run(t, dir, "status", "--store",
		"bolt://"+filepath.Join(dir, "v.db")); !strings.Contains(out,
		"activities") {
		t.Errorf("the server's own store: %s", out)
	}
}
