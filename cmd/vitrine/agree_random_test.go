package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// randomRecord makes records of values as institutes, publishers and reference managers store them, and of hostile
// ones.
type randomRecord struct {
	*rand.Rand
	n int
}

// record returns the n-th record of a seed, and its collection. It does not depend on the others.
func record(seed uint64, n int) (collection string, d bson.D) {
	r := randomRecord{rand.New(rand.NewPCG(seed, uint64(n))), n}
	switch r.IntN(10) {
	case 0:
		return "projects", r.project()
	case 1:
		return "conferences", r.event()
	}
	return "activities", r.activity()
}

func (r randomRecord) activity() bson.D {
	kind := kinds[r.IntN(len(kinds))]
	d := bson.D{
		{Key: "_id", Value: fmt.Sprintf("r%05d", r.n)}, {Key: "type", Value: kind[0]},
		{Key: "subtype", Value: kind[1]},
		{Key: "title", Value: r.title()}, {Key: "authors", Value: r.authors()}, {Key: "units", Value: bson.A{"OWL"}},
		{Key: "created", Value: "2024-05-01"},
	}
	add := r.adder(&d)
	add(0.95, "year", func() any { return r.among(years) })
	add(0.5, "month", func() any { return r.among(months) })
	add(0.2, "day", func() any { return r.among(days) })
	add(0.3, "start_date", func() any { return r.among(dates) })
	add(0.2, "end_date", func() any { return r.among(dates) })
	add(0.8, "pages", func() any { return r.among(pageForms) })
	add(0.8, "doi", r.doi)
	add(0.8, "journal", func() any { return r.among(venues) })
	add(0.4, "volume", func() any { return r.among([]any{int32(7), "12", "XII", "in press", 3.0, nil}) })
	add(0.3, "issue", func() any { return r.among([]any{int32(2), "3-4", "Suppl. 1", nil}) })
	add(0.3, "book", func() any { return r.among(venues) })
	add(0.2, "editors", r.authors)
	add(0.3, "keywords", func() any { return r.among(keywordForms) })
	add(0.3, "open_access", func() any { return r.among(openForms) })
	add(0.2, "epub", func() any { return r.among([]any{true, false, "1", nil}) })
	return d
}

// adder returns a function that adds a field with a probability.
func (r randomRecord) adder(d *bson.D) func(probability float64, name string, value func() any) {
	return func(probability float64, name string, value func() any) {
		if r.Float64() < probability {
			*d = append(*d, bson.E{Key: name, Value: value()})
		}
	}
}

func (r randomRecord) project() bson.D {
	d := bson.D{
		{Key: "_id", Value: fmt.Sprintf("r%05d", r.n)}, {Key: "name", Value: fmt.Sprintf("PROJECT-%d", r.n)},
		{Key: "title", Value: r.title()}, {Key: "public", Value: true}, {Key: "status", Value: "approved"},
		{Key: "units", Value: bson.A{"OWL"}}, {Key: "persons", Value: bson.A{bson.D{{Key: "user", Value: "aquill"},
			{Key: "name", Value: "Ada Quill"}, {Key: "role", Value: "PI"}}}},
	}
	add := r.adder(&d)
	add(0.8, "start_date", func() any { return r.among(dates) })
	add(0.8, "end_date", func() any { return r.among(dates) })
	add(0.3, "keywords", func() any { return r.among(keywordForms) })
	return d
}

func (r randomRecord) event() bson.D {
	d := bson.D{
		{Key: "_id", Value: fmt.Sprintf("r%05d", r.n)}, {Key: "title", Value: r.title()},
		{Key: "units", Value: bson.A{"OWL"}},
	}
	add := r.adder(&d)
	add(0.8, "start", func() any { return r.among(dates) })
	add(0.8, "end", func() any { return r.among(dates) })
	add(0.3, "location", func() any { return r.among(venues) })
	return d
}

func (r randomRecord) among(values []any) any { return values[r.IntN(len(values))] }

// kinds are types and subtypes, known and unknown ones.
var kinds = [][2]any{
	{"publication", "article"}, {"publication", "article"}, {"publication", "article"}, {"publication", "article"},
	{"publication", "book"}, {"publication", "chapter"}, {"publication", "preprint"}, {"publication", "thesis"},
	{"publication", "proceedings"}, {"publication", "report"}, {"publication", "magazine"}, {"poster", "poster"},
	{"lecture", "lecture"}, {"software", "dataset"}, {"software", "software"}, {"publication", "unheard-of"},
	{"unheard-of", nil}, {"teaching", "course"}, {"media", "press"}, {"publication", "patent"},
}

