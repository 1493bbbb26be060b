package proxy_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// demo is a process of the whole program that serves the demo institute.
type demo struct {
	t    *testing.T
	base string
}

// startDemo builds the program and runs it until the test ends. It returns when the demo
// is ready.
func startDemo(t *testing.T) demo {
	t.Helper()
	if testing.Short() {
		t.Skip("only in a full run")
	}
	program := filepath.Join(t.TempDir(), "vitrine")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", program,
		"vitrine/cmd/vitrine").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program, "serve", "--demo", "--listen", "127.0.0.1:0", "--admin-listen",
		"127.0.0.1:0", "--log-format", "json")
	cmd.Dir = t.TempDir()
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // the context of the test has killed it
	listening := make(chan string, 1)
	go func() {
		defer close(listening)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			var entry struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" {
				listening <- entry.Address
			}
		}
	}()
	address, ok := <-listening
	if !ok {
		t.Fatal("the demo ended before it listened")
	}
	d := demo{t, "http://" + address}
	if status, text := d.get("/readyz"); status != http.StatusOK {
		t.Fatalf("readyz: status %d: %s", status, text)
	}
	return d
}

// get sends a GET request.
func (d demo) get(path string) (int, string) {
	d.t.Helper()
	res, body := d.ask(path)
	return res.StatusCode, string(body)
}

// ask sends a GET request and returns the whole response. If the demo is not ready, or has no time for the request on
// a busy machine, ask sends it again.
func (d demo) ask(path string) (*http.Response, []byte) {
	d.t.Helper()
	for {
		res, err := http.Get(d.base + path)
		if err != nil {
			d.t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close() // it was read to its end
		if err != nil {
			d.t.Fatal(err)
		}
		if res.StatusCode != http.StatusServiceUnavailable {
			return res, body
		}
	}
}

// TestDemoAnswersAsDescribed sends the running demo all examples of its own description and more
// calls of each kind, and checks the answers against the description.
func TestDemoAnswersAsDescribed(t *testing.T) {
	t.Parallel()
	s := startDemo(t)
	_, document := s.get("/openapi.json")
	checker, err := proxytest.NewChecker([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	calls := exampleCalls(t, document)
	if len(calls) < 40 {
		t.Errorf("only %d examples", len(calls))
	}
	for _, call := range append(calls, moreCalls(t, s)...) {
		status := checkAnswer(t, checker, s, call)
		if status != http.StatusOK {
			t.Errorf("%s: status %d", call, status)
		}
	}
	for _, call := range callsIn(t, "wrong.txt") {
		if status := checkAnswer(t, checker, s, call); status < 400 || status > 499 {
			t.Errorf("%s: status %d", call, status)
		}
	}
}

// checkAnswer sends a request and reports where the answer differs from its description.
func checkAnswer(t *testing.T, checker *proxytest.Checker, s demo, call string) int {
	t.Helper()
	res, body := s.ask(call)
	if err := checker.Check(proxytest.CheckedAnswer{Target: call, Status: res.StatusCode, Header: res.Header,
		Body: body}); err != nil {
		t.Errorf("%v\n%.500s", err, body)
	}
	return res.StatusCode
}

// exampleCalls are the calls whose answers the description gives as examples, except those that
// would send requests to another site.
func exampleCalls(t *testing.T, document string) []string {
	t.Helper()
	var described struct {
		Paths map[string]struct {
			Get struct {
				Responses map[string]struct {
					Content map[string]struct {
						Examples map[string]struct{ Summary string }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(document), &described); err != nil {
		t.Fatal(err)
	}
	var calls []string
	for path, item := range described.Paths {
		if path == "/api/citation-index" {
			continue
		}
		for _, media := range item.Get.Responses["200"].Content {
			for _, example := range media.Examples {
				call := example.Summary
				if strings.HasPrefix(call, "?") {
					call = path + call
				}
				if strings.HasPrefix(call, "/") {
					calls = append(calls, encoded(call))
				}
			}
		}
	}
	return calls
}

// encoded returns the URL of a call that is written for people.
func encoded(call string) string {
	return strings.NewReplacer(" ", "%20", `"`, "%22", "{", "%7B", "}", "%7D", "^", "%5E").Replace(call)
}

// moreCalls request whole lists, so that the test sees every record of the demo, and every person.
func moreCalls(t *testing.T, s demo) []string {
	t.Helper()
	calls := callsIn(t, "right.txt")
	_, body := s.get("/api/search/persons?columns[]=username")
	var persons struct{ Data []struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &persons); err != nil || len(persons.Data) == 0 {
		t.Fatalf("persons: %v: %.200s", err, body)
	}
	for _, person := range persons.Data {
		calls = append(calls, "/api/users/"+person.ID, "/api/user-units/"+person.ID,
			"/api/user-units/"+person.ID+"?lang=de")
	}
	return calls
}

// callsIn reads a list of calls that the tests of cmd/vitrine send, too.
func callsIn(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("../cmd/vitrine/programtest/testdata/calls/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}
