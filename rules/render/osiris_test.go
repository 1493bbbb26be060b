package render_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/label"
	"vitrine/rules/markup"
	"vitrine/rules/render"
)

// osirisPrinted renders an activity with one template of a database, and returns the text and the
// template's faults.
func osirisPrinted(t testing.TB, o render.Osiris, template, doc, lang string) (string, []string) {
	t.Helper()
	o.Types = append(o.Types, render.OsirisType{From: "x", ID: "s", Parent: "t", Print: template})
	o.Categories = append(o.Categories, render.OsirisCategory{From: "c", ID: "t"})
	r, faults := defaultRules(t).WithOsiris(o)
	doc = strings.Replace(`{"type": "t", "subtype": "s", `+strings.TrimPrefix(doc, "{"), ", }", "}", 1)
	rendered, err := fresh(r, activity(t, doc), render.Options{Language: lang})
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, f := range faults {
		reasons = append(reasons, strings.TrimPrefix(f.Reason, "template.print: "))
	}
	return rendered.Lookup("print").StringValue(), reasons
}

func TestOsirisNotation(t *testing.T) {
	const doc = `{"title": "On Ice", "journal": "Cold", "volume": "7", "year": 2023, "pages": "1-9"}`
	for _, tt := range []struct{ name, template, want string }{
		{"field", "{title}", "On Ice"},
		{"text and fields", "{title} ({year}).", "On Ice (2023)."},
		{"empty field", "{title} ({book-title}), {journal}.", "On Ice, Cold."},
		{"fallback not needed", "{title|journal}", "On Ice"},
		{"fallback to a field", "{book-title|journal}", "Cold"},
		{"fallback to the third", "{book-title|magazine|journal}", "Cold"},
		{"fallback to quoted text", "{book-title|'no book'}", "no book"},
		{"fallback to text in double quotes", `{book-title|"it's | no book"}`, "it's | no book"},
		{"fallback to bare text", "{book-title|no book at all}", "no book at all"},
		{"fallback to a field, then text", "{book-title|magazine|'none'}", "none"},
		{"empty fallback", "{book-title|}x", "x"},
		{"blanks in braces", "{ title | journal }", "On Ice"},
		{"filled", "%journal In: {journal}.%", "In: Cold."},
		{"not filled", "{title}%magazine  in {magazine}%", "On Ice"},
		{"empty asked, empty", "%!magazine no magazine%", "no magazine"},
		{"empty asked, filled", "{title}%!journal  no journal%", "On Ice"},
		{"all filled", "%journal&volume {journal} {volume}%", "Cold 7"},
		{"not all filled", "{title}%journal&issue  {journal}%", "On Ice"},
		{"all, one empty on purpose", "%journal&!issue {journal} without issue%", "Cold without issue"},
		{"any filled", "%magazine|journal published%", "published"},
		{"any filled, none", "{title}%magazine|book-title  published%", "On Ice"},
		{"any, one empty on purpose", "%magazine|!issue either%", "either"},
		{"all binds closer than any", "%magazine&issue|journal&volume shown%", "shown"},
		{"condition without text", "{title}%journal%", "On Ice"},
		{"field in a condition with fallback", "%journal {magazine|journal}%", "Cold"},
		{"percent within a field", "{book-title|'100% of it'}", "100% of it"},
		{"percent within a field in a condition", "%journal {book-title|'100%'}%", "100%"},
		{"several conditions", "%journal {journal}% %volume vol. {volume}% %issue no. {issue}%", "Cold vol. 7"},
		{"condition with HTML", "{title}%journal . <i>{journal}</i>%.", "On Ice. <i>Cold</i>."},
		{"line break in HTML", "{title}<br> <b>{journal}</b><br/>{year}", "On Ice<br><b>Cold</b><br>2023"},
		{"volume and pages", "{volume-issue-pages}", "7: 1-9"},
		{"a value that begins with a space", "<i>{journal}</i>{volume-issue-pages}", "<i>Cold</i> 7: 1-9"},
		{"the template's space and the value's", "{journal} {volume-issue-pages}", "Cold 7: 1-9"},
		{"German", "%journal für {journal}%", "für Cold"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, faults := osirisPrinted(t, render.Osiris{}, tt.template, doc, "en")
			if got != tt.want || faults != nil {
				t.Errorf("got  %q, faults %q\nwant %q", got, faults, tt.want)
			}
		})
	}
}

