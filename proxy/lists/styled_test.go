package lists_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/net/html"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/proxy"
	"vitrine/proxy/lists"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
)

// testStyles are the citation styles of tests beside our own: one with numbers that has every variable.
var testStyles = map[string]string{"numbers": "testdata/numbers.csl"}

// works are records that styles cite: three of one author and year, one retracted, and one with many authors.
var works = map[string][]string{"activities": {
	`{"_id": "owl-1", "type": "publication", "subtype": "article", "title": "Owls <i>Tyto</i> & moths", "year": 2019,
		"month": 3, "authors": [{"last": "Zyxel", "first": "Ann"}], "journal": "Zyx J.", "volume": 7,
		"pages": "1-9", "doi": "10.5555/zyx.1", "language": "de"}`,
	`{"_id": "owl-2", "type": "publication", "subtype": "article", "title": "Zyx second", "year": 2019, "month": 2,
		"authors": [{"last": "Zyxel", "first": "Ann"}], "journal": "Zyx J.", "retracted": true}`,
	`{"_id": "owl-3", "type": "publication", "subtype": "article", "title": "Zyx third", "year": 2019, "month": 1,
		"authors": [{"last": "Zyxel", "first": "Ann"}], "journal": "Zyx J."}`,
	`{"_id": "owl-4", "type": "publication", "subtype": "article", "title": "Zyx fourth", "year": 2018,
		"authors": [{"last": "Zyxel", "first": "Ann"}, {"last": "Kerzenreuter", "first": "Noé", "user": "nkerzenr"},
			{"last": "Three", "first": "C"}, {"last": "Four", "first": "D"}, {"last": "Five", "first": "E"}],
		"journal": "Zyx J."}`,
	hostile,
}}

// styled serves the demo and works, with citations in rows if stored is set, and else without, so that requests
// render them.
func styled(t *testing.T, stored bool, change func(*proxy.Options), hidden ...string) *proxytest.Site {
	t.Helper()
	store := proxytest.ListStore(t, func(collection string, docs []bson.Raw) []bson.Raw {
		return append(docs, proxytest.Parse(t, works[collection]...)...)
	}, hidden...)
	set := proxytest.Styles(t, testStyles, hidden...)
	if stored {
		store.Cite(t, set, hidden...)
	}
	o := proxytest.ListOptions(t, hidden...)
	if o.Lists.Styles = set; change != nil {
		change(&o)
	}
	return proxytest.OpenViews(t, store, o, proxytest.ListViews(t, hidden...), 0)
}

// citationsOf returns the citations of a list as text, by id.
func citationsOf(s *proxytest.Site, target string) map[string]string {
	s.T.Helper()
	all := map[string]string{}
	for _, it := range getList(s, target).Items {
		all[it.ID] = strings.Join(strings.Fields(markup.Text(it.HTML)), " ")
	}
	return all
}

// TestStyledFaces: each face of lists and items has the citations of a style, those of named lists by default. A name
// that is no style is refused with the nearest one.
func TestStyledFaces(t *testing.T) {
	s := styled(t, true, func(o *proxy.Options) {
		o.Lists.Named = proxytest.Named(map[string]configs.NamedList{
			"owls": {Filter: `{"_id": "owl-1"}`, Style: "institute"},
		})
	})
	const cited = "Zyxel, A. (2019"
	for _, target := range []string{
		"/lists/activities?q=owls+tyto&style=institute", "/lists/activities.html?q=owls+tyto&style=institute",
		"/lists/activities.json?q=owls+tyto&style=institute", "/items/owl-1?style=institute",
		"/items/owl-1.html?style=institute", "/items/owl-1.json?style=institute",
		"/lists/activities.atom?q=owls+tyto&style=institute", "/lists/activities.rss?q=owls+tyto&style=institute",
		"/lists/activities.feed.json?q=owls+tyto&style=institute", "/lists/owls", "/lists/owls.json",
		"/lists/owls.html",
	} {
		if body := string(s.Get(target).Body); !strings.Contains(body, cited) {
			t.Errorf("%s has no %q: %.3000s", target, cited, body)
		}
	}
	if body := string(s.Get("/lists/owls.json?style=web").Body); strings.Contains(body, cited) {
		t.Errorf("the plain style is that of the list: %s", body)
	}
	frame := string(s.Get("/oembed?url=" +
		url.QueryEscape("https://data.example/lists/activities?style=institute")).Body)
	if !strings.Contains(frame, "style=institute") {
		t.Errorf("oEmbed loses the style: %s", frame)
	}
	if got := s.Get("/lists/activities?style=institut"); got.StatusCode != http.StatusBadRequest ||
		!strings.Contains(string(got.Body), "did you mean institute?") {
		t.Errorf("a wrong name: %s %s", got.Status, got.Body)
	}
	if page := string(s.Get("/", "Accept", "text/html").Body); !strings.Contains(page, `value="numbers"`) {
		t.Error("the start page does not offer the styles")
	}
}

