package lists

import "testing"

// TestTitles: a list with a title in only one language shows it in both.
func TestTitles(t *testing.T) {
	for given, want := range map[[2]string][2]string{
		{"Papers", "Aufsätze"}: {"Papers", "Aufsätze"}, {"", "Aufsätze"}: {"Aufsätze", "Aufsätze"},
		{"Papers", ""}: {"Papers", "Papers"}, {}: {},
	} {
		title := map[string]string{"en": given[0], "de": given[1]}
		if got := [2]string{either(title, "en"), either(title, "de")}; got != want {
			t.Errorf("%v: got %q, want %q", given, got, want)
		}
	}
}
