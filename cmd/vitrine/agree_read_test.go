package main

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"vitrine/rules/cite/citetest"
)

// statement is what one format says of a record: title, year, authors, pages, doi. Members that the format lacks are
// missing, those that the record lacks are "". Persons are as indexes have them, with " / " between them.
type statement map[string]string

// formats read what lists say of their records in each format, by citation key or, of feeds, by the item's page.
var formats = []struct {
	suffix string
	read   func(t *testing.T, body string) map[string]statement
}{
	{".bib", readBibTeX}, {".ris", readRIS}, {".csl.json", readCSL}, {".csv", readCSV}, {".jsonld", readJSONLD},
	{".atom", readAtom}, {".rss", readRSS}, {".feed.json", readFeed}, {".html", readHTML}, {"", readHTML},
}

// inverted returns a name as indexes have it.
func inverted(family, given, suffix, literal string) string {
	if given == "" {
		return strings.TrimSpace(family + literal + " " + suffix)
	}
	if suffix != "" {
		suffix = ", " + suffix
	}
	return family + ", " + given + suffix
}

// oneLine returns the words of a text with one space between them.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// blanks returns a text with one space where there are several, for example on both sides of markup.
func blanks(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " ")
}

// hyphens writes the dash of a range of pages as a hyphen, however a format writes it.
var hyphens = strings.NewReplacer("--", "-", "–", "-").Replace

// pagesFrom returns pages that a format has in two fields.
func pagesFrom(first, last string) string {
	if last != "" {
		first += "-" + last
	}
	return hyphens(first)
}

func parse(t *testing.T, body string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), into); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
}

func readBibTeX(t *testing.T, body string) map[string]statement {
	t.Helper()
	all := map[string]statement{}
	for _, src := range strings.SplitAfter(body, "\n}\n") {
		if src = strings.TrimLeft(src, "\n"); src == "" {
			continue
		}
		e, err := citetest.ReadBibTeX(src)
		if err != nil {
			t.Fatalf("%v in %s", err, src)
		}
		var names []string
		authors, others := strings.CutSuffix(e.Fields["author"], " and others")
		for _, n := range citetest.ReadNames(authors) {
			if n[0] != "" {
				names = append(names, inverted(n[0], n[2], n[1], ""))
			}
		}
		more := map[bool]string{true: "et al."}[others]
		all[e.Key] = statement{
			"title": blanks(citetest.Text(e.Fields["title"])), "year": e.Fields["year"],
			"authors": strings.Join(names, " / "), "pages": citetest.Text(hyphens(e.Fields["pages"])),
			"doi": inURL(e.Fields["doi"]), "more": more,
		}
	}
	return all
}

