package notice_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/leaktest"
	"vitrine/rules/notice"
	"vitrine/rules/raw"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// words are codes as a site may have them.
var words = notice.NewWords(map[string]string{
	"retracted": notice.Retracted, "retracted article": notice.Retracted, "withdrawn": notice.Withdrawn,
	"retraction": notice.Retraction, "retraction note": notice.Retraction, "erratum": notice.Correction,
	"correction": notice.Correction, "author correction": notice.Correction, "corrigendum": notice.Correction,
	"expression of concern": notice.Expression, "zurückgezogen": notice.Retracted, "berichtigung": notice.Correction,
	"erratum to *": notice.Correction, "retraction of vol *": notice.Retraction, "withdrawal": notice.Withdrawal,
})

func TestTitles(t *testing.T) {
	for _, tt := range []struct{ title, want string }{
		{"RETRACTED: Lamps for moths", notice.Retracted},
		{"Retracted Article: Lamps for moths", notice.Retracted},
		{"[Retracted] Lamps for moths", notice.Retracted},
		{"(RETRACTED) Lamps for moths", notice.Retracted},
		{"Lamps for moths [RETRACTED]", notice.Retracted},
		{"Lamps for moths (Retracted article. See vol. 7, pg. 3, 2021)", notice.Retracted},
		{"Lamps for moths (Retraction of vol 7, pg 3, 2021)", notice.Retraction},
		{"WITHDRAWN: Lamps", notice.Withdrawn},
		{"Zurückgezogen: Lampen", notice.Retracted},
		{"ZURÜCKGEZOGEN: Lampen", notice.Retracted},
		{"Retraction: Lamps", notice.Retraction},
		{"Retraction\u2014Lamps", notice.Retraction},
		{"Retraction Note to: Lamps", notice.Retraction},
		{"Retraction of \u201cLamps\u201d", notice.Retraction},
		{"Erratum to: Lamps", notice.Correction},
		{"Erratum to \u201cLamps for moths\u201d [Night 7 (2021) 1\u20139]", notice.Correction},
		{"Erratum to " + strings.Repeat("a work on lamps that has a long title, ", 5), notice.Correction},
		{"Erratum", notice.Correction},
		{"ERRATUM.", notice.Correction},
		{"Correction", notice.Correction},
		{"Correction to: Lamps", notice.Correction},
		{"Author  Correction: Lamps", notice.Correction},
		{"Berichtigung zu: Lampen", notice.Correction},
		{"Corrigendum: Lamps", notice.Correction},
		{"Expression of Concern: Lamps", notice.Expression},

		{"", ""},
		{"(", ""},
		{"[]", ""},
		{")", ""},
		{"Correction of astigmatism with lamps", ""},
		{"Correction of astigmatism: a review", ""},
		{"Corrections to scaling", ""},
		{"Correction to the formula of Moth", ""},
		{"Retraction of the eyelid in moths", ""},
		{"Retraction\u2013protraction cycles", ""},
		{"Withdrawn moths", ""},
		{"Retracted claws: lamps for cats", ""},
		{"Lamps for moths: a correction", ""},
		{"Lamps for moths (correction)", ""},
		{"Lamps: retracted", ""},
		{"[Retracted", ""},
	} {
		assert.Equal(t, tt.want, words.Title(tt.title), tt.title)
	}
}

func TestNamed(t *testing.T) {
	for name, want := range map[string]string{
		"erratum": notice.Correction, "expression_of_concern": notice.Expression,
		"Expression-of-Concern": notice.Expression,
		"Retracted Article":     notice.Retracted, " retraction ": notice.Retraction, "article": "", "": "",
	} {
		assert.Equal(t, want, words.Named(name), name)
	}
}

// TestReverse: each code has one of the other side.
func TestReverse(t *testing.T) {
	for _, pair := range [][2]string{
		{notice.Retracted, notice.Retraction}, {notice.Withdrawn, notice.Withdrawal},
		{notice.Concern, notice.Expression}, {notice.Corrected, notice.Correction},
	} {
		assert.Equal(t, pair, [2]string{notice.State(pair[1]), notice.Kind(pair[0])})
		assert.Equal(t, pair, [2]string{notice.State(pair[0]), notice.Kind(pair[1])})
		assert.True(t, notice.IsState(pair[0]) && !notice.IsState(pair[1]) && notice.IsCode(pair[1]))
	}
	assert.False(t, notice.IsCode(""))
	assert.Empty(t, notice.Reverse("x")+notice.State("")+notice.Kind("x"))
}

