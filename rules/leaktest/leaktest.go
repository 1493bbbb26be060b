// Package leaktest runs the tests of packages that start goroutines, and fails them if goroutines stay behind.
//
// It is test support: only tests, and other such packages, import it (TestImportsPointOneWay in cmd/vitrine).
package leaktest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// tries is how often Main looks for goroutines that have not ended. goleak waits for them for half a second each
// time, which is too short where a machine stops a goroutine that is about to end.
const tries = 120

// Main runs the tests of a package and ends the process. It fails if goroutines have not ended a minute later.
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

// lasting are goroutines of libraries that notice only some time later that they can end, or never: one in a process.
var lasting = []string{
	"github.com/valyala/fasthttp.updateServerDate.func1",
	"github.com/valyala/fasthttp.(*workerPool).Start.func2",
	"github.com/valyala/fasthttp.(*Client).mCleaner",
	"github.com/valyala/fasthttp.(*HostClient).connsCleaner",
	"github.com/valyala/fasthttp.(*TCPDialer).tcpAddrsClean",
	"github.com/dlclark/regexp2/v2.runClock",
}

// leaked returns an error if goroutines of the tests do not end.
func leaked() (err error) {
	var options []goleak.Option
	for _, function := range lasting {
		options = append(options, goleak.IgnoreAnyFunction(function))
	}
	for range tries {
		if err = goleak.Find(options...); err == nil {
			return nil
		}
	}
	return err
}
