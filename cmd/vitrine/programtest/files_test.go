package programtest

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"
)

// write makes a file of lines.
func write(t *testing.T, name string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantRendered checks the column RENDERED of the one view in a materialize table.
func wantRendered(t *testing.T, table, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) != 2 {
		t.Fatalf("not a table of one view:\n%s", table)
	}
	head, row := strings.Fields(lines[0]), strings.Fields(lines[1])
	for i, name := range head {
		if name == "RENDERED" && row[i] != want {
			t.Errorf("rendered %s, want %s", row[i], want)
		}
	}
}

// newLines returns a scanner of lines, long enough for every test.
func newLines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	return s
}
