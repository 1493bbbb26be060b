package citation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// asJSON parses a page and returns the API response.
func asJSON(t *testing.T, kind, html string) string {
	t.Helper()
	page, err := parsePage([]byte(html), "text/html")
	if err != nil {
		t.Fatal(err)
	}
	var answer any
	if kind == "profile" {
		answer, err = parseProfile(t.Context(), page)
	} else {
		answer, err = parseDocument(t.Context(), page)
	}
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func testPage(t testing.TB, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestParseProfile(t *testing.T) {
	tests := []struct{ name, html, want string }{
		{"a profile", testPage(t, "profile.html"), `{"total_citations":"1284",` +
			`"citations_per_year":{"2020":"210","2022":"118","2023":"177","2024":"135"},"publications":[` +
			`{"title":"Größen \u0026 Grenzen des Wattenmeers","link":"u5HHmVD_uO8C","authors":"M Lindqvist, J ` +
			`Ördög, …","venue":"Küstenforschung 12 (3), 44-61, 2024","citations":"12","year":"2024"},` +
			`{"title":"Tides, once more","link":"d1gkVwhDpl0C","authors":"M Lindqvist","venue":"","citations":0,` +
			`"year":0},` +
			`{"title":"Untitled note","link":"","authors":"","venue":"","citations":0,"year":0}]}`},
		{"no citations, no publications", testPage(t, "empty.html"),
			`{"total_citations":null,"citations_per_year":[],"publications":[]}`},
		{"no years", testPage(t, "no_years.html"), `{"total_citations":"0","citations_per_year":[],"publications":[` +
			`{"title":"First steps","link":"abc","authors":"A Author","venue":"A venue","citations":0,` +
			`"year":"2025"}]}`},
		{"cut in the middle of a row", before(testPage(t, "no_years.html"), `<div class="gs_gray">A venue`),
			`{"total_citations":"0","citations_per_year":[],"publications":[` +
				`{"title":"First steps","link":"abc","authors":"A Author","venue":"","citations":0,"year":0}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := asJSON(t, "profile", tt.html); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func before(s, mark string) string {
	s, _, _ = strings.Cut(s, mark)
	return s
}

func TestParseYears(t *testing.T) {
	years := func(labels ...string) string {
		return `<span class="gsc_g_t">` + strings.Join(labels, `</span><span class="gsc_g_t">`) + `</span>`
	}
	bar := func(attributes, count string) string {
		return `<a ` + attributes + `><span class="gsc_g_al">` + count + `</span></a>`
	}
	tests := []struct{ name, html, want string }{
		{"a bar a year", years("2021", "2022") + bar("", "3") + bar("", "5"), `{"2021":"3","2022":"5"}`},
		{"gaps by z-index", years("2021", "2022", "2023") + bar(`style="z-index:3"`, "3") +
			bar(`style="top: 1px; z-index: 1"`, "5"), `{"2021":"3","2023":"5"}`},
		{"gaps by link", years("2021", "2022", "2023") + bar(`href="/s?as_ylo=2022&as_yhi=2022"`, "4"),
			`{"2022":"4"}`},
		{"link before z-index", years("2021", "2022", "2023") + bar(`href="/s?as_ylo=2022" style="z-index:1"`, "4"),
			`{"2022":"4"}`},
		{"gaps without a hint", years("2021", "2022") + bar("", "3"), `[]`},
		{"z-index out of range", years("2021", "2022") + bar(`style="z-index:9"`, "3"), `[]`},
		{"z-index no number", years("2021", "2022") + bar(`style="z-index:auto"`, "3"), `[]`},
		{"more bars than years", years("2021") + bar("", "3") + bar("", "4"), `[]`},
		{"bars without years", bar("", "3"), `[]`},
		{"years without bars", years("2021", "2022"), `[]`},
		{"two bars of one year", years("2021", "2022", "2023") + bar(`style="z-index:3"`, "3") +
			bar(`style="z-index:3"`, "5"), `{"2021":"3"}`},
		{"one year twice", years("2021", "2021") + bar("", "3") + bar("", "5"), `{"2021":"3"}`},
		{"blank year", years("", "2022") + bar("", "3") + bar("", "5"), `{"2022":"5"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := parsePage([]byte(tt.html), "")
			if err != nil {
				t.Fatal(err)
			}
			got := "[]"
			if years := parseYears(page); len(years) > 0 {
				text, _ := json.Marshal(years)
				got = string(text)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestParseDocument(t *testing.T) {
	field := func(label, value string) string {
		return `<div><div class="gsc_oci_field">` + label + `</div><div class="gsc_oci_value">` + value +
			`</div></div>`
	}
	tests := []struct{ name, html, want string }{
		{"a document", testPage(t, "document.html"),
			`{"title":"Größen \u0026 Grenzen des Wattenmeers","doi":"10.5555/kf.2024.44",` +
				`"Autoren":["Mara Lindqvist","János Ördög","Wei Zhang"],"Publikationsdatum":"2024/3/15",` +
				`"Zeitschrift":"Küstenforschung",` +
				`"Beschreibung":"Erster Absatz. Zweiter Absatz.","Seiten":"","Gesamtzitate":"Zitiert von: 12"}`},
		{"title without link", `<div id="gsc_oci_title">T</div>`, `{"title":"T","doi":""}`},
		{"one author, empty names", field("Autoren", " A ,, "), `{"title":"","doi":"","Autoren":["A"]}`},
		{"no authors", field("Autoren", ""), `{"title":"","doi":"","Autoren":[]}`},
		{"label twice", field("Band", "1") + field("Band", "2"), `{"title":"","doi":"","Band":"1"}`},
		{"labels of our own keys", field("title", "x") + field("doi", "y") + field("", "z"), `{"title":"","doi":""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := asJSON(t, "document", tt.html); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestUnfamiliarPages(t *testing.T) {
	page, err := parsePage([]byte(testPage(t, "changed.html")), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseProfile(t.Context(), page); !errors.Is(err, errUnfamiliar) {
		t.Errorf("profile: %v, want %v", err, errUnfamiliar)
	}
	if _, err := parseDocument(t.Context(), page); !errors.Is(err, errUnfamiliar) {
		t.Errorf("document: %v, want %v", err, errUnfamiliar)
	}
}

func TestHugePagesAreReadInPart(t *testing.T) {
	row := `<tr class="gsc_a_tr"><td><a class="gsc_a_at">` + strings.Repeat("x", 2*maxText) + `</a></td></tr>`
	page, err := parsePage([]byte("<table>"+strings.Repeat(row, maxElements+1)+"</table>"), "")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := parseProfile(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	profile := answer.(profile)
	if got := len(profile.Publications); got != maxElements {
		t.Errorf("%d publications, want %d", got, maxElements)
	}
	if got := len(profile.Publications[0].Title); got != maxText {
		t.Errorf("title of %d bytes, want %d", got, maxText)
	}
}

// TestHostilePages: some pages grow large if a parser repairs them as browsers do. Ours makes at
// most one node per token, or refuses the page.
func TestHostilePages(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		body    string
		refused bool
	}{
		"attributes of html":       {many(3000, "<html a%d=1></html>"), false},
		"attributes of body":       {"<svg>" + many(300, "<body a%d=1>"), false},
		"attributes of a tag":      {"<p " + many(3000, "a%d=1 ") + ">", true},
		"tags":                     {strings.Repeat("<p>", 60_000), true},
		"nesting":                  {strings.Repeat("<div>", 1000), true},
		"formatting left open":     {many(200, "<b a%d=1>") + strings.Repeat("<p>x</p>", 10_000), false},
		"formatting ended wrongly": {many(480, "<p><b a%d=1></i></p>") + strings.Repeat("<p>x</p>", 15_000), false},
		"formatting across applets": {many(480, "<p><b a%d=1><applet></b></applet></p>") +
			strings.Repeat("<p>x</p>", 10_000), false},
	} {
		page, err := parsePage([]byte(tt.body), "")
		if (err != nil) != tt.refused {
			t.Errorf("%s: %v, want refused: %v", name, err, tt.refused)
		}
		if err != nil {
			continue
		}
		nodes := 0
		for range page.Get(0).Descendants() {
			nodes++
		}
		if nodes > maxTokens {
			t.Errorf("%s: %d nodes of %d bytes", name, nodes, len(tt.body))
		}
	}
}

// TestHostileRows: the parser reads a page of nested rows, each of which has all the rest in it,
// only until the context ends.
func TestHostileRows(t *testing.T) {
	body := strings.Repeat(`<div class="gsc_a_tr">`, maxElements) + `<p class="` + strings.Repeat("a ", 1<<16) + `">`
	page, err := parsePage([]byte(body), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := parseProfile(ctx, page); !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("reading under a context that has ended: %v", err)
	}
}

func TestEncodings(t *testing.T) {
	tests := []struct{ name, body, contentType string }{
		{"UTF-8, undeclared, late", strings.Repeat(" ", 2000) + `<p class="gsc_g_t">Größe</p>`, "text/html"},
		{"Latin 1 by header", "<p class=\"gsc_g_t\">Gr\xf6\xdfe</p>", "text/html; charset=ISO-8859-1"},
		{"Latin 1 by page", "<meta charset=iso-8859-1><p class=\"gsc_g_t\">Gr\xf6\xdfe</p>", ""},
		{"Latin 1, undeclared", "<p class=\"gsc_g_t\">Gr\xf6\xdfe</p>", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := parsePage([]byte(tt.body), tt.contentType)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := text(page.Find(".gsc_g_t")), "Größe"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// Both parsers return valid JSON or an error for any page.
func FuzzParse(f *testing.F) {
	pages, err := filepath.Glob("testdata/*.html")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range pages {
		page := testPage(f, filepath.Base(name))
		f.Add([]byte(page), "text/html")
		f.Add([]byte(page[:len(page)/2]), "text/html; charset=utf-16")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		page, err := parsePage(body, contentType)
		if err != nil {
			return
		}
		if profile, err := parseProfile(t.Context(), page); err == nil {
			mustMarshal(t, profile)
		}
		if document, err := parseDocument(t.Context(), page); err == nil {
			mustMarshal(t, document)
		}
	})
}

func mustMarshal(t *testing.T, v any) {
	t.Helper()
	if _, err := json.Marshal(v); err != nil {
		t.Errorf("%T: %v", v, err)
	}
}

func BenchmarkParseProfile(b *testing.B) {
	head, row, _ := strings.Cut(testPage(b, "profile.html"), `<tr class="gsc_a_tr">`)
	row = `<tr class="gsc_a_tr">` + before(row, `<tr class="gsc_a_tr">`)
	body := []byte(head + strings.Repeat(row, maxElements))
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		page, err := parsePage(body, "text/html; charset=utf-8")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := parseProfile(b.Context(), page); err != nil {
			b.Fatal(err)
		}
	}
}
