package lists

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// block is a block of code in a page of the documentation: its language, and what else stands behind that.
type block struct{ lang, name, code string }

// blocks returns the blocks of code of a page, in their order.
func blocks(t *testing.T, page string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)\n```(\\w+) ?([^\n]*)\n(.*?)```")
	for _, m := range code.FindAllStringSubmatch(string(text), -1) {
		all = append(all, block{m[1], m[2], m[3]})
	}
	return all
}

// TestNewcomer: docs/records.md alone leads from an empty folder to a list. The test does what the page says, with
// its files and commands to the letter, and expects what the page shows. Only the port is another.
func TestNewcomer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var served *programtest.Server
	said := "" // what the last command printed, on both outputs
	page := blocks(t, "../../../../docs/records.md")
	for _, b := range page {
		switch {
		case b.lang == "json":
			if err := os.WriteFile(filepath.Join(dir, b.name), []byte(b.code), 0o644); err != nil {
				t.Fatal(err)
			}
		case b.lang == "text" && !strings.HasSuffix(strings.TrimSpace(said), strings.TrimSpace(b.code)):
			t.Errorf("the page shows\n%s\nand the last command printed\n%s", b.code, said)
		case b.lang == "sh":
			command := strings.TrimSpace(b.code)
			if address, ok := strings.CutPrefix(command, "curl 'http://localhost:8080"); ok {
				_, said = served.Get(strings.TrimSuffix(address, "'"))
				continue
			}
			args := strings.Fields(command)
			if args[0] != "vitrine" {
				t.Fatalf("unknown command: %s", command)
			}
			if args[1] == "serve" {
				served = programtest.Start(t, dir, args[2:]...).Ready()
				continue
			}
			if args[1] == "check" { // a server answers, too, if it has an admin listener
				served.Stop()
			}
			stdout, stderr, err := programtest.Outcome(dir, args[1:]...)
			if said = stdout + stderr; err != nil {
				t.Fatalf("%s: %v\n%s", command, err, said)
			}
		}
		if served != nil && strings.Contains(b.code, "deep=1") {
			shows(t, served, page)
		}
	}
	if served == nil || !strings.Contains(said, "activities") {
		t.Fatalf("the page does not go as far as to check the records: %s", said)
	}
}

// shows checks what the page says of lists, which a browser shows.
func shows(t *testing.T, s *programtest.Server, page []block) {
	t.Helper()
	status, list := s.Get("/lists/activities?group=year&lang=en", "Accept", "text/html")
	if status != http.StatusOK || !strings.Contains(list, "9 entries") {
		t.Errorf("the list: %d\n%s", status, list)
	}
	var years []string
	for _, m := range regexp.MustCompile(`<h\d[^>]*>(\d{4})<`).FindAllStringSubmatch(list, -1) {
		years = append(years, m[1])
	}
	if !slices.Equal(years, []string{"2025", "2024", "2023", "2022"}) {
		t.Errorf("the list has the headings %v", years)
	}
	titles := regexp.MustCompile(`"title": "([^"]*)"`).FindAllStringSubmatch(page[0].code, -1)
	if len(titles) != 10 {
		t.Errorf("%d records", len(titles))
	}
	for i, title := range titles {
		if hidden := i == len(titles)-1; strings.Contains(list, title[1]) == hidden {
			t.Errorf("%q in the list: %v", title[1], !hidden)
		}
	}
	for path, want := range map[string]string{
		"/lists/person/amoe.json": `{"title":"Moe, Anna","count":4,`,
		"/lists/unit/BIRDS.json":  `{"title":"Birds by Night","count":2,`,
	} {
		if _, body := s.Get(path); !strings.HasPrefix(body, want) {
			t.Errorf("%s: %s", path, body)
		}
	}
}
