package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestFilesAreUpToDate compares what the files hold, not their bytes: another
// version of Go may pack them differently.
func TestFilesAreUpToDate(t *testing.T) {
	collections := newInstitute().collections()
	for _, c := range collections {
		want, err := jsonLines(c.docs)
		if err != nil {
			t.Fatal(err)
		}
		if got := unpacked(t, filepath.Join("..", "data", c.name+".jsonl.gz")); !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate ./configs/demo", c.name)
		}
	}
	files, err := os.ReadDir(filepath.Join("..", "data"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(collections) {
		t.Errorf("have %d files, want %d", len(files), len(collections))
	}
}

func unpacked(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestWriteIsRepeatable(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, folder := range []string{first, second} {
		if err := write(folder); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range newInstitute().collections() {
		name := c.name + ".jsonl.gz"
		if !bytes.Equal(unpacked(t, filepath.Join(first, name)), unpacked(t, filepath.Join(second, name))) {
			t.Errorf("%s differs from run to run", name)
		}
	}
}

func TestQuarter(t *testing.T) {
	tests := []struct{ start, end, want string }{
		{"2023-02-01", "2023-03-31", "2023Q1"},
		{"2023-01-01", "2023-07-01", "2023Q1 - Q3"},
		{"2023-12-31", "2024-01-01", "2023Q4 - 2024Q1"},
		{"2023-04-01", "", "2023Q2 - today"},
	}
	for _, tt := range tests {
		if got := (&activity{start: tt.start, end: tt.end}).quarter(); got != tt.want {
			t.Errorf("%s to %s = %q, want %q", tt.start, tt.end, got, tt.want)
		}
	}
}
