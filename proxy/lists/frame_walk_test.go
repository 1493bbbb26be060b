package lists_test

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/proxytest"
)

// notDigits matches what numbers on pages have between their digits.
var notDigits = regexp.MustCompile(`\D+`)

func number(text string) int {
	n, _ := strconv.Atoi(notDigits.ReplaceAllString(text, ""))
	return n
}

// reader is someone who goes through the pages of a list without a script.
type reader struct {
	*agreement
	address string // of the page, without scheme and host
	page    *goquery.Document
}

func (r *reader) open(address string) {
	r.T.Helper()
	r.address = strings.TrimPrefix(address, "https://data.example")
	res := r.Get(r.address, "Accept", "text/html")
	if res.StatusCode != http.StatusOK {
		r.T.Fatalf("%s: %s %s", r.address, res.Status, regexp.MustCompile(`<p>.*</p>`).Find(res.Body))
	}
	var err error
	if r.page, err = goquery.NewDocumentFromReader(strings.NewReader(string(res.Body))); err != nil {
		r.T.Fatal(err)
	}
}

// all returns the ids of the list that the page shows, on all of its pages.
func (r *reader) all(address string) map[string]bool {
	path, query, _ := strings.Cut(strings.TrimPrefix(address, "https://data.example"), "?")
	ids := map[string]bool{}
	res := r.Get(strings.TrimSuffix(path, ".csv") + ".csv?" + without(query, "page", "limit"))
	if res.StatusCode != http.StatusOK {
		r.T.Fatalf("%s: %s %s", address, res.Status, res.Body)
	}
	for _, id := range faces[5].read(string(res.Body)) {
		ids[id] = true
	}
	return ids
}

func (r *reader) count() int { return number(r.page.Find(".vl-list").AttrOr("data-count", "")) }

// links returns links of the page.
func (r *reader) links(selector string) (all []*goquery.Selection) {
	r.page.Find(selector).Each(func(_ int, a *goquery.Selection) { all = append(all, a) })
	return all
}

// submit sends the form of the page with words, and with other choices in its menus.
func (r *reader) submit(words string) {
	sent := url.Values{}
	r.page.Find(".vl-form input").Each(func(_ int, field *goquery.Selection) {
		name, value := field.AttrOr("name", ""), field.AttrOr("value", "")
		if field.AttrOr("type", "") == "search" {
			value = words
		}
		sent.Add(name, value)
	})
	r.page.Find(".vl-form select").Each(func(_ int, menu *goquery.Selection) {
		options := menu.Find("option")
		sent.Add(menu.AttrOr("name", ""), options.Eq(r.r.IntN(options.Length())).AttrOr("value", ""))
	})
	r.open(r.page.Find(".vl-form").AttrOr("action", "") + "?" + sent.Encode())
}

// step does something that a reader can do on a page, and says what.
func (r *reader) step() string {
	chips := r.links(".vl-filters a[href]:not([type])")
	others := r.links(".vl-active a[href], .vl-pager a[href], .vl-top nav a[hreflang]")
	switch n := r.r.IntN(10); {
	case n < 2:
		words := []string{"moths", "the", "2023", "", "10.5555/hins.2024.1007"}[r.r.IntN(5)]
		r.submit(words)
		return "search for " + words
	case n < 7 && len(chips) > 0:
		chip := chips[r.r.IntN(len(chips))]
		facet := chip.Closest("details")
		free := facet.Find("a[aria-current]").Length() == 0 // nothing of the facet is chosen yet
		text, want := facet.Find("summary").Text()+": "+chip.Text(), number(chip.Find(".vl-n").Text())
		from := r.address
		r.open(chip.AttrOr("href", ""))
		if got := r.count(); free && got != want {
			r.T.Errorf("%s: the chip %s says %d, and there are %d at %s", from, text, want, got, r.address)
		}
		return text
	case len(others) > 0:
		link := others[r.r.IntN(len(others))]
		r.open(link.AttrOr("href", ""))
		return strings.TrimSpace(link.Text())
	}
	return "nothing"
}

