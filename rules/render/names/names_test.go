package names_test

import (
	"testing"

	"vitrine/rules/render/names"
)

// TestInitials: each style that abbreviates does so only with given names: not with names in Chinese, Japanese or
// Korean script, with what stands in brackets, and with suffixes.
func TestInitials(t *testing.T) {
	styles := map[string]names.Style{
		"default": names.Plain(), "osiris": names.Osiris(), "authors": names.OsirisAuthors(nil),
		"linked": names.Linked().InList(),
	}
	for _, spec := range []string{"last-f.", "f.-last", "last,-f", "last-f", "f-last"} {
		style, ok := names.Parse(spec)
		if !ok {
			t.Fatal(spec)
		}
		styles[spec] = style
	}
	for _, tt := range []struct {
		who  names.Person
		want map[string]string
	}{
		{names.Person{First: "Eva-Maria (Evi) K.", Last: "Quill", Suffix: "Jr."}, map[string]string{
			"default": "Quill, E. K., Jr.", "osiris": "Quill E.-M.K. Jr.", "authors": "Quill, E.-M.K., Jr.",
			"linked": "Quill, E. K., Jr.", "last-f.": "Quill E.-M.K. Jr.", "f.-last": "E.-M.K. Quill Jr.",
			"last,-f": "Quill, E-MK, Jr.", "last-f": "Quill E-MK Jr.", "f-last": "E-MK Quill Jr.",
		}},
		{names.Person{First: "小明", Last: "王"}, map[string]string{"": "王 小明"}},
		{names.Person{First: "たろう", Last: "やまだ"}, map[string]string{"": "やまだ たろう"}},
		{names.Person{First: "タロウ", Last: "ヤマダ"}, map[string]string{"": "ヤマダ タロウ"}},
		{names.Person{First: "민수", Last: "김"}, map[string]string{"": "김 민수"}},
		{names.Person{First: "Xiaoming (小明)", Last: "Wang"}, map[string]string{
			"default": "Wang, X.", "osiris": "Wang X.", "authors": "Wang, X.", "linked": "Wang, X.",
			"last-f.": "Wang X.",
			"f.-last": "X. Wang", "last,-f": "Wang, X", "last-f": "Wang X", "f-last": "X Wang",
		}},
		{names.Person{First: "小明 (Xiaoming)", Last: "王"}, map[string]string{"": "王 小明 (Xiaoming)"}},
		{names.Person{First: "[Ada]", Last: "Quill"}, map[string]string{"": "Quill"}},
		{names.Person{First: "", Last: "Quill", Suffix: "III"}, map[string]string{"": "Quill III"}},
	} {
		for name, style := range styles {
			want, ok := tt.want[name]
			if !ok {
				want = tt.want[""]
			}
			if got := style.Text(tt.who); got != want {
				t.Errorf("%s: %+v is %q, want %q", name, tt.who, got, want)
			}
		}
	}
}