// title returns a title with a word of its own among some pieces.
func (r randomRecord) title() any {
	if r.Float64() < 0.03 {
		return r.among(wholeTitles)
	}
	words := []string{fmt.Sprintf("Nightword%d", r.n)}
	for range 1 + r.IntN(3) {
		words = append(words, titlePieces[r.IntN(len(titlePieces))])
	}
	r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return strings.Join(words, " ")
}

var wholeTitles = []any{nil, "", " ", "-", int32(42), 7.5, true, bson.A{"One", "Two"}, "=SUM(1)", "<i></i>", "\u00a0",
	"&nbsp;"}

var titlePieces = []string{
	"moths of <i>Bubo bubo</i>", "<jats:italic>Strix</jats:italic>", "H<sub>2</sub>O", "10<sup>-3</sup>",
	"<b>bold</b>",
	"<mml:math><mml:msup><mml:mi>x</mml:mi><mml:mn>3</mml:mn></mml:msup></mml:math>", "<scp>Caps</scp>",
	"<u>under</u>",
	"<span class=\"x\">span</span>", "<br/>", "one<br>two", "<p>par</p><p>graph</p>", "<script>alert(1)</script>",
	"<style>p{}</style>", "<!-- no comment -->", "p<0.05", "a < b > c", "x<y and y>z", "<<", "<5 lux>",
	"<unknown>tag</unknown>",
	"&lt;b&gt;", "&lt;i&gt;E. coli&lt;/i&gt;", "&amp;amp;", "R&amp;D", "R&D", "AT&T", "&nosuch;", "&copy",
	"Fern&aacute;ndez", "&#x2013;",
	"&#39;quoted&#39;", "&#0;", "&#x202e;", "&nbsp;", "$\\alpha$ and $H_2O$",
	"100%", "50\u00a0%", "\u202bمرحبا\u202c",
	"\u2066iso\u2069",
	"e\u0301te\u0301", "u\u0308ber", "ﬁne", "Ⅳ", "🦉", "👩‍🔬", "\xff", "\xc3", "a\u0000b", "“quoted”", "‘single’",
	"{Braces}", "{", "}", "\\textit{x}", "\\",
	"~", "^", "#1", "C_3", "`tick'", "--", "---", "a – b", "\n   broken\tline ", "'=1+1'", "ER  - ", "TY  - JOUR",
	"¿Qué?", "?`", "!`", ",,", "''",
	"NATO", "pH of RNA", "McGregor", "zero\u200bwidth", "soft\u00adhyphen", "日本語の題名", "한국어", "x\u2028y", "x\u0085y",
	"\ufeffbom", "]]>",
	"\ufffe", "half ½", "a;b", "a, b", "\"", "<a href=\"https://x.example\">link</a>",
	"<em>em</em><strong>strong</strong>", "i<i>n</i>side",
}

var years = []any{
	int32(2021), int64(2019), 2020.0, 2021.5, "2018", " 2017 ", "2016.", "c2015", "[2014]", "2013a", "ca. 2012",
	"in press",
	"In Press", "online first", "n.d.", "", " ", nil, int32(-5), int32(0), int32(21), int32(20211), "0", "0000",
	"2021-08-01",
	"01.08.2021", "Aug 2021", "2021/22", "2010-11", "２０２１", "MMXXI", math.NaN(), math.Inf(1), true,
	bson.A{int32(2021)},
	bson.A{}, bson.D{{Key: "year", Value: int32(2021)}}, midnight(2021), midnight(2022),
	bson.NewDateTimeFromTime(time.Time{}),
	"2021-2023", "1999 [2001]", "forthcoming", "2021 (in press)", int32(999), int32(1000), "99999", "2021\u00a0",
	"<b>2021</b>", "&#50;021",
}

// midnight is the last moment of a year in UTC, in other zones a moment of the year or the next one.
func midnight(year int) bson.DateTime {
	return bson.NewDateTimeFromTime(time.Date(year, 12, 31, 23, 30, 0, 0, time.UTC))
}

