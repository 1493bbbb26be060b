package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"vitrine/configs/regular"
)

// TestRead: only regular files within the limit are read. A named pipe without a writer does not block.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, size := range map[string]int{"empty": 0, "full": 100, "long": 101} {
		if err := os.WriteFile(at(name), []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("full", at("link")),
		os.Symlink("pipe", at("to-pipe"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"empty": "", "full": "", "link": "", "long": "is too long: at most 100 B are read",
		"none": "no such file or directory",
		"pipe": "is a named pipe; want a regular file", "to-pipe": "is a named pipe; want a regular file",
		".": "is a directory", "full/x": "not a directory",
	} {
		content, err := regular.Read(at(name), 100)
		if got := text(err); got != want || want == "" && name != "empty" && len(content) != 100 {
			t.Errorf("%s: %d bytes, %q, want %q", name, len(content), got, want)
		}
	}
	if _, err := regular.Read("/dev/null", 100); text(err) != "is a device; want a regular file" {
		t.Errorf("a device: %v", err)
	}
	if _, err := regular.Read(at("none"), 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestReadWithoutSize: the limit holds for files that do not say how long they are.
func TestReadWithoutSize(t *testing.T) {
	const endless = "/proc/self/environ"
	t.Setenv("VITRINE_TEST_LONG", "x") // a process has some environment
	if _, err := os.Stat(endless); err != nil {
		t.Skip(err)
	}
	if _, err := regular.Read(endless, 1); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %v", err)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
