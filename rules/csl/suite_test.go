package csl_test

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vitrine/rules/csl"
)

// suiteEnv names a folder with the cases of CSL's public test suite (processor-tests/humans).
const suiteEnv = "VITRINE_TEST_CSL"

// A suiteCase is a file of the suite by the names of its sections.
type suiteCase map[string]string

// section matches one section of a case.
var section = regexp.MustCompile(`(?s)>>=+ *([A-Z0-9-]+) *=+>>\n(.*?)\n?<<=+ *[A-Z0-9-]+ *=+<<`)

// TestSuite renders the suite's bibliographies, and its citations of one item as if their layout were that of a
// bibliography. Entries must have the same text, unless a case needs what this package leaves out (see leftOut), or
// has a reason in deviations.
func TestSuite(t *testing.T) {
	folder := os.Getenv(suiteEnv)
	if folder == "" {
		t.Skip(suiteEnv + " names no folder with the public test suite")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	count := map[string]int{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		c, name := suiteCase{}, strings.TrimSuffix(filepath.Base(file), ".txt")
		for _, m := range section.FindAllStringSubmatch(string(src), -1) {
			c[m[1]] = m[2]
		}
		mode := strings.TrimSpace(c["MODE"])
		if c.cites() {
			count[mode+", not part: citations in text"]++
			continue
		}
		want, got := c.render(t)
		reason, known := deviations[name]
		if slices.Equal(want, got) {
			assert.False(t, known, "%s passes: remove it from the deviations", name)
			count[mode+", equal"]++
			continue
		}
		if reason == "" {
			reason = c.leftOut()
		}
		assert.NotEmpty(t, reason, "%s\nwant %s\ngot  %s", name, want, got)
		count[mode+", differs: "+reason]++
	}
	for what, n := range count {
		t.Logf("count: %s: %d", what, n)
	}
}

// cites reports whether a case is about citations in text: of several items, or of a place in one.
func (c suiteCase) cites() bool {
	_, items := c["CITATION-ITEMS"]
	_, citations := c["CITATIONS"]
	return !c.whole() && (items || citations || strings.Count(c["INPUT"], `"id"`) != 1)
}

// whole reports whether a case is about a bibliography.
func (c suiteCase) whole() bool { return strings.TrimSpace(c["MODE"]) == "bibliography" }

// leftOut returns what a case needs that is not part of this package, or "".
func (c suiteCase) leftOut() string {
	style, whole := c["CSL"], c.whole()
	locale := regexp.MustCompile(`default-locale="([^"-]*)`).FindStringSubmatch(style)
	switch {
	case whole && strings.Contains(style, "subsequent-author-substitute"):
		return "authors replaced after the first entry"
	case strings.Contains(style, `variable="citation-label"`):
		return "labels of citations"
	case strings.Contains(style, `disambiguate="true"`), strings.Contains(style, "disambiguate-add"):
		return "disambiguation by neighbours"
	case strings.Contains(style, "position=") && !whole:
		return "positions of citations"
	case strings.Contains(c["RESULT"], "CSL STYLE ERROR"):
		return "messages of a processor"
	case regexp.MustCompile(`"note": *"[^"]*[a-z]: `).MatchString(c["INPUT"]):
		return "variables in a note"
	case locale != nil && locale[1] != "en" && locale[1] != "de" && locale[1] != "":
		return "a locale that is not built in"
	}
	return ""
}

// citationOnly are attributes that cs:citation has and cs:bibliography has not.
var citationOnly = regexp.MustCompile(` (?:collapse|` +
	`(?:disambiguate|givenname|cite-group|after-collapse|year-suffix|near-note)-[a-z-]*)="[^"]*"`)

var bibliography = regexp.MustCompile(`(?s)<bibliography.*</bibliography>`)

// render returns the texts of the expected entries, and of those rendered. Entries are in the order of the
// expected ones where they are equal, since a list has its own order.
func (c suiteCase) render(t *testing.T) (want, got []string) {
	t.Helper()
	source := c["CSL"]
	if !c.whole() {
		source = bibliography.ReplaceAllString(source, "")
		from, to := strings.Index(source, "<citation"), strings.LastIndex(source, "</citation>")
		layout := citationOnly.ReplaceAllString(source[from:to], "")
		source = source[:to] + source[to:]
		source = strings.Replace(source, "</citation>", "</citation><bibliography"+
			strings.TrimPrefix(layout, "<citation")+"</bibliography>", 1)
		want = []string{plain(c["RESULT"])}
	} else {
		for _, entry := range strings.Split(c["RESULT"], `<div class="csl-entry">`)[1:] {
			want = append(want, plain(entry[:max(0, strings.LastIndex(entry, "</div>"))]))
		}
	}
	style, err := csl.ParseStyle([]byte(source))
	if err != nil {
		return want, []string{err.Error()}
	}
	var items []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(c["INPUT"]), &items))
	renderer := style.Renderer(csl.BuiltinLocales(), "en-US")
	var entries []csl.Entry
	for _, src := range items {
		it, err := csl.ReadItem(src)
		require.NoError(t, err)
		entries = append(entries, renderer.Entry(it))
	}
	for i := range want {
		got = append(got, take(&entries, i+1, want[i]))
	}
	return want, got // further entries are those of items that the case does not cite
}

// take removes the entry with the given text, with any suffix of its year, or else the first entry.
func take(entries *[]csl.Entry, number int, want string) string {
	all := *entries
	for _, suffix := range []string{"", "a", "b", "c", "d"} {
		for i, e := range all {
			if words(e.Text(number, suffix)) == want {
				*entries = append(all[:i:i], all[i+1:]...)
				return want
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	*entries = all[1:]
	return words(all[0].Text(number, ""))
}

var elements = regexp.MustCompile(`<[^<>]*>`)

// plain returns the words of HTML as the suite writes it.
func plain(src string) string {
	spaced := strings.NewReplacer("<div", " <div", "</div>", " </div>").Replace(src)
	return words(html.UnescapeString(elements.ReplaceAllString(spaced, "")))
}

// deviations are the cases of the suite that this package renders in another way, with the reasons.
var deviations = map[string]string{
	"bugreports_NumberAffixEscape":              "superscript characters stay as they are",
	"bugreports_SortedIeeeItalicsFail":          "a locale that has changed since",
	"flipflop_ItalicsWithOkAndTextcase":         "capitals within a span",
	"flipflop_NumericField":                     "markup in a number",
	"magic_SubsequentAuthorSubstituteNotFooled": "a locale that has changed since",
	"magic_SuperscriptChars":                    "superscript characters stay as they are",
	"name_HebrewAnd":                            "a conjunction written as prefix",
	"punctuation_FullMontyQuotesIn":             "three punctuation marks that meet",
	"sort_LeadingApostropheOnNameParticle":      "a space after an elided particle",
	"substitute_SubstituteOnlyOnceTermEmpty":    "an empty term as substitute",
}
