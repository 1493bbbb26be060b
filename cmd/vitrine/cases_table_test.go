package main

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// recordCase is a record as publishers, reference managers and institutes deliver it, with what all formats must say.
type recordCase struct {
	fields string // of the record, as Extended JSON; the others are those of ordinary
	want   statement
	has    map[string][]string // what an item has in a format or, with the suffix "", on its page
	finds  []string            // values of q that find it
}

// ordinary has the fields of records that a case does not replace.
const ordinary = `"type": "publication", "subtype": "article", "title": "Ordinary title", "year": 2021, "month": 6,
	"authors": [{"last": "Quill", "first": "Ada", "aoi": true, "user": "aquill", "position": "first"}],
	"units": ["OWL"], "journal": "Journal of Owl Studies", "volume": "12", "issue": "3", "pages": "1-9",
	"affiliated": true, "created": "2024-05-01"`

// recordCases are cases by kind of value: markup, character references, DOIs, names, pages. Members that want lacks
// are those of ordinary.
var recordCases = []recordCase{
	{
		fields: `"title": "Pale moths near <mml:math xmlns:mml=\"http://www.w3.org/1998/Math/MathML\"><mml:msub>` +
			`<mml:mi>IrO</mml:mi><mml:mn>2</mml:mn></mml:msub></mml:math> lamps"`,
		want: statement{"title": "Pale moths near IrO2 lamps"},
		has: map[string][]string{
			"":          {"<h1 dir=\"auto\">Pale moths near IrO<sub>2</sub> lamps</h1>"},
			".bib":      {`{IrO}\textsubscript{2} lamps}`},
			".csl.json": {"IrO<sub>2</sub> lamps"}, ".html": {"IrO<sub>2</sub> lamps</a>"},
		},
		finds: []string{"IrO2"},
	},
	{
		fields: `"title": "Decay of <math><mmultiscripts><mi>Kr</mi><mprescripts/><none/><mn>72</mn></mmultiscripts>` +
			`</math> by night"`,
		want: statement{"title": "Decay of 72Kr by night"},
		has:  map[string][]string{".html": {"<sup>72</sup>Kr"}, ".bib": {`\textsuperscript{72}{Kr}`}},
	},
	{
		fields: `"title": "Calls of <jats:italic>Tyto alba</jats:italic> over CH<jats:sub>4</jats:sub> seeps"`,
		want:   statement{"title": "Calls of Tyto alba over CH4 seeps"},
		has: map[string][]string{".html": {"<i>Tyto alba</i> over CH<sub>4</sub>"},
			".bib": {`\textit{Tyto alba}`}},
		finds: []string{"CH4 alba"},
	},
	{
		fields: `"title": "<scp>Lampnet</scp>: an <span class=\"sc\">index</span> of <u>dawn</u><br/>counts"`,
		want:   statement{"title": "Lampnet: an index of dawn counts"},
		has:    map[string][]string{".html": {"Lampnet: an index of dawn counts"}},
	},
	{
		fields: `"title": "Safe<script>alert(1)</script> <!-- not shown -->owls<style>i{}</style>"`,
		want:   statement{"title": "Safe owls"},
	},
	{
		fields: `"title": "With paragraphs", "abstract": "<jats:title>Abstract</jats:title><jats:p>Owls ` +
			`(<jats:italic>Strix</jats:italic>) hunt at 2&lt;x&lt;8 lux.</jats:p><jats:p>Second &amp; last.</jats:p>"`,
		want: statement{"title": "With paragraphs"},
		has: map[string][]string{
			"":      {"<p>Owls (<i>Strix</i>) hunt at 2&lt;x&lt;8 lux.</p>", "<p>Second &amp; last.</p>"},
			".ris":  {"AB  - Owls (Strix) hunt at 2<x<8 lux. Second & last.\r\n"},
			".json": {`"abstract":"Owls (Strix) hunt at 2<x<8 lux. Second & last."`},
		},
	},
	{
		fields: `"title": "Lamps of <i>n</i> &lt; 7 and p<0.01",
			"journal": "Ann. <i>Moth</i> Soc. <jats:bold>C</jats:bold>"`,
		want: statement{"title": "Lamps of n < 7 and p<0.01"},
		has: map[string][]string{
			".ris": {"T2  - Ann. Moth Soc. C\r\n"}, ".csl.json": {"Ann. <i>Moth</i> Soc. <b>C</b>"},
			".html": {"<i>n</i> &lt; 7 and p&lt;0.01"}, ".csv": {"Ann. Moth Soc. C"},
		},
	},
	{
		fields: `"title": "Wide title\n          with\ttabs and <sub>\n 3 </sub> of XML"`,
		want:   statement{"title": "Wide title with tabs and 3 of XML"},
		has:    map[string][]string{".html": {"<sub>3</sub> of XML"}},
	},
	{
		fields: `"title": "Moths at $\\beta$ and $N_2O$, 90% humid"`,
		want:   statement{"title": `Moths at $\beta$ and $N_2O$, 90% humid`},
		has:    map[string][]string{".html": {`Moths at $\beta$ and $N_2O$, 90% humid`}},
	},
	{
		fields: `"title": "Rise &amp; fall of moths: M&#252;ller&#39;s &#x2013; view", "journal": "Light &amp; Night",
			"authors": [{"last": "O&#39;Hara", "first": "S&iacute;le"},
				{"last": "Lund&eacute;n &amp; Co GmbH", "first": ""}],
			"editors": [{"last": "Wei&szlig;", "first": "J&ouml;rg"}], "publisher": "Owl &amp; Sons",
			"city": "M&uuml;nchen", "series": "Notes &amp; Wings",
			"keywords": ["R&amp;D", "owls &gt; moths"], "edition": "3rd &amp; last"`,
		want: statement{
			"title": "Rise & fall of moths: Müller's – view", "authors": "O'Hara, Síle / Lundén & Co GmbH",
		},
		has: map[string][]string{
			".ris": {"ED  - Weiß, Jörg", "PB  - Owl & Sons", "CY  - München", "T3  - Notes & Wings", "KW  - R&D",
				"ET  - 3rd & last"},
			".csl.json": {`"publisher":"Owl & Sons"`, `"publisher-place":"München"`, `"keyword":"R&D, owls > moths"`},
			".bib": {`author = {O'Hara, Síle and {Lundén \& Co GmbH}}`,
				`keywords = {R\&D, owls \textgreater{} moths}`},
			".csv": {"Owl & Sons"},
		},
		finds: []string{"müllers síle", "Lundén"},
	},
	{
		fields: `"title": "Encoded twice &amp;amp; so &amp;lt;i&amp;gt;", "journal": "Power &amp;amp; Light"`,
		want:   statement{"title": "Encoded twice &amp; so &lt;i&gt;"},
		has: map[string][]string{".ris": {"T2  - Power &amp; Light\r\n"},
			".html": {"twice &amp;amp; so &amp;lt;i&amp;gt;"}},
	},
	{
		fields: `"title": "Owls;&owls; and R&D &copy and &unheard; stay", "journal": "AT&T Notes"`,
		want:   statement{"title": "Owls;&owls; and R&D &copy and &unheard; stay"},
		has:    map[string][]string{".ris": {"T2  - AT&T Notes\r\n"}, ".html": {"&amp;owls; and R&amp;D &amp;copy"}},
	},
	{
		fields: `"type": "lecture", "subtype": "lecture", "title": "Tea &amp; owls",
			"conference": "Moths &amp; Co 2021",
			"location": "Gie&szlig;en", "start_date": "2021-06-01", "end_date": "2021-06-02", "pages": null`,
		want: statement{"title": "Tea & owls", "pages": ""},
		has: map[string][]string{".ris": {"T2  - Moths & Co 2021", "CY  - Gießen"},
			".csl.json": {`"event-place":"Gießen"`}},
	},
	{
		fields: `"subtype": "thesis", "title": "Thesis &amp; defence",
			"university": "Uni &amp; Hochschule", "pages": null`,
		want: statement{"title": "Thesis & defence", "pages": ""},
		has:  map[string][]string{".ris": {"PB  - Uni & Hochschule"}},
	},

	{fields: `"doi": "10.1002/1097-4636(20011205)57:3<432::AID-JBM77>3.0.CO;2-G"`, want: statement{"doi": oldDOI},
		finds: doiForms77},
	{fields: `"doi": "https://doi.org/10.1002/1097-4636(20011205)57:3%3C432::AID-JBM77%3E3.0.CO;2-G"`,
		want: statement{"doi": oldDOI}, finds: doiForms77},
	{fields: `"doi": "https://doi.org/10.1002/1097-4636(20011205)57:3<432::AID-JBM77>3.0.CO;2-G"`,
		want: statement{"doi": oldDOI}, finds: doiForms77},
	{fields: `"doi": "https://doi.org/10.5555%2F2990888"`, want: statement{"doi": "10.5555/2990888"},
		finds: []string{"10.5555/2990888", "http://dx.doi.org/10.5555%2F2990888", "doi:10.5555/2990888",
			"DOI 10.5555/2990888"}},
	{fields: `"doi": "https://www.doi.org/10.5555/moth.1?utm_source=mail"`, want: statement{"doi": "10.5555/moth.1"}},
	{fields: `"doi": "info:doi/10.5555/moth.2"`, want: statement{"doi": "10.5555/moth.2"},
		finds: []string{"info:doi/10.5555/moth.2"}},
	{fields: `"doi": "DOI: https://doi.org/10.5555/moth.4/"`, want: statement{"doi": "10.5555/moth.4"}},
	{fields: `"doi": "10.1002/(sici)1099-050x(199823/24)37:3/4<197::aid-hrm7>3.0.co;2-#"`,
		want:  statement{"doi": "10.1002/(sici)1099-050x(199823/24)37:3/4<197::aid-hrm7>3.0.co;2-#"},
		finds: []string{"https://doi.org/10.1002/(sici)1099-050x(199823/24)37:3/4%3C197::aid-hrm7%3E3.0.co;2-%23"}},
	{fields: `"doi": "10.5555/c%d"`, want: statement{"doi": "10.5555/c%d"},
		finds: []string{"https://doi.org/10.5555/c%25d"},
		has:   map[string][]string{".json": {`"doi":"https://doi.org/10.5555/c%25d"`}}},
	{fields: `"doi": "10.5555/moth?a=1&b=2"`, want: statement{"doi": "10.5555/moth?a=1&b=2"},
		has: map[string][]string{".json": {`"doi":"https://doi.org/10.5555/moth%3Fa=1&b=2"`}}},
	{fields: `"doi": "10.5555/moth.6."`, want: statement{"doi": "10.5555/moth.6."}},
	{fields: `"doi": "https://publisher.example/papers/78"`, want: statement{"doi": ""},
		has: map[string][]string{".ris": {"UR  - https://publisher.example/papers/78"},
			".csl.json": {`"URL":"https://publisher.example/papers/78"`},
			"":          {`href="https://publisher.example/papers/78"`}}},
	{fields: `"doi": "HTTPS://DOI.ORG/10.5555/MOTH.8"`, want: statement{"doi": "10.5555/MOTH.8"},
		finds: []string{"10.5555/moth.8"}},
	{fields: `"doi": "10.1002/(SICI)1097-0274(199909)36:1+<1::AID-AJIM7>3.0.CO;2-0"`,
		want: statement{"doi": "10.1002/(SICI)1097-0274(199909)36:1+<1::AID-AJIM7>3.0.CO;2-0"}},
	{fields: `"doi": "10.5555/moth{11}"`, want: statement{"doi": "10.5555/moth{11}"}},
	{fields: `"doi": ["10.5555/moth.12"]`, want: statement{"doi": "10.5555/moth.12"}},

	{fields: `"authors": [{"last": "Rossi, Jr.", "first": "E. M."}]`, want: statement{"authors": "Rossi, E. M., Jr."},
		has: junior},
	{fields: `"authors": [{"last": "Rossi", "first": "E. M., Jr."}]`, want: statement{"authors": "Rossi, E. M., Jr."},
		has: junior},
	{fields: `"authors": [{"last": "Rossi Jr.", "first": "E. M."}]`, want: statement{"authors": "Rossi, E. M., Jr."},
		has: junior},
	{fields: `"authors": ["Rossi, Jr., E. M."]`, want: statement{"authors": "Rossi, E. M., Jr."}, has: junior},
	{fields: `"authors": [{"last": "Rossi", "first": "E. M.", "suffix": "Jr."}]`,
		want: statement{"authors": "Rossi, E. M., Jr."}, has: junior},
	{fields: `"authors": [{"last": "Rossi III", "first": "Ed"}]`, want: statement{"authors": "Rossi, Ed, III"},
		has: map[string][]string{".bib": {"author = {Rossi, III, Ed}"}, ".html": {"Rossi,&nbsp;E., III"}}},
	{fields: `"authors": [{"last": "Stone and Owl, Inc.", "first": ""}]`,
		want: statement{"authors": "Stone and Owl, Inc."},
		has: map[string][]string{".bib": {"author = {{Stone and Owl, Inc.}}"},
			".csl.json": {`"literal":"Stone and Owl, Inc."`}}},
	{fields: `"authors": ["Stone and Owl, Inc."]`, want: statement{"authors": "Stone and Owl, Inc."}},
	{fields: `"authors": [{"last": "Department for Moths", "first": null}]`,
		want: statement{"authors": "Department for Moths"}},
	{fields: `"authors": [{"last": "Suryakanta", "first": ""}]`, want: statement{"authors": "Suryakanta"}},
	{fields: `"authors": [{"last": "van den Heuvel", "first": "Piet"}]`,
		want: statement{"authors": "van den Heuvel, Piet"}},
	{fields: `"authors": [{"last": "da Costa", "first": ""}]`, want: statement{"authors": "da Costa"}},
	{fields: `"authors": [{"last": "Eulenburg", "first": "Karl von"}]`,
		want: statement{"authors": "Eulenburg, Karl von"}},
	{fields: `"authors": [{"last": "WU", "first": "Y."}]`, want: statement{"authors": "WU, Y."}},
	{fields: `"authors": [{"name": "World Moth Organization"}]`,
		want: statement{"authors": "World Moth Organization"}},
	{fields: `"authors": ["CMS Collaboration", "Fern, Bo"]`,
		want: statement{"authors": "CMS Collaboration / Fern, Bo"}},
	{fields: `"authors": "Fern, Bo; Quill, Ada"`, want: statement{"authors": "Fern, Bo / Quill, Ada"},
		has: map[string][]string{".bib": {"author = {Fern, Bo and Quill, Ada}"}}},
	{fields: `"authors": [{"last": "Fern", "first": "Bo"}, {"last": "et al.", "first": ""}]`,
		want: statement{"authors": "Fern, Bo"},
		has:  map[string][]string{".bib": {"author = {Fern, Bo and others}"}, ".html": {"Fern,&nbsp;B. et al."}}},
	{fields: `"authors": [{"last": "李", "first": "小龙"}]`, want: statement{"authors": "李, 小龙"},
		has: map[string][]string{".html": {"李&nbsp;小龙"}}, finds: []string{"小龙"}},
	{fields: `"authors": [{"last": "Scha\u0308fer", "first": "Ju\u0308rgen"}]`,
		want:  statement{"authors": "Scha\u0308fer, Ju\u0308rgen"},
		finds: []string{"Schäfer", "schaefer"}, has: map[string][]string{".html": {"J."}}},

	{fields: `"pages": "45–67"`, want: statement{"pages": "45-67"},
		has: map[string][]string{".bib": {"pages = {45--67}"},
			".ris": {"SP  - 45\r\nEP  - 67"}, "": {"<dd dir=\"auto\">45–67</dd>",
				`name="citation_lastpage" content="67"`}}},
	{fields: `"pages": "45−67"`, want: statement{"pages": "45-67"},
		has: map[string][]string{".bib": {"pages = {45--67}"}}},
	{fields: `"pages": "S1-S9"`, want: statement{"pages": "S1-S9"},
		has: map[string][]string{".ris": {"SP  - S1\r\nEP  - S9"}}},
	{fields: `"pages": "12-1"`, want: statement{"pages": "12-1"},
		has: map[string][]string{".ris": {"SP  - 12-1\r\n"}}},
	{fields: `"pages": "12-1–12-9"`, want: statement{"pages": "12-1-12-9"},
		has: map[string][]string{".ris": {"SP  - 12-1\r\nEP  - 12-9"}}},
	{fields: `"pages": "n/a-n/a"`, want: statement{"pages": ""}},
	{fields: `"year": "2021"`, want: statement{"year": "2021"}},
	{fields: `"year": "c2019"`, want: statement{"year": "2019"}},
	{fields: `"year": "in press"`, want: statement{"year": ""},
		has: map[string][]string{".csl.json": {`"status":"in press"`}}},
	{fields: `"year": 2021.0`, want: statement{"year": "2021"}},
}

