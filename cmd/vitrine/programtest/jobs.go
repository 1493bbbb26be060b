package programtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// Leads reports whether an instance believes that it holds the lease. The lease in the store may belong to another
// instance already; the metrics say what this one believes.
func (s *Server) Leads() bool {
	s.T.Helper()
	_, text := Fetch(s.T, http.MethodGet, s.Admin+"/metrics")
	return regexp.MustCompile(`(?m)^vitrine_job_leading 1$`).MatchString(text)
}

// Generations returns the generation and epoch of every view that an instance serves.
//
// Two instances that show the same have equal texts: a line for each view, with its name, epoch and generation.
func (s *Server) Generations() string {
	s.T.Helper()
	_, body := Fetch(s.T, http.MethodGet, s.Admin+"/admin/views")
	var views struct {
		Data []struct {
			View, Epoch string
			Generation  uint64
		}
	}
	if err := json.Unmarshal([]byte(body), &views); err != nil {
		s.T.Fatal(err)
	}
	var text strings.Builder
	for _, v := range views.Data {
		fmt.Fprintln(&text, v.View, v.Epoch, v.Generation)
	}
	return text.String()
}

// Until repeats a request until its answer has all words.
func (s *Server) Until(path string, words ...string) (status int, body string) {
	s.T.Helper()
	Await(s.T, fmt.Sprintf("%s has %q", path, words), func() string {
		status, body = s.Get(path)
		for _, word := range words {
			if !strings.Contains(body, word) {
				return body
			}
		}
		return ""
	})
	return status, body
}

// Served repeats a request until its answer is not 503: clients are to try again while a server is busy, or while a
// view that stays in the store moves on to its next generation.
func (s *Server) Served(path string) (status int, body string) {
	s.T.Helper()
	Await(s.T, path+" is answered", func() string {
		if status, body = s.Get(path); status == http.StatusServiceUnavailable {
			return body
		}
		return ""
	})
	return status, body
}

// Refresh requests a refresh from the operator's listener, and returns the status and answer.
func (s *Server) Refresh(query string) (int, string) {
	s.T.Helper()
	return Fetch(s.T, http.MethodPost, s.Admin+"/admin/refresh?"+query)
}

// RunJobs requests jobs from the server, or from the one of some others that leads, and returns the answer. Without
// the lease a server refuses: it may be ready before it has the lease, and on a busy machine it may lose it, and take
// it again or not.
func (s *Server) RunJobs(query string, others ...*Server) string {
	s.T.Helper()
	answer := ""
	Await(s.T, "a server runs jobs", func() (refusal string) {
		for _, one := range append([]*Server{s}, others...) {
			status, body := one.Refresh(query)
			if status/100 == 2 {
				answer = body
				return ""
			}
			if status != http.StatusConflict && status/100 != 5 {
				s.T.Fatalf("refresh: %d %s", status, body)
			}
			refusal = body
		}
		return refusal
	})
	return answer
}

// Status runs `vitrine status` until it succeeds and says all words, and returns what it says. It waits five
// seconds for the store and one for the server, which a busy machine exceeds.
func Status(t *testing.T, dir string, args []string, words ...string) (said string) {
	t.Helper()
	Await(t, fmt.Sprintf("vitrine status says %q", words), func() string {
		cmd := Command(dir, append([]string{"status"}, args...)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Sprintf("%v: %s", err, stderr.String())
		}
		said = string(out)
		return Lacking(said, words...)
	})
	return said
}

// Lacking returns "" if a text has all words, or else the text, as await wants it.
func Lacking(text string, words ...string) string {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return "only: " + text
		}
	}
	return ""
}
