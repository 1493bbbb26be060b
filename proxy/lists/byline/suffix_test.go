package byline_test

import (
	"testing"

	"vitrine/proxy/lists/byline"
)

// TestSuffixes: other programs write a suffix after the family name, after the given name, without a stop, or not at
// all.
func TestSuffixes(t *testing.T) {
	persons := []byline.Person{
		{First: "Ada", Last: "Quill"}, {First: "Paul T.", Last: "Costa", Suffix: "Jr."}, {First: "Ida", Last: "Lind"},
	}
	first := []byline.Person{persons[1], persons[2]}
	for _, tt := range []struct {
		persons  []byline.Person
		in, want string
	}{
		{persons, "Quill, A., Costa, P. T., Jr., Lind, I. (2020)", "Quill, A., [Costa, P. T., Jr.], Lind, I. (2020)"},
		{persons, "Quill, A., Costa, Jr., P. T., Lind, I. (2020)", "Quill, A., [Costa, Jr., P. T.], Lind, I. (2020)"},
		{persons, "Quill,&nbsp;A., <b>Costa Jr.,&nbsp;P.T.</b> and Lind,&nbsp;I.",
			"Quill,_A., [<b>Costa Jr.,_P.T.</b>] and Lind,_I."},
		{persons, "Quill,&nbsp;A., Costa, Jr.,&nbsp;P.T. and Lind,&nbsp;I.",
			"Quill,_A., [Costa, Jr.,_P.T.] and Lind,_I."},
		{persons, "Quill A, Costa PT Jr, Lind I. On lists.", "Quill A, [Costa PT Jr], Lind I. On lists."},
		{persons, "Quill A, Costa Jr PT, Lind I. On lists.", "Quill A, [Costa Jr PT], Lind I. On lists."},
		{persons, "Quill A, Costa Jr. PT, Lind I. On lists.", "Quill A, [Costa Jr. PT], Lind I. On lists."},
		{persons, "Quill, A., Costa, P. T., Lind, I. (2020)", "Quill, A., [Costa, P. T.], Lind, I. (2020)"},
		{persons, "A. Quill, P.T. Costa, Jr. and I. Lind. On lists.",
			"A. Quill, [P.T. Costa, Jr.] and I. Lind. On lists."},
		{persons, "Ada Quill, Paul T. Costa Jr & Ida Lind", "Ada Quill, [Paul T. Costa Jr] & Ida Lind"},
		{persons, "Quill, A., Costa, P. T. Jr., Lind, I.", "Quill, A., [Costa, P. T. Jr.], Lind, I."},
		{persons, "Quill A, Costa PT III, Lind I", "Quill A, [Costa PT] III, Lind I"},
		{first, "Costa, Jr., P. T., Lind, I. (2020)", "[Costa, Jr., P. T.], Lind, I. (2020)"},
		{first, "Costa PT Jr, Lind I. Costa", "[Costa PT Jr], Lind I. Costa"},
		{first, "Costa PT Junior, Lind I.", "Costa PT Junior, Lind I."},
	} {
		own := 1
		if len(tt.persons) == 2 {
			own = 0
		}
		got, _ := change(0, false, own).In(tt.in, tt.persons)
		if got = brief.Replace(got); got != tt.want {
			t.Errorf("\n got %s\nwant %s", got, tt.want)
		}
	}
}
