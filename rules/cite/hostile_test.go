package cite_test

// hostile are malformed records; some institutes store such records.
var hostile = []string{
	`{"_id": {"$oid": "65b000000000000000000001"}, "type": "publication", "subtype": "article", "title": "Ice ` +
		`<i>in situ</i> &amp; 50% of H<sub>2</sub>O: $x_1^2$ ~ {BERT} \\o/ #1 \"quoted\" 'single' ` +
		`<script>alert(1)</script>", "authors": [{"first": "Ada", "last": "Frost, Jr."}, {"last": "Müller and ` +
		`Sons"}, {"first": "Jo-Ann B.", "last": "van den Akker"}, {"last": "de Gruyter Verlag"}], "year": "2021", ` +
		`"month": "3", "day": 4, "journal": "Science & <b>Co</b>", "volume": 12, "issue": "3/4", "pages": "45–67", ` +
		`"doi": "https://doi.org/10.1002/(SICI)1097-4636(199823)43:4<338::AID-JBM16>3.0.CO;2-#", "issn": ` +
		`["1234-5678", "8765-4321"]}`,
	`{"_id": 1, "type": 12, "subtype": ["article"], "title": null, "authors": null, "year": {"a": 1}}`,
	`{"_id": "text/../id?#", "title": 17, "authors": "WHO, Geneva", "year": "in press", "start_date": "2020-02-30",` +
		` "doi": "none", "link": "javascript:alert(1)"}`,
	`{"_id": {"a": 1}, "type": "publication", "subtype": "chapter", "title": ["One", "Two"], "authors": ["Doe, ` +
		`Jane", "The A, B and C Collaboration", "", null, 4, {"first": "Plato"}, {}], "year": 2020.0, "book": "A ` +
		`Book", "isbn": ["978-0-00-638135-4", "978-0-00-413654-8"], "pages": 17}`,
	`{"_id": "lines", "title": "One\nTY  - BOOK\r\nER  - \u2028two\u2029three\u0000four\u0085five", "authors": ` +
		`[{"first": "A\nER", "last": "B\r\nAU C"}], "year": 2001, "abstract": "x\r\nER  - \r\n\r\nTY  - JOUR"}`,
	`{"_id": "braces", "title": "{ unbalanced \\ and } } more \\} -- dashes --- “quotes” ` + "``ticks''" + ` ?` +
		"`" + ` !` + "`" +
		` a,,b", "authors": [{"first": "{", "last": "}"}], "year": 1999, "doi": "10.1234/a{b}c\\d%20e_f", "link": ` +
		`"https://example.org/a{b}?c=d&e=%7E#~f_g"}`,
	`{"_id": "accents", "title": "Ærøskøbing, Łódź, Ðakovo, Straße, ÉCOLE, ế, İstanbul, 日本語 α–β ≤ 5 µm 20 °C → ± × ` +
		`÷ § ¶ † ‡ £ ← “x” ‘y’ …", "authors": [{"first": "Ağça Ö.", "last": "Şahin Œuvre"}, {"first": "Søren", ` +
		`"last": "Kierkegård"}, {"first": "王", "last": "小明"}, {"last": "Ŵ"}], "year": 1999}`,
	`{"_id": "markup", "title": "<b>Bold</b> <em>em <sub>sub <strong>strong</strong></sub></em> <i ` +
		`onclick='x()'>unclosed &lt;i&gt; &nope; &#10;&#x2028;&nbsp;x <SUP>2</SUP> a < b > c", "year": 1}`,
	`{"_id": "dropped", "title": "One </i> two </b>", "journal": "A </sub> B </em>", "year": 2000}`,
	`{"_id": "thesis", "type": "publication", "subtype": "thesis", "title": "On Ice", "authors": [{"first": "Ann", ` +
		`"last": "Ohm"}], "degree": "PhD thesis", "university": "University of Halden", "year": 9999, "month": 12}`,
	`{"_id": "spaces", "title": "  Two  spaces\tand a tab ", "authors": [{"first": " A. ", "last": " B  C "}], ` +
		`"year": " 2020 ", "journal": "-", "doi": " DOI: 10.1234/ABC "}`,
	`{"_id": "talk", "type": "lecture", "subtype": "talk", "title": "Why ice?", "authors": [{"first": "Cid", ` +
		`"last": "Kalt"}], "start": {"year": 2023, "month": 5, "day": 4}, "end": {"year": 2023, "month": 5, "day": ` +
		`6}, "conference": "Cold Days", "location": "Kiel"}`,
	`{"_id": "editors", "type": "publication", "subtype": "book", "title": "The Cold Book", "authors": [], ` +
		`"editors": [{"first": "Eve", "last": "Winter"}], "year": 2022, "edition": 2, "publisher": "Nord", "city": ` +
		`"Bremen", "isbn": "978-3-16-148410-0", "series": "Cold Books"}`,
}
