package lists

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unicode/utf8"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/compare"
)

type demoRecord = map[string]any

// serveChanged serves the demo institute with changes of its records, by collection.
func serveChanged(t *testing.T, changes map[string]func(all []demoRecord) []demoRecord) *programtest.Server {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob("../../../../configs/demo/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		var all []demoRecord
		for line := range strings.Lines(string(text)) {
			var one demoRecord
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		if change := changes[name]; change != nil {
			all = change(all)
		}
		var out bytes.Buffer
		for _, one := range all {
			line, _ := json.Marshal(one) // cannot fail: it was JSON
			out.Write(append(line, '\n'))
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	programtest.Setenv(dir, "VITRINE_ACCESS_ANONYMOUS", "projects.view,proposals.view,portfolio-spectrum")
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", ".")
	return programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
}

// runCompare runs the command and returns its report and exit code.
func runCompare(t *testing.T, dir string, args ...string) (r compare.Report, code int, stderr string) {
	t.Helper()
	cmd := programtest.Command(dir,
		append([]string{"compare", "--json", "--rate", "0", "--examples", "1000"}, args...)...)
	var stdout, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &errors
	_ = cmd.Run() // the code says how it ended
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatalf("%v in %.500s%s", err, stdout.String(), errors.String())
	}
	return r, cmd.ProcessState.ExitCode(), errors.String()
}

// writeLog writes a log of paths.
func writeLog(t *testing.T, dir string, paths ...string) (name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "log"), []byte(strings.Join(paths, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return "log"
}

// found returns the differences of a report that are not on purpose.
func found(r compare.Report) (all []string) {
	for _, g := range r.Differences() {
		for _, x := range g.Examples {
			if g.Reason == "" {
				all = append(all,
					strings.Join(strings.Fields(fmt.Sprint(g.Endpoint, " ", g.Kind, " ", g.Path, " ", x.Row)), " "))
			}
		}
	}
	slices.Sort(all)
	return all
}

func wantFound(t *testing.T, r compare.Report, want []string) {
	t.Helper()
	slices.Sort(want)
	got := found(r)
	for _, one := range got {
		if !slices.Contains(want, one) {
			t.Errorf("not planted: %s", one)
		}
	}
	for _, one := range want {
		if !slices.Contains(got, one) {
			t.Errorf("not found: %s", one)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d differences, want %d", len(got), len(want))
	}
}

// TestComparePlanted: of two institutes the command finds the 20 planted differences, and nothing else.
func TestComparePlanted(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	var paths, want []string
	id := func(r demoRecord) string { return r["_id"].(demoRecord)["$oid"].(string) }
	activity := func(r demoRecord, column string) {
		paths = append(paths, "/api/activities?columns[]="+column+"&json="+url.QueryEscape(`{"_id":"`+id(r)+`"}`))
	}
	plant := func(difference string) { want = append(want, strings.TrimSpace(difference)) }
	changes := map[string]func([]demoRecord) []demoRecord{
		"activities": func(all []demoRecord) []demoRecord {
			for _, r := range all[:300] {
				activity(r, "subtype")
			}
			suited := slices.DeleteFunc(slices.Clone(all), func(r demoRecord) bool {
				units, _ := r["units"].([]any)
				topics, _ := r["topics"].([]any)
				return r["publisher"] == nil || r["doi"] == nil || len(units) < 2 || topics == nil
			})
			for i, change := range []struct {
				column, difference string
				apply              func(r demoRecord)
			}{
				{"doi", "field changed $.data[*].doi", func(r demoRecord) { r["doi"] = "10.1/changed" }},
				{"publisher", "field missing $.data[*].publisher", func(r demoRecord) { delete(r, "publisher") }},
				{"topics", "field added $.data[*].topics[*]",
					func(r demoRecord) { r["topics"] = append(r["topics"].([]any), "planted") }},
				{"units", "order $.data[*].units[*]",
					func(r demoRecord) { u := r["units"].([]any); u[0], u[1] = u[1], u[0] }},
				{"year", "field changed $.data[*].year", func(r demoRecord) { r["year"] = fmt.Sprint(r["year"]) }},
				{"title", "field changed $.data[*].title",
					func(r demoRecord) { r["rendered"].(demoRecord)["title"] = "Another title" }},
				{"web", "words $.data[*].web a", func(r demoRecord) {
					s := r["rendered"].(demoRecord)
					s["web"] = strings.Replace(s["web"].(string), "'>", "'>Planted ", 1)
				}},
			} {
				r := suited[i]
				activity(r, change.column)
				change.apply(r)
				plant("/api/activities " + change.difference + " " + id(r))
			}
			gone := all[500]
			activity(gone, "title")
			plant("/api/activities count $.count")
			plant("/api/activities row missing $.data[*] " + id(gone))
			return slices.Delete(all, 500, 501)
		},
		"persons": func(all []demoRecord) []demoRecord {
			named := slices.DeleteFunc(slices.Clone(all), func(r demoRecord) bool { return r["username"] == nil })
			for _, r := range named {
				paths = append(paths, "/api/users/"+r["username"].(string), "/api/user-units/"+r["username"].(string))
			}
			named[3]["position"] = "Planted"
			plant("/api/users/{…} field changed $.data.position")
			membership := named[4]["units"].([]any)[0].(demoRecord)
			membership["start"] = "1999-01-01"
			unit, _ := membership["id"].(string)
			plant("/api/users/{…} field changed $.data.units[*].start " + unit)
			plant("/api/user-units/{…} field changed $.data.units[*].start " + unit)
			plant("/api/users/{…} status")
			plant("/api/user-units/{…} status")
			return slices.DeleteFunc(all, func(r demoRecord) bool { return id(r) == id(named[5]) })
		},
		"conferences": func(all []demoRecord) []demoRecord {
			paths = append(paths, "/api/events", "/api/conferences")
			for _, endpoint := range []string{"/api/events", "/api/conferences"} {
				plant(endpoint + " field changed $.data[*].location " + id(all[0]))
				plant(endpoint + " row missing $.data[*] " + id(all[1]))
				plant(endpoint + " order $.data[*] " + id(all[2]))
				plant(endpoint + " field changed $.data[*].start " + id(all[2]))
				plant(endpoint + " row added $.data[*] aaaaaaaaaaaaaaaaaaaaaaaa")
			}
			all[0]["location"] = "Elsewhere"
			all[2]["start"] = "2031-01-01"
			added := demoRecord{"_id": demoRecord{"$oid": "aaaaaaaaaaaaaaaaaaaaaaaa"}, "title": "New",
				"start": "2030-01-01"}
			return append(slices.Delete(all, 1, 2), added)
		},
		"journals": func(all []demoRecord) []demoRecord {
			paths = append(paths, "/api/search/journals", "/api/search/journals?limit=2")
			all[11]["publisher"] = "Loud Press"
			plant("/api/search/journals field changed $.data[*].publisher " + id(all[11]))
			plant("/api/search/journals count $.count")
			plant("/api/search/journals count $.count")
			plant("/api/search/journals row added $.data[*] ffffffffffffffffffffffff")
			return append(all, demoRecord{"_id": demoRecord{"$oid": "ffffffffffffffffffffffff"}, "journal": "New"})
		},
		"projects": func(all []demoRecord) []demoRecord {
			paths = append(paths, "/api/projects?raw&columns[]=public",
				"/api/projects?aggregate=funder&json="+url.QueryEscape(`{"name":{"$ne":"x"}}`))
			all[0]["public"] = true
			plant("/api/projects field changed $.data[*].public " + id(all[0]))
			return all
		},
		"deadlines": func(all []demoRecord) []demoRecord {
			paths = append(paths, "/api/deadlines")
			all[0]["title"] = "Planted"
			plant("/api/deadlines field changed $.data[*].title " + id(all[0]))
			return all
		},
		"proposals": func(all []demoRecord) []demoRecord {
			paths = append(paths, "/api/search/proposals?raw")
			all[2]["title"] = "Planted"
			plant("/api/search/proposals field changed $.data[*].title " + id(all[2]))
			return all
		},
	}
	was, is := serveChanged(t, nil), serveChanged(t, changes)
	dir := t.TempDir()
	log := writeLog(t, dir, append(paths, paths...)...)
	r, code, stderr := runCompare(t, dir, "--strict", "--old", was.Base, "--new", is.Base, log)
	wantFound(t, r, want)
	if code != 1 || !strings.Contains(stderr, "answers differ") || r.Total.Requests != 2*len(paths) ||
		r.Total.Asked != len(paths) || r.Total.Failed > 0 {
		t.Errorf("exit code %d, %s%+v", code, stderr, r.Total)
	}
	if r, code, stderr = runCompare(t, dir, "--strict", "--old", was.Base, "--new", was.Base, log); code != 0 ||
		stderr != "" || r.Total.Agree != len(paths) {
		t.Errorf("with itself: exit code %d, %s%+v %v", code, stderr, r.Total, found(r))
	}
}

// osirisAnswers plays what an OSIRIS installation answers, recorded from Vitrine's answers and written in its way:
// 200 for all, PHP's JSON, unsorted rows, the first for days and months that are unknown, links to persons.
func osirisAnswers(t *testing.T, s *programtest.Server, key func(path string) string,
	plant func(path string, body any)) *httptest.Server {
	t.Helper()
	month := regexp.MustCompile(`(^|[^.\d])(\d\d\.20\d\d)\b`)
	var rewrite func(name string, v any) any
	rewrite = func(name string, v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name := range v {
				v[name] = rewrite(name, v[name])
			}
		case []any:
			for i := range v {
				v[i] = rewrite("", v[i])
			}
		case string:
			if name == "portfolio" {
				v = strings.NewReplacer("<b>", "<a href='/person/1'><b>", "</b>", "</b></a>").Replace(v)
			}
			return month.ReplaceAllString(v, "${1}01.$2")
		}
		return v
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("X-API-Key") != key(r.URL.Path) ||
			strings.Contains(r.URL.RawQuery, "key") {
			t.Errorf("asked %s %s", r.Method, r.RequestURI)
		}
		_, text := s.Get(r.RequestURI, "X-API-Key", key(r.URL.Path))
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var body map[string]any
		if err := d.Decode(&body); err != nil {
			t.Errorf("%s: %v", r.RequestURI, err)
			return
		}
		if body["error"] != nil {
			body["msg"] = "Fehler"
		}
		rows, _ := body["data"].([]any)
		if !strings.HasPrefix(r.URL.Path, "/portfolio") && r.URL.Path != "/api/spectrum-activities" &&
			!r.URL.Query().Has("full") {
			slices.Reverse(rows)
		}
		if r.URL.Path == "/api/activities" && !r.URL.Query().Has("full") {
			sortByYear(rows)
		}
		rewrite("", body)
		plant(r.RequestURI, body)
		plain, _ := json.Marshal(body) // cannot fail: it was JSON
		w.Header().Set("Content-Type", "application/json")
		for _, c := range strings.ReplaceAll(string(plain), "/", `\/`) {
			switch {
			case c < utf8.RuneSelf:
				fmt.Fprintf(w, "%c", c)
			default:
				fmt.Fprintf(w, `\u%04x`, c)
			}
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// sortByYear sorts rows as OSIRIS does: those of a year are in any order.
func sortByYear(rows []any) {
	year := func(row any) float64 {
		n, _ := row.(map[string]any)["year"].(json.Number)
		f, _ := n.Float64() // 0 for what is none
		return f
	}
	slices.SortStableFunc(rows, func(a, b any) int { return cmp.Compare(year(b), year(a)) })
}

// TestCompareTwins: between two servers of the same data nothing differs, although they have read it at different
// times.
func TestCompareTwins(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	const twin = "f6558bfaa44ec6c42ea00ccd" // an activity
	one, other := serveChanged(t, nil), serveChanged(t, nil)
	paths := []string{"/lists", "/lists.json", "/lists/activities", "/lists/activities.json", "/lists/projects",
		"/lists/events", "/lists/publications", "/lists/unit/ECO", "/lists/unit/ECO?lang=de",
		"/lists/activities.atom", "/lists/activities.rss", "/lists/activities.bib", "/lists/activities.csv",
		"/lists/activities.feed.json", "/lists/projects.atom", "/lists/projects.rss", "/lists/events.rss",
		"/lists/projects.feed.json", "/lists/events.feed.json", "/lists/activities.rss?q=xyzzyx",
		"/items/" + twin, "/items/" + twin + ".json", "/items/" + twin + ".jsonld", "/api/activities",
		"/api/activities?limit=7&offset=14", "/api/html", "/api/all-activities",
		"/api/search/persons?columns[]=units.unit", "/api/projects", "/portfolio/spectrum"}
	dir := t.TempDir()
	r, code, stderr := runCompare(t, dir, "--old", one.Base, "--new", other.Base, writeLog(t, dir, paths...))
	if code != 0 || r.Total.Differ+r.Total.Failed > 0 || r.Total.Asked != len(paths) {
		t.Errorf("exit code %d, %s%+v %v", code, stderr, r.Total, found(r))
	}
	for _, g := range r.Differences() {
		if g.Relation != "instant" {
			t.Errorf("%+v", g)
		}
	}
}

// TestCompareOsiris: beside answers in OSIRIS's way, the command reports what was planted in them, and no key.
func TestCompareOsiris(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := programtest.ImportOsiris(t)
	s := programtest.Start(t, dir, "--store", "bolt://v.db", "--preset", "osiris").Ready()
	const columns = "/api/activities?columns[]=print&columns[]=web&columns[]=rendered.portfolio&columns[]=year"
	paths := []string{"/api/activities", "/api/html", "/api/all-activities", columns, "/api/activities?full=1",
		"/api/search/persons", "/api/projects-by-funding-number",
		"/api/user-units/ada", "/api/user-units/unknown", "/api/users/ada", "/portfolio/spectrum",
		"/api/spectrum-activities?spectrum=Polar+Ice", "/api/search/journals?json=1"}
	key := func(path string) string {
		if strings.HasPrefix(path, "/portfolio") {
			return "portal-key"
		}
		return "institute-key"
	}
	old := osirisAnswers(t, s, key, func(path string, body any) {
		b := body.(map[string]any)
		rows, _ := b["data"].([]any)
		switch path {
		case "/api/html":
			row := rows[0].(map[string]any)
			row["html"] = row["html"].(string) + " planted"
		case columns:
			b["data"], b["count"] = rows[1:], len(rows)-1
		case "/api/search/persons":
			rows[1].(map[string]any)["last"] = "Planted"
		case "/api/user-units/ada":
			b["status"] = 404
		case "/portfolio/spectrum":
			rows[0].(map[string]any)["count"] = 99
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "keys"), []byte("institute-key\r\nportal-key\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	logged := slices.Clone(paths)
	logged[0] += "?apikey=institute-key"
	logged[10] += "?apikey=portal-key"
	r, code, stderr := runCompare(t, dir, "--old", old.URL, "--new", s.Base, "--old-key", "keys", "--new-key", "keys",
		"--html", "page.html", writeLog(t, dir, logged...))
	got := found(r)
	want := []string{"/api/activities count $.count", "/api/activities row added $.data[*]",
		"/api/html field changed $.data[*].html", "/api/search/persons field changed $.data[*].last",
		"/api/user-units/{…} status", "/portfolio/spectrum field changed $.data[*].count"}
	for i, prefix := range want {
		if len(got) != len(want) || !strings.HasPrefix(got[i], prefix) {
			t.Errorf("found %q\nwant %q", got, want)
			break
		}
	}
	if code != 1 || r.Total.Asked != len(paths) || r.Total.Purpose == 0 || r.Total.Errors == 0 ||
		r.Total.Refused > 0 {
		t.Errorf("exit code %d, %s%+v", code, stderr, r.Total)
	}
	page, err := os.ReadFile(filepath.Join(dir, "page.html"))
	printed, _ := json.Marshal(r) // cannot fail: it was JSON
	if err != nil || strings.Contains(string(page)+string(printed)+stderr, "-key\n") ||
		strings.Contains(string(page)+string(printed)+stderr, "institute-key") ||
		strings.Contains(string(page)+string(printed), "portal-key") {
		t.Errorf("a key in the report, or %v", err)
	}
	if r, code, _ = runCompare(t, dir, "--old", s.Base, "--new", s.Base, "log"); code != 0 ||
		r.Total.Refused != len(paths) {
		t.Errorf("without a key: exit code %d, %+v", code, r.Total)
	}
}

// TestCompareMemory: the command reads a log of 100,000 lines in little memory, continues where it was interrupted,
// and asks nothing that a hostile log may make it ask.
func TestCompareMemory(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	row := strings.Repeat(`,{"id":"%[1]d","title":"<i>A title<\/i> of some length"}`, 40)
	var asked atomic.Int64
	begun, interrupted := make(chan struct{}), make(chan struct{})
	serve := func(spelling string) *httptest.Server {
		body := strings.Replace(`{"status":200,"count":40,"data":[`+row[1:]+`]}`, `<\/i>`, spelling, -1)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet && r.Method != http.MethodHead ||
				!strings.HasPrefix(r.URL.Path, "/api/x") || r.Host == "other.example" ||
				strings.Contains(r.RequestURI, "secret") {
				t.Errorf("asked %s %s of %s", r.Method, r.RequestURI, r.Host)
			}
			switch n := asked.Add(1); {
			case n == 500:
				close(begun)
			case n > 500: // the command must not get to the end of the log before it is interrupted
				select {
				case <-interrupted:
				case <-r.Context().Done():
					return
				}
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, body, len(r.RequestURI))
		}))
		t.Cleanup(s.Close)
		return s
	}
	old, new := serve(`<\/i>`), serve(`</i>`)
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range 100_000 {
		fmt.Fprintf(w,
			"::1 - - [27/Nov/2026:20:50:35 +0000] \"GET https://other.example/api/x?apikey=secret&token=secret&"+
				"n=%d HTTP/1.1\" 200 1 \"-\" \"-\"\n", i/80)
		switch i % 1000 {
		case 10:
			fmt.Fprintf(w, "/api/x?%s\n", strings.Repeat("secret", 100_000))
		case 20:
			fmt.Fprint(w,
				"\x00\xff\x1b[2J\n\"POST /api/x HTTP/1.1\"\n\"GET /admin/x HTTP/1.1\"\n\"GET /api/x/../../admin "+
					"HTTP/1.1\"\n\"GET http:/\x01/api/x HTTP/1.1\"\n")
		}
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	args := []string{"compare", "--rate", "0", "--concurrency", "4", "--state", "state", "--old", old.URL, "--new",
		new.URL, "log"}
	cmd := programtest.Command(dir, args...)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the code says how it ended
	close(interrupted)
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(stdout.String(), "/api/x") {
		t.Errorf("interrupted: exit code %d\n%s", code, stdout.String())
	}
	cmd = programtest.Command(dir, args...)
	stdout.Reset()
	cmd.Stdout = &stdout
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, stdout.String())
	}
	if out := stdout.String(); !strings.Contains(out, "200 lines without a request") ||
		!strings.Contains(out, "100000") || !strings.Contains(out, "1250") || strings.Contains(out, "secret") {
		t.Errorf("%s", out)
	}
	most := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	t.Logf("%d MiB", most)
	if most > 200 {
		t.Errorf("%d MiB of memory", most)
	}
	if n := asked.Load(); n > 2*1250+8 { // those that were under way are asked again
		t.Errorf("asked %d times", n)
	}
	if _, err := os.Stat(filepath.Join(dir, "state")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state is still there: %v", err)
	}
}

// TestCompareRefuses: what cannot be compared ends with 2, and says why.
func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rules"), []byte("- {reason: x}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "/api/html?%d\n", i)
	}
	if err := os.WriteFile(filepath.Join(dir, "many"), []byte(many.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	log := writeLog(t, dir, "/api/html")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "want --old URL, at least one LOG"},
		{[]string{log}, "want --old URL"},
		{[]string{"--old", "osiris", log}, "--old: want a web address"},
		{[]string{"--old", "http://127.0.0.1:1", "--new", "ftp://x", log}, "--new: want a web address"},
		{[]string{"--old", "http://127.0.0.1:1", "--rte", "1", log}, "did you mean --rate?"},
		{[]string{"--old", "http://127.0.0.1:1", "--concurrency", "0", log}, "--concurrency from 1"},
		{[]string{"--old", "http://127.0.0.1:1", "--accept", "rules", log}, "rules: rule 1: want a reason"},
		{[]string{"--old", "http://127.0.0.1:1", "--old-key", "none", log}, "open none"},
		// before any is asked
		{[]string{"--old", "http://127.0.0.1:1", log, "none"}, "vitrine: open none"},
		// the report comes before the page
		{[]string{"--old", "http://127.0.0.1:1", "--html", "none/page", log}, "all        1         1"},
		{[]string{"--old", "http://127.0.0.1:1", "--html", "none/page", log}, "vitrine: open none/page"},
		{[]string{"--old", "http://127.0.0.1:1", "--state", "rules", log}, "rules: not the state of a comparison: "},
		{[]string{"--old", "http://127.0.0.1:1", "--state", "none/state", log}, "open none/state.new"},
		{[]string{"--old", "http://127.0.0.1:1", log}, "1 of 1 requests failed"},
		{[]string{"--old", "http://127.0.0.1:1", "--rate", "0", "many", "many", log},
			"not complete: 20 requests in a row failed: "},
		{[]string{"--old", "http://127.0.0.1:1", "rules"}, "the logs have no request to compare"},
	} {
		cmd := programtest.Command(dir, append([]string{"compare"}, tt.args...)...)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 ||
			!strings.Contains(string(out), tt.want) {
			t.Errorf("%q: %v, %s; want %s", tt.args, err, out, tt.want)
		}
	}
}
