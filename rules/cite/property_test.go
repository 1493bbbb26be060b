package cite_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"vitrine/rules/cite"
	"vitrine/rules/cite/citetest"
)

// values are texts that contain syntax of some format.
var values = rapid.OneOf(
	rapid.String(),
	rapid.StringOf(rapid.RuneFrom([]rune("aBé \\{}$&#%_^~\"'`-,?!<>|\n\r\t\u2028–“”ł|="))),
	rapid.SampledFrom([]string{"Ann", "de la Cruz", "O'Neill", "BERT", "A and B", "ER  - ", "</script>",
		"<i>E. coli</i>", "H<sub>2</sub>O", "&lt;b&gt;", "&#10;x", "2021", "\xff\xfe"}),
)

// records generates records with arbitrary fields.
var records = rapid.Custom(func(t *rapid.T) bson.D {
	value := rapid.OneOf(
		rapid.Map(values, func(s string) any { return s }),
		rapid.SampledFrom([]any{nil, int32(2020), int64(7), 20.5, true, bson.A{"a", int32(1), nil},
			bson.D{{Key: "year", Value: 2021}}, bson.DateTime(0)}),
	)
	person := rapid.Custom(func(t *rapid.T) any {
		return bson.D{{Key: "first", Value: value.Draw(t, "first")}, {Key: "last", Value: value.Draw(t, "last")},
			{Key: "user", Value: "u"}}
	})
	d := bson.D{{Key: "_id", Value: values.Draw(t, "id")}}
	for _, field := range []string{
		"title", "year", "month", "day", "start_date", "end_date", "journal", "book", "volume", "issue", "pages",
		"doi", "link", "issn",
		"isbn", "publisher", "conference", "location", "abstract", "series", "degree", "version", "language",
		"edition",
		"keywords", "tags", "open_access", "license", "pdf", "funder", "funding_number",
	} {
		if rapid.Bool().Draw(t, "has "+field) {
			d = append(d, bson.E{Key: field, Value: value.Draw(t, field)})
		}
	}
	subtype := rapid.SampledFrom([]any{"article", "chapter", "thesis", "lecture", "software", "workshop", "preprint",
		4, "?"}).Draw(t, "subtype")
	return append(d, bson.E{Key: "subtype", Value: subtype},
		bson.E{Key: "authors", Value: rapid.SliceOfN(rapid.OneOf(person, value), 0, 4).Draw(t, "authors")},
		bson.E{Key: "editors", Value: value.Draw(t, "editors")},
		bson.E{Key: "_list",
			Value: bson.D{{Key: "persons",
				Value: bson.A{bson.D{{Key: "id", Value: "u"}, {Key: "orcid", Value: "0000-0001"}}}}}})
})

// TestFacesOfAnyRecord parses every format written for random records.
func TestFacesOfAnyRecord(t *testing.T) {
	r := builtIn(t)
	rapid.Check(t, func(t *rapid.T) {
		row, err := bson.Marshal(records.Draw(t, "record"))
		require.NoError(t, err)
		var it cite.Item
		r.Read(row, &it)
		checkFaces(t, &it)
	})
}

// FuzzFaces parses every format written for arbitrary bytes.
func FuzzFaces(f *testing.F) {
	for _, src := range hostile {
		f.Add([]byte(doc(f, src)))
	}
	r := builtIn(f)
	f.Fuzz(func(t *testing.T, row []byte) {
		var it cite.Item
		for _, view := range []string{"activities", "projects", "events", "persons"} {
			r.View(view).Read(row, &it)
			checkFaces(t, &it)
		}
	})
}

// checkFaces parses an item in every format.
func checkFaces(t require.TestingT, it *cite.Item) {
	require.Regexp(t, `^[a-z0-9]+-[a-z2-9]{8}$`, it.Key)
	for _, s := range []string{it.Title, it.Container, it.Publisher, it.Abstract, it.Pages, it.Edition, it.Text,
		it.Rights, it.PDF, it.Funder, it.Grant, strings.Join(it.Keywords, "")} {
		require.True(t, utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl), "%q", s)
	}
	for _, latex := range []bool{false, true} {
		checkBibTeX(t, it, latex)
	}
	checkRIS(t, it)
	checkCSL(t, it)
	checkJSONLD(t, it)
	checkCOinS(t, it)
	checkMeta(t, it)
}

// blanks replaces several blanks in a row with one, for example on both sides of markup, and trims
// the text, because readers display it that way.
func blanks(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " ")
}