// oldDOI is a DOI of the kind with signs that addresses and markup give a meaning.
const oldDOI = "10.1002/1097-4636(20011205)57:3<432::AID-JBM77>3.0.CO;2-G"

// doiForms77 are forms of oldDOI.
var doiForms77 = []string{
	oldDOI, "doi:" + oldDOI, "https://doi.org/10.1002/1097-4636(20011205)57:3%3C432::AID-JBM77%3E3.0.CO;2-G",
	"https://www.doi.org/" + oldDOI + "?utm_source=mail",
}

// junior is how formats have the suffix Jr.
var junior = map[string][]string{
	".bib": {"author = {Rossi, Jr., E. M.}"}, ".ris": {"AU  - Rossi, E. M., Jr.\r\n"}, ".csl.json": {
		`"suffix":"Jr."`},
	".jsonld": {`"honorificSuffix":"Jr."`, `"name":"E. M. Rossi Jr."`}, ".html": {"Rossi,&nbsp;E. M., Jr."},
}

// datedCases are BSON dates whose day, and often year, depends on the zone, and texts, which have none. want has the
// date in UTC, Europe/Berlin and America/New_York.
var datedCases = []struct {
	fields string
	want   [3]string
}{
	{`"start_date": {"$date": "2023-12-31T23:00:00Z"}, "end_date": {"$date": "2023-12-31T23:00:00Z"}`,
		[3]string{"2023-12-31", "2024-01-01", "2023-12-31"}},
	{`"year": 2024, "month": 1, "start_date": {"$date": "2023-12-31T23:00:00Z"}`,
		[3]string{"2024-01", "2024-01-01", "2024-01"}},
	{`"start_date": {"$date": "2024-03-01T12:00:00Z"}`, [3]string{"2024-03-01", "2024-03-01", "2024-03-01"}},
	{`"start_date": {"$date": "2024-01-01T03:00:00Z"}`, [3]string{"2024-01-01", "2024-01-01", "2023-12-31"}},
	{`"start_date": "2024-01-01"`, [3]string{"2024-01-01", "2024-01-01", "2024-01-01"}},
	{`"year": {"$date": "2022-12-31T23:30:00Z"}`, [3]string{"2022-12-31", "2023-01-01", "2022-12-31"}},
}