func TestOsirisFields(t *testing.T) {
	o := render.Osiris{
		Journals: map[string]render.OsirisJournal{"61f0": {Name: "Journal of Cold", Abbr: "J. Cold"},
			"61f1": {Name: "Heat"}},
		Vocabularies: map[string]map[string]label.Name{
			"thesis":       {"doctor": {EN: "PhD thesis", DE: "Dissertation"}},
			"funding-type": {"basic": {EN: "Basic funding", DE: "Grundmittel"}},
		},
		Fields: []render.OsirisField{
			{From: "f1", ID: "venue-date", Kind: render.OsirisDate},
			{From: "f2", ID: "site", Kind: render.OsirisURL},
			{From: "f3", ID: "award", Kind: render.OsirisFlag, Name: label.Name{EN: "Awarded", DE: "Ausgezeichnet"}},
			{From: "f4", ID: "level", Values: map[string]label.Name{"high": {EN: "High", DE: "Hoch"}},
				Default: "unknown"},
			{From: "f5", ID: "größe"},
		},
	}
	for _, tt := range []struct{ name, template, doc, en, de string }{
		{"authors", "{authors}",
			`{"authors": [{"first": "Ada B.", "last": "Doe", "aoi": true}, {"first": "Jo", "last": "Poe"}]}`,
			"<b>Doe A.B.</b> and Poe J.", ""},
		{"editor", "{editor}", `{"editors": [{"first": "Jo", "last": "Poe"}]}`, "Poe J.", ""},
		{"supervisor", "{supervisor}", `{"supervisors": [{"first": "Jo", "last": "Poe"}]}`, "Poe J.", ""},
		{"journal by its record", "{journal} = {journal-abbr}", `{"journal": "JC", "journal_id": "61f0"}`,
			"Journal of Cold = J. Cold", ""},
		{"journal without abbreviation", "{journal-abbr}", `{"journal": "H.", "journal_id": "61f1"}`, "Heat", ""},
		{"journal without record", "{journal} = {journal-abbr}", `{"journal": "JC", "journal_id": "none"}`, "JC = JC",
			""},
		{"volume, issue, pages", "{volume-issue-pages}", `{"volume": 3, "issue": "2", "pages": "4-5"}`, "3(2): 4-5",
			""},
		{"volume and issue", "{book-title}{volume-issue-pages}", `{"book": "Soil 42", "volume": 29, "issue": "D1"}`,
			"Soil 42 29(D1)", ""},
		{"issue alone", "{book-title}{volume-issue-pages}", `{"book": "Soil", "issue": "D1"}`, "Soil(D1)", ""},
		{"pages alone", "{book-title}{volume-issue-pages}.", `{"book": "Soil", "pages": "4-5"}`, "Soil: 4-5.", ""},
		{"pages before all", "{volume-issue-pages}", `{"pages": "4-5"}`, "4-5", ""},
		{"pages", "{pages-pp}", `{"pages": "4-5"}`, "pp. 4-5", ""},
		{"page", "{pages-pp}", `{"pages": 17}`, "p. 17", ""},
		{"no page", "x{pages-pp}", `{}`, "x", ""},
		{"doi", "{doi}", `{"doi": "10.1234/Ab.1"}`,
			"<a href='https://doi.org/10.1234/Ab.1' target='_blank' rel='noopener'>10.1234/Ab.1</a>", ""},
		{"doi as text", "{doi-text}", `{"doi": "10.1234/Ab.1"}`, "10.1234/Ab.1", ""},
		{"doi with a prefix", "{doi-prefix}", `{"doi": "10.1234/1"}`,
			"DOI: <a href='https://doi.org/10.1234/1' target='_blank' rel='noopener'>10.1234/1</a>", ""},
		{"no doi", "x{doi}{doi-prefix}{doi-link}", `{"doi": "none"}`, "x", ""},
		{"link", "{link}", `{"link": "https://a.org/?b&c"}`,
			"<a href='https://a.org/?b&amp;c' target='_blank' rel='noopener'>https://a.org/?b&amp;c</a>", ""},
		{"harmful link", "x{link}", `{"link": "javascript:alert(1)"}`, "x", ""},
		{"pubmed", "{pubmed}", `{"pubmed": "31"}`,
			"<a href='https://pubmed.ncbi.nlm.nih.gov/31/' target='_blank' rel='noopener'>31</a>", ""},
		{"year", "{year}", `{"year": "2020"}`, "2020", ""},
		{"year of the start", "{year}", `{"start": {"year": 2021, "month": 2, "day": 3}}`, "2021", ""},
		{"date range in parts", "{date-range}",
			`{"start": {"year": 2021, "month": 2, "day": 3}, "end": {"year": 2021, "month": 2, "day": 5}}`,
			"03.-05.02.2021", ""},
		{"date range as rendered", "{date-range}",
			`{"start": {"year": 1999}, "start_date": "2021-02-03", "end_date": "2021-02-05"}`, "03.-05.02.2021", ""},
		{"date range across months", "{date-range}", `{"start_date": "2021-02-27", "end_date": "2021-03-01"}`,
			"27.02.-01.03.2021", ""},
		{"date range across years", "{date-range}", `{"start_date": "2021-12-30", "end_date": "2022-01-02"}`,
			"30.12.2021-02.01.2022", ""},
		{"ongoing, in months", "{date-range-ongoing}",
			`{"start": {"year": 2021, "month": 2}, "end": {"year": 2022, "month": 5}}`,
			"from February 2021 until May 2022", "von Februar 2021 bis Mai 2022"},
		{"ongoing, without an end", "{date-range-ongoing}", `{"start": {"year": 2021, "month": 2}, "end": null}`,
			"since February 2021", "seit Februar 2021"},
		{"ongoing, a day", "{date-range-ongoing}", `{"year": 2021, "month": 2, "day": 1}`, "01.02.2021", ""},
		{"date of a moment", "{date-range}", `{"year": 2021, "month": 2, "day": 3, "end": null}`, "03.02.2021", ""},
		{"start and end", "{start} to {end}",
			`{"start": {"year": 2021, "month": 2, "day": 3}, "end": {"year": 2022, "month": 2, "day": 5}}`,
			"03.02.2021 to 05.02.2022", ""},
		{"month", "{month} {year}", `{"year": 2021, "month": 3}`, "March 2021", "März 2021"},
		{"edition", "{edition} {edition-ed}", `{"edition": 2}`, "2nd 2nd ed.", ""},
		{"edition 11, 21, 103", "{edition}, {volume}", `{"edition": "11", "volume": 21}`, "11th, 21", ""},
		{"edition in words", "{edition-ed}", `{"edition": "revised"}`, "revised", ""},
		{"book title", "{book-title} {book-series}", `{"book": "B", "series": "S"}`, "B S", ""},
		{"open access", "{openaccess}", `{"open_access": true, "oa_status": "gold"}`,
			"<i class='icon-open-access text-success' title='Open Access (gold)'></i>", ""},
		{"closed access", "{openaccess}", `{"open_access": false}`,
			"<i class='icon-closed-access text-danger' title='Closed Access'></i>", ""},
		{"open access in words", "{openaccess-text}{openaccess-status}", `{"open_access": "1"}`,
			"Open AccessOpen Access", ""},
		{"ahead of print", "{online-ahead-of-print}", `{"epub": true}`,
			"<span class='text-danger'>[Online ahead of print]</span>", ""},
		{"not ahead of print", "x {online-ahead-of-print}", `{"epub": false}`, "x", ""},
		{"a dash counts as empty", "%publisher by {publisher}%%!publisher unknown%", `{"publisher": "-"}`, "unknown",
			""},
		{"code by a vocabulary", "{thesis}", `{"thesis": "doctor"}`, "PhD thesis", "Dissertation"},
		{"code by its built-in name", "{thesis}", `{"thesis": "master"}`, "Master thesis", "Masterarbeit"},
		{"code without a name", "{funding_type}", `{"funding_type": "other"}`, "other", ""},
		{"version", "{version}", `{"version": 3}`, "Version 3", ""},
		{"person", "{person}", `{"name": "Jo Poe", "academic_title": "Dr.", "affiliation": "X"}`, "Dr. Jo Poe, X",
			""},
		{"person alone", "{person}", `{"affiliation": "X"}`, "X", ""},
		{"organisation by name, not by _id", "{organization}{person-organization}",
			`{"name": "Jo", "organization": "507f1f77bcf86cd799439011"}`, "Jo", ""},
		{"type and subtype", "{type}/{subtype}", `{}`, "t/s", ""},
		{"own date", "{venue-date}", `{"venue-date": "2021-02-03"}`, "03.02.2021", ""},
		{"own link", "{site}", `{"site": "https://a.org/"}`,
			"<a href='https://a.org/' target='_blank' rel='noopener'>https://a.org/</a>", ""},
		{"own flag", "%award {award}%", `{"award": true}`, "[Awarded]", "[Ausgezeichnet]"},
		{"own values", "{level}", `{"level": ["high", "low"]}`, "High, low", "Hoch, low"},
		{"own default", "{level}", `{}`, "unknown", ""},
		{"own name with umlauts", "{größe}", `{"größe": 12}`, "12", ""},
		{"markup in a title", "{title}", `{"title": "<i>E. coli</i> & <script>x</script>"}`, "<i>E. coli</i> &amp;",
			""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for lang, want := range map[string]string{"en": tt.en, "de": tt.de} {
				if want == "" && tt.en != "" {
					want = tt.en
				}
				got, faults := osirisPrinted(t, o, tt.template, tt.doc, lang)
				if got != want || faults != nil {
					t.Errorf("%s: got  %q, faults %q\nwant %q", lang, got, faults, want)
				}
			}
		})
	}
}

