// Package programtest starts, signals and kills the program as a process, for the tests in the packages below it.
//
// The tests see the program as an operator does: its command line, environment, signals, exit code, log and
// listeners. What they share is here: build.go makes the binary, program.go starts and ends processes, requests.go
// asks them, jobs.go waits for what runs in the background, outage.go puts a failing network before the store.
//
// No test waits for a fixed time. Await repeats a question until the answer is right, and only the deadline of go
// test ends it, so a busy machine makes tests slow and not red.
package programtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// These environment variables control the program's test binary: see its TestMain.
const (
	RunEnv    = "VITRINE_TEST_RUN"       // runs the binary as the program, or as that of TestSoak
	BatchEnv  = "VITRINE_TEST_BATCH"     // rows written at a time
	FilingEnv = "VITRINE_TEST_FILING"    // least time between two writes of a snapshot file
	SizeEnv   = "VITRINE_TEST_FILE_SIZE" // limit on a file in bytes: to the program the disk is full
)

// alone separates the tests from an installation on this machine: from its settings in the
// environment, and from a server at the default address of the admin listener.
func alone() {
	for _, setting := range os.Environ() {
		name, _, _ := strings.Cut(setting, "=")
		if strings.HasPrefix(name, "VITRINE_") && !strings.HasPrefix(name, "VITRINE_TEST_") {
			_ = os.Unsetenv(name)
		}
	}
	_ = os.Setenv("VITRINE_ADMIN_LISTEN", "")    // no listener; servers get free ports by flag
	_ = os.Setenv("VITRINE_SHUTDOWN_DELAY", "0") // no balancer must notice the shutdown first
	// A busy machine is no reason to refuse a request, nor to break off the closing of a store.
	if !overTheWire() {
		_ = os.Setenv("VITRINE_LIMITS_REQUEST_TIMEOUT", "5m")
		_ = os.Setenv("VITRINE_SHUTDOWN_GRACE", "1m")
	}
}

// overTheWire reports whether tests of MongoDB-compatible servers run. What they see of an outage depends on how long
// requests wait for the server.
func overTheWire() bool { return os.Getenv("VITRINE_TEST_WIRE") != "" }

// WholeOnly skips a test in a short run, such as that under the race detector: the test takes long,
// and its processes have no concurrency that other tests lack.
func WholeOnly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("too long for -short")
	}
}

// environments holds the lines that Setenv adds to the environment of commands, by their folder.
var environments sync.Map // of []string

// Setenv sets an environment variable for the commands that tests start in a folder. Unlike t.Setenv it lets tests
// run in parallel. Commands of one folder belong to one test; tests that run in parallel must use different
// folders.
func Setenv(dir, name, value string) {
	before, _ := environments.Load(dir)
	lines, _ := before.([]string)
	environments.Store(dir, append(lines, name+"="+value))
}

// ResetEnv removes what Setenv has added, for the commands that start in a folder from now on.
func ResetEnv(dir string) { environments.Delete(dir) }

// Command prepares a child process of the program in a folder. RunEnv makes the test binary behave as the program,
// so that tests can also set what the program itself has no flag for.
func Command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), RunEnv+"=1")
	if lines, ok := environments.Load(dir); ok {
		cmd.Env = append(cmd.Env, lines.([]string)...)
	}
	return cmd
}

// Run runs a command to its end and returns its standard output.
func Run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	stdout, stderr, err := Outcome(dir, args...)
	if err != nil {
		t.Fatalf("vitrine %s: %v\n%s", strings.Join(args, " "), err, stderr)
	}
	return stdout
}

// Outcome runs a command to its end. A command that asks the server which has its store open waits some seconds for
// it; if a busy machine exceeds them, it runs again.
//
// The error is that of exec.Cmd.Run, so an exit code is in it.
func Outcome(dir string, args ...string) (stdout, stderr string, err error) {
	for {
		cmd := Command(dir, args...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if err == nil || Lacking(errs.String(), "a server reports nothing", "deadline exceeded") != "" {
			return out.String(), errs.String(), err
		}
	}
}

// Server is a running `vitrine serve`. Several goroutines may send requests at a time; only one may start, signal
// and end the process.
type Server struct {
	T           testing.TB
	Cmd         *exec.Cmd
	Base, Admin string // http://HOST:PORT
	Stdout      bytes.Buffer
	Paused      bool // by signal

	mu  sync.Mutex // guards log
	log []string
	eof chan struct{} // closed when the process has closed its standard error
}

// Start starts `vitrine serve` on free ports and waits for its listeners, not for its views.
// If it still runs at the end of the test, it is killed.
func Start(t testing.TB, dir string, args ...string) *Server {
	t.Helper()
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format",
		"json"}, args...)
	s := &Server{T: t, Cmd: Command(dir, args...)}
	s.Cmd.Stdout = &s.Stdout
	return s.Start()
}