func checkBibTeX(t require.TestingT, it *cite.Item, latex bool) {
	src := string(cite.AppendBibTeX(nil, it, latex))
	e, err := citetest.ReadBibTeX(src)
	require.NoError(t, err, src)
	form := func(s string) string { return s }
	if latex {
		form = norm.NFC.String
	}
	require.Equal(t, it.Key, e.Key)
	require.Equal(t, form(it.Text), form(blanks(citetest.Text(e.Fields["title"]))), src)
	require.Equal(t, yearText(it), e.Fields["year"])
	names := citetest.ReadNames(e.Fields["author"])
	if len(it.Authors) == 0 {
		names = nil
	} else if it.MoreAuthors {
		require.Equal(t, [3]string{"others"}, names[len(names)-1], src)
		names = names[:len(names)-1]
	}
	require.Len(t, names, len(it.Authors), src)
	for i, p := range it.Authors {
		want := [3]string{form(p.Family), form(p.Suffix), form(p.Given)}
		if p.Given == "" {
			want = [3]string{form(p.Name())}
		}
		require.Equal(t, want, [3]string{form(names[i][0]), form(names[i][1]), form(names[i][2])}, src)
	}
}

var risShape = regexp.MustCompile(`^[A-Z][A-Z0-9]  - `)

func checkRIS(t require.TestingT, it *cite.Item) {
	src := string(cite.AppendRIS(nil, it))
	lines := strings.Split(strings.TrimSuffix(src, "\r\n\r\n"), "\r\n")
	found := make(map[string][]string)
	for _, line := range lines {
		require.Regexp(t, risShape, line)
		require.NotContains(t, line, "\n")
		found[line[:2]] = append(found[line[:2]], line[6:])
	}
	require.Equal(t, "TY", lines[0][:2])
	require.Equal(t, "ER  - ", lines[len(lines)-1])
	require.Len(t, found["TY"], 1)
	require.Len(t, found["ER"], 1)
	require.Equal(t, it.Text, strings.Join(found["TI"], ""))
	require.Len(t, found["AU"], len(it.Authors))
	require.Len(t, found["KW"], len(it.Keywords))
	if it.Date.Year > 0 {
		require.Equal(t, []string{fmt.Sprintf("%04d", it.Date.Year)}, found["PY"])
	}
}

func checkCSL(t require.TestingT, it *cite.Item) {
	var e struct {
		ID, Type, Title string
		Author          []struct{ Family, Given, Suffix, Literal string }
		Issued          struct {
			Parts [][]int `json:"date-parts"`
		}
	}
	src := cite.AppendCSL(nil, it)
	require.NoError(t, json.Unmarshal(src, &e), "%s", src)
	require.Equal(t, it.Key, e.ID)
	if !strings.ContainsAny(it.Text, "<>") {
		untagged := regexp.MustCompile(`</?(i|b|sub|sup)>`).ReplaceAllString(e.Title, "")
		require.Equal(t, it.Text, blanks(untagged))
	}
	require.Len(t, e.Author, len(it.Authors))
	for i, p := range it.Authors {
		got := e.Author[i]
		require.Equal(t, [...]string{p.Family, p.Given, p.Suffix, p.Literal},
			[...]string{got.Family, got.Given, got.Suffix, got.Literal})
	}
	if it.Date.Year > 0 {
		require.Equal(t, it.Date.Year, e.Issued.Parts[0][0])
	}
}

func checkJSONLD(t require.TestingT, it *cite.Item) {
	src := appendJSONLD(nil, it, "https://data.institute.example")
	var e struct{ Name string }
	require.NoError(t, json.Unmarshal(src, &e), "%s", src)
	require.Equal(t, it.Text, e.Name)
	require.NotContains(t, string(src), "<")
}

func checkCOinS(t require.TestingT, it *cite.Item) {
	src := string(cite.AppendCOinS(nil, it))
	require.NotRegexp(t, `[<>"'\s]`, src)
	query, err := url.ParseQuery(html.UnescapeString(src))
	require.NoError(t, err)
	require.Equal(t, it.Text, query.Get("rft.atitle")+query.Get("rft.title")+bookTitle(it, query))
	for name, values := range query { // readers take the first or the last
		if name != "rft.au" && name != "rft.creator" {
			require.Len(t, values, 1, name)
		}
	}
}

// bookTitle is the title of a book; rft.btitle is the container of a chapter.
func bookTitle(it *cite.Item, query url.Values) string {
	if it.Forms.OpenURL == "book/book" || it.Forms.OpenURL == "book/report" {
		return query.Get("rft.btitle")
	}
	return ""
}

func checkMeta(t require.TestingT, it *cite.Item) {
	count := make(map[string]int)
	cite.Meta(it, func(name, content string) {
		require.NotEqual(t, "citation_", name)
		require.NotEmpty(t, content)
		count[name]++
		if name == "citation_title" {
			require.Equal(t, it.Text, content)
		}
	})
	require.Equal(t, len(it.Authors), count["citation_author"])
}

func yearText(it *cite.Item) string {
	if it.Date.Year == 0 {
		return ""
	}
	return strconv.Itoa(it.Date.Year)
}

// TestKeys: keys are unique, and the same each time a record is read.
func TestKeys(t *testing.T) {
	r := builtIn(t)
	seen := make(map[string]string)
	var it, again cite.Item
	for _, row := range append(demoRows(t, "activities"), instituteRows(t, "activities")...) {
		r.Read(row, &it)
		r.Read(row, &again)
		assert.Equal(t, it.Key, again.Key)
		assert.Empty(t, seen[it.Key])
		seen[it.Key] = it.ID
	}
}
