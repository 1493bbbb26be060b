package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// importResult runs the import command and returns its exit code and output.
func importResult(t *testing.T, store string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), append([]string{"import", "--store", store}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestImportCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	store := "bolt://" + filepath.Join(dir, "store.db")
	good := write("things.jsonl", "{\"_id\":1}\n{\"_id\":2}\n{\"_id\":2}\n")
	bad := write("bad.jsonl", "{\"_id\":1}\n{\"_id\":2,}\n")
	tests := []struct {
		name   string
		args   []string
		code   int
		stdout string // the beginning of the output
		stderr string // a part of the errors
	}{
		{"import", []string{good}, 0,
			"things: documents 3, inserted 2, replaced 0, duplicate 1, skipped 0, removed 0\ntotal: collections 1, " +
				"stored 2, time ",
			"note: things: 1 documents share their _id with a later one, which was stored instead; the first is at " +
				good + ": line 2\n"},
		{"again, under another name", []string{"--collection", "others", good}, 0,
			"others: documents 3, inserted 2, ", "note: others: "},
		{"with drop", []string{"--drop", "--collection", "things", write("one.jsonl", `{"_id":1}`)}, 0,
			"things: documents 1, inserted 0, replaced 1, duplicate 0, skipped 0, removed 1\n",
			"note: found things, which nothing reads\n"},
		{"bad document", []string{good, bad}, 1, "", "vitrine: " + bad + ": line 2: offset 9: "},
		{"bad document skipped", []string{"--skip-bad", bad}, 0,
			"bad: documents 1, inserted 1, replaced 0, duplicate 0, skipped 1, ", "skipped: " + bad + ": line 2: "},
		{"side collection", []string{good, write("view_things.jsonl", "{}")}, 0, "things: documents 3, ", "note: "},
		{"missing file", []string{filepath.Join(dir, "gone")}, 1, "", "gone: no such file"},
		{"no path", nil, 1, "", "vitrine: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := importResult(t, store, tt.args...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if !strings.HasPrefix(stdout, tt.stdout) || tt.stdout == "" && stdout != "" {
				t.Errorf("stdout %q, want %q", stdout, tt.stdout)
			}
			if !strings.Contains(stderr, tt.stderr) || tt.stderr == "" && stderr != "" {
				t.Errorf("stderr %q, want %q", stderr, tt.stderr)
			}
		})
	}
}

// TestImportNoFile: an import of a file that never ends, or never begins, fails at once, says why,
// and leaves neither a store nor a temporary file.
func TestImportNoFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	if err := os.Mkdir(os.TempDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	zeros := filepath.Join(dir, "zeros.jsonl")
	if err := os.Symlink("/dev/zero", zeros); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(zeros); err != nil {
		t.Skip(err)
	}
	sparse := filepath.Join(dir, "sparse.jsonl")
	if err := errors.Join(os.WriteFile(sparse, nil, 0o600), os.Truncate(sparse, 1<<30)); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"not a regular file (D":               {zeros},
		"line 1: no document ends within 268": {sparse},
	} {
		if code, _, errs := importResult(t, "bolt://"+filepath.Join(dir, "new", "store.db"), args...); code != 1 ||
			!strings.Contains(errs, want) {
			t.Errorf("%v: %d, %s", args, code, errs)
		}
	}
	for _, name := range []string{"new", "tmp/*"} {
		if left, _ := filepath.Glob(filepath.Join(dir, name)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