// TestOsirisMistakes: an unusable part is reported, and as little as possible is dropped with it.
func TestOsirisMistakes(t *testing.T) {
	const doc = `{"title": "On Ice", "journal": "Cold", "serial": "S1", "link": "https://a.org/"}`
	const html = "HTML that is not allowed or not closed is left out"
	for _, tt := range []struct {
		name, template, want string
		faults               []string
	}{
		{"unknown field", "{title} {titel}", "On Ice",
			[]string{`unknown field "titel", taken for what activities store under that name`}},
		{"unknown field that activities have", "{serial}: {title}", "S1: On Ice",
			[]string{`unknown field "serial", taken for what activities store under that name`}},
		{"unknown field in a condition", "{title}%titel x%%!titel !%", "On Ice!",
			[]string{`unknown field "titel", taken for what activities store under that name`}},
		{"brace not closed", "{title} {journal", "On Ice {journal", []string{"a { without its }"}},
		{"braces without a name", "{} {?x} {title}", "On Ice",
			[]string{"{} does not begin with a field's name", "{?x} does not begin with a field's name"}},
		{"percent alone", "{title}: 100%", "On Ice: 100%", []string{"a % without its pair"}},
		{"percent of text", "5 % to 10 % of {title}", "5 % to 10 % of On Ice",
			[]string{"a % without fields after it", "a % without its pair"}},
		{"conditions within conditions", "{title}%journal a %magazine b% c%", "On Icea magazine b% c%",
			[]string{"a % without fields after it", "a % without its pair"}},
		{"element not closed", "<i>{title} {journal}", "<i>On Ice Cold</i>", []string{html}},
		{"element closed elsewhere", "%journal <i>{journal}%</i> {title}", "<i>Cold</i> On Ice", []string{html}},
		{"elements crossed", "<b><i>{title}</b></i>.", "<b><i>On Ice</i></b>.", []string{html}},
		{"style", "<span style='color: red'>{title}</span>", "<span>On Ice</span>", []string{html}},
		{"upper case", "<I>{title}</I><BR>{journal}", "<i>On Ice</i><br>Cold", []string{html}},
		{"not allowed", "<h1 onclick='x()'>{title}</h1><img src=x onerror=y>", "On Ice", []string{html}},
		{"script", "<script>alert(1)</script>{title}", "alert(1)On Ice", []string{html}},
		{"comment", "<!-- {title} -->{title}<!-- %", "On Ice", nil},
		{"less than", "1 < 2 {title} <3", "1 &lt; 2 On Ice &lt;3", nil},
		{"link around a title", "<a href='{link}'>{title}</a>", "<a href='https://a.org/'>On Ice</a>", nil},
		{"link from text", "<a href='{title}'>{journal}</a>", "Cold", []string{html}},
		{"harmful link", "<a href='javascript:alert(1)'>{title}</a>", "<a>On Ice</a>", []string{html}},
		{"zero bytes", "\x000\x00{title} <h1>\x007\x00</h1>", "0On Ice 7", []string{html}},
		{"field as element", "<{title}>x</{title}>", "&lt;On Ice&gt;x&lt;/On Ice&gt;", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, faults := osirisPrinted(t, render.Osiris{}, tt.template, doc, "en")
			if got != tt.want || !slices.Equal(faults, tt.faults) {
				t.Errorf("got  %q\nwant %q\nfaults %q\nwant   %q", got, tt.want, faults, tt.faults)
			}
		})
	}
	long := strings.Repeat("{title}", 5000)
	got, faults := osirisPrinted(t, render.Osiris{}, long, doc, "en")
	if want := "template.print is longer than 16384 bytes"; !slices.Equal(faults, []string{want}) ||
		!strings.HasPrefix(got, "On Ice") && got == "" {
		t.Errorf("a long template: got %.40q, faults %q", got, faults)
	}
}

