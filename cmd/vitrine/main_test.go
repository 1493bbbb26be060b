package main

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Package programtest, which runs this test binary, sets these variables. Its programs do some
// things in smaller steps.
const (
	runEnv    = "VITRINE_TEST_RUN"       // the binary is the program, or, with runSoak, the soaked process
	batchEnv  = "VITRINE_TEST_BATCH"     // publishBatch
	filingEnv = "VITRINE_TEST_FILING"    // snapshotEvery
	sizeEnv   = "VITRINE_TEST_FILE_SIZE" // limitFiles
)

var update = flag.Bool("update", false, "write generated files anew")

func TestMain(m *testing.M) {
	switch os.Getenv(runEnv) {
	case "":
	case runSoak:
		os.Exit(soaked(os.Args[1], os.Stdin, os.Stdout, os.Stderr))
	default:
		publishBatch, _ = strconv.Atoi(os.Getenv(batchEnv))
		snapshotEvery, _ = time.ParseDuration(os.Getenv(filingEnv))
		limitFiles(os.Getenv(sizeEnv))
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	alone()
	os.Exit(m.Run())
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
	_ = os.Setenv("VITRINE_ADMIN_LISTEN", "") // no listener
}

// limitFiles limits the size of the program's files in bytes: to the program the disk is full.
func limitFiles(most string) {
	size, err := strconv.ParseUint(most, 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // so that a write fails instead of killing the process
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
		panic(err)
	}
}

// wholeOnly skips a test in a short run, such as that under the race detector: the test takes long,
// and its processes have no concurrency that other tests lack.
func wholeOnly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("too long for -short")
	}
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

// envelope has the members of every answer from the tested endpoints.
type envelope struct {
	Status int
	Count  int
	Data   []map[string]any
	Error  string
	Msg    string
}

func decode(t testing.TB, body string) (e envelope) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
	return e
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
