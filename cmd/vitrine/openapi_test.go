package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/proxy/openapi/openapitest"
)

// TestDemoAnswersAsDescribed asks the running demo everything its own description
// gives as an example, and more of each kind, and holds the answers against it.
func TestDemoAnswersAsDescribed(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	s := startServer(t, t.TempDir(), "--demo").ready()
	_, document := s.get("/openapi.json")
	checker, err := openapitest.New([]byte(document))
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
	for _, call := range wrongCalls() {
		if status := checkAnswer(t, checker, s, call); status < 400 || status > 499 {
			t.Errorf("%s: status %d", call, status)
		}
	}
}

// checkAnswer asks, and objects to what is not as described.
func checkAnswer(t *testing.T, checker *openapitest.Checker, s *server, call string) int {
	t.Helper()
	res, err := http.Get(s.base + call)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := checker.Check(openapitest.Answer{Target: call, Status: res.StatusCode, Header: res.Header, Body: body}); err != nil {
		t.Errorf("%v\n%.500s", err, body)
	}
	return res.StatusCode
}

// exampleCalls are the calls that the description's examples answer, but for those
// that would ask another site.
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

// encoded is a call as it is written for people, as it is sent.
func encoded(call string) string {
	return strings.NewReplacer(" ", "%20", `"`, "%22", "{", "%7B", "}", "%7D", "^", "%5E").Replace(call)
}

// moreCalls are whole lists, so that every record of the demo is looked at, and
// every person.
func moreCalls(t *testing.T, s *server) []string {
	t.Helper()
	calls := []string{
		"/healthz", "/readyz", "/docs", "/openapi.json", "/openapi-3.0.json",
		"/api/activities", "/api/activities?full=1", "/api/activities?aggregate=authors.user",
		"/api/activities?columns=web,print,icon,type,subtype,authors,title,departments,year,doi,units,workflow.status",
		"/api/html", "/api/all-activities", "/api/all-activities?page=portal", "/api/all-activities?path=https://www.example.org",
		"/api/projects", "/api/projects?lang=de", "/api/projects?raw", "/api/projects?full", "/api/projects?formatted",
		"/api/proposals", "/api/proposals?lang=de", "/api/proposals?raw", "/api/proposals?full", "/api/proposals?formatted",
		"/api/search/projects", "/api/search/proposals?raw", "/api/search/journals", "/api/search/persons",
		"/api/search/activities", "/api/search/conferences",
		"/api/search/activities?aggregate=type&aggregate_function=median&aggregate_value=month",
		"/api/events", "/api/conferences", "/api/deadlines", "/portfolio/spectrum", "/portfolio/spectrum?limit=5&offset=2",
		"/api/levenshtein?title=" + url.QueryEscape("Größe der Nacht"), "/api/citation-index",
	}
	_, body := s.get("/api/search/persons?columns[]=username")
	for _, person := range decode(t, body).Data {
		id := person["id"].(string)
		calls = append(calls, "/api/users/"+id, "/api/user-units/"+id, "/api/user-units/"+id+"?lang=de")
	}
	return calls
}

// wrongCalls are a wrong call of each kind.
func wrongCalls() []string {
	return []string{
		"/nothing", "/api/nothing", "/api/activities?limit=x", "/api/activities?json=%7B", "/api/html?limit=x",
		"/api/spectrum-activities", "/api/projects-by-funding-number", "/api/levenshtein", "/api/users/nobody-of-that-name",
		"/api/user-units/nobody-of-that-name", "/api/user-units/x?lang=fr", "/api/search/persons?aggregate=x&aggregate_function=y",
		"/api/search/journals?aggregate=x&aggregate_function=sum", "/api/projects?search=(", "/portfolio/spectrum?offset=x",
		"/api/citation-index?user[]=x",
	}
}
