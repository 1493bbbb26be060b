package label_test

import (
	"reflect"
	"testing"

	"vitrine/rules/label"
)

func parse(t *testing.T, src string) label.Sets {
	t.Helper()
	s, err := label.Parse("labels.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const base = `
project-status:
  applied: {en: Applied, de: Beantragt}
  english: {en: Only English}
  german: {de: Nur Deutsch}
  both: The same
text:
  User not found: {de: Person nicht gefunden}
topic:
`

func TestLabel(t *testing.T) {
	s := parse(t, base)
	tests := []struct{ name, set, code, lang, want string }{
		{"English", label.ProjectStatus, "applied", "en", "Applied"},
		{"German", label.ProjectStatus, "applied", "de", "Beantragt"},
		{"unknown language is English", label.ProjectStatus, "applied", "fr", "Applied"},
		{"German falls back to English", label.ProjectStatus, "english", "de", "Only English"},
		{"English falls back to German", label.ProjectStatus, "german", "en", "Nur Deutsch"},
		{"one text for all", label.ProjectStatus, "both", "de", "The same"},
		{"unknown code", label.ProjectStatus, "unheard", "de", "unheard"},
		{"codes are case-sensitive", label.ProjectStatus, "Applied", "de", "Applied"},
		{"no such label in the set", label.Topic, "applied", "en", "applied"},
		{"no such set", "colours", "red", "en", "red"},
		{"a text", label.Text, "User not found", "de", "Person nicht gefunden"},
		{"empty code", label.Funder, "", "en", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.Label(tt.set, tt.code, tt.lang); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNoLabels(t *testing.T) {
	var none label.Sets
	if got := none.Label(label.Funder, "dfg", "en"); got != "dfg" {
		t.Errorf("got %q", got)
	}
	if got := none.With(parse(t, base)).Label(label.ProjectStatus, "applied", "en"); got != "Applied" {
		t.Errorf("got %q", got)
	}
}

func TestWith(t *testing.T) {
	below := parse(t, base)
	s := below.With(parse(t, `
project-status:
  applied: {de: Eingereicht}
  new: New
funder: {dfg: DFG}
`))
	tests := []struct{ name, set, code, lang, want string }{
		{"one language replaced", label.ProjectStatus, "applied", "de", "Eingereicht"},
		{"the other stays", label.ProjectStatus, "applied", "en", "Applied"},
		{"not mentioned", label.ProjectStatus, "both", "en", "The same"},
		{"added", label.ProjectStatus, "new", "de", "New"},
		{"set added", label.Funder, "dfg", "en", "DFG"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.Label(tt.set, tt.code, tt.lang); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := below.Label(label.ProjectStatus, "applied", "de"); got != "Beantragt" {
		t.Errorf("the sets below changed: %q", got)
	}
	if !reflect.DeepEqual(s.With(nil), s) {
		t.Error("an empty overlay changed the set")
	}
}

// TestRank: codes are in the order of the file; those of a set laid over it come behind.
func TestRank(t *testing.T) {
	s := parse(t, "funder: {z: Z, a: A}").With(parse(t, "funder: {b: B, z: Other, c: C}\ntag: {t: T}"))
	last := 0
	for _, code := range []string{"z", "a", "b", "c", "unheard"} {
		rank := s.Rank(label.Funder, code)
		if rank <= last {
			t.Errorf("%s has the rank %d after %d", code, rank, last)
		}
		last = rank
	}
	if s.Rank(label.Tag, "t") == s.Rank(label.Topic, "t") {
		t.Error("a code of a set that is only above has no rank")
	}
}

func TestMistakes(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"no YAML", "a: [", "l.yaml: yaml: line 1: did not find expected node content"},
		{"no mapping", "- a", "l.yaml:1: expected keys and values"},
		{"unknown set", "colour: {red: Red}",
			"l.yaml:1: colour: unknown set, want one of activity-subtype, activity-type, funder, project-role, " +
				"project-status, project-type, tag, text, topic"},
		{"set is text", "funder: dfg", "l.yaml:1: funder: expected keys and values"},
		{"unknown language", "funder:\n  dfg: {fr: DFG}",
			"l.yaml:2: funder.dfg.fr: unknown language, want one of en, de"},
		{"repeated code", "funder:\n  dfg: A\n  dfg: B", "l.yaml:3: funder.dfg: given twice"},
		{"empty", "funder:\n  dfg: ''", "l.yaml:2: funder.dfg: a label is text and not empty"},
		{"null", "funder:\n  dfg:", "l.yaml:2: funder.dfg: a label is text and not empty"},
		{"list", "funder:\n  dfg: {en: [a]}", "l.yaml:2: funder.dfg.en: a label is text and not empty"},
		{"all of them", "funder:\n  a: ''\n  b: ''",
			"l.yaml:2: funder.a: a label is text and not empty\nl.yaml:3: funder.b: a label is text and not empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := label.Parse("l.yaml", []byte(tt.src))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestEmptyFile(t *testing.T) {
	if got := parse(t, "").Label(label.Funder, "dfg", "de"); got != "dfg" {
		t.Errorf("got %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(base))
	f.Add([]byte("funder: &a {x: *a}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if s, err := label.Parse("f", src); err == nil {
			_ = s.Label(label.Funder, "a", "en")
		}
	})
}
