//go:build unix

package dump_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"vitrine/cache/origin/dump"
)

// TestNoRegularFile: Load opens only regular files, whether they are named or in a folder, and
// follows links to them.
func TestNoRegularFile(t *testing.T) {
	dir := t.TempDir()
	pipe, device, link := filepath.Join(dir, "pipe", "c.jsonl"), filepath.Join(dir, "d.jsonl"), filepath.Join(dir,
		"e.jsonl")
	err := errors.Join(os.Mkdir(filepath.Dir(pipe), 0o700), syscall.Mkfifo(pipe, 0o600),
		os.Symlink("/dev/zero", device),
		os.Symlink(filepath.Join(writeFiles(t, files{"x": []byte(`{"_id":1}`)}), "x"), link))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		pipe: pipe + ": not a regular file (prw-------): read it as standard input, import … - <" +
			pipe,
		filepath.Dir(pipe): pipe + ": not a regular file (p",
		device:             device + ": not a regular file (D", link: "",
	} {
		d, err := dump.Open(t.Context(), []string{path}, dump.Options{})
		if err == nil {
			err = d.Close()
		}
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestStdinLimit: Load reads standard input up to its limit, with progress, until the context ends,
// and leaves no temporary file, not even if the process is killed while it reads.
func TestStdinLimit(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const text = `{"_id":1}`
	ended, stop := context.WithCancel(t.Context())
	defer stop()
	tests := []struct {
		name  string
		ctx   context.Context
		stdin io.Reader
		most  int64
		read  int // 0: any number
		err   string
	}{
		{"short enough", t.Context(), strings.NewReader(text), int64(len(text)), len(text), ""},
		{"no limit given", t.Context(), strings.NewReader(text), 0, len(text), ""},
		{"too long", t.Context(), strings.NewReader(text), int64(len(text)) - 1, len(text),
			"standard input: does not end within 8 bytes: --stdin-bytes"},
		{"endless", t.Context(), endless("\n"), 1 << 20, 0, "standard input: does not end within 1048576 bytes"},
		{"stopped", ended, endless("{}\n"), 0, 0, "standard input: context canceled"},
	}
	for _, tt := range tests {
		read := 0
		d, err := dump.Open(tt.ctx, []string{"-"},
			dump.Options{Collection: "c", Stdin: tt.stdin, StdinBytes: tt.most, Progress: func(n int) {
				if named, _ := os.ReadDir(os.TempDir()); len(named) > 0 {
					t.Errorf("%s: a process killed now leaves %v", tt.name, named)
				}
				if read += n; tt.name == "stopped" {
					stop()
				}
			}})
		if err == nil {
			err = d.Close()
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) ||
			tt.read > 0 && read != tt.read {
			t.Errorf("%s: %v and progress of %d bytes, want %q, %d", tt.name, err, read, tt.err, tt.read)
		}
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// endless repeats a text for ever.
type endless string

func (e endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

// endlessFile is a file that does not end, and reports size zero.
type endlessFile struct {
	io.Reader
	fs.FileInfo
}

func (f endlessFile) Close() error               { return nil }
func (f endlessFile) Stat() (fs.FileInfo, error) { return f.FileInfo, nil }

// endlessFS has one such file, under every name.
type endlessFS struct{ head, rest string }

func (e endlessFS) Stat(name string) (fs.FileInfo, error) { return fstest.MapFS{name: {}}.Stat(name) }

func (e endlessFS) Open(name string) (fs.File, error) {
	info, err := e.Stat(name)
	return endlessFile{io.MultiReader(strings.NewReader(e.head), endless(e.rest)), info}, err
}

// TestEndless: Load gives up a file that yields no document in a certain number of bytes, whatever
// it contains, and reads one that yields documents until the context ends.
func TestEndless(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a gigabyte")
	}
	for _, e := range []endlessFS{
		{"", "\n"}, {"", "\x00"}, {"{\"_id\":1}\n", "\n"}, {"[{\"_id\":1},", "\n"}, {"[{\"a\":\"", "b"},
	} {
		d, err := dump.OpenFS(e, "c.jsonl", dump.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var last error
		for _, last = range d.Sources[0].Documents(t.Context(), nil) {
		}
		if _, broken := errors.AsType[*dump.BrokenFile](last); !broken ||
			!strings.Contains(last.Error(), "no document ends within 268435456 bytes") {
			t.Errorf("%q: got %v", e, last)
		}
	}
	for _, e := range []endlessFS{{"", "\n"}, {"", "{}\n"}, {"[{}", ",{}"}} {
		d, err := dump.OpenFS(e, "c.jsonl", dump.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var last error
		for _, last = range d.Sources[0].Documents(ctx, func(int) { stop() }) {
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("%q: got %v", e, last)
		}
	}
}