// TestWrongNamedStyle: a named list with the name of no style stops the start.
func TestWrongNamedStyle(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Lists.Named = proxytest.Named(map[string]configs.NamedList{"owls": {Style: "number"}})
	o.Lists.Styles = proxytest.Styles(t, testStyles)
	_, err := lists.New(o.Lists, lists.Shared{Language: "en"})
	const want = `want web, print, compact, institute, numbers, have "number", did you mean numbers?`
	if err == nil || !strings.Contains(err.Error(), "lists.named.owls.style") || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}

// TestStoredStyles: what rows have is what requests render from records, in all faces, styles, orders and languages;
// and requests do not render what rows have.
func TestStoredStyles(t *testing.T) {
	for _, hidden := range [][]string{nil, {"volume", "editors"}} {
		stored, rendered := styled(t, true, nil, hidden...), styled(t, false, nil, hidden...)
		for _, style := range []string{"institute", "compact", "numbers"} {
			for _, target := range []string{
				"/lists/activities.json?limit=500", "/lists/activities.html?limit=100&lang=de&group=type",
				"/lists/projects.json?limit=100", "/lists/events.json?lang=de&limit=100", "/lists/activities.atom?",
				"/items/hostile?", "/items/owl-1?lang=de", "/lists/person/nkerzenr.html?authors=2",
			} {
				target += "&style=" + style
				a := generation.ReplaceAllString(string(stored.Get(target).Body), "")
				b := generation.ReplaceAllString(string(rendered.Get(target).Body), "")
				if a != b && style != "institute" { // whose suffixes need the numbers in marks
					t.Errorf("without %s: %s differs\n%s\n%s", hidden, target, differing(a, b), differing(b, a))
				}
				wellFormed(t, target, stored.Get(target).Body)
			}
		}
	}
}

// generation is what differs in the answers of two stores that were published by different steps.
var generation = regexp.MustCompile(`"generation":\d+`)