// value returns a value of extended JSON.
func value(t testing.TB, s string) bson.RawValue {
	t.Helper()
	doc, err := ejson.Parse([]byte(`{"v":`+s+`}`), ejson.Options{})
	require.NoError(t, err)
	return raw.Get(doc, "v")
}

// written returns notices as a text.
func written(all []notice.Notice) string {
	var texts []string
	for _, n := range all {
		texts = append(texts, strings.TrimSpace(n.Code+" "+n.DOI+n.URL+n.ID))
	}
	return strings.Join(texts, "|")
}

func TestField(t *testing.T) {
	flag, by := notice.Field{Flag: notice.Retracted}, notice.Field{Work: notice.Retracted}
	of, osiris := notice.Field{Work: notice.Correction}, notice.Field{Flag: notice.Correction, Work: notice.Corrected}
	to := notice.Field{Work: notice.Correction, Types: words}
	updated := notice.Field{Work: notice.Corrected, Types: words}
	for _, tt := range []struct {
		field       notice.Field
		value, want string
	}{
		{flag, `true`, "retracted"}, {flag, `1`, "retracted"}, {flag, `"1"`, "retracted"},
		{flag, `"true"`, "retracted"},
		{flag, `"Yes"`, "retracted"}, {flag, `"ja"`, "retracted"}, {flag, `{"$numberLong": "1"}`, "retracted"},
		{flag, `"2021-05-03"`, "retracted"}, {flag, `2021`, "retracted"},
		{flag, `"images were used twice"`, "retracted"},
		{flag, `{"$date": "2021-05-03T00:00:00Z"}`, "retracted"}, {flag, `"10.5555/N.1"`, "retracted 10.5555/N.1"},
		{flag, `false`, ""}, {flag, `0`, ""}, {flag, `"0"`, ""}, {flag, `"false"`, ""},
		{flag, `""`, ""}, {flag, `" "`, ""},
		{flag, `null`, ""}, {flag, `"No"`, ""}, {flag, `[]`, ""}, {flag, `{}`, ""},
		{flag, `"n/a"`, ""}, {flag, `"-"`, ""}, {flag, `"null"`, ""}, {flag, `"No."`, ""}, {flag, `"false."`, ""},
		{flag, `"Not available"`, ""}, {flag, `{"status": "no"}`, ""}, {flag, `{"date": "2020"}`, "retracted"},

		{by, `"https://doi.org/10.5555%2Fn.1"`, "retracted 10.5555/n.1"}, {by, `true`, "retracted"},
		{by, `false`, ""},
		{by, `"2021"`, "retracted"}, {by, `"see doi:10.5555/n.1."`, "retracted 10.5555/n.1"}, {by, `"none"`, ""},
		{by, `["10.5555/n.1", "10.5555/n.2"]`, "retracted 10.5555/n.1|retracted 10.5555/n.2"},
		{by, `"10.5555/n.1; 10.5555/n.2"`, "retracted 10.5555/n.1|retracted 10.5555/n.2"},
		{by, `"https://night.example/n/1"`, "retracted https://night.example/n/1"},
		{by, `{"date": "2021-05-03", "doi": "10.5555/n.1"}`, "retracted 10.5555/n.1"},
		{by, `{"reason": "fraud"}`, "retracted"}, {by, `"javascript:alert(1)"`, "retracted javascript:alert(1)"},
		{by, `{"id": "n1", "url": "javascript:alert(1)"}`, "retracted n1"},

		{of, `"10.5555/a"`, "correction 10.5555/a"}, {of, `7`, "correction 7"}, {of, `1`, "correction 1"},
		{of, `"7"`, "correction 7"},
		{of, `{"$oid": "284957df32c66b6d7f7f6221"}`, "correction 284957df32c66b6d7f7f6221"},
		{of, `"Lamps for moths"`, "correction"}, {of, `true`, "correction"}, {of, `false`, ""}, {of, `""`, ""},
		{of, `0`, ""}, {of, `"0"`, ""}, {by, `"null"`, ""},
		{of, `"no"`, ""}, {of, `{"id": 7}`, "correction 7"}, {of, `["a", ["b"]]`, "correction a|correction b"},

		{osiris, `true`, "correction"}, {osiris, `"1"`, "correction"}, {osiris, `false`, ""},
		{osiris, `"10.5555/n.1"`, "corrected 10.5555/n.1"}, {osiris, `"of figure 2"`, ""},

		{to, `[{"DOI": "10.5555/a", "type": "retraction", "label": "Retraction"}]`, "retraction 10.5555/a"},
		{to, `[{"DOI": "10.5555/a", "type": "erratum"}, {"DOI": "10.5555/b", "type": "new_version"}]`,
			"correction 10.5555/a"},
		{to, `{"doi": "10.5555/a"}`, "correction 10.5555/a"}, {to, `"10.5555/a"`, "correction 10.5555/a"},
		{updated, `[{"DOI": "10.5555/n.1", "type": "expression_of_concern"}]`, "concern 10.5555/n.1"},
		{updated, `[{"DOI": "10.5555/n.1", "type": "retraction"}]`, "retracted 10.5555/n.1"},
	} {
		assert.Equal(t, tt.want, written(tt.field.Append(nil, value(t, tt.value))), "%+v %s", tt.field, tt.value)
	}
}