// TestOsirisOverlay: names, icons and forms come from the database; the rules file supplies missing
// ones, level by level.
func TestOsirisOverlay(t *testing.T) {
	base := defaultRules(t)
	r, faults := base.WithOsiris(render.Osiris{
		Categories: []render.OsirisCategory{
			{From: "c1", ID: "publication", Name: label.Name{EN: "Papers", DE: "Paper"}, Icon: "book-bookmark"},
			{From: "c2", ID: "outreach", Name: label.Name{EN: "Outreach"}},
			{From: "c3", ID: "publication", Name: label.Name{EN: "Again"}},
			{From: "c4"},
			{From: "c5", ID: "poster", Icon: "Not An Icon"},
		},
		Types: []render.OsirisType{
			{From: "t1", ID: "article", Parent: "publication", Name: label.Name{EN: "Paper"}, Title: "{title}!",
				Subtitle: "{authors}, {journal}"},
			{From: "t2", ID: "talk", Parent: "outreach", Icon: "megaphone", Print: "{title} for all"},
			{From: "t3", ID: "lost"},
			{From: "t4", ID: "odd", Parent: "nowhere", Name: label.Name{DE: "Seltsam"}},
			{From: "t5", ID: "talk", Parent: "outreach"},
			{From: "t6", ID: "poster", Parent: "poster", Subtitle: "{conference}"},
		},
		Fields: []render.OsirisField{{From: "f1", ID: "title"}, {From: "f2", ID: "{x}"}},
	})
	var got []string
	for _, f := range faults {
		got = append(got, f.From+": "+f.Reason)
	}
	want := []string{
		`f1: field "title" exists already`, `f2: id "{x}" cannot be the name of a field`,
		`c3: id "publication" is given twice`, "c4: id is missing", `c5: icon "Not An Icon" is not an icon's name`,
		"t3: parent is missing", `t4: parent "nowhere" is no category`, `t5: id "talk" is given twice`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("faults\ngot  %q\nwant %q", got, want)
	}
	const id = `"_id": {"$oid": "507f1f77bcf86cd799439011"}, "authors": [{"first": "Jo", "last": "Poe", "user": "jp", "aoi": true}], "supervisors": [{"last": "Sue", "user": "su"}]`
	for _, tt := range []struct{ name, doc, key, want string }{
		{"type", `"type": "publication", "subtype": "article"`, "type", "Papers"},
		{"subtype", `"type": "publication", "subtype": "article"`, "subtype", "Paper"},
		{"category's icon", `"type": "publication", "subtype": "article"`, "icon",
			"<span data-toggle='tooltip' data-title='Paper'><i class='ph text-publication ph-book-bookmark'></i></" +
				"span>"},
		{"title", `"type": "publication", "subtype": "article", "title": "T"`, "title", "T!"},
		{"web", `"type": "publication", "subtype": "article", "title": "T", "journal": "J"`, "web",
			"<a class='colorless' href='/activities/view/507f1f77bcf86cd799439011'>T!</a><br><small " +
				"class='text-muted d-block'><a href='/profile/jp'>Poe J.</a>, J</small>"},
		{"portfolio", `"type": "publication", "subtype": "article", "title": "T", "journal": "J"`, "portfolio",
			"<a class='colorless' href='/activity/507f1f77bcf86cd799439011'>T!</a><br><small class='text-muted " +
				"d-block'><b>Poe J.</b>, J</small>"},
		{"without a title", `"type": "publication", "subtype": "article"`, "web",
			"<a class='colorless' href='/activities/view/507f1f77bcf86cd799439011'>[no title]!</a><br><small " +
				"class='text-muted d-block'><a href='/profile/jp'>Poe J.</a></small>"},
		{"built-in citation", `"type": "publication", "subtype": "article", "title": "T", "year": 2020`, "print",
			"<b>Poe,&nbsp;J.</b> (2020) T."},
		{"subtype only below", `"type": "publication", "subtype": "thesis"`, "subtype", "Thesis"},
		{"new type", `"type": "outreach", "subtype": "talk"`, "type", "Outreach"},
		{"new subtype without a name", `"type": "outreach", "subtype": "talk"`, "subtype", "talk"},
		{"new subtype's icon", `"type": "outreach", "subtype": "talk"`, "icon",
			"<span data-toggle='tooltip' data-title='talk'><i class='ph text-outreach ph-megaphone'></i></span>"},
		{"new subtype's citation", `"type": "outreach", "subtype": "talk", "title": "T"`, "print", "T for all"},
		{"default title with a subtitle", `"type": "poster", "subtype": "poster", "title": "T", "conference": "C"`,
			"web",
			"<a class='colorless' href='/activities/view/507f1f77bcf86cd799439011'>T</a><br><small " +
				"class='text-muted d-block'>C</small>"},
		{"bad icon", `"type": "poster", "subtype": "poster"`, "icon",
			"<span data-toggle='tooltip' data-title='Poster'><i class='ph text-poster ph-presentation-chart'></i></" +
				"span>"},
		{"without category", `"type": "nowhere", "subtype": "odd"`, "subtype", "Seltsam"},
		{"type of no record", `"type": "award", "subtype": "award"`, "subtype", "Award"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rendered, err := fresh(r, activity(t, "{"+tt.doc+", "+id+"}"), render.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := rendered.Lookup(tt.key).StringValue(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := fmt.Sprint(rendered.Lookup("users")); got != `["jp","su"]` && got != `["jp", "su"]` {
				t.Errorf("users %s: supervisors count as participants", got)
			}
		})
	}
	if got := base.Fingerprint(); got == r.Fingerprint() || got != defaultRules(t).Fingerprint() {
		t.Error("different rules have the same fingerprint")
	}
}

func TestOsirisOngoing(t *testing.T) {
	o := render.Osiris{Types: []render.OsirisType{
		{ID: "editorial", Parent: "review", Ongoing: true, Print: "{date-range-ongoing}"},
		{ID: "review", Parent: "review", Print: "{date-range}"},
	}, Categories: []render.OsirisCategory{{ID: "review"}}}
	r, _ := defaultRules(t).WithOsiris(o)
	for _, tt := range []struct{ name, doc, print, quarter string }{
		{"no end", `"subtype": "editorial"`, "since March 2022", "2022Q1 - today"},
		{"null", `"subtype": "editorial", "end": null`, "since March 2022", "2022Q1 - today"},
		{"ended", `"subtype": "editorial", "end": {"year": 2022, "month": 5, "day": 1}`,
			"from March 2022 until May 2022", "2022Q1 - Q2"},
		{"a moment", `"subtype": "review"`, "04.03.2022", "2022Q1"},
		{"a moment, null", `"subtype": "review", "end": null`, "04.03.2022", "2022Q1"},
		{"rendered before", `"subtype": "review", "end_date": null`, "04.03.2022", "2022Q1"},
		{"rendered before, ongoing", `"subtype": "editorial", "start_date": "2022-03-04", "end_date": "2022-03-04"`,
			"since March 2022", "2022Q1 - today"},
		{"rendered before, ended", `"subtype": "editorial", "start_date": "2022-03-04", "end_date": "2022-03-20"`,
			"March 2022", "2022Q1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rendered, err := fresh(r, activity(t,
				`{"type": "review", "start": {"year": 2022, "month": 3, "day": 4}, `+tt.doc+`}`), render.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := rendered.Lookup("print").StringValue(); got != tt.print {
				t.Errorf("got %q, want %q", got, tt.print)
			}
			if got := rendered.Lookup("quarter").StringValue(); got != tt.quarter {
				t.Errorf("quarter: got %q, want %q", got, tt.quarter)
			}
		})
	}
}

