package proxytest

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package, and fails if they leak goroutines.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m,
		// fasthttp updates the Date header in one goroutine per process.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		// fasthttp checks only every ten seconds whether its server has ended.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		// The backtracking engine's clock stops by itself when no expression has run for a while.
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"),
	)
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
