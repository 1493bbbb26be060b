// Package testoutput limits the output of failing tests. Only tests import it.
package testoutput

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// maxBytes bounds the output of one failing test with its subtests.
const maxBytes = 1900

// Limited runs the tests of a *testing.M and prints at most 2 kB of each failing test.
// With -v or -json it prints everything.
type Limited struct{ Tests interface{ Run() int } }

// Run runs the tests and returns their exit code.
func (l Limited) Run() int {
	flag.Parse()
	if testing.Verbose() {
		return l.Tests.Run()
	}
	stdout := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, "output of tests:", err)
		return 1
	}
	done := make(chan error)
	go func() { done <- limit(stdout, r) }()
	os.Stdout = w
	code := l.Tests.Run()
	os.Stdout = stdout
	if err := errors.Join(w.Close(), <-done, r.Close()); err != nil {
		fmt.Fprintln(os.Stderr, "output of tests:", err)
	}
	return code
}

// limit copies the output of tests, shortened. A line that is not indented begins a test.
func limit(to io.Writer, from io.Reader) error {
	lines := bufio.NewReader(from)
	for left := maxBytes; ; {
		line, err := lines.ReadString('\n')
		if !strings.HasPrefix(line, " ") {
			left = maxBytes
		}
		if n := len(line); n > left {
			if line = line[:max(left, 0)]; left >= 0 {
				line += "…\n    cut off: go test -v prints everything\n"
			}
			left = -1
		} else {
			left -= n
		}
		if _, failed := io.WriteString(to, line); failed != nil {
			return failed
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
