package page_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/texts"
)

var update = flag.Bool("update", false, "write the golden files")

// hashes matches the hashes in the names of files, which change with the content.
var hashes = regexp.MustCompile(`\.[0-9a-f]{12}\.(css|js)`)

func TestGolden(t *testing.T) {
	for name, got := range documents() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".html")
			got = hashes.ReplaceAll(got, []byte(".hash.$1"))
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("differs from %s; see it with -update and git diff", file)
			}
		})
	}
}

// TestPolicy: a page may load the logo, and nothing else of other sites.
func TestPolicy(t *testing.T) {
	if got, own := page.Policy("https://www.institute.example/a/logo.svg", false), page.Policy("", false); got !=
		strings.Replace(own, "data:", "data: https://www.institute.example", 1) {
		t.Errorf("with a logo %s, without %s", got, own)
	}
}

// TestGuide: the guide names this server in its examples, and all its links lead somewhere.
func TestGuide(t *testing.T) {
	doc := string(page.Guide(page.Head{Lang: "en", Base: "https://lists.example"}))
	if strings.Contains(doc, "https://data.institute.example") ||
		!strings.Contains(doc, "&lt;vitrine-list src=&quot;https://lists.example/lists/unit/BIO&quot;") {
		t.Error("the examples do not name the server")
	}
	if !strings.Contains(string(page.Guide(page.Head{})), "https://data.institute.example/lists/") {
		t.Error("without an address the examples have none")
	}
	for _, doc := range []string{doc, string(page.Records(page.Head{Lang: "en", Base: "https://lists.example"}))} {
		for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(doc, -1) {
			id, inside := strings.CutPrefix(m[1], "#")
			if inside && !strings.Contains(doc, ` id="`+id+`"`) || strings.Contains(m[1], ".md") {
				t.Errorf("a link leads nowhere: %s", m[1])
			}
		}
	}
}

// TestMarkup: whatever the values, a document contains only our own scripts and styles, no event
// handlers and no executable addresses, and its ids are unique.
func TestMarkup(t *testing.T) {
	for name, doc := range documents() {
		t.Run(name, func(t *testing.T) {
			root, err := html.Parse(bytes.NewReader(doc))
			if err != nil {
				t.Fatal(err)
			}
			ids := map[string]bool{}
			for n := range root.Descendants() {
				if n.Type == html.ElementNode {
					checkElement(t, n, ids)
				}
			}
			for n := range root.Descendants() {
				for _, a := range n.Attr {
					if points := a.Key == "for" || a.Key == "list" || a.Key == "aria-labelledby" ||
						a.Key == "aria-describedby" || a.Key == "data-copy"; points && !ids[a.Val] {
						t.Errorf("%s=%q refers to a missing id", a.Key, a.Val)
					}
				}
			}
		})
	}
}

// ours are the elements of our documents and of citations.
var ours = strings.Fields(`html head meta title base link script body header nav main footer section aside article
	form fieldset legend input datalist select option label button details summary
	h1 h2 h3 h4 h5 h6 p div span ol ul li dl dt dd a b i em mark strong small sub sup u br time pre bdi
	figure figcaption svg g rect text table thead tbody tr th td img`)

