package records_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"vitrine/rules"
	"vitrine/rules/mark"
	"vitrine/rules/records"
)

// TestFindUnread: a collection with another name of the same, or a misspelt one, is told from one that is of no
// use.
func TestFindUnread(t *testing.T) {
	read := []string{"activities", "conferences", "groups", "persons", "projects"}
	for _, tt := range []struct{ found, want string }{
		{"publications", "found publications, which nothing reads; activities (publications, talks and others) are " +
			"read from activities"},
		{"Persons", "found Persons, which nothing reads; the name is persons, in small letters"},
		{"people", "found people, which nothing reads; persons are read from persons"},
		{"activites", "found activites, which nothing reads; activities (publications, talks and others) are read " +
			"from activities"},
		{"departments", "found departments, which nothing reads; units are read from groups"},
		{"cats", "found cats, which nothing reads"},
		{"activities", ""},
	} {
		var lines []string
		for _, u := range records.FindUnread([]string{tt.found}, read) {
			lines = append(lines, u.String())
			if u.Fault() != (tt.found != "cats") {
				t.Errorf("%s: a fault: %v", tt.found, u.Fault())
			}
		}
		if got := strings.Join(lines, "\n"); got != tt.want {
			t.Errorf("%s:\n%s", tt.found, got)
		}
	}
	if all := records.FindUnread(read, read); all == nil {
		t.Error("no array in JSON")
	}
	all := records.FindUnread([]string{"activities", "cats", "papers", "staff"}, read)
	if len(all) != 3 || all[0].Collection != "staff" || all[2].Fault() {
		t.Errorf("with activities there, papers are no fault, and staff comes first: %v", all)
	}
}

// known are the codes of the tests.
var known = records.Codes{
	Types:    []string{"lecture", "publication"},
	Subtypes: map[string][]string{"lecture": {"talk"}, "publication": {"article", "book"}},
	Works:    map[string]string{"article": "article", "journalArticle": "article", "report": "report"},
}

// reported reports on records of kinds that lack the same.
func reported(lack mark.Lack, kinds ...records.Kind) records.View {
	var all records.Kinds
	all.Expect(known)
	var facts iter.Seq2[mark.Lack, uint16] = func(yield func(mark.Lack, uint16) bool) {
		for _, kind := range kinds {
			if !yield(lack, all.Number(kind.Type, kind.Subtype)) {
				return
			}
		}
	}
	return all.Report(rules.ViewActivities, "activities", facts, known)
}

// TestUnknownTypes: codes without a meaning are counted, and the ones that they were meant to be are named.
func TestUnknownTypes(t *testing.T) {
	for _, tt := range []struct {
		kind records.Kind
		want string
	}{
		{records.Kind{Type: "publication", Subtype: "article"}, ""},
		{records.Kind{Type: "publication", Subtype: "report"}, ""},
		{records.Kind{Type: "publication"}, ""},
		{records.Kind{}, "no type: 1 records"},
		{records.Kind{Type: "Publication"}, `unknown type "Publication": 1 records, did you mean publication?`},
		{records.Kind{Type: "publikation"}, `unknown type "publikation": 1 records, did you mean publication?`},
		{records.Kind{Type: "talk"}, `unknown type "talk": 1 records, did you mean lecture/talk?`},
		{records.Kind{Type: "journalArticle"},
			`unknown type "journalArticle": 1 records, did you mean publication/article?`},
		{records.Kind{Type: "publication", Subtype: "artikle"},
			`unknown type "publication/artikle": 1 records, did you mean publication/article?`},
		{records.Kind{Type: "a/b", Subtype: "c"}, `unknown type "a/b": 1 records`},
	} {
		v := reported(0, tt.kind)
		if got := strings.Join(v.Lines(), "\n"); got != tt.want || v.Fault() != (tt.want != "") {
			t.Errorf("%v: %s", tt.kind, got)
		}
	}
}

// TestBounded: many unknown types take little room, hide none of the known ones, and are all counted.
func TestBounded(t *testing.T) {
	var kinds []records.Kind
	for n := range 100_000 {
		kinds = append(kinds, records.Kind{Type: fmt.Sprint("t", n), Subtype: strings.Repeat("x", 1000)})
	}
	kinds = append(kinds, kinds[99_999], kinds[99_999], records.Kind{Type: "publication", Subtype: "book"})
	v := reported(0, kinds...)
	counted := v.MoreRecords
	for _, u := range v.Unknown {
		counted += u.Records
	}
	if len(v.Unknown) != 10 || counted != 100_002 || v.Records != 100_003 || v.More > 3000 {
		t.Errorf("%d named, %d counted of %d, %d more", len(v.Unknown), counted, v.Records, v.More)
	}
	if lines := v.Lines(); len(lines) != 11 || len(strings.Join(lines, "")) > 2000 {
		t.Errorf("%d lines: %s", len(lines), lines)
	}
}

// TestLacks: what records lack is counted by reasons, and says whether there is something to repair.
func TestLacks(t *testing.T) {
	article := records.Kind{Type: "publication", Subtype: "article"}
	for _, tt := range []struct {
		lack  mark.Lack
		fault bool
		want  string
	}{
		{mark.NoTitle | mark.NoDate, true,
			"lacking what lists need, of 1 public records, 1 without title, 1 without year"},
		{mark.NoPersons, false, "lacking what lists need, of 1 public records, 1 without authors"},
		{mark.Hidden, true, "not public: all of 1 records, 1 hidden by hide"},
		{mark.Undecided, true, "not public: all of 1 records, 1 that lists.public cannot judge"},
	} {
		v := reported(tt.lack, article)
		if got := v.Lines(); !slices.Equal(got, []string{tt.want}) || v.Fault() != tt.fault {
			t.Errorf("%b: %q, a fault: %v", tt.lack, got, v.Fault())
		}
	}
}
