// Package programtest tests the program as a process: it starts, signals and kills the real thing.
package programtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// These variables control the program's test binary: see its TestMain.
const (
	runEnv    = "VITRINE_TEST_RUN"       // runs the binary as the program
	batchEnv  = "VITRINE_TEST_BATCH"     // rows written at a time
	filingEnv = "VITRINE_TEST_FILING"    // least time between two writes of a snapshot file
	sizeEnv   = "VITRINE_TEST_FILE_SIZE" // limit on a file in bytes: to the program the disk is full
)

// binary is the test binary of the program, which can do some things in smaller steps.
var binary string

func TestMain(m *testing.M) {
	alone()
	// Tests mostly wait for processes, so that more go on at a time than there are processors.
	flag.Parse()
	if n := flag.Lookup("test.parallel"); n.Value.String() == n.DefValue {
		_ = n.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0)))
	}
	dir, err := os.MkdirTemp("", "programtest")
	if err == nil {
		binary = filepath.Join(dir, "vitrine")
		err = build()
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// build makes the binary, with the race detector if the tests run under it.
func build() error {
	args := []string{"test", "-c", "-ldflags=-s -w", "-o", binary, "vitrine/cmd/vitrine"}
	info, _ := debug.ReadBuildInfo()
	if slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = slices.Insert(args, 1, "-race")
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %v: %w\n%s", args, err, out)
	}
	// go test caches results until a file of the program changes, if the test opens the files.
	return filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		return err
	})
}

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

// wholeOnly skips a test in a short run, such as that under the race detector: the test takes long,
// and its processes have no concurrency that other tests lack.
func wholeOnly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("too long for -short")
	}
}

// environments holds the lines that set adds to the environment of commands, by their folder.
var environments sync.Map // of []string

// set sets an environment variable for the commands that tests start in a folder. Unlike t.Setenv
// it lets tests run in parallel.
func set(dir, name, value string) {
	before, _ := environments.Load(dir)
	lines, _ := before.([]string)
	environments.Store(dir, append(lines, name+"="+value))
}

// command prepares a child process of the program in a folder.
func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), runEnv+"=1")
	if lines, ok := environments.Load(dir); ok {
		cmd.Env = append(cmd.Env, lines.([]string)...)
	}
	return cmd
}

// vitrine runs a command to its end and returns its standard output.
func vitrine(t *testing.T, dir string, args ...string) string {
	t.Helper()
	stdout, stderr, err := outcome(dir, args...)
	if err != nil {
		t.Fatalf("vitrine %s: %v\n%s", strings.Join(args, " "), err, stderr)
	}
	return stdout
}

// outcome runs a command to its end. A command that asks the server which has its store open waits some seconds for
// it; if a busy machine exceeds them, it runs again.
func outcome(dir string, args ...string) (stdout, stderr string, err error) {
	for {
		cmd := command(dir, args...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if err == nil || lacking(errs.String(), "a server reports nothing", "deadline exceeded") != "" {
			return out.String(), errs.String(), err
		}
	}
}

// server is a running `vitrine serve`.
type server struct {
	t           testing.TB
	cmd         *exec.Cmd
	base, admin string // http://HOST:PORT
	stdout      bytes.Buffer
	paused      bool // by signal

	mu  sync.Mutex // guards log
	log []string
	eof chan struct{} // closed when the process has closed its standard error
}

// startServer starts `vitrine serve` on free ports and waits for its listeners, not for its views.
// If it still runs at the end of the test, it is killed.
func startServer(t testing.TB, dir string, args ...string) *server {
	t.Helper()
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format",
		"json"}, args...)
	s := &server{t: t, cmd: command(dir, args...)}
	s.cmd.Stdout = &s.stdout
	return s.start()
}

// start starts the process and waits for its listeners.
func (s *server) start() *server {
	s.t.Helper()
	if !s.listens() {
		s.t.Fatalf("serve ended before it listened:\n%s", s.logged())
	}
	return s
}

// listens starts the process and reports whether its listeners are open; otherwise the process has
// ended.
func (s *server) listens() bool {
	t := s.t
	t.Helper()
	s.eof = make(chan struct{})
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
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
		s.kill()
		if log := s.logged(); t.Failed() {
			t.Logf("the end of the program's log:\n%s", log[max(0, len(log)-logTail):])
		}
	})
	select {
	case at := <-listening:
		s.base, s.admin = "http://"+at.Address, "http://"+at.Admin
		return true
	case <-s.eof:
		return false
	}
}

// logTail is how many bytes of a program's log a failed test prints.
const logTail = 1 << 10

func (s *server) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.log, "\n")
}

// kill sends SIGKILL.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // fails if the process has ended already
	<-s.eof
	_ = s.cmd.Wait()
}

// stop sends SIGTERM and returns the exit code.
func (s *server) stop() int {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	return s.wait()
}

// wait waits for the end of the process and returns its exit code.
func (s *server) wait() int {
	s.t.Helper()
	<-s.eof
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return 0
}

// ready waits until every view is loaded.
func (s *server) ready() *server {
	s.t.Helper()
	await(s.t, "the server is ready", func() string {
		select {
		case <-s.eof:
			s.t.Fatalf("serve ended before it was ready:\n%s", s.logged())
		default:
		}
		status, body := s.get("/readyz")
		if status == http.StatusOK {
			return ""
		}
		return body
	})
	return s
}

// await calls instead until it returns "". A minute before the deadline of all tests it fails the
// test with the last text.
func await(t testing.TB, what string, instead func() string) {
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

// unless makes a text for await of a condition that needs no explanation.
func unless(holds bool) string {
	if holds {
		return ""
	}
	return "not so"
}

// get returns status and body.
func (s *server) get(path string, header ...string) (int, string) {
	s.t.Helper()
	return fetch(s.t, http.MethodGet, s.base+path, header...)
}

func fetch(t testing.TB, method, url string, header ...string) (int, string) {
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