// Start starts the process and waits for its listeners.
func (s *Server) Start() *Server {
	s.T.Helper()
	if !s.Listens() {
		s.T.Fatalf("serve ended before it listened:\n%s", s.Log())
	}
	return s
}

// Listens starts the process and reports whether its listeners are open; otherwise the process has ended. The log
// is read to its end in any case: a full pipe would block the program. The log entry "listening" has the ports that
// the system chose.
func (s *Server) Listens() bool {
	t := s.T
	t.Helper()
	s.eof = make(chan struct{})
	stderr, err := s.Cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan struct{ Address, Admin string }, 1)
	go func() {
		defer close(s.eof)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			s.mu.Lock()
			s.log = append(s.log, lines.Text())
			s.mu.Unlock()
			var entry struct{ Msg, Address, Admin string }
			if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" {
				listening <- struct{ Address, Admin string }{entry.Address, entry.Admin}
			}
		}
	}()
	t.Cleanup(func() {
		s.Kill()
		if log := s.Log(); t.Failed() {
			t.Logf("the end of the program's log:\n%s", log[max(0, len(log)-logTail):])
		}
	})
	select {
	case at := <-listening:
		s.Base, s.Admin = "http://"+at.Address, "http://"+at.Admin
		return true
	case <-s.eof:
		return false
	}
}

// logTail is how many bytes of a program's log a failed test prints.
const logTail = 1 << 10

// Log returns the lines that the process has written to its standard error so far.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

// Kill sends SIGKILL.
//
// It waits for the end of the log first, because Wait closes the pipe, and lines that are still in it would be
// lost.
func (s *Server) Kill() {
	_ = s.Cmd.Process.Kill() // fails if the process has ended already
	<-s.eof
	_ = s.Cmd.Wait()
}

// Stop sends SIGTERM and returns the exit code.
func (s *Server) Stop() int {
	s.T.Helper()
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.T.Fatal(err)
	}
	return s.Wait()
}

// Wait waits for the end of the process and returns its exit code. An exit because of a signal counts as -1.
func (s *Server) Wait() int {
	s.T.Helper()
	<-s.eof
	err := s.Cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		s.T.Fatal(err)
	}
	return 0
}

// Signal sends a signal to an instance.
func (s *Server) Signal(sig syscall.Signal) {
	s.T.Helper()
	if err := s.Cmd.Process.Signal(sig); err != nil {
		s.T.Fatal(err)
	}
	s.Paused = sig == syscall.SIGSTOP
}

// Alive reports whether an instance has not ended.
func (s *Server) Alive() bool {
	select {
	case <-s.eof:
		return false
	default:
		return true
	}
}

// WhilePaused pauses an instance for the time of a call. A process that SIGSTOP pauses holds its lease and its
// connections, as a virtual machine does that is suspended.
func (s *Server) WhilePaused(during func()) {
	s.T.Helper()
	s.Signal(syscall.SIGSTOP)
	defer s.Signal(syscall.SIGCONT)
	during()
}

// Ready waits until every view is loaded. Views are ready when /readyz returns 200.
func (s *Server) Ready() *Server {
	s.T.Helper()
	Await(s.T, "the server is ready", func() string {
		select {
		case <-s.eof:
			s.T.Fatalf("serve ended before it was ready:\n%s", s.Log())
		default:
		}
		status, body := s.Get("/readyz")
		if status == http.StatusOK {
			return ""
		}
		return body
	})
	return s
}

// Await calls instead until it returns "". A minute before the deadline of all tests it fails the
// test with the last text.
//
// The minute before the deadline is for the cleanups, which print the log: go test itself would only print stacks.
func Await(t testing.TB, what string, instead func() string) {
	t.Helper()
	var over <-chan time.Time
	if t, ok := t.(*testing.T); ok {
		if end, ok := t.Deadline(); ok {
			over = time.After(time.Until(end) - time.Minute)
		}
	}
	for last := instead(); last != ""; last = instead() {
		select {
		case <-over:
			t.Fatalf("timed out waiting until %s; last: %s", what, last)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Unless makes a text for await of a condition that needs no explanation.
func Unless(holds bool) string {
	if holds {
		return ""
	}
	return "not so"
}

// Get returns status and body.
func (s *Server) Get(path string, header ...string) (int, string) {
	s.T.Helper()
	return Fetch(s.T, http.MethodGet, s.Base+path, header...)
}

// Fetch sends a request without a body, with headers as name, value pairs, and returns status and body.
func Fetch(t testing.TB, method, url string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}