// TestOsirisFingerprint: the fingerprint changes with everything that changes a row, but not with
// the name of a part in faults.
func TestOsirisFingerprint(t *testing.T) {
	base := defaultRules(t)
	of := func(o render.Osiris) string {
		r, _ := base.WithOsiris(o)
		return r.Fingerprint()
	}
	seen := map[string]int{of(render.Osiris{}): -1}
	for i, o := range []render.Osiris{
		{Categories: []render.OsirisCategory{{ID: "a"}}},
		{Categories: []render.OsirisCategory{{ID: "a", Icon: "x"}}},
		{Types: []render.OsirisType{{ID: "a", Parent: "b", Print: "{title}"}}},
		{Types: []render.OsirisType{{ID: "a", Parent: "b", Title: "{title}"}}},
		{Fields: []render.OsirisField{{ID: "a"}}},
		{Fields: []render.OsirisField{{ID: "a", Kind: render.OsirisDate}}},
		{Persons: map[string]string{"ada": "1"}},
		{Journals: map[string]render.OsirisJournal{"1": {Name: "N"}}},
		{Vocabularies: map[string]map[string]label.Name{"thesis": {"a": {EN: "A"}}}},
	} {
		f := of(o)
		if other, ok := seen[f]; ok {
			t.Errorf("%d has the fingerprint of %d", i, other)
		}
		seen[f] = i
	}
	if of(render.Osiris{Categories: []render.OsirisCategory{{ID: "a", From: "x"}}}) !=
		of(render.Osiris{Categories: []render.OsirisCategory{{ID: "a"}}}) {
		t.Error("the fingerprint depends on the source of the parts")
	}
}