// inURL undoes the escapes of what has a meaning in BibTeX, also in addresses.
var inURL = strings.NewReplacer("%7B", "{", "%7D", "}", "%5C", `\`, "%5E", "^", "%22", `"`, "%60", "`", "%7C", "|",
	"%20", " ").Replace

func readRIS(t *testing.T, body string) map[string]statement {
	t.Helper()
	all := map[string]statement{}
	for record := range strings.SplitSeq(strings.TrimSuffix(body, "\r\n\r\n"), "\r\n\r\n") {
		found := map[string][]string{}
		for line := range strings.SplitSeq(strings.TrimSpace(record), "\r\n") {
			tag, value, ok := strings.Cut(line, "  - ")
			if !ok && line != "ER  -" {
				t.Fatalf("no line of RIS: %q", line)
			}
			found[tag] = append(found[tag], value)
		}
		one := func(tag string) string { return strings.Join(found[tag], " + ") }
		all[one("ID")] = statement{
			"title": one("TI"), "year": one("PY"), "authors": strings.Join(found["AU"], " / "),
			"pages": pagesFrom(one("SP"), one("EP")), "doi": one("DO"),
		}
	}
	return all
}

func readCSL(t *testing.T, body string) map[string]statement {
	t.Helper()
	var entries []struct {
		ID, Title, Page, DOI string
		Author               []struct{ Family, Given, Suffix, Literal string }
		Issued               struct {
			Parts [][]int `json:"date-parts"`
		}
	}
	parse(t, body, &entries)
	all := map[string]statement{}
	for _, e := range entries {
		var names []string
		for _, p := range e.Author {
			names = append(names, inverted(p.Family, p.Given, p.Suffix, p.Literal))
		}
		year := ""
		if len(e.Issued.Parts) > 0 {
			year = fmt.Sprint(e.Issued.Parts[0][0])
		}
		all[e.ID] = statement{
			"title": blanks(markupOfCSL.Replace(e.Title)), "year": year, "authors": strings.Join(names, " / "),
			"pages": hyphens(e.Page), "doi": e.DOI,
		}
	}
	return all
}

// markupOfCSL removes the elements that titles have in CSL.
var markupOfCSL = strings.NewReplacer("<i>", "", "</i>", "", "<b>", "", "</b>", "", "<sub>", "", "</sub>", "",
	"<sup>", "", "</sup>", "", `<span style="font-variant:small-caps;">`, "", "</span>", "")

func readCSV(t *testing.T, body string) map[string]statement {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(body, "\ufeff"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]statement{}
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, name := range rows[0] {
			cells[name] = row[i]
		}
		all[cells["key"]] = statement{
			"title": cells["title"], "year": cells["year"], "pages": hyphens(cells["pages"]), "doi": cells["doi"],
			"authors": strings.ReplaceAll(cells["authors"], "; ", " / "),
		}
	}
	return all
}

// schemaItem is a work as schema.org describes it.
type schemaItem struct {
	Type                                                 string `json:"@type"`
	ID                                                   string `json:"@id"`
	Name, SameAs, DatePublished, StartDate, FoundingDate string
	PageStart, PageEnd, Pagination                       string
	Author, Performer, Member                            []schemaPerson
	NumberOfItems                                        int
	ItemListElement                                      []struct{ Item schemaItem }
}

type schemaPerson struct{ Name, GivenName, FamilyName, HonorificSuffix string }

func (i *schemaItem) statement() statement {
	var names []string
	for _, p := range slices.Concat(i.Author, i.Performer, i.Member) {
		literal := p.Name
		if p.FamilyName != "" {
			literal = ""
		}
		names = append(names, inverted(p.FamilyName, p.GivenName, p.HonorificSuffix, literal))
	}
	s := statement{
		"title": i.Name, "year": yearOf(i.DatePublished + i.StartDate + i.FoundingDate),
		"authors": strings.Join(names, " / "),
	}
	if i.Type != "Event" && i.Type != "ResearchProject" { // which have no pages
		s["pages"] = pagesFrom(i.PageStart, i.PageEnd) + hyphens(i.Pagination)
	}
	if address, ok := strings.CutPrefix(i.SameAs, "https://doi.org/"); ok {
		s["doi"], _ = url.PathUnescape(address)
	}
	return s
}

func yearOf(date string) string { return date[:min(len(date), len("2021"))] }

func readJSONLD(t *testing.T, body string) map[string]statement {
	t.Helper()
	var list schemaItem
	parse(t, body, &list)
	all := map[string]statement{}
	for _, e := range list.ItemListElement {
		all[pageOf(e.Item.ID)] = e.Item.statement()
	}
	return all
}

// pageOf returns the path of an item's page.
func pageOf(address string) string { return address[strings.LastIndex(address, "/items/"):] }

func readAtom(t *testing.T, body string) map[string]statement {
	t.Helper()
	var feed struct {
		Entries []struct {
			Title  string `xml:"title"`
			Author []struct {
				Name string `xml:"name"`
			} `xml:"author"`
			Link struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
			HTML string `xml:"content"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal([]byte(body), &feed); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
	all := map[string]statement{}
	for _, e := range feed.Entries {
		var names []string
		for _, a := range e.Author {
			names = append(names, a.Name)
		}
		all[pageOf(e.Link.Href)] = statement{
			"title": e.Title, "authors": strings.Join(names, " / "), "citation": wordsOf(e.HTML),
		}
	}
	return all
}