func TestSettle(t *testing.T) {
	n := func(code, doi string) notice.Notice { return notice.Notice{Code: code, DOI: doi} }
	for _, tt := range []struct {
		all  []notice.Notice
		want string
	}{
		{nil, ""},
		{[]notice.Notice{n("corrected", "a"), n("retracted", "")}, "retracted|corrected a"},
		{[]notice.Notice{n("retracted", ""), n("retracted", "a"), n("retracted", "a")}, "retracted a"},
		{[]notice.Notice{n("retracted", ""), n("retraction", "a")}, "retraction a"},
		{[]notice.Notice{n("retracted", "a"), n("retraction", "")}, "retraction a"},
		{[]notice.Notice{n("retracted", "b"), n("retraction", "a")}, "retracted b|retraction a"},
		{[]notice.Notice{n("corrected", "b"), n("correction", "a")}, "correction a|corrected b"},
		{[]notice.Notice{n("retracted", ""), n("retracted", "")}, "retracted"},
	} {
		assert.Equal(t, tt.want, written(notice.Settle(tt.all)))
	}
}

func TestManyNotices(t *testing.T) {
	list := `["10.5555/1"` + strings.Repeat(`, "10.5555/1"`, 5000) + `, "10.5555/2"]`
	assert.Len(t, notice.Settle(notice.Field{Work: notice.Retraction}.Append(nil, value(t, list))), 1)
	var all []notice.Notice
	for i := range 100 {
		all = append(all, notice.Notice{Code: notice.Retraction, DOI: fmt.Sprint("10.5555/", i)})
	}
	assert.Len(t, notice.Settle(all), 20)
}

func FuzzNotice(f *testing.F) {
	for _, s := range []string{
		"RETRACTED: Lamps", "Erratum to Lamps", "(a [b", "10.5555/a; 10.5555/b", "\xff", "", "[", "yes",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if code := words.Title(s); code != "" && !notice.IsCode(code) {
			t.Fatalf("%q: code %q", s, code)
		}
		doc, err := bson.Marshal(bson.M{"v": s, "list": bson.A{s, bson.M{"DOI": s, "type": "erratum"}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []notice.Field{
			{Flag: notice.Retracted}, {Work: notice.Correction}, {Flag: notice.Correction, Work: notice.Corrected},
			{Work: notice.Correction, Types: words},
		} {
			var all []notice.Notice
			for e := range raw.All(doc) {
				all = field.Append(all, e.Value())
			}
			for _, n := range notice.Settle(all) {
				if !notice.IsCode(n.Code) || !utf8.ValidString(n.ID+n.DOI+n.URL) {
					t.Fatalf("%q: %+v", s, n)
				}
			}
		}
	})
}