func FuzzOsirisTemplate(f *testing.F) {
	for _, seed := range []string{
		"{authors} ({year}) {title}. <i>{journal-abbr}</i> {volume-issue-pages}. {doi} {online-ahead-of-print} " +
			"{openaccess}",
		"%a&!b|c x {d|'e'}%", "%%%{", "<a href='{link}", "{authors-last, f.-amp+comma}", "<b>%title <i>{title}%</b>",
		"<!-- %x y%", "{_id}{rendered}",
	} {
		f.Add(seed, "A <b>title</b>")
	}
	base := defaultRules(f)
	f.Fuzz(func(t *testing.T, template, value string) {
		r, _ := base.WithOsiris(
			render.Osiris{Types: []render.OsirisType{
				{ID: "s", Parent: "t", Print: template, Title: template, Subtitle: template}}})
		doc, err := bson.Marshal(bson.D{{Key: "type", Value: "t"}, {Key: "subtype", Value: "s"},
			{Key: "title", Value: value}, {Key: "link", Value: value}})
		if err != nil {
			t.Skip("no BSON")
		}
		rendered, err := fresh(r, doc, render.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"print", "web", "portfolio", "title"} {
			html := rendered.Lookup(key).StringValue()
			if markup.Clean(html) != html {
				t.Errorf("%s contains HTML outside of the allow-list: %q", key, html)
			}
		}
	})
}