func readRSS(t *testing.T, body string) map[string]statement {
	t.Helper()
	var feed struct {
		Items []struct {
			Title string `xml:"title"`
			Link  string `xml:"link"`
			HTML  string `xml:"encoded"`
		} `xml:"channel>item"`
	}
	if err := xml.Unmarshal([]byte(body), &feed); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
	all := map[string]statement{}
	for _, i := range feed.Items {
		all[pageOf(i.Link)] = statement{"title": i.Title, "citation": wordsOf(i.HTML)}
	}
	return all
}

func readFeed(t *testing.T, body string) map[string]statement {
	t.Helper()
	var feed struct {
		Items []struct {
			Title, URL string
			HTML       string `json:"content_html"`
			Authors    []struct{ Name string }
		}
	}
	parse(t, body, &feed)
	all := map[string]statement{}
	for _, i := range feed.Items {
		var names []string
		for _, a := range i.Authors {
			names = append(names, a.Name)
		}
		all[pageOf(i.URL)] = statement{
			"title": i.Title, "authors": strings.Join(names, " / "), "citation": wordsOf(i.HTML),
		}
	}
	return all
}

var (
	articles  = regexp.MustCompile(`(?s)<article [^>]*data-id="([^"]*)" data-key="([^"]*)">(.*?)</article>`)
	citations = regexp.MustCompile(`(?s)<div class="vl-citation"[^>]*>(.*?)</div>`)
	coins     = regexp.MustCompile(`<span class="Z3988"[^>]*title="([^"]*)">`)
	metaTags  = regexp.MustCompile(`<meta name="citation_(\w+)" content="([^"]*)">`)
	elements  = regexp.MustCompile(`<[a-zA-Z/][^>]*>`)
)

// wordsOf returns the words of HTML, composed.
func wordsOf(markup string) string {
	markup = strings.ReplaceAll(markup, "<br>", " ")
	return oneLine(norm.NFC.String(html.UnescapeString(elements.ReplaceAllString(markup, ""))))
}

// readHTML reads the citations of a page or a fragment, and what they say to reference managers.
func readHTML(t *testing.T, body string) map[string]statement {
	t.Helper()
	all := map[string]statement{}
	for _, a := range articles.FindAllStringSubmatch(body, -1) {
		s := statement{}
		if c := citations.FindStringSubmatch(a[3]); c != nil {
			s["citation"] = wordsOf(c[1])
		}
		if c := coins.FindStringSubmatch(a[3]); c != nil {
			readCOinS(t, c[1], s)
		}
		all[a[2]] = s
	}
	return all
}

func readCOinS(t *testing.T, title string, s statement) {
	t.Helper()
	q, err := url.ParseQuery(html.UnescapeString(title))
	if err != nil {
		t.Fatalf("%v in %s", err, title)
	}
	genre := q.Get("rft.genre") + q.Get("rft.type")
	switch {
	case q.Has("rft.atitle"):
		s["title"] = q.Get("rft.atitle")
	case genre == "book" || genre == "report":
		s["title"] = q.Get("rft.btitle")
	default:
		s["title"] = q.Get("rft.title")
	}
	s["year"], s["spoken"] = yearOf(q.Get("rft.date")), strings.Join(q["rft.au"], " / ")
	if names := q["rft.creator"]; names != nil {
		delete(s, "spoken")
		s["authors"] = strings.Join(names, " / ")
	}
	s["pages"], s["doi"] = hyphens(q.Get("rft.pages")), ""
	if doi, ok := strings.CutPrefix(q.Get("rft_id"), "info:doi/"); ok {
		s["doi"] = doi
	}
}

// readMeta reads the citation_* tags of an item's page.
func readMeta(body string) statement {
	found := map[string][]string{}
	for _, m := range metaTags.FindAllStringSubmatch(body, -1) {
		found[m[1]] = append(found[m[1]], html.UnescapeString(m[2]))
	}
	one := func(name string) string { return strings.Join(found[name], " + ") }
	return statement{
		"title": one("title"), "year": yearOf(one("publication_date")),
		"authors": strings.Join(found["author"], " / "),
		"pages":   pagesFrom(one("firstpage"), one("lastpage")), "doi": one("doi"),
	}
}
