package proxytest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// leakTries is how often Main looks for goroutines that have not ended. goleak waits for them for half a second each
// time, which is too short where a machine stops a goroutine that is about to end.
const leakTries = 120

// Main runs the tests of a package, and fails if they leak goroutines.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := leaked(); err != nil {
			fmt.Fprintln(os.Stderr, "after the tests:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// leaked returns an error if goroutines of the tests do not end.
func leaked() (err error) {
	for range leakTries {
		err = goleak.Find(
			// fasthttp updates the Date header in one goroutine per process.
			goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
			// fasthttp checks only every ten seconds whether its server has ended.
			goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
			// The backtracking engine's clock stops by itself when no expression has run for a while.
			goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"),
		)
		if err == nil {
			return nil
		}
	}
	return err
}

// InRepo returns the path of a file from the repository's root, whichever package is tested.
func InRepo(elem ...string) string {
	root := "."
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil || len(root) > 64 {
			return filepath.Join(append([]string{root}, elem...)...)
		}
		root = filepath.Join(root, "..")
	}
}