func checkElement(t *testing.T, n *html.Node, ids map[string]bool) {
	t.Helper()
	if !slices.Contains(ours, n.Data) {
		t.Errorf("element %s", n.Data)
	}
	attrs := map[string]string{}
	for _, a := range n.Attr {
		attrs[a.Key] = a.Val
		href := a.Key == "href" || a.Key == "src" || a.Key == "action"
		// Persons are called and written to, but an address of mail says nothing of the letter.
		call := a.Key == "href" && regexp.MustCompile(`^(mailto:[^?]+|tel:\+[0-9]+)$`).MatchString(a.Val)
		switch {
		case strings.HasPrefix(a.Key, "on") || a.Key == "style":
			t.Errorf("%s has the attribute %s", n.Data, a.Key)
		case href && !call && !strings.HasPrefix(a.Val, "https://") &&
			(!strings.HasPrefix(a.Val, "/") || strings.HasPrefix(a.Val, "//") || strings.HasPrefix(a.Val, `/\`)) &&
			a.Val != "#vl_main" && a.Val != "#ZgotmplZ":
			t.Errorf("%s links to %q", n.Data, a.Val)
		case strings.ContainsAny(a.Val, "\x00\x07"):
			t.Errorf("%s has control characters", a.Key)
		}
	}
	if id, ok := attrs["id"]; ok {
		if ids[id] || !regexp.MustCompile(`^vl[-_][A-Za-z0-9_-]+$`).MatchString(id) {
			t.Errorf("id %q is not unique or not valid", id)
		}
		ids[id] = true
	}
	if n.DataAtom == atom.Script && attrs["type"] != "application/ld+json" &&
		(!regexp.MustCompile(`^(/vitrine)?/lists/[a-z]+\.[0-9a-f]{12}\.js$`).MatchString(attrs["src"]) ||
			n.FirstChild != nil) {
		t.Errorf("script of the type %q from %q", attrs["type"], attrs["src"])
	}
}

// TestFragmentsInOnePage: the ids of several lists on a page do not collide, even if two show the
// same list.
func TestFragmentsInOnePage(t *testing.T) {
	other, filtered := plainList(), plainList()
	other.Self = base + "/lists/unit-BIO"
	filtered.Self += "&year=2024"
	ids := map[string]int{}
	for _, l := range []*page.List{plainList(), other, filtered} {
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllSubmatch(page.Fragment(l), -1) {
			if ids[string(m[1])]++; ids[string(m[1])] > 1 {
				t.Errorf("two of %s", m[1])
			}
		}
	}
	if len(ids) != 3*(2+2+3) {
		t.Errorf("%d ids, want 21: of sections, titles, groups and items", len(ids))
	}
}

// TestRepeatedRecord: a record that a list shows in several groups has a different id in each.
func TestRepeatedRecord(t *testing.T) {
	l := plainList()
	l.Items = append(l.Items, l.Items...)
	l.Items = append(l.Items, l.Items[0])
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllSubmatch(page.Fragment(l), -1) {
		if ids[string(m[1])] {
			t.Errorf("two of %s", m[1])
		}
		ids[string(m[1])] = true
	}
	if len(ids) != 2+5+len(l.Items) {
		t.Errorf("%d ids of a section, its title, 5 groups and %d items", len(ids), len(l.Items))
	}
}

func TestHeadings(t *testing.T) {
	for heading, want := range map[int]string{0: "h2 h3 h3", 1: "h1 h2 h2", 2: "h2 h3 h3", 5: "h5 h6 h6",
		6: "h6 h6+7 h6+7", 7: "h2 h3 h3", -1: "h2 h3 h3"} {
		l := plainList()
		l.Heading = heading
		var got []string
		for _, m := range regexp.MustCompile(`<(h\d)(?: aria-level="(\d)")?`).FindAllSubmatch(page.Fragment(l), -1) {
			got = append(got, strings.TrimSuffix(string(m[1])+"+"+string(m[2]), "+"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("h=%d: %v, want %s", heading, got, want)
		}
	}
}

// TestUntitled: without its heading a list is labelled still. Groups stay below the level of the heading.
func TestUntitled(t *testing.T) {
	l := plainList()
	l.Heading, l.Untitled = 3, true
	l.Items[0].Groups = append(l.Items[0].Groups, page.Group{By: "type", Value: "article", Label: "Articles"})
	got := string(page.Fragment(l))
	if strings.Contains(got, "vl-title") || strings.Contains(got, "aria-labelledby") ||
		!strings.Contains(got, ` aria-label="`+html.EscapeString(l.Title)+`"`) || !strings.Contains(got, "<h4 ") ||
		!strings.Contains(got, "<h5 ") {
		t.Error(got)
	}
	const unseen = ` class="vl-unseen" dir="auto">`
	if got := string(page.Page(l)); strings.Contains(got, unseen) ||
		strings.Contains(got, "aria-label=\""+html.EscapeString(l.Title)) {
		t.Error("our page hides its title")
	}
	l.Embed = true
	if got := string(page.Page(l)); !strings.Contains(got, unseen) {
		t.Error("a page for an iframe shows its title")
	}
}

func TestCounts(t *testing.T) {
	for _, tt := range []struct {
		lang               string
		count, page, items int
		want               string
	}{
		{"en", 0, 1, 0, "Nothing was found."}, {"de", 0, 1, 0, "Nichts gefunden."},
		{"en", 1, 1, 1, "1 entry"}, {"de", 1, 1, 1, "1 Eintrag"},
		{"en", 2, 1, 2, "2 entries"}, {"de-AT", 2, 1, 2, "2 Einträge"}, {"fr", 2, 1, 2, "2 entries"},
		{"en", 1234567, 1, 25, "1,234,567 entries, 1–25"}, {"de", 1234, 42, 25, "1.234 Einträge, 1.026–1.050"},
		{"en", 26, 2, 1, "26 entries, 26"}, {"en", 26, 3, 0, "26 entries"}, {"en", 999, 1, 25, "999 entries, 1–25"},
	} {
		l := &page.List{Head: page.Head{Lang: tt.lang}, Count: tt.count, Page: tt.page, Limit: 25,
			Items: make([]page.Item, tt.items)}
		if want := `<p class="vl-count" dir="auto">` + tt.want +
			`</p>`; !bytes.Contains(page.Fragment(l), []byte(want)) {
			t.Errorf("%d of %d in %s: want %s in\n%s", tt.items, tt.count, tt.lang, want, page.Fragment(l))
		}
	}
}

// TestTexts: templates use only texts that exist, and no label on a page is empty.
func TestTexts(t *testing.T) {
	files, err := filepath.Glob("templates/*.tmpl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`T "([^"]*)"`).FindAllSubmatch(src, -1) {
			if name := string(m[1]); texts.In("de").T(name) == name {
				t.Errorf("%s: no text %s", file, m[1])
			}
		}
	}
	for name, doc := range documents() {
		for _, m := range regexp.MustCompile(`>(?:sort|group)-[a-z-]*<`).FindAll(doc, -1) {
			t.Errorf("%s has %s", name, m)
		}
	}
}