// TestRowsHaveStyles: requests show what the mark of a row has, and do not render it again.
func TestRowsHaveStyles(t *testing.T) {
	store, set := proxytest.ListStore(t, func(collection string, docs []bson.Raw) []bson.Raw {
		return append(docs, proxytest.Parse(t, works[collection]...)...)
	}), proxytest.Styles(t, testStyles)
	store.Cite(t, set)
	var rows []bson.Raw
	_, err := store.Rows(t.Context(), rules.ViewActivities, 0, func(row origin.Row) error {
		rows = append(rows, row.Doc)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	last := mark.Of(rows[len(rows)-2]) // of owl-4
	for i, row := range rows {
		if mark.Of(row) == nil {
			continue
		}
		made, failed := mark.SetStyled(mark.Of(row), mark.StyledOf(last), nil)
		rows[i], err = mark.Set(row, made)
		if err = errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
	}
	store.Publish(rules.ViewActivities, rows...)
	o := proxytest.ListOptions(t)
	o.Lists.Styles = set
	s := proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 0)
	for _, style := range []string{"institute", "compact", "numbers"} {
		for id, text := range citationsOf(s, "/lists/activities.json?limit=20&style="+style) {
			if !strings.Contains(text, "Zyx fourth") {
				t.Errorf("%s in %s: %q", id, style, text)
			}
		}
	}
}

// wellFormed checks that the elements of an answer are nested, and that nothing of package csl's markers is left.
func wellFormed(t *testing.T, target string, body []byte) {
	t.Helper()
	if left := regexp.MustCompile(`data-name|data-title|[\x01\x02]|\\u000[12]`).Find(body); left != nil {
		t.Errorf("%s has %q", target, left)
	}
	if !strings.Contains(target, ".html") {
		return
	}
	var open []string
	for z := html.NewTokenizer(strings.NewReader(string(body))); z.Next() != html.ErrorToken; {
		switch token := z.Token(); {
		case token.Type == html.StartTagToken && token.Data == "a" && slices.Contains(open, "a"):
			t.Errorf("%s has a link in a link: %s", target, token)
		case token.Type == html.StartTagToken && token.Data != "input" && token.Data != "br":
			open = append(open, token.Data)
		case token.Type == html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("%s: </%s> in %q", target, token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
}

// TestStyledNumbers: numbers are the places in the list, and pages go on counting. Words are those of the list's
// language.
func TestStyledNumbers(t *testing.T) {
	s := styled(t, true, nil)
	for page := 1; page <= 3; page++ {
		for i, it := range getList(s, fmt.Sprintf("/lists/activities.json?style=numbers&limit=4&page=%d", page)).Items {
			want := fmt.Sprintf(`<div class="csl-left-margin">[%d]</div>`, 4*page-3+i)
			if !strings.HasPrefix(it.HTML, want) {
				t.Errorf("page %d has %s, want %s", page, it.HTML, want)
			}
		}
	}
	for lang, word := range map[string]string{"en": "and", "de": "und"} {
		got := citationsOf(s, "/lists/activities.json?style=numbers&ids=owl-4&lang="+lang)["owl-4"]
		want := "D. Four " + word + " E. Five: Zyx fourth"
		if !strings.Contains(strings.ReplaceAll(got, ", ", " "), want) {
			t.Errorf("%s: %s, want %q", lang, got, want)
		}
	}
	if page := string(s.Get("/lists/activities.html?style=numbers").Body); !strings.Contains(page,
		`<ol class="vl-items vl-numbers"`) {
		t.Error("the list has numbers beside those of its style")
	}
}

// TestYearSuffixes: entries of one author and year have suffixes in the order of the whole list, whatever page,
// group or order, and only there.
func TestYearSuffixes(t *testing.T) {
	proxytest.InStore(t, map[string]func(*testing.T){"store": suffixed})
	t.Run("memory", suffixed)
}

func suffixed(t *testing.T) {
	s := styled(t, true, nil)
	years := regexp.MustCompile(`\((20\d\d[a-z]?)\)`)
	tests := []struct{ query, want string }{
		{"q=zyxel", "owl-1 2019a, owl-2 2019b, owl-3 2019c, owl-4 2018"},
		{"q=zyxel&limit=1", "owl-1 2019a"},
		{"q=zyxel&limit=1&page=3", "owl-3 2019c"},
		{"q=zyxel&sort=year", "owl-1 2019c, owl-2 2019b, owl-3 2019a, owl-4 2018"},
		{"q=zyxel&group=type", "owl-1 2019a, owl-2 2019b, owl-3 2019c, owl-4 2018"},
		{"ids=owl-3,owl-4,owl-1", "owl-1 2019b, owl-3 2019a, owl-4 2018"},
		{"q=zyxel&exclude=owl-1,owl-3", "owl-2 2019, owl-4 2018"},
		{"q=zyxel&and.ids=owl-1,owl-3&sort=-year", "owl-1 2019a, owl-3 2019b"},
		{"limit=500&lang=de&ids=owl-2,owl-1", "owl-1 2019b, owl-2 2019a"},
	}
	for _, tt := range tests {
		var got []string
		for id, text := range citationsOf(s, "/lists/activities.json?style=institute&"+tt.query) {
			if year := years.FindStringSubmatch(text); year != nil {
				got = append(got, id+" "+year[1])
			}
		}
		slices.Sort(got)
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.query, got, tt.want)
		}
	}
	for _, target := range []string{"/items/owl-2.json?style=institute",
		"/lists/activities.feed.json?style=institute&q=zyxel"} {
		if body := string(s.Get(target).Body); !strings.Contains(body, "(2019)") || strings.Contains(body, "2019a") {
			t.Errorf("%s has suffixes, or no citation: %.2000s", target, body)
		}
	}
}

// TestStyledPersons: citations by styles link, mark and fold persons, and link the title, as others do. Links that a
// site does not want are not there.
func TestStyledPersons(t *testing.T) {
	s := styled(t, true, nil)
	one := func(s *proxytest.Site, query string) string {
		return getList(s, "/lists/"+query).Items[0].HTML
	}
	own := `<mark class="vl-mark"><a href="https://data.example/lists/person/nkerzenr">N. Kerzenreuter</a></mark>`
	tests := []struct {
		query string
		has   []string
	}{
		{"person/nkerzenr.json?style=numbers&ids=owl-4", []string{own, "A. Zyxel, "}},
		{"activities.json?style=numbers&ids=owl-4&person=nkerzenr", []string{own}},
		{"activities.json?style=numbers&ids=owl-4&person=nkerzenr&authors=1", []string{own,
			`<span class="vl-names">`, `and 3 more</label></span>`,
			`<span class="vl-others">, C. Three, D. Four, and E. Five</span>`}},
		{"activities.json?style=numbers&ids=owl-1", []string{
			`<i><a href="https://doi.org/10.5555/zyx.1" lang="de">Owls <span`, `&amp; moths</a></i>`}},
		{"activities.json?style=institute&ids=owl-1&lang=de", []string{
			`<a href="https://doi.org/10.5555/zyx.1">Owls <i>Tyto</i> &amp; moths</a>`,
			`<a href="https://doi.org/10.5555/zyx.1">https://doi.org/10.5555/zyx.1</a>`}},
		{"activities.json?style=numbers&ids=owl-2", []string{
			`<div class="csl-right-inline"><strong class="vl-notice">[Retracted]</strong> `}},
	}
	for _, tt := range tests {
		got := one(s, tt.query)
		for _, want := range tt.has {
			if !strings.Contains(got, want) {
				t.Errorf("%s has no %s\n%s", tt.query, want, got)
			}
		}
	}
	none := styled(t, true, func(o *proxy.Options) {
		o.Lists.Links = map[string]string{"activity": lists.NoLink, "person": lists.NoLink}
	})
	if got := one(none, "activities.json?style=numbers&ids=owl-4"); strings.Contains(got, "<a ") {
		t.Errorf("has links: %s", got)
	}
}

// TestStyledNotices: each face of a citation by a style says that the work was retracted, once, in the answer's
// language and beside the number.
func TestStyledNotices(t *testing.T) {
	s := styled(t, true, nil)
	for _, lang := range []struct{ code, label string }{{"en", "[Retracted]"}, {"de", "[Zurückgezogen]"}} {
		for _, style := range []string{"web", "print", "institute", "compact", "numbers"} {
			query := "style=" + style + "&lang=" + lang.code
			for _, target := range []string{
				"/lists/activities?ids=owl-2&", "/lists/activities.html?ids=owl-2&", "/items/owl-2.html?",
				"/lists/activities.atom?ids=owl-2&", "/lists/activities.rss?ids=owl-2&",
				"/lists/activities.feed.json?ids=owl-2&", "/items/owl-2?",
			} {
				if body := string(s.Get(target + query).Body); strings.Count(body, lang.label) != 1 {
					t.Errorf("%s has %d times %s", target+query, strings.Count(body, lang.label), lang.label)
				}
			}
			for _, target := range []string{"/lists/activities.json?ids=owl-2&", "/items/owl-2.json?"} {
				it := getList(s, target+query).Items[0]
				if !strings.Contains(it.HTML, lang.label+"</strong> ") {
					t.Errorf("%s: html is %s", target+query, it.HTML)
				}
				want := map[string]string{"web": "", "print": "", "numbers": "[1] " + lang.label + " A. Zyxel"}
				start, isKnown := want[style]
				if !isKnown {
					start = lang.label + " Zyxel"
				}
				if !strings.HasPrefix(it.Text, start) || strings.Count(it.Text, lang.label) > 1 {
					t.Errorf("%s: text is %q, want %q…", target+query, it.Text, start)
				}
			}
		}
	}
}

// TestStylesHide: no style shows a hidden field, whether rows have its citations or not.
func TestStylesHide(t *testing.T) {
	for _, stored := range []bool{true, false} {
		s := styled(t, stored, nil, "journal", "volume", "abstract", "authors")
		for _, style := range []string{"institute", "compact", "numbers"} {
			text := citationsOf(s, "/lists/activities.json?ids=owl-1&style="+style)["owl-1"]
			if !strings.Contains(text, "Owls") || strings.Contains(text, "Zyx J.") || strings.Contains(text, "Zyxel") {
				t.Errorf("%s, stored %t: %q", style, stored, text)
			}
		}
	}
}
