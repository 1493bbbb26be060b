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

// What package programtest, which runs this test binary, has in the environment. Programs of
// its do some things in smaller steps.
const (
	runEnv    = "VITRINE_TEST_RUN"       // the binary is the program, or, as runSoak, soaked
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

// alone keeps the tests apart from an installation on this machine: from its settings in
// the environment, and from a server at the default address of the admin listener.
func alone() {
	for _, setting := range os.Environ() {
		name, _, _ := strings.Cut(setting, "=")
		if strings.HasPrefix(name, "VITRINE_") && !strings.HasPrefix(name, "VITRINE_TEST_") {
			_ = os.Unsetenv(name)
		}
	}
	_ = os.Setenv("VITRINE_ADMIN_LISTEN", "") // no listener
}

// limitFiles keeps the program from making a file larger than so many bytes: to it the disk is
// full.
func limitFiles(most string) {
	size, err := strconv.ParseUint(most, 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ) // writing fails instead
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
		panic(err)
	}
}

// wholeOnly skips a test in a short run, such as that under the race detector: it takes
// long, and its processes do nothing at once that other tests do not.
func wholeOnly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to a whole run")
	}
}

// await asks again and again until nothing else is the case instead. What never comes about
// fails the test a minute before the time of all tests is over, with what was the case last.
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
			t.Fatalf("waited in vain until %s; instead: %s", what, last)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// unless is what await is given for a condition that has nothing to say of itself.
func unless(holds bool) string {
	if holds {
		return ""
	}
	return "not so"
}

// envelope is what every answer of the tested endpoints looks like.
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
