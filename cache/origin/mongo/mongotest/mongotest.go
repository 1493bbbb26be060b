// Package mongotest starts a server that speaks MongoDB's wire protocol, for tests without a MongoDB: FerretDB over
// SQLite, built from the nested module testdata/ferretdb beside it. Building it takes a minute or two, so tests use
// it only if VITRINE_TEST_WIRE=1. Go's build cache keeps the binary.
//
// FerretDB 1.24 lacks write commands of 100 or more statements, change streams, transactions, Decimal128, nested
// arrays, dotted field names and $expr.
//
// It is test support: only tests, and other such packages, import it (TestImportsPointOneWay in cmd/vitrine).
package mongotest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// WireVariable is the environment variable that enables tests over the wire.
const WireVariable = "VITRINE_TEST_WIRE"

// BatchSize is how many statements a write command may carry.
// Stores under test get it as mongo.Options.BatchSize. It is about half of what the server accepts.
const BatchSize = 50

// Patient are options in a URI of a client that waits for a busy server: its limits of time are not what is tested.
// On a busy machine the server may take minutes for a test's writes, and SQLite lets one writer work at a time.
const Patient = "?timeoutMS=600000&serverSelectionTimeoutMS=600000&connectTimeoutMS=600000"

// Start starts a server with an empty state folder. The test is skipped unless VITRINE_TEST_WIRE=1. The URI ends in
// "/" and lacks a database name. Each test starts a server of its own, so tests may run in parallel.
func Start(t testing.TB) (uri string) {
	t.Helper()
	return StartIn(t, t.TempDir()).URI
}

// Server is a running server.
type Server struct {
	URI string // ends in "/" and lacks a database name
	cmd *exec.Cmd
}

// StartIn is Start on a state folder, which may be that of an earlier server that has ended.
// So a test can kill a server and go on with what was on its disk.
func StartIn(t testing.TB, dir string) *Server {
	t.Helper()
	checkPlace(t)
	if os.Getenv(WireVariable) != "1" {
		t.Skipf("needs a MongoDB-compatible server: set %s=1 to have one built and started", WireVariable)
	}
	binary, err := build()
	if err != nil {
		t.Fatalf("build test server: %v", err)
	}
	command := exec.Command(binary, "-dir", dir)
	// The server lives for one test: memory is cheaper than collecting garbage on the processors of the tests.
	command.Env = append(os.Environ(), "GOGC=800")
	command.Stderr = os.Stderr
	// The server runs until its input closes: when the test or this process ends.
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start test server: %v", err)
	}
	s := &Server{cmd: command}
	t.Cleanup(func() {
		_ = input.Close()
		s.Kill()
	})
	line, err := bufio.NewReader(output).ReadString('\n') // the server prints a line once it listens
	if err != nil {
		t.Fatalf("test server ended at start: %v", err)
	}
	s.URI = strings.TrimSpace(line)
	return s
}

// checkPlace fails a test that the step wire of .ci/run would leave out. The step runs the packages below
// cache/origin whole, and from the packages below programtest only the tests in files named *_wire_test.go. Helpers
// that start a server may stand in other files.
// A test at another place would be skipped everywhere, and its author would not notice.
func checkPlace(t testing.TB) {
	t.Helper()
	calls := make([]uintptr, 100)
	frames := runtime.CallersFrames(calls[:runtime.Callers(1, calls)])
	var test runtime.Frame // the outermost frame of the tested package
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		if strings.HasSuffix(frame.File, "_test.go") {
			test = frame
		}
	}
	named := strings.HasSuffix(test.File, "_wire_test.go") && strings.Contains(test.Function, "/programtest/")
	if !named && !strings.HasPrefix(test.Function, "vitrine/cache/origin") {
		t.Errorf("%s needs a MongoDB-compatible server: move it to a file below programtest named *_wire_test.go",
			test.Function)
	}
}

// Kill kills the server like kill -9. It may be called twice. It returns when the process has ended, so that the
// next server may open its files.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // fails if the server has ended
	_ = s.cmd.Wait()
}

// build returns the server's binary. Go builds it unless its build cache has it.
// The module is nested, so that its dependencies are none of Vitrine's. A failure to build fails each test that
// needs the server.
var build = sync.OnceValues(func() (binary string, err error) {
	module, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	// GOFLAGS stay unchanged, so that the standard library is compiled as for the tests.
	for range 2 { // the first run builds it in a temporary folder and puts it into the cache
		command := exec.Command("go", "run", "-exec", "echo", ".")
		command.Dir = filepath.Join(filepath.Dir(string(module)), "cache", "origin", "mongo", "testdata", "ferretdb")
		command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=readonly")
		command.Stderr = os.Stderr
		path, err := command.Output()
		if err != nil {
			return "", err
		}
		binary = strings.TrimSpace(string(path))
	}
	return binary, nil
})
