package programtest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// AskInTime asks for new lists until the answer is not that there is no time for it now: beside other heavy work the
// store may need more time for a list than a request has, or be away for a moment. path gets what makes the list of
// each try another one, of which nothing is known yet.
func AskInTime(s *Server, path func(try string) string) (status int, body string) {
	s.T.Helper()
	tries := ""
	Await(s.T, "the store is fast enough", func() string {
		res, err := Patient.Get(s.Base + path(tries))
		if err != nil {
			s.T.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			s.T.Fatal(err)
		}
		status, body, tries = res.StatusCode, string(text), tries+"-"
		if status == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "" {
			return body
		}
		return ""
	})
	return status, body
}

// NewRequest returns a GET request of an address that the test knows to be valid.
func NewRequest(url string) *http.Request {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		panic(err)
	}
	return req
}

// ListHost is a running demo.
func ListHost(t *testing.T) *Server {
	t.Helper()
	return Start(t, t.TempDir(), "--demo").Ready()
}

// AskAs returns the answer of an address to a client that sends a Host.
func AskAs(t *testing.T, address, host string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// GetEncoded requests a coding and returns the encoded bytes. The transport of net/http would decode gzip if it had
// asked for it itself.
func GetEncoded(t testing.TB, url, coding string) (*http.Response, string) {
	t.Helper()
	req := NewRequest(url)
	req.Header.Set("Accept-Encoding", coding)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// stamps match the times in a list at which its records were published, which differ between
// stores.
var stamps = regexp.MustCompile(`"as_of": ?"[^"]*"`)

// Unstamped returns a list without its stamps.
func Unstamped(list string) string { return stamps.ReplaceAllString(list, "") }

// Patient waits five minutes before it considers a request as hanging.
var Patient = &http.Client{Timeout: 5 * time.Minute}

// Ask gets a URL. Its client is Patient: a test of an outage must see how long the server takes to refuse, not the
// client's limit.
func Ask(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Patient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// Envelope has the members of every answer from the tested endpoints. Members that an answer lacks stay zero.
type Envelope struct {
	Status int
	Count  int
	Data   []map[string]any
	Error  string
	Msg    string
}

// Decode reads an answer that has the members of an Envelope.
func Decode(t testing.TB, body string) (e Envelope) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
	return e
}

// Encoded returns a call, written for people, in the form that clients send. The tables of calls stay readable that
// way. It leaves what is already encoded.
func Encoded(call string) string {
	return strings.NewReplacer(" ", "%20", `"`, "%22", "{", "%7B", "}", "%7D", "^", "%5E").Replace(call)
}

// Body returns the body of an answer, whatever its status.
func Body(s *Server, path string) string {
	_, body := s.Get(path)
	return body
}