var (
	months = []any{int32(1), int32(12), int64(6), 7.0, "8", "09", "August", "Aug.", "Mai", int32(13), int32(0), nil,
		"",
		true, 1.5}
	days  = []any{int32(1), int32(31), "5", int32(30), int32(32), nil, "x"}
	dates = []any{
		"2021-08-01", "2021-08", "2021", "01.08.2021", "2020-12-31T23:30:00Z", "2021-01-01T00:30:00+02:00",
		midnight(2019),
		midnight(2020), bson.NewDateTimeFromTime(time.Date(2022, 1, 1, 3, 0, 0, 0, time.UTC)), nil, "", "soon",
		"0000-00-00",
		bson.D{{Key: "year", Value: int32(2020)}, {Key: "month", Value: int32(5)}, {Key: "day", Value: int32(9)}},
		int32(2021),
		"0001-01-01T00:00:00Z", bson.A{"2021-08-01"}, bson.NewObjectIDFromTimestamp(time.Unix(1e9, 0)),
	}
	pageForms = []any{
		"1-9", "1–9", "1—9", "1−9", "1‐9", "1‑9", "1‒9", "1―9", "1 - 9", "1 – 9", "1--9", "1---9", "1－9", "pp. 45-67",
		"p. 5", "S. 45", "Seiten 4–7",
		"12-1–12-9", "12-1-12-9", "12-1", "12-12", "e1234", "e12–e15", "e12-3", "1203-12", "n/a-n/a", "no-no", "n/a",
		"i-xv", "XI–XX", "R1–R5",
		"5, 7-9; 12–15", "Art. 5-7", "in press", "123-", "-123", "-", "–", "", nil, "0", "1~9", "1〜9", "1 to 9",
		"45 f.", "COVID-19",
		int32(7), int64(12), 7.5, 8.0, bson.A{"1-9"}, bson.A{"1-9", "12"}, bson.A{int32(1), int32(9)},
		bson.D{{Key: "a", Value: 1}},
		"S12-S15", "1&#8211;9", "1&ndash;9", "1<b>-</b>9", "9-1", "{1}-{9}", "#5", "=1-9", "\xff1-9", "1\n-9",
		"A_1--A_5",
	}
	venues = []any{
		"Journal of Owl Studies", "Computers &amp; Graphics", "Proc. <i>Owl</i> Soc.", "AT&T Journal", nil, "",
		"J. Moth \xff", int32(5),
		bson.A{"Owls", "Moths"}, "{TeX} & friends", "日本の梟", "<jats:bold>B</jats:bold>",
	}
	keywordForms = []any{
		"owls; moths", "owls, moths", bson.A{"Owls", "R&amp;D", "<i>Bubo</i>"}, bson.A{"C++", "C#"}, "", nil,
		int32(5),
		bson.A{nil, "a, b"},
		"Keywords: night; light.", bson.A{"\xff"}, "e\u0301tude", bson.A{"x..y", "-", "“quoted”"},
	}
	openForms = []any{true, false, "gold", "closed", int32(1), int32(0), "1", "no", nil, "unknown", "", 1.0}
)

// doiForms have %d where a record's number comes, so that each record has a DOI of its own.
var doiForms = []string{
	"10.5555/owl.%d", "10.5555/OWL.%d", "https://doi.org/10.5555/owl.%d", "http://dx.doi.org/10.5555/owl.%d",
	"HTTPS://DOI.ORG/10.5555/OWL.%d",
	"https://www.doi.org/10.5555/owl.%d", "doi.org/10.5555/owl.%d", "doi:10.5555/owl.%d", "DOI: 10.5555/owl.%d",
	"DOI 10.5555/owl.%d", "info:doi/10.5555/owl.%d",
	"doi:https://doi.org/10.5555/owl.%d", "https://doi.org/https://doi.org/10.5555/owl.%d",
	"https://doi.org/10.5555%%2Fowl.%d",
	"https://doi.org/10.5555/owl.%d?utm_source=x", "https://doi.org/10.5555/owl.%d/", " 10.5555/owl.%d ",
	"10.5555/owl\u200b.%d", "\u00a010.5555/owl.%d",
	"10.1002/1097-4636(20011205)57:3<432::AID-JBM%d>3.0.CO;2-G",
	"https://doi.org/10.1002/1097-4636(20011205)57:3%%3C432::AID-JBM%d%%3E3.0.CO;2-G",
	"10.5555/a%%b%d", "10.5555/a#b%d", "10.5555/a?b=%d&c=2", "10.5555/a+b%d", "10.5555/owl{%d}", "10.5555/a\\b%d",
	"10.5555/a_b%d", "10.5555/a^b%d", "10.5555/a|b%d",
	"10.5555/ünï%d", "10.5555/a,b%d", "10.5555/owl.%d.", "(10.5555/owl.%d)", "10.5555/owl&amp;%d",
	"https://publisher.example/articles/%d", "none %d", "10.5555/ %d",
	"10.5555/a..b%d", "10.5555/\xff%d", "10.5555/a\"b%d", "10.5555/a'b%d", "10.5555/日本%d", "10.5555/a;b%d",
	"10.5555/<i>%d</i>",
}

