package osiristest

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The recording is what an OSIRIS 2.0.1 answered to the 358 paths of testdata/paths.txt, which are of the kinds that a
// log of an institute has. Its database held a part of the demo institute, and settings, types and templates written
// by hand; OSIRIS itself had rendered all activities. testdata/database.jsonl.gz is that database, so another server
// can answer from the same data. The recording stays as it is when the demo changes.
//
// The server under OSIRIS was not MongoDB, and what it lacks of aggregations ran in PHP. Groups of the same size are in
// an arbitrary order, as in MongoDB. Only what a comparison reads was kept of the headers.
//
// A comparison also asks for whole lists of which an answer is a page, and for the dates of all activities; the answers
// to these are behind those to the paths. TestRecord records anew.
const (
	pathsFile     = "testdata/paths.txt"
	recordingFile = "testdata/recording.jsonl.gz"
	databaseFile  = "testdata/database.jsonl.gz"
)

//go:embed testdata
var recorded embed.FS

// RecordedKey is the API key of the recorded OSIRIS, which is also in its database. /portfolio needs none.
const RecordedKey = "rehearsal"

// recordedHost is the host that the recorded OSIRIS was asked by. It is in some answers.
const recordedHost = "osiris.example.org"

// Recorded is an answer of the recorded OSIRIS. It is also a line of the file.
type Recorded struct {
	Target   string `json:"target"` // path and query, without the key
	Keyless  bool   `json:"keyless,omitempty"`
	Status   int    `json:"status"`
	Type     string `json:"type"` // Content-Type
	Location string `json:"location,omitempty"`
	Body     string `json:"body"`
}

// Recording returns the recorded answers to RecordedPaths, in their order. The file has others behind them.
func Recording(t testing.TB) []Recorded {
	t.Helper()
	return readRecording(t)[:len(RecordedPaths(t))]
}

// RecordedPaths returns the recorded paths with their queries, as lines of a log that compare reads.
func RecordedPaths(t testing.TB) []string {
	t.Helper()
	text, err := recorded.ReadFile(pathsFile)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// WriteDatabase writes the database of the recorded OSIRIS to a folder, a file COLLECTION.jsonl for each collection.
func WriteDatabase(t testing.TB, dir string) {
	t.Helper()
	files := map[string]*bytes.Buffer{}
	readLines(t, databaseFile, func(line *json.Decoder) error {
		var one struct {
			Collection string
			Document   json.RawMessage
		}
		if err := line.Decode(&one); err != nil {
			return err
		}
		if files[one.Collection] == nil {
			files[one.Collection] = &bytes.Buffer{}
		}
		files[one.Collection].Write(append(one.Document, '\n'))
		return nil
	})
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func readRecording(t testing.TB) (all []Recorded) {
	t.Helper()
	readLines(t, recordingFile, func(line *json.Decoder) error {
		var one Recorded
		err := line.Decode(&one)
		if err == nil {
			all = append(all, one)
		}
		return err
	})
	return all
}

// readLines reads a compressed file of JSON values.
func readLines(t testing.TB, name string, read func(*json.Decoder) error) {
	t.Helper()
	packed, err := recorded.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	text, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	for lines := json.NewDecoder(text); err != io.EOF; {
		if err = read(lines); err != nil && err != io.EOF {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// Replay starts a server that gives the recorded answers, and returns its address. It runs until the test ends. The key
// may come as header or parameter; without one it denies paths below /api, as OSIRIS did. Unknown paths are redirected
// to the login, as OSIRIS does with all but its own.
//
// Where OSIRIS writes the host that it is asked by, the server does, too.
func Replay(t testing.TB) (address string) {
	t.Helper()
	answers := map[string]Recorded{}
	var denied Recorded
	for _, one := range readRecording(t) {
		if one.Keyless {
			denied = one
		} else {
			answers[one.Target] = one
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target, key := withoutKey(r)
		startSession(w, r, r.URL.Path)
		answer, known := answers[target]
		switch {
		case within(r.URL.Path, "/api") && key != RecordedKey:
			answer = denied
		case !known:
			t.Logf("no answer is recorded for %s", target)
			redirect(w)
			return
		}
		answer.write(w, r.Host)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// write sends an answer as if OSIRIS had been asked by a host.
func (a Recorded) write(w http.ResponseWriter, host string) {
	w.Header().Set("Content-Type", a.Type)
	if a.Location != "" {
		w.Header().Set("Location", a.Location)
	}
	body := strings.ReplaceAll(a.Body, recordedHost, host)
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, body) // a client that has gone needs no answer
}

// withoutKey returns the target of a request without the key, and the key. Other parameters stay as they were sent.
func withoutKey(r *http.Request) (target, key string) {
	key = r.Header.Get("X-API-Key")
	target = r.URL.EscapedPath()
	separator := "?"
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if value, found := strings.CutPrefix(pair, "apikey="); found {
			key, _ = url.QueryUnescape(value) // what cannot be read is no key
		} else if pair != "" {
			target += separator + pair
			separator = "&"
		}
	}
	return target, key
}