// moment is a BSON date at a full hour of UTC.
func moment(year int, month time.Month, day, hour int) bson.DateTime {
	return bson.NewDateTimeFromTime(time.Date(year, month, day, hour, 0, 0, 0, time.UTC))
}

var (
	projectOfCases = bson.D{
		{Key: "_id", Value: "project"}, {Key: "name", Value: "LIGHT"}, {Key: "title", Value: "Light &amp; moths"},
		{Key: "public", Value: true}, {Key: "status", Value: "approved"}, {Key: "units", Value: bson.A{"OWL"}},
		{Key: "start_date", Value: moment(2019, 12, 31, 23)}, {Key: "end_date", Value: moment(2022, 12, 31, 23)},
	}
	eventOfCases = bson.D{
		{Key: "_id", Value: "event"}, {Key: "title", Value: "Light at night"}, {Key: "units", Value: bson.A{"OWL"}},
		{Key: "start", Value: moment(2024, 1, 1, 3)}, {Key: "end", Value: moment(2024, 1, 2, 3)},
	}
)

// periodCases have the first and last day of projectOfCases and eventOfCases, by list and zone: UTC, Europe/Berlin,
// America/New_York.
var periodCases = map[string][3][2]string{
	"/lists/projects": {{"2019-12-31", "2022-12-31"}, {"2020-01-01", "2023-01-01"}, {"2019-12-31", "2022-12-31"}},
	"/lists/events":   {{"2024-01-01", "2024-01-02"}, {"2024-01-01", "2024-01-02"}, {"2023-12-31", "2024-01-01"}},
}
