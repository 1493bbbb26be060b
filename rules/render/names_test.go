package render_test

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/rules/render"
)

// people returns a document of n authors: A A., B B. and so on.
func people(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"first": "%c", "last": "%c"}`, 'A'+i, 'A'+i))
	}
	return `{"authors": [` + strings.Join(list, ", ") + `]}`
}

// TestOsirisLimits: how many persons a style shows, and the text in front of the last of them.
func TestOsirisLimits(t *testing.T) {
	for _, tt := range []struct {
		style   string
		authors int
		want    string
	}{
		{"authors-last", 0, ""},
		{"authors-last", 1, "A A."},
		{"authors-last", 2, "A A. and B B."},
		{"authors-last", 4, "A A., B B., C C. and D D."},
		{"authors-amp", 3, "A A., B B. &amp; C C."},
		{"authors-amp+comma", 3, "A A., B B., &amp; C C."},
		{"authors-semicolon", 3, "A A.; B B. and C C."},
		{"authors-etal1", 1, "A A."},
		{"authors-etal1", 2, "A A. et al."},
		{"authors-etal2", 2, "A A. and B B."},
		{"authors-etal2", 3, "A A., B B. et al."},
		{"authors-ellipses1", 3, "C C."},
		{"authors-ellipses2", 2, "A A. and B B."},
		{"authors-ellipses2", 3, "A A. … C C."},
		{"authors-ellipses3", 5, "A A., B B. … E E."},
		{"authors-etal4-ellipses3", 4, "A A., B B. … D D."},
		{"authors-etal4-ellipses3", 5, "A A., B B., C C., D D. et al."},
		{"authors-ed", 1, "A A. (ed.)"},
		{"authors-ed", 2, "A A. and B B. (eds.)"},
		{"authors-Eds", 1, "A A. (Eds.)"},
		{"authors-ed", 0, ""},
		{"authors-etal1-ed", 3, "A A. et al. (eds.)"},
	} {
		t.Run(fmt.Sprint(tt.style, " of ", tt.authors), func(t *testing.T) {
			got, faults := osirisPrinted(t, render.Osiris{}, "{"+tt.style+"}", people(tt.authors), "en")
			if got != tt.want || faults != nil {
				t.Errorf("got  %q, faults %q\nwant %q", got, faults, tt.want)
			}
		})
	}
}

// TestOsirisNames: suffixes, names of which the family name comes first, and others who are not named.
func TestOsirisNames(t *testing.T) {
	const costa, quill = `{"last": "Costa Jr.", "first": "P. T."}`, `{"last": "Quill", "first": "Ada"}`
	const wang = `{"last": "王", "first": "小明"}`
	for _, tt := range []struct{ style, authors, want string }{
		{"authors-last-f.", costa, "Costa P.T. Jr."},
		{"authors-last, f.", costa, "Costa, P.T., Jr."},
		{"authors-f.-last", costa, "P.T. Costa Jr."},
		{"authors-first-last", wang + "," + quill, "王 小明 and Ada Quill"},
		{"authors-last, f.", wang, "王 小明"},
		{"authors-last-f.", quill + "," + costa + `, "et al."`, "Quill A., Costa P.T. Jr. et al."},
		{"authors-last-f.-ed", quill + `, "et al."`, "Quill A. et al. (eds.)"},
		{"authors-etal1", quill + "," + costa + `, "et al."`, "Quill A. et al."},
		{"authors-ellipses2", quill + "," + quill + "," + costa + `, "et al."`, "Quill A. … Costa P.T. Jr. et al."},
	} {
		got, _ := osirisPrinted(t, render.Osiris{}, "{"+tt.style+"}", `{"authors": [`+tt.authors+`]}`, "en")
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.style, got, tt.want)
		}
	}
}

// TestOsirisInitials: given names in the styles of OSIRIS.
func TestOsirisInitials(t *testing.T) {
	for _, tt := range []struct{ first, dotted, bare, full string }{
		{"Eva", "Doe E.", "Doe E", "Doe, Eva"},
		{"Eva Maria", "Doe E.M.", "Doe EM", "Doe, Eva Maria"},
		{"Eva-Maria", "Doe E.-M.", "Doe E-M", "Doe, Eva-Maria"},
		{"J.-P. B", "Doe J.-P.B.", "Doe J-PB", "Doe, J.-P. B"},
		{"-Eva", "Doe E.", "Doe E", "Doe, -Eva"},
		{"Eva-", "Doe E.", "Doe E", "Doe, Eva-"},
		{"123", "Doe", "Doe", "Doe, 123"},
		{"E\u0301va", "Doe E\u0301.", "Doe E\u0301", "Doe, E\u0301va"},
		{"Ø", "Doe Ø.", "Doe Ø", "Doe, Ø"},
		{"", "Doe", "Doe", "Doe"},
	} {
		doc := fmt.Sprintf(`{"authors": [{"first": %q, "last": "Doe"}]}`, tt.first)
		for style, want := range map[string]string{"authors-last-f.": tt.dotted, "authors-last-f": tt.bare,
			"authors-last-first": tt.full} {
			if got, _ := osirisPrinted(t, render.Osiris{}, "{"+style+"}", doc, "en"); got != want {
				t.Errorf("%q as %s: got %q, want %q", tt.first, style, got, want)
			}
		}
	}
}

// TestOsirisNoStyles: names that only begin like a style are fields.
func TestOsirisNoStyles(t *testing.T) {
	for _, name := range []string{"authors-", "authors-etal", "authors-etal0", "authors-etal-1", "authors-loud",
		"authors-last-loud", "writers-last"} {
		_, faults := osirisPrinted(t, render.Osiris{}, "{"+name+"}", `{"title": "T"}`, "en")
		if want := fmt.Sprintf("unknown field %q, taken for what activities store under that name",
			name); len(faults) != 1 || faults[0] != want {
			t.Errorf("{%s}: faults %q, want %q", name, faults, want)
		}
	}
}

// TestLegend: the marks behind names of shared positions, and the legend in a citation.
func TestLegend(t *testing.T) {
	const first, last, corresponding, middle = `{"last": "A", "position": "first"}`, `{"last": "B", "position": "last"}`, `{"last": "C", "position": "corresponding"}`, `{"last": "D", "position": "middle"}`
	for _, tt := range []struct {
		name    string
		authors []string
		want    string
	}{
		{"nothing shared", []string{first, middle, last}, "A, D and B"},
		{"first authors", []string{first, first, last},
			"A<sup>#</sup>, A<sup>#</sup> and B<br><small><sup>#</sup> Shared first authors</small>"},
		{"last authors", []string{first, last, last},
			"A, B<sup>*</sup> and B<sup>*</sup><br><small><sup>*</sup> Shared last authors</small>"},
		{"a corresponding author", []string{first, corresponding},
			"A and C<sup>§</sup><br><small><sup>§</sup> Corresponding author</small>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := osirisPrinted(t, render.Osiris{}, "{authors}",
				`{"authors": [`+strings.Join(tt.authors, ", ")+`]}`, "en")
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
