package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlaceString(t *testing.T) {
	for want, place := range map[string]Place{
		"":              {},
		"vitrine.yml":   {source: atFile, name: "vitrine.yml"},
		"vitrine.yml:7": {source: atFile, name: "vitrine.yml", line: 7},
		"VITRINE_STORE": {source: atVariable, name: "VITRINE_STORE"},
		"--store":       {source: atFlag, name: "--store"},
		"preset osiris": {name: "preset osiris"},
	} {
		if got := place.String(); got != want {
			t.Errorf("%+v: %q, want %q", place, got, want)
		}
	}
}

func TestErrorString(t *testing.T) {
	for want, e := range map[string]Error{
		"r":            {Reason: "r"},
		"a.b: r":       {Path: "a.b", Reason: "r"},
		"--f: r":       {Place: Place{source: atFlag, name: "--f"}, Reason: "r"},
		"x:2: a.b: r":  {Place: Place{source: atFile, name: "x", line: 2}, Path: "a.b", Reason: "r"},
		"V_X: a.b: no": {Place: Place{source: atVariable, name: "V_X"}, Path: "a.b", Reason: "no"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestMistakesAreSorted: mistakes in the file come first, from top to bottom, then those in
// variables, then those in flags, in whatever order they are found.
func TestMistakesAreSorted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.yml")
	content := "start_year: x\nlistn: :1\nlog: {level: loud, format: xml}\nviews:\n  poll: 0\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(Sources{
		Environ: []string{"VITRINE_CONFIG=" + file, "VITRINE_TIMEZONE=Mars", "VITRINE_LIMITS_RATE=x"},
		Flags:   flags(t, "--store=x", "--listen=x"),
	})
	var got []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		words := strings.SplitN(strings.ReplaceAll(line, file, "v.yml"), ": ", 3)
		got = append(got, words[0]+" "+words[1])
	}
	want := []string{
		"v.yml:1 start_year", "v.yml:2 listn", "v.yml:3 log.format", "v.yml:3 log.level", "v.yml:5 views.poll",
		"VITRINE_LIMITS_RATE limits.rate", "VITRINE_TIMEZONE timezone", "--listen listen", "--store store",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSuggestionsFromTheSameSection: a name in the section of the unknown one is preferred to an
// equally near name in another section.
func TestSuggestionsFromTheSameSection(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.yml")
	for content, want := range map[string]string{
		"mongo: {batc: 1}":           "mongo.batc: unknown key, did you mean mongo.batch?",
		"materialize: {leas: 1}":     "materialize.leas: unknown key, did you mean materialize.lease?",
		"http: {cors: {origin: 1s}}": "http.cors.origin: unknown key, did you mean http.cors.origins?",
		"acess: {anonymous: []}":     "acess: unknown key, did you mean access?",
		"http: {cros: {}}":           "http.cros: unknown key, did you mean http.cors?",
		"qqqqqqqqqqqq: 1":            "qqqqqqqqqqqq: unknown key",
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(inFile(file)); err == nil || err.Error() != file+":1: "+want {
			t.Errorf("%s: got %v, want %s", content, err, want)
		}
	}
}
