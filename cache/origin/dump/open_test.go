package dump_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"vitrine/cache/origin/dump"
)

func TestOpenFolder(t *testing.T) {
	line := []byte(`{"_id":1}`)
	one := numbered(t, 1)
	tests := []struct {
		name  string
		files files
		opts  dump.Options
		want  []string // "file: collections"
		notes []string
		err   string
	}{
		{name: "mixed files",
			files: files{"a.jsonl": line, "b.bson": one, "c.ndjson.gz": zipped(t, line), "d.archive": institute(t)},
			want:  []string{"a.jsonl: a", "b.bson: b", "c.ndjson.gz: c", "d.archive: activities journals persons"}},
		{name: "other files", files: files{"a.jsonl": line, "README.md": line, ".hidden.jsonl": line},
			want: []string{"a.jsonl: a"}, notes: []string{"README.md: ignored: not a data file"}},
		{name: "folder of a database",
			files: files{"a.bson": one, "a.metadata.json": line, "prelude.json": line, "oplog.bson": one},
			want:  []string{"a.bson: a"}},
		{name: "folder of one database, gzip",
			files: files{"osiris/a.bson.gz": one, "osiris/a.metadata.json.gz": line, "prelude.json.gz": line,
				"oplog.bson": one},
			want: []string{"osiris/a.bson.gz: a"}},
		{name: "the server's databases",
			files: files{"osiris/a.bson": one, "admin/system.version.bson": one, "config/x.bson": one},
			want:  []string{"osiris/a.bson: a"}},
		{name: "several databases", files: files{"x/a.bson": one, "y/a.bson": one},
			err: ".: holds several databases, name one of x, y"},
		{name: "one of several databases", opts: dump.Options{Database: "y"},
			files: files{"x/a.bson": one, "y/a.bson": one},
			want:  []string{"y/a.bson: a"}},
		{name: "no such database", opts: dump.Options{Database: "z"}, files: files{"x/a.bson": one},
			err: `.: holds no database "z", but x`},
		{name: "databases beside files", files: files{"a.jsonl": line, "x/a.bson": one},
			want: []string{"a.jsonl: a"}, notes: []string{"x: ignored: a folder beside data files"}},
		{name: "reserved", files: files{"a.jsonl": line, "view_a.jsonl": line, "system.users.bson": one},
			want: []string{"a.jsonl: a"}, notes: []string{
				"system.users.bson: ignored: belongs to the database server",
				"view_a.jsonl: ignored: side collections are made by materializing, not imported"}},
		{name: "only reserved", files: files{"view_a.jsonl": line},
			err: "nothing to import: view_a.jsonl: ignored: side collections"},
		{name: "one collection", opts: dump.Options{Collection: "b"}, files: files{"a.jsonl": line, "b.jsonl": line},
			want: []string{"b.jsonl: b"}},
		{name: "no such collection", opts: dump.Options{Collection: "c"}, files: files{"a.jsonl": line},
			err: "nothing to import"},
		{name: "nothing", files: files{"README": line}, err: ".: the folder holds no data files"},
		{name: "name that no collection can have", files: files{"a$b.jsonl": line},
			err: `a$b.jsonl: collection "a$b": a name has neither $ nor zero bytes`},
		{name: "broken archive", files: files{"d.archive": institute(t)[:50]}, err: "d.archive: byte "},
		{name: "archive only by name", files: files{"d.archive": line},
			err: "d.archive: byte 0: not an archive of mongodump"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := dump.OpenFS(tt.files.fsys(), ".", tt.opts)
			if err != nil {
				checkRead(t, nil, err, nil, tt.err)
				return
			}
			var got []string
			for _, s := range d.Sources {
				got = append(got, s.Name+": "+strings.Join(s.Collections, " "))
			}
			checkRead(t, got, err, tt.want, tt.err)
			if !slices.Equal(d.Notes, tt.notes) {
				t.Errorf("notes %q, want %q", d.Notes, tt.notes)
			}
		})
	}
}

// writeFiles puts files into a new folder and returns its path.
func writeFiles(t testing.TB, f files) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOpenPaths(t *testing.T) {
	line := []byte(`{"_id":1}`)
	dir := writeFiles(t,
		files{"a.jsonl": line, "odd": line, "nothing": []byte("hello"), "raw": numbered(t, 1), "in/b.jsonl": line})
	at := func(name string) string { return filepath.Join(dir, name) }
	tests := []struct {
		name  string
		paths []string
		opts  dump.Options
		want  []string
		err   string
	}{
		{name: "files and folders", paths: []string{at("a.jsonl"), at("in") + "/"}, want: []string{"a", "b"}},
		{name: "renamed", paths: []string{at("a.jsonl")}, opts: dump.Options{Collection: "z"}, want: []string{"z"}},
		{name: "renamed to a reserved name", paths: []string{at("a.jsonl")}, opts: dump.Options{Collection: "view_z"},
			err: "nothing to import"},
		{name: "by content", paths: []string{at("odd"), at("raw")}, want: []string{"odd", "raw"}},
		{name: "no dump", paths: []string{at("nothing")}, err: at("nothing") + ": neither lines of JSON nor BSON"},
		{name: "missing", paths: []string{at("a.jsonl"), at("gone")}, err: "stat " + at("gone") + ": no such file"},
		{name: "no path", err: "nothing to import"},
		{name: "no standard input", paths: []string{"-"}, err: "standard input: not available"},
		{name: "lines from standard input", paths: []string{"-"},
			opts: dump.Options{Stdin: strings.NewReader(`{"_id":1}`), Collection: "c"}, want: []string{"c"}},
		{name: "lines without name", paths: []string{"-"}, opts: dump.Options{Stdin: strings.NewReader(`{"_id":1}`)},
			err: "name of the collection is missing"},
		{name: "archive from standard input", paths: []string{"-"},
			opts: dump.Options{Stdin: strings.NewReader(string(institute(t)))},
			want: []string{"activities", "journals", "persons"}},
		{name: "standard input without data", paths: []string{"-"},
			opts: dump.Options{Stdin: iotest.ErrReader(errors.New("torn"))}, err: "standard input: torn"},
		{name: "no such database", paths: []string{"-"},
			opts: dump.Options{Stdin: strings.NewReader(string(newArchive(t, "admin.x").end("admin", "x").out)),
				Database: "b"}, err: `-: holds no database "b", but none`},
		{name: "only the server's own databases", paths: []string{"-"},
			opts: dump.Options{Stdin: strings.NewReader(string(newArchive(t, "admin.x").end("admin", "x").out))},
			err:  "holds only databases of the server's own"},
		{name: "standard input twice", paths: []string{"-", "-"},
			opts: dump.Options{Stdin: strings.NewReader(string(institute(t)))}, err: "named twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			d, err := dump.Open(context.Background(), tt.paths, tt.opts)
			var got []string
			if err == nil {
				for _, s := range d.Sources {
					got = append(got, s.Collections...)
				}
				err = d.Close()
			}
			checkRead(t, got, err, tt.want, tt.err)
			if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// If a file disappears before Load reads it, the error has the name that the caller gave.
func TestFileGone(t *testing.T) {
	dir := writeFiles(t, files{"a.jsonl": nil})
	path := filepath.Join(dir, "a.jsonl")
	d, err := dump.Open(context.Background(), []string{path}, dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, err = range d.Sources[0].Documents(context.Background(), nil) {
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one that names %s", err, path)
		}
	}
	if err == nil {
		t.Error("no error")
	}
}