// TestIncludeQuotes: an include reads no part of a list's address as a variable.
func TestIncludeQuotes(t *testing.T) {
	doc := start(page.Head{Lang: "en", Base: base},
		[]page.Section{{Lists: []page.ListEntry{{Title: "A", Href: base + "/lists/unit/A$B"}}}})
	if n := bytes.Count(doc, []byte(`include virtual=&#34;/vitrine/lists/unit/A%24B.html&#34;`)); n != 2 {
		t.Errorf("%d includes, want 2", n)
	}
}

func TestFiles(t *testing.T) {
	names := slices.Sorted(maps.Keys(documents()))
	for _, name := range []string{"list.css", "page.css", "page.js", "start.js"} {
		f := element.Current(name)
		if !regexp.MustCompile(`^/lists/[a-z]+\.[0-9a-f]{12}\.(css|js)$`).MatchString(f.Path) || f.Type == "" ||
			len(f.Body) == 0 {
			t.Errorf("%s of %s, %d bytes", f.Path, f.Type, len(f.Body))
		}
		if !slices.ContainsFunc(names, func(name string) bool {
			return bytes.Contains(documents()[name], []byte("/vitrine"+f.Path))
		}) {
			t.Errorf("no page loads %s", f.Path)
		}
		for _, word := range []string{"http:", "https:", "@import", "url(", "innerHTML", "insertAdjacentHTML",
			"document.write", "eval(", "Function("} {
			if bytes.Contains(f.Body, []byte(word)) {
				t.Errorf("%s has %s", f.Path, word)
			}
		}
	}
}

func BenchmarkFragment(b *testing.B) {
	l, items := plainList(), make([]page.Item, 25)
	for i := range items {
		items[i] = item("2024", fmt.Sprintf("%024x", i), citation, "en")
	}
	l.Items, l.JSONLD = items, nil
	b.ReportAllocs()
	b.SetBytes(int64(len(page.Fragment(l))))
	for b.Loop() {
		page.Fragment(l)
	}
}

func BenchmarkPage(b *testing.B) {
	l := plainList()
	values := slices.Repeat(l.Facets[0].Values, 50)
	for i := range l.Facets {
		l.Facets[i].Values = values
	}
	b.ReportAllocs()
	for b.Loop() {
		page.Page(l)
	}
}

// TestSnippets: without a base they have a placeholder for it, and the path of a server-side
// include contains no variable.
func TestSnippets(t *testing.T) {
	start := func(base string) string {
		doc := start(page.Head{Base: base},
			[]page.Section{{Lists: []page.ListEntry{{Href: base + "/lists/unit/A$B", Title: "A$B"}}}})
		return html.UnescapeString(html.UnescapeString(string(doc)))
	}
	for base, own := range map[string]string{base: base, "": "https://ADDRESS-OF-THIS-SERVER"} {
		doc := start(base)
		for _, want := range []string{`virtual="/vitrine/lists/unit/A%24B.html"`, `src="` + own + `/lists/unit/A$B"`,
			`src="` + own + `/lists/list.js"`, "'" + own + `/lists/unit/A$B.bib'`, "proxy_pass " + own + "/;"} {
			if !strings.Contains(doc, want) {
				t.Errorf("base %q: no %s", base, want)
			}
		}
	}
}
