package csl

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBlowUp renders macros of which each calls the next one twice: without a bound that would be 2⁶⁰ texts.
func TestBlowUp(t *testing.T) {
	for _, attrs := range [...]string{
		``,
		`prefix="` + strings.Repeat("<", maxAttribute/8) + `"`,
		`strip-periods="true"`,
		`font-style="italic" font-weight="bold" suffix="."`,
	} {
		attrs = strings.ReplaceAll(attrs, "<", "&lt;")
		var macros strings.Builder
		for i := range 60 {
			fmt.Fprintf(&macros, `<macro name="m%d"><text macro="m%d" %s/><text macro="m%[2]d"/></macro>`,
				i, i+1, attrs)
		}
		macros.WriteString(`<macro name="m60"><text variable="title"/></macro>`)
		e := entryOf(t, styled(`<text macro="m0"/>`, macros.String()), `{"title":"x. <i>y</i>"}`)
		require.Less(t, len(e.HTML), 20*maxSize)
	}
}

// TestManyParts renders elements with more parts than the bound on elements would notice, each called 2²⁰ times. No
// part may be free: a style of a megabyte would keep a run busy for minutes per record.
func TestManyParts(t *testing.T) {
	var calls strings.Builder
	for i := range 20 {
		fmt.Fprintf(&calls, `<macro name="m%d"><text macro="m%d"/><text macro="m%[2]d"/></macro>`, i, i+1)
	}
	item, err := json.Marshal(map[string]any{"title": "x", "author": slices.Repeat([]map[string]string{
		{"family": "A", "given": "B"}}, maxNames), "issued": map[string]any{"date-parts": [][]int{{2020}}}})
	require.NoError(t, err)
	it, err := ReadItem(item)
	require.NoError(t, err)
	for name, body := range map[string]string{
		"conditions": `<choose><if variable="note"/>` +
			strings.Repeat(`<else-if variable="note"/>`, 30_000) + `</choose>`,
		"types": `<choose><if variable="note"/>` +
			strings.Repeat(`<else-if type="`+strings.Repeat("book ", 800)+`"/>`, 200) + `</choose>`,
		"names": `<names variable="` + strings.Repeat("author ", maxAttribute/8) + `"/>`,
		"count": `<names variable="` + strings.Repeat("author ", maxAttribute/8) + `"><name form="count"/></names>`,
	} {
		s, err := ParseStyle([]byte(styled(`<text macro="m0"/>`, calls.String()+`<macro name="m20">`+body+`</macro>`)))
		require.NoError(t, err, name)
		c := &run{Renderer: s.Renderer(BuiltinLocales(), "en-US"), it: it}
		boxes, _ := c.list(s.layout.kids)
		require.Less(t, c.steps, maxSteps+200_000, name)
		count := 0
		join(boxes, "").leaves(func(*box) { count++ })
		require.Less(t, count, 2*maxSteps, name)
	}
	for _, form := range [...]string{``, `form="text"`} {
		_, err := ParseStyle([]byte(styled(`<date variable="issued" `+form+`>`+
			strings.Repeat(`<date-part name="day"/>`, 30_000)+`</date>`, "")))
		require.ErrorContains(t, err, "<date> has more than 12 parts")
	}
}

// TestFullBeforeNames renders the only translator of a work whose editors have filled the entry.
func TestFullBeforeNames(t *testing.T) {
	editors := slices.Repeat([]map[string]string{{"family": strings.Repeat("E", 100), "given": "B"}}, maxNames)
	item, err := json.Marshal(map[string]any{"editor": editors, "translator": []map[string]string{{"family": "T"}}})
	require.NoError(t, err)
	e := entryOf(t, styled(`<names variable="editor translator"/>`, ""), string(item))
	require.NotContains(t, e.HTML, "T")
}

// TestLarge renders items with much data, and counts on Entry to cut it.
func TestLarge(t *testing.T) {
	style := styled(`<text variable="title" text-case="title" quotes="true"/><names variable="author"><name
		initialize-with=". "/></names><text variable="page"/><number variable="volume" form="ordinal"/><date
		variable="issued" form="text"/>`, "")
	for _, s := range [...]string{
		"<", "<i>", `"`, "'", "1-", "A-", "“a ”", "x ", "</i>", "<span class=\"nocase\">", "ß", "\x02",
	} {
		long := strings.Repeat(s, maxText/len(s)+maxPart)
		names := make([]map[string]string, 60)
		for i := range names {
			names[i] = map[string]string{"family": long[:maxPart], "given": long[:maxPart]}
		}
		item, err := json.Marshal(map[string]any{"title": long, "page": long, "volume": long, "author": names,
			"issued": map[string]string{"raw": long}})
		require.NoError(t, err)
		require.Less(t, len(entryOf(t, style, string(item)).HTML), 20*maxSize, s)
	}
}

// TestTooLarge checks the limits of what is read.
func TestTooLarge(t *testing.T) {
	deep := strings.Repeat("<group>", maxDepth)
	many := strings.Repeat(`<text value=""/>`, maxElements)
	for want, style := range map[string]string{
		"longer than":       styled(strings.Repeat(" ", maxSource), ""),
		"levels":            styled(deep, ""),
		"more than 50000":   styled(many, ""),
		"is longer than 40": styled(`<text value="`+strings.Repeat("x", maxAttribute+1)+`"/>`, ""),
	} {
		_, err := ParseStyle([]byte(style))
		require.ErrorContains(t, err, want)
	}
}

// TestControl checks that no data can stand for a slot.
func TestControl(t *testing.T) {
	e := entryOf(t, styled(`<text variable="title"/>`, ""), `{"title":"a\u0001b\u0002c\u0003d\u0004\u0085e\nf"}`)
	require.Equal(t, "abcde f", e.Text(5, "x"))
}