// TestReadersStayInFrame: whatever readers click, sort, search or take away on a page, its list is a part of the one
// at the address where they began, and a chip says how many records there are behind it.
func TestReadersStayInFrame(t *testing.T) {
	a := newAgreement(t)
	t.Logf("seed %d", a.seed)
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	paths := []string{"/lists/activities", "/lists/activities", "/lists/activities", "/lists/unit/MOTH",
		"/lists/person/ekoyyild"}
	for range rounds {
		question, group := a.question()
		question = without(question, append(params.Narrowing(), "limit", "page")...)
		start := paths[a.r.IntN(len(paths))] + "?" + question +
			"&limit=5&facets=year,type,subtype,unit,person,project,topic,keyword,oa"
		if group != "" {
			start += "&group=" + group
		}
		walk(&reader{agreement: a}, start)
		if t.Failed() {
			return
		}
	}
}

// walk goes ten steps from a page.
func walk(r *reader, start string) {
	r.open(start)
	frame := r.all(start)
	if r.count() != len(frame) {
		r.T.Fatalf("%s: %d records, and %d in the table", start, r.count(), len(frame))
	}
	way := []string{start}
	for range 10 {
		way = append(way, r.step())
		shown, table := r.all(r.address), r.page.Find(`.vl-filters a[type="text/csv"]`).AttrOr("href", "")
		for id := range shown {
			if !frame[id] {
				r.T.Fatalf("%s is not in the frame: %q leads to %s", id, way, r.address)
			}
		}
		if r.count() != len(shown) || !maps.Equal(r.all(table), shown) {
			r.T.Fatalf("%q: %d records, and other ones in the table at %s", way, r.count(), table)
		}
		for _, fixed := range r.links(".vl-filters span[aria-current], .vl-active span[aria-current]") {
			if fixed.Closest("a").Length() > 0 {
				r.T.Fatalf("%s: %s can be taken away", r.address, fixed.Text())
			}
		}
	}
	if reset := r.links(`.vl-active li:last-child a[href]`); len(reset) > 0 {
		r.open(reset[0].AttrOr("href", ""))
		if !maps.Equal(r.all(r.address), frame) {
			r.T.Fatalf("%q: without filters it is another list: %s", way, r.address)
		}
	}
}

// TestEditorsSettingsStay: what editors choose beside the entries of a list is on each link that changes the list.
func TestEditorsSettingsStay(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	r := &reader{agreement: &agreement{Site: s, r: rand.New(rand.NewPCG(1, 1))}}
	kept :=
		"sort=title&group=type,year&counts=1&limit=7&authors=3&facets=type&lang=de&style=print&show=doi,units&" +
			"title=0&jsonld=0&theme=dark&chart=1"
	wanted := strings.Split(kept, "&")
	check := func(href string, except ...string) {
		t.Helper()
		query, err := url.QueryUnescape(href[strings.LastIndexByte(href, '?')+1:])
		if err != nil {
			t.Fatal(err)
		}
		given := strings.Split(query, "&")
		for _, one := range wanted {
			name, _, _ := strings.Cut(one, "=")
			if !slices.Contains(given, one) && !slices.Contains(except, name) {
				t.Errorf("%s lacks %s", href, one)
			}
		}
	}
	r.open("/lists/activities?unit=MOTH&" + kept)
	for range 3 { // a chip, and from its page another one, so that there is one to take away
		all := r.links(".vl-filters a[href]:not([type]), .vl-active a[href], .vl-pager a[href]")
		for _, a := range all {
			check(a.AttrOr("href", ""))
		}
		for _, a := range r.links(".vl-top nav a[hreflang]") {
			check(a.AttrOr("href", ""), "lang")
		}
		discovery, err := url.QueryUnescape(r.page.Find(`link[type="application/json+oembed"]`).AttrOr("href", ""))
		if err != nil {
			t.Fatal(err)
		}
		check(discovery)
		r.open(all[0].AttrOr("href", ""))
	}
	r.submit("")
	check(r.address, "sort", "group")
}
