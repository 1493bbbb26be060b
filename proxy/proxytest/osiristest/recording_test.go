package osiristest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var record = flag.String("record", "", "record the answers of the OSIRIS at this `URL` anew; its key is "+RecordedKey)

// TestRecord writes the recording anew, with -record. Otherwise it checks that the recording has an answer to each
// path, and tells nothing of the machine on which it was made.
func TestRecord(t *testing.T) {
	if *record != "" {
		writeRecording(t, *record)
	}
	answers := Recording(t)
	paths := RecordedPaths(t)
	if len(answers) != len(paths) || len(paths) != 358 {
		t.Fatalf("%d answers to %d paths, want 358", len(answers), len(paths))
	}
	machine := regexp.MustCompile(`127\.0\.0\.1|localhost|\.php\b`) // PHP names its files in warnings
	for i, one := range answers {
		if one.Target != paths[i] {
			t.Errorf("answer %d is to %s, want %s", i, one.Target, paths[i])
		}
		if found := machine.FindString(one.Body); found != "" {
			t.Errorf("%s: the answer has %q", one.Target, found)
		}
	}
}

// writeRecording asks an OSIRIS for all paths, and for one without a key. The file is embedded, so tests read the new
// answers once they are compiled anew.
func writeRecording(t *testing.T, address string) {
	var file bytes.Buffer
	packed, _ := gzip.NewWriterLevel(&file, gzip.BestCompression) // the level is valid
	lines := json.NewEncoder(packed)
	lines.SetEscapeHTML(false)
	ask := func(target, key string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = recordedHost
		if key != "" {
			req.Header.Set("X-API-Key", key)
		}
		res, err := http.DefaultTransport.RoundTrip(req) // which does not follow redirections
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		one := Recorded{target, key == "", res.StatusCode, res.Header.Get("Content-Type"), res.Header.Get("Location"),
			string(body)}
		if err := lines.Encode(one); err != nil {
			t.Fatal(err)
		}
	}
	asked := RecordedPaths(t)
	for _, target := range slices.Concat(asked, evidence(asked)) {
		ask(target, RecordedKey)
	}
	ask("/api/html", "")
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recordingFile, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// evidence returns the paths that a comparison asks for in addition to others, where two answers prove too little.
func evidence(paths []string) (more []string) {
	more = []string{"/api/activities?columns[]=year&columns[]=month&columns[]=day&columns[]=start&columns[]=end"}
	page := regexp.MustCompile(`(limit|offset)=[^&]*&?`)
	for _, one := range paths {
		whole := strings.TrimRight(page.ReplaceAllString(one, ""), "?&")
		if !slices.Contains(paths, whole) && !slices.Contains(more, whole) {
			more = append(more, whole)
		}
		if strings.Contains(one, "aggregate=") && !strings.Contains(one, "json=") {
			more = append(more, whole+"&json=%7B%22_id%22%3A%7B%22%24exists%22%3Atrue%7D%7D")
		}
	}
	return more
}

// TestReplay asks for a recorded answer by both kinds of keys, without one, and for a path that is not recorded.
func TestReplay(t *testing.T) {
	address := Replay(t)
	host := strings.TrimPrefix(address, "http://")
	get := func(target, key string) (status int, body string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-Key", key)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	for _, one := range Recording(t) {
		status, body := get(one.Target, RecordedKey)
		if status != one.Status || strings.ReplaceAll(body, host, recordedHost) != one.Body {
			t.Errorf("%s: status %d, %.100s", one.Target, status, body)
		}
	}
	const target = "/api/html?limit=1"
	_, whole := get(target, RecordedKey)
	if _, body := get(target+"&apikey="+RecordedKey, ""); body != whole {
		t.Errorf("with the key as parameter: %s", body)
	}
	if _, body := get(target, "another"); !strings.Contains(body, "PermissionDenied") {
		t.Errorf("with another key: %s", body)
	}
	if status, _ := get("/api/nothing", RecordedKey); status != http.StatusFound {
		t.Errorf("a path that is not recorded: status %d", status)
	}
	if _, body := get("/portfolio/person/5a6eb0b2aac85340ae7463d6", ""); !strings.Contains(body, host) {
		t.Errorf("the address of the server is not in %s", body)
	}
}
