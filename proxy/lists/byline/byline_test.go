package byline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vitrine/proxy/lists/byline"
	"vitrine/rules/markup"
	"vitrine/rules/render/names"
)

// team are persons with names that are hard to find: one is the beginning of another, some need escapes.
var team = []byline.Person{
	{First: "Anna", Last: "Li"}, {First: "Eva-Maria K.", Last: "Öz"}, {First: "Tim", Last: "O'Brien"},
	{Last: "R&D Group"}, {First: "Anna B.", Last: "Li"},
	{First: "José", Last: "van den Berg"}, {First: "Ida", Last: "Lind"},
}

// change returns a change that marks some persons.
func change(most int, last bool, own ...int) byline.Change {
	return byline.Change{
		Most: most, Last: last, Own: func(i int) bool { return slices.Contains(own, i) },
		Fold: func(n int) string { return fmt.Sprintf("<i>+%d</i>", n) },
	}
}

// brief shortens the markup of a result.
var brief = strings.NewReplacer(`<mark class="vl-mark">`, "[", "</mark>", "]", `<span class="vl-names">`, "{",
	`<span class="vl-others">`, "(", `<span class="vl-gap">`, "/", "</span>", ")", "<i>", "", "</i>", "", "&nbsp;",
	"_")

func TestIn(t *testing.T) {
	const after = ` (2020) Li, A. on lists. <i>J</i> 1.`
	for _, tt := range []struct {
		name    string
		persons int
		in      string
		change  byline.Change
		want    string
	}{
		{"one marked", 4, "Li,&nbsp;A., Öz,&nbsp;E. K., O&#39;Brien,&nbsp;T., R&amp;D Group" + after,
			change(0, false, 1), "Li,_A., [Öz,_E. K.], O&#39;Brien,_T., R&amp;D Group"},
		{"in links and bold", 2,
			"<a href='/x'>T</a><br><small class='d-block'><a href='/profile/l'><b>Li,&nbsp;A.</b></a><sup>#</sup>, " +
				"<b>Öz,&nbsp;E.-M.K.</b> <i>J</i></small>", change(0, false, 0, 1),
			"<a href='/x'>T</a><br><small class='d-block'>[<a href='/profile/l'><b>Li,_A.</b></a>]<sup>#</sup>, " +
				"[<b>Öz,_E.-M.K.</b>] J</small>"},
		{"given names first", 3, "Anna Li, Eva-Maria K. Öz, Tim O'Brien" + after, change(0, false, 2),
			"Anna Li, Eva-Maria K. Öz, [Tim O'Brien]"},
		{"initials without dots", 3, "Li A, Öz E-MK, O'Brien T" + after, change(0, false, 0),
			"[Li A], Öz E-MK, O'Brien T"},
		{"three of seven", 7, "Li A., Öz E.-M.K., O'Brien T., R&D Group, Li A.B., van den Berg J. and Lind I." +
			after, change(3, false),
			"{Li A., Öz E.-M.K., O'Brien T.(, R&D Group, Li A.B., van den Berg J. and Lind I.) +4)"},
		{"with one of them", 7, "Li A., Öz E.-M.K., O'Brien T., R&D Group, Li A.B., van den Berg J. and Lind I." +
			after, change(1, false, 4),
			"{Li A.(, Öz E.-M.K., O'Brien T., R&D Group, )/ … )[Li A.B.](, van den Berg J. and Lind I.) +5)"},
		{"and the last", 7, "Li A., Öz E.-M.K., O'Brien T., R&D Group, Li A.B., van den Berg J. and Lind I." + after,
			change(2, true),
			"{Li A., Öz E.-M.K.(, O'Brien T., R&D Group, Li A.B., van den Berg J. and )/ … )Lind I. +4)"},
		{"all but one stay", 7, "Li A., Öz E.-M.K., O'Brien T., R&D Group, Li A.B., van den Berg J. and Lind I." +
			after, change(6, false),
			"Li A., Öz E.-M.K., O'Brien T., R&D Group, Li A.B., van den Berg J. and Lind I."},
		{"abbreviated", 7, "Li A., Öz E.-M.K. et al." + after, change(3, false, 5),
			"{Li A., Öz E.-M.K., O&#x27;Brien T.(, R&amp;D Group, Li A.B., )/ … )[van den Berg J.](, Lind I.) +3)"},
		{"abbreviated to the last", 7, "Li A., Öz E.-M.K. … Lind I." + after, change(2, false),
			"{Li A., Öz E.-M.K.(, O&#x27;Brien T., R&amp;D Group, Li A.B., van den Berg J., Lind I.) +5)"},
		{"abbreviated, no limit", 7, "Li A., Öz E.-M.K. et al." + after, change(0, false, 1, 6),
			"Li A., [Öz E.-M.K.] et al."},
		{"cut", 7, "Li A., Öz E.-M.K., O'Brien T.<br>J", change(2, false, 4),
			"{Li A., Öz E.-M.K.(, O'Brien T., R&amp;D Group, )/ … )[Li A.B.](, van den Berg J., Lind I.) +4)<br>J"},
		{"cut at the end", 7, "Li A., Öz E.-M.K., O'Brien T.", change(3, false),
			"{Li A., Öz E.-M.K., O'Brien T.(, R&amp;D Group, Li A.B., van den Berg J., Lind I.) +4)"},
		{"with another person", 7, "Li A., Öz E.-M.K., O'Brien T., Someone Else (2020)", change(2, false),
			"Li A., Öz E.-M.K., O'Brien T., Someone Else (2020)"},
		{"in elements of their own", 7,
			"<b>Li A.</b>, <i>Öz E.-M.K., O'Brien T.</i>, R&D Group, Li A.B., van den Berg J. and Lind I." + after,
			change(1, false, 2),
			"<b>Li A.</b>, Öz E.-M.K., [O'Brien T.], R&D Group, Li A.B., van den Berg J. and Lind I."},
		{"another list", 4, "Someone Else" + after, change(1, false, 0), "Someone Else"},
		{"a part of a word", 1, "Life, Linda A.", change(1, false, 6), "Life, Linda A."},
		{"empty", 7, "", change(1, false, 0), ""},
	} {
		got, _ := tt.change.In(tt.in, team[:tt.persons])
		if strings.HasSuffix(tt.in, after) {
			tt.want += brief.Replace(after)
		}
		if got = brief.Replace(got); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestBound: a list has so many persons at most: the last if it stays in view, those that are marked, and the first
// ones. It counts those that are left out.
func TestBound(t *testing.T) {
	const whole = "Li A., Öz E.-M.K., O'Brien T., R&D Group, Li A.B., van den Berg J. and Lind I. J"
	for _, tt := range []struct {
		name   string
		in     string
		change byline.Change
		bound  int
		want   string
	}{
		{"not exceeded", whole, change(7, false), 7, whole},
		{"all in view", whole, change(4, false), 4, "Li A., Öz E.-M.K., O'Brien T., R&D Group +3 left J"},
		{"a single one", whole, change(6, false), 6,
			"Li A., Öz E.-M.K., O'Brien T., R&D Group, Li A.B., van den Berg J. +1 left J"},
		{"some folded", whole, change(1, false), 3, "{Li A.(, Öz E.-M.K., O'Brien T.)( +4 left) +6) J"},
		{"one more", whole, change(3, false), 4, "Li A., Öz E.-M.K., O'Brien T., R&D Group +3 left J"},
		{"with one of them", whole, change(1, false, 5), 4,
			"{Li A.(, Öz E.-M.K., O'Brien T. … )/ … )[van den Berg J.]( +3 left) +5) J"},
		{"and the last", whole, change(2, true), 2, "Li A. … Lind I. +5 left J"},
		{"only marked ones", whole, change(1, false, 3, 4, 5), 2, "[R&D Group], [Li A.B.] +5 left J"},
		{"abbreviated", "Li A., Öz E.-M.K. et al. J", change(1, false), 4,
			"{Li A.(, Öz E.-M.K., O&#x27;Brien T., R&amp;D Group)( +3 left) +6) J"},
		{"in a link", "<a href='/x'>" + whole + "</a>", change(1, false), 2, "<a href='/x'>" + whole + "</a>"},
	} {
		tt.change.Bound = tt.bound
		tt.change.Rest = func(n int) string { return fmt.Sprintf("+%d left", n) }
		got, _ := tt.change.In(markup.Clean(tt.in), team)
		if got = brief.Replace(got); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestMoreAndSuffix: "et al." of a record stays where others are folded, and a suffix is a part of the name.
func TestMoreAndSuffix(t *testing.T) {
	persons := []byline.Person{{First: "P. T.", Last: "Costa", Suffix: "Jr."}, {First: "Ada", Last: "Quill"},
		{First: "小明", Last: "王"}, {First: "Ida", Last: "Lind"}}
	form := names.Default()
	citation := string(form.Append(nil, append(slices.Clone(persons), byline.Person{Others: true}))) +
		" (2020) On lists."
	for _, tt := range []struct {
		change byline.Change
		want   string
	}{
		{change(0, false, 0, 2), "[Costa,_P. T., Jr.], Quill,_A., [王_小明], Lind,_I. et al. (2020) On lists."},
		{change(1, false), "{Costa,_P. T., Jr.(, Quill,_A., 王_小明, Lind,_I.) +3) et al. (2020) On lists."},
	} {
		tt.change.More = true
		got, _ := tt.change.In(citation, persons)
		if got = brief.Replace(got); got != tt.want {
			t.Errorf("\n got %s\nwant %s", got, tt.want)
		}
	}
}

// TestInAnyForm: in each form, marked and folded or not, a list keeps all its names in their order, a result differs
// from the citation only by its own elements, and those are balanced.
func TestInAnyForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-ZÄŁ][a-zß'é]{0,6}(-[A-Z][a-z]{2})?`)
		var persons []byline.Person
		for range rapid.IntRange(1, 30).Draw(t, "persons") {
			persons = append(persons,
				byline.Person{First: rapid.OneOf(name, rapid.Just("")).Draw(t, "first"), Last: name.Draw(t, "last")})
		}
		form := rapid.SampledFrom(names.Forms()).Draw(t, "form")
		list := string(form.Append(nil, persons))
		citation := markup.Clean("<a href='/x'>A title</a><br><small>" + list + " <i>Journal</i> (2020)</small>")
		own := rapid.IntRange(-1, len(persons)-1).Draw(t, "own")
		c := change(rapid.IntRange(0, 12).Draw(t, "most"), rapid.Bool().Draw(t, "last"), own)
		got, end := c.In(citation, persons)
		if end == 0 || (own >= 0) != strings.Contains(got, "<mark") {
			t.Fatalf("no list or mark in %s", got)
		}
		plain := strings.NewReplacer(`<span class="vl-gap"> … </span>`, "", `<mark class="vl-mark">`, "", "</mark>",
			"", `<span class="vl-names">`, "", `<span class="vl-others">`, "", "</span>", "").Replace(got)
		if i := strings.Index(plain, " <i>+"); i >= 0 {
			plain = plain[:i] + plain[i+strings.Index(plain[i:], "</i>")+4:]
		}
		if plain != citation {
			t.Fatalf("got  %s\nfrom %s", got, citation)
		}
		for _, tag := range []string{"span", "mark"} {
			if strings.Count(got, "<"+tag) != strings.Count(got, "</"+tag+">") {
				t.Fatalf("%s is not balanced in %s", tag, got)
			}
		}
	})
}

// TestHostile: whatever the citation and the persons, the result is balanced, and nothing is lost from the citation's
// text.
func TestHostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"A", "B", "&", "&amp;", "<b>", "</b>", "<sup>", "</sup>", "<sup>*</sup>",
			", ", " … ", " et al.", "A, B.", "&nbsp;", "é", " and ", "<a href='/profile/x'>", "</a>", "\xff"})
		citation := markup.Clean(strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "citation"), ""))
		var persons []byline.Person
		for range rapid.IntRange(0, 4).Draw(t, "persons") {
			persons = append(persons, byline.Person{First: part.Draw(t, "first"), Last: part.Draw(t, "last")})
		}
		got, end := change(rapid.IntRange(0, 2).Draw(t, "most"), rapid.Bool().Draw(t, "last"), 0, 2).In(citation,
			persons)
		if end < 0 || end > len(got) ||
			markup.Balance(strings.NewReplacer("<mark class=\"vl-mark\">", "<u>", "</mark>", "</u>").Replace(got)) !=
				strings.NewReplacer("<mark class=\"vl-mark\">", "<u>", "</mark>", "</u>").Replace(got) {
			t.Fatalf("%q becomes %q", citation, got)
		}
	})
}

func BenchmarkIn(b *testing.B) {
	for _, n := range []int{5, 250} {
		var persons []byline.Person
		for i := range n {
			persons = append(persons, byline.Person{First: "Anna Maria", Last: "Name" + strings.Repeat("x", i%7)})
		}
		form := names.Default()
		citation := "<a href='/x'>A title of a work</a><br><small>" + string(form.Append(nil, persons)) +
			" <i>Journal</i> (2020)</small>"
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				change(3, false, 2).In(citation, persons)
			}
		})
	}
}