func (r randomRecord) doi() any {
	text := fmt.Sprintf(doiForms[r.IntN(len(doiForms))], r.n)
	switch r.IntN(20) {
	case 0:
		return bson.A{text}
	case 1:
		return bson.A{"none", text}
	case 2:
		return r.among([]any{nil, "", int32(5), true, bson.D{{Key: "doi", Value: text}}})
	}
	return text
}

// authors returns some persons, as a list or as one text.
func (r randomRecord) authors() any {
	if r.Float64() < 0.15 {
		return r.among([]any{
			"Quill, Ada; Fern, Bo", "Quill, A., Fern, B.", "Ada Quill, Bo Fern, Cy Plus", "Quill A, Fern BC et al.",
			"Ada Quill and Bo Fern",
			"Quill, Ada and Fern, Bo and others", "World Owl Organization", "", nil, int32(5), "et al.", "王小明; 李雷",
			"Costa, Jr., P. T.",
			"Quill, Ada; O&#39;Brien, Se&aacute;n", "Barnes and Noble, Inc.", "\xff; Fern, Bo",
		})
	}
	all := bson.A{}
	for range r.IntN(4) {
		all = append(all, r.person())
	}
	if r.Float64() < 0.1 {
		all = append(all,
			r.among([]any{bson.D{{Key: "last", Value: "et al."}, {Key: "first", Value: ""}}, "et al.", "and others",
				"u. a."}))
	}
	return all
}

func (r randomRecord) person() any {
	if r.Float64() < 0.2 {
		return r.among([]any{
			"Quill, Ada", "Ada Quill", "Costa, Jr., P. T.", "ATLAS Collaboration", "Barnes and Noble, Inc.", "王小明",
			"Plato", "", nil, int32(7),
			bson.D{{Key: "name", Value: "Ada Quill"}, {Key: "user", Value: "aquill"}}, "Quill, Ada; Fern, Bo",
			"{Owl and Moth Society}", "van der Berg, Jan", "Quill, Ada (ORCID 0000-0002-1694-233X)", bson.A{"Quill"},
			bson.D{{Key: "name", Value: "World Owl Organization"}}, bson.D{{Key: "name", Value: "Bo Fern"}}, bson.D{},
		})
	}
	if r.Float64() < 0.2 {
		return bson.D{{Key: "last", Value: "Quill"}, {Key: "first", Value: "Ada"}, {Key: "aoi", Value: 1},
			{Key: "user", Value: "aquill"}}
	}
	d := bson.D{{Key: "last", Value: r.among(lastNames)}, {Key: "first", Value: r.among(firstNames)}}
	if r.Float64() < 0.1 {
		d = append(d, bson.E{Key: "suffix", Value: r.among([]any{"Jr.", "III", "", nil, "PhD"})})
	}
	if r.Float64() < 0.2 {
		d = append(d, bson.E{Key: "aoi", Value: true}, bson.E{Key: "user", Value: "unknown"})
	}
	return d
}

var (
	lastNames = []any{
		"Quill", "Fern", "Costa, Jr.", "Costa Jr.", "O&#39;Brien", "O'Brien", "Mu\u0308ller", "Müller",
		"van der Berg",
		"de Silva", "von und zu Eule", "王", "金田一",
		"LI", "Smith-Jones", "Smith – Jones", "<i>Owl</i>", "Fern&aacute;ndez", "Barnes and Noble, Inc.",
		"Department for Owls", "\xff", "Ng", "A", "d’Arc",
		"Quill*", "Quill (Fern)", "Ünal & Sons", "{Brace}", "Back\\slash", "Und", "others", "and", "Łąka", "ʻŌlelo",
		"a_b", "10%", "Quill,", ", ", "🦉", "=Owl",
	}
	firstNames = []any{
		"Ada", "A.", "A. B.", "AB", "Ada B.", "Jean-Paul", "J.-P.", "Se&aacute;n", "Ju\u0308rgen", "小明", "", nil,
		"P. T., Jr.", "Ada, III", "Alexander von", "Ada (Addie)",
		"\"Addie\" Ada", "ada", "Ö.", "Ма́ша", int32(5), "Dr. Ada", "<b>Ada</b>", "\xff", "{A}", "Ada and Bo",
		"D'Arcy",
		"Ada-", "-", "A,", "ǅ", "한국", "Ada\u00a0B.",
	}
)
