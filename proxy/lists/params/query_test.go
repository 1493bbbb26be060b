package params_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"vitrine/proxy/lists/params"
	"vitrine/rules"
	"vitrine/rules/suggest"
)

// parse reads a query string as the server does.
func parse(text string) (params.Query, error) {
	var args fasthttp.Args
	args.Parse(text)
	return params.Parse(args.All())
}

func TestParseSpellsCanonically(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"q=":                          "",
		"unit=&year=&page=1&h=2":      "",
		"deep=0&jsonld=1&latex=0":     "",
		"limit=025&page=002":          "page=2&limit=25",
		"unit=B&unit=A,B":             "unit=A,B",
		"unit=B,%20A%20":              "unit=A,B",
		"ids=b,a,b":                   "ids=b,a",
		"year=2022..&year=2020..2020": "year=2020,2022..",
		"year=missing,..2010":         "year=..2010,missing",
		"year=0..2010":                "year=..2010",
		"year=2020-2022,2018 – 2019":  "year=2018..2019,2020..2022",
		"not.year=2020%E2%80%942022":  "not.year=2020..2022",
		"year=2020-2020":              "year=2020",
		"sort=title&q=a%09b&q=c":      "q=a+b+c&sort=title",
		"q=Pó%C5%82cie%C5%84,x":       "q=P%C3%B3%C5%82cie%C5%84,x",
		`project=A%5C,B`:              `project=A%5C,B`,
		`project=A%5C%5CB`:            `project=A%5C%5CB`,
		"facets=type,year":            "facets=type,year",
		"person=a%26b%3Dc":            "person=a%26b%3Dc",
		"year=last03,last1,2020":      "year=2020,last1,last3",
		"not.type=b,a&type=c":         "type=c&not.type=a,b",
		"oa=1&not.year=..2010&deep=1": "not.year=..2010&deep=1&oa=1",
		`unit=A%5C.%5C.B`:             `unit=A%5C.%5C.B`,
		`ids=a%5C..%5C.b`:             `ids=a%5C.%5C..b`,
		"q=DOI:%2010.1000/ABC..d":     "q=10.1000%2Fabc..d",
		"q=http://dx.doi.org/10.1/x":  "q=http:%2F%2Fdx.doi.org%2F10.1%2Fx",
		"q=http://doi.org/10.1000/x":  "q=10.1000%2Fx",
		"q=http://doi.org/10.1000%2Fa%253Cb%253E%3Futm_source=x": "q=10.1000%2Fa%3Cb%3E",
		"q=10.1000/a%253Cb":                       "q=10.1000%2Fa%253cb",
		"q=10.1000/%C3%84":                        "q=10.1000%2F%C3%84",
		"q=https://orcid.org/0000-0002-1694-233x": "q=0000-0002-1694-233X",
		"q=000000021694233X":                      "q=0000-0002-1694-233X",
		"q=0000000216942330":                      "q=0000000216942330",
		"q=2021+2022+2023+2024":                   "q=2021+2022+2023+2024",
		"person=https://orcid.org/0000-0002-1694-233x,0000-0002-1694-233X,aquill": "person=0000-0002-1694-233X,aquill",
		"and.person=orcid:0000-0002-1694-233x":                                    "and.person=0000-0002-1694-233X",
		"keyword=Open-Science,C%2B%2B,OPEN+SCIENCE":                               "keyword=c%2B%2B,open+science",
		"and.keyword=M%C3%BCller":                                                 "and.keyword=muller",
		"and.keyword=owls&not.keyword=C%23":                                       "not.keyword=c%23&and.keyword=owls",
	} {
		q, err := parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := q.String(); got != want {
			t.Errorf("%s is written as %q, want %q", text, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	long := strings.Repeat("x", 201)
	for text, want := range map[string]string{
		"yaer=2020":              "yaer: is no parameter of lists, did you mean year?",
		"Unit=A":                 "Unit: is no parameter of lists, did you mean unit?",
		"filter%5Byear%5D=2020":  "filter[year]: is no parameter of lists",
		"%ff%ff%ff%ff%ff%ff%ff=": "�: is no parameter of lists",
		"year=20x": `year: want a year, a range such as 2018..2022, 2020.. or ..2010,` +
			` last3 for this year and the two before, or missing, got "20x"`,
		"year=2020,..": `year: value 2: want a year, a range such as 2018..2022, 2020.. ` +
			`or ..2010, last3 for this year and the two before, or missing, got ".."`,
		"year=2022..2018": `year: "2022..2018" ends before it begins`,
		"year=-5": `year: want a year, a range such as 2018..2022, 2020.. or ..2010,` +
			` last3 for this year and the two before, or missing, got "-5"`,
		"year=2020,,2021": "year: value 2: is empty",
		"sort=titel": `sort: want year, -year, title, -title, type, -type, author, ` +
			`-author, added, -added, relevance, got "titel", did you mean title?`,
		"sort=title&sort=-year": "sort: takes one value, got 2",
		"page=0":                `page: want a number from 1 to 1000000, got "0"`,
		"page=1e3":              `page: want a number from 1 to 1000000, got "1e3"`,
		"limit=501":             `limit: want a number from 1 to 500, got "501"`,
		"limit=99999999999999":  `limit: want a number from 1 to 500, got "99999999999999"`,
		"deep=yes":              `deep: want 0, 1, got "yes"`,
		"h=7":                   `h: want a number from 2 to 6, got "7"`,
		"unit=%ff":              "unit: is not valid UTF-8",
		"unit=a%00b":            "unit: has a control character",
		"unit=a%E2%80%A8b":      "unit: has a control character",
		"unit=A,%1bB":           "unit: value 2: has a control character",
		`unit=a%5Cb`: `unit: offset 1: a backslash stands before a comma, a dot or ` +
			`another: \, \. or \\`,
		"unit=" + long:                           "unit: has 201 bytes; 200 is the limit",
		"q=" + long:                              "q: has 201 bytes; 200 is the limit",
		"q=a+a+a+a+a+a+a+a+a+a+a+a+a":            "q: has 13 words; 12 is the limit",
		"ids=" + strings.Repeat("a,", 500) + "a": "ids: has 501 values; 500 is the limit",
		"lang=fr":                                `lang: want en, de, got "fr"`,
		"type=article..review": `type: offset 7: values have no order, so there are no ranges; ` +
			`two dots are written \.\.`,
		"not.unit=A,B..":       `not.unit: offset 3: values have no order`,
		"year=last0":           "year: want a year",
		"year=2020-21":         "year: want a year",
		"year=2020-05":         "year: want a year",
		"year=2020-2021-2022":  "year: want a year",
		"year=2022-2020":       `year: "2022-2020" ends before it begins`,
		"year=last100":         "year: want a year",
		"not.year=last3..2020": "not.year: want a year",
		"oa=yes":               `oa: want 0, 1, got "yes"`,
		"oa=0..1":              `oa: offset 1: values have no order`,
		"not.typ=review":       "not.typ: is no parameter of lists, did you mean not.type?",
		"not.q=x":              "not.q: is no parameter of lists",
		"author=x":             "author: is no parameter of lists, did you mean person?",
		"limit=1..5":           "limit: want a number from 1 to 500",
		"style=fancy":          `style: want web, print, got "fancy"`,
	} {
		_, err := parse(text)
		if !errors.Is(err, rules.ErrWrongCall) {
			t.Errorf("%.60s: got %v, want a wrong call", text, err)
		} else if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	for text, want := range map[string]string{"yer": ", did you mean year?", "yaer": ", did you mean year?",
		"foo": "", "x": "", "": ""} {
		if got := suggest.Hint(text, []string{"oa", "year"}); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// silly are names that mean nothing here, and resemble none of ours closely.
const silly = "utm_source srsltid fbclid gclid _ ref ref_src source campaign cid hl sa v epik filter[year] xml .xml " +
	"status state table data form site tab teams items email phone debug callback jsonp token session version v2 uid " +
	"columns full raw width height color colour and.x not.q and. not. x-y"

// TestHints: an unknown parameter is explained by what it means or is a misspelling of, or not at all.
func TestHints(t *testing.T) {
	for _, name := range strings.Fields(silly) {
		if near := params.Near(name); near != "" {
			t.Errorf("%s: did you mean %s?", name, near)
		}
	}
	for text, want := range map[string]string{
		"author": "person", "Autor": "person", "name": "person", "authro": "person", "staff": "person", "usr": "",
		"department": "unit", "departement": "unit", "org": "unit", "from": "year", "until": "year", "tag": "keyword",
		"subject": "keyword", "query": "q", "search": "q", "per_page": "limit", "pageSize": "limit", "start": "page",
		"offset": "page", "order": "sort", "group_by": "group", "language": "lang", "not.author": "not.person",
		"and.department": "and.unit", "and.search": "and.q", "not.search": "",
		"not.tag": "not.keyword", "author_s": "authors",
		"id": "ids", "year_": "year", "langs": "lang",
	} {
		if got := params.Near(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	_, err := parse("format=bib")
	if want := "format: is no parameter of lists; the end of the path, such as .json, says the format"; err == nil ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestStrange: what trackers and sites add to links is strange, a mistake in one of our names is not.
func TestStrange(t *testing.T) {
	for _, name := range strings.Fields(
		"utm_source mtm_campaign srsltid fbclid gclid _ ref ref_src source campaign " +
			"cid hl sa v epik _gat filter[year]") {
		if !params.Strange(name) {
			t.Errorf("%s is not strange", name)
		}
	}
	mistakes := strings.Fields("yaer yer typ tpye unti persn lmit limt Unit Q and.yaer not.typ authros pages facet " +
		"sort")
	for _, name := range append(mistakes, "") {
		if params.Strange(name) != (name == "") {
			t.Errorf("%q is strange", name)
		}
	}
	if !params.Strange(strings.Repeat("year", 1000)) {
		t.Error("a long name is no mistake")
	}
}

func TestQueryChanges(t *testing.T) {
	q, err := parse("unit=A,B&page=3&year=2020&sort=title")
	if err != nil {
		t.Fatal(err)
	}
	usual, err := parse("sort=title&group=year&limit=25")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want string
	}{
		{"take away", q.Toggle(params.Unit, "A").String(), "year=2020&unit=B&sort=title"},
		{"add", q.Toggle(params.Year, "2019").String(), "year=2019,2020&unit=A,B&sort=title"},
		{"page", q.With(params.Page, "1").String(), "year=2020&unit=A,B&sort=title"},
		{"only", q.Only(params.Sort, params.Limit).String(), "sort=title"},
		{"over", q.Over(usual).String(), "year=2020&unit=A,B&sort=title&group=year&page=3&limit=25"},
		{"beyond", q.Over(usual).Beyond(usual).String(), "year=2020&unit=A,B&page=3"},
		{"none", params.Query{}.With(params.Unit, "A,B").String(), `unit=A%5C,B`},
		{"unchanged", q.String(), "year=2020&unit=A,B&sort=title&page=3"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	if q.Number(params.Page) != 3 || q.Number(params.Limit) != 0 || q.Text(params.Heading) != "2" ||
		q.Flag(params.Deep) || !q.Flag(params.JSONLD) {
		t.Errorf("the values of %s are not read", q)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("q=a+b&year=2018..2022,missing&unit=a%5C,b&ids=2,1&sort=title&page=3")
	f.Add("year=2020&and.year=2019..2022&and.not.unit=a%5C,b&and.q=&sort=relevance")
	f.Add("keyword=M%C3%BCller,C%23,co-op&not.keyword=%E5%A4%9C%E3%81%AE&and.keyword=%2B%2B")
	f.Add("unit=%5C%5C%5C,,x&q=%F0%9F%92%A9&year=..2010&facets=none")
	f.Fuzz(func(t *testing.T, text string) {
		q, err := parse(text)
		if err != nil {
			if !errors.Is(err, rules.ErrWrongCall) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		spelled := q.String()
		again, err := parse(spelled)
		if err != nil || again.String() != spelled {
			t.Fatalf("%q is written as %q, and that as %q (%v)", text, spelled, again, err)
		}
	})
}
