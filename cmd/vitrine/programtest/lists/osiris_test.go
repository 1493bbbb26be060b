package lists

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/auth"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("..", "testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}

// TestOsirisDatabase serves the database with only the preset.
func TestOsirisDatabase(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := programtest.ImportOsiris(t)
	s := programtest.Start(t, dir, "--store", "bolt://v.db", "--preset", "osiris").Ready()
	for path, want := range map[string]int{
		"/api/activities":                              http.StatusForbidden,
		"/api/activities?apikey=institute-key":         http.StatusOK,
		"/api/activities?apikey=portal-key":            http.StatusForbidden,
		"/portfolio/spectrum":                          http.StatusForbidden,
		"/portfolio/spectrum?apikey=institute-key":     http.StatusForbidden,
		"/portfolio/spectrum?apikey=portal-key":        http.StatusOK,
		"/api/users/ada?apikey=institute-key":          http.StatusOK,
		"/api/all-activities?apikey=institute-key":     http.StatusOK,
		"/api/user-units/unknown?apikey=institute-key": http.StatusNotFound,
	} {
		if got, body := s.Get(path); got != want {
			t.Errorf("%s: status %d, want %d: %.200s", path, got, want, body)
		}
	}
	var got strings.Builder
	for _, path := range []string{
		"/api/activities?columns[]=type&columns[]=subtype&columns[]=icon&columns[]=print&columns[]=web&" +
			"columns[]=rendered.portfolio&columns[]=rendered.quarter&columns[]=rendered.users",
		"/api/html?x=1",
		"/portfolio/spectrum?x=1",
	} {
		key := "institute-key"
		if strings.HasPrefix(path, "/portfolio") {
			key = "portal-key"
		}
		_, body := s.Get(path + "&apikey=" + key)
		fmt.Fprintf(&got, "%s\n%s\n", path, indented(t, body))
	}
	golden(t, "osiris.golden", got.String())
	wantLogged(t, s)
}

// indented formats JSON for people, with HTML unescaped.
func indented(t *testing.T, body string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wantLogged checks that the program logged every fault in the database once.
func wantLogged(t *testing.T, s *programtest.Server) {
	t.Helper()
	logged := map[string]int{}
	for line := range strings.Lines(s.Log()) {
		var entry struct{ Level, Msg, Collection, ID, Reason string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "setting of the database ignored" {
			logged[entry.Level+" "+entry.Collection+" "+entry.ID+": "+entry.Reason]++
		}
	}
	for _, want := range []string{
		"WARN adminGeneral 65a000000000000000000006: key is missing",
		"WARN adminRights 65a100000000000000000005: role is not text",
		`WARN adminCategories 65a300000000000000000004: icon "<script>" is not an icon's name`,
		"WARN adminCategories 65a300000000000000000005: id is missing",
		`WARN adminTypes 65a400000000000000000005: template.print: unknown field "nonsense", taken for what ` +
			`activities store under that name`,
		"WARN adminTypes 65a400000000000000000006: parent is not text",
		`WARN adminFields 65a500000000000000000003: field "title" exists already`,
		"WARN adminVocabularies 65a700000000000000000001: values holds what is not a document",
	} {
		if logged[want] != 1 {
			t.Errorf("%d log lines, want 1: %s", logged[want], want)
		}
	}
}

func TestOsirisCommand(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := programtest.ImportOsiris(t)
	golden(t, "osiris.txt", programtest.Run(t, dir, "osiris", "--store", "bolt://v.db"))
}

// TestOsirisSessions: roles give persons rights, and let them see types of activities.
func TestOsirisSessions(t *testing.T) {
	t.Parallel()
	dir := programtest.ImportOsiris(t)
	programtest.Setenv(dir, "VITRINE_AUTH_SESSION_JWT_SECRET", "secret")
	s := programtest.Start(t, dir, "--store", "bolt://v.db", "--preset", "osiris").Ready()
	const editorial = "65b000000000000000000005"
	for user, sees := range map[string]bool{
		"ada": true,  // has the role editor
		"ben": true,  // takes part in the editorial
		"cid": false, // has neither the role nor a part in the editorial
	} {
		token, err := auth.MintToken(user, []byte("secret"), auth.SessionOptions{}, time.Now(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		status, body := s.Get("/api/all-activities", "Authorization", "Bearer "+token)
		if got := strings.Contains(body, editorial); status != http.StatusOK || got != sees {
			t.Errorf("%s: status %d, sees the editorial: %v, want %v", user, status, got, sees)
		}
		if !strings.Contains(body, "65b000000000000000000001") {
			t.Errorf("%s does not see the activities that all users see", user)
		}
	}
}

// TestOsirisPrecedence: settings in the configuration override those of the database.
func TestOsirisPrecedence(t *testing.T) {
	t.Parallel()
	dir := programtest.ImportOsiris(t)
	programtest.WriteLines(t, filepath.Join(dir, "vitrine.yml"),
		"store: bolt://v.db", "preset: osiris", "language: en", "start_year: 2022",
		"auth: {api_key: from-the-file, portfolio_key: ''}",
		"access: {roles: {editor: [proposals.view]}, types: {review: [admin], award: [admin]}}",
		"affiliation: {fields: [position]}")
	s := programtest.Start(t, dir, "--config", "vitrine.yml").Ready()
	if status, _ := s.Get("/api/html?apikey=institute-key"); status != http.StatusForbidden {
		t.Errorf("the database's key: status %d", status)
	}
	if status, _ := s.Get("/portfolio/spectrum"); status != http.StatusOK {
		t.Errorf("without a portfolio key: status %d", status)
	}
	_, body := s.Get("/api/activities?apikey=from-the-file&columns[]=type")
	if !strings.Contains(body, `"type":"Talks"`) {
		t.Errorf("labels are not English: %s", body)
	}
	if _, body := s.Get("/api/html?apikey=from-the-file"); programtest.Decode(t, body).Count != 0 {
		t.Errorf("the position of an unknown author counts: %s", body)
	}
}
