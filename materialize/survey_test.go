package materialize_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"vitrine/materialize"
	"vitrine/rules"
	reports "vitrine/rules/records"
)

// TestSurvey: whatever a run reads, it says what all records lack, as a look at all of them would, and writes it into
// the view's health.
func TestSurvey(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		o := &marked{public: `{"hide":{"$ne":true}}`, now: time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)}
		job := markedJob(o)
		known := reports.Codes{Types: []string{"talk"}}
		job.Codes = func(materialize.Deps) reports.Codes { return known }
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{job}})
		set := func(docs ...string) {
			var all []any
			for _, d := range docs {
				all = append(all, docOf(t, d))
			}
			store.replace("activities", all...)
		}
		const talk, hidden, wrong = `{"_id":1,"type":"talk"}`, `{"_id":2,"type":"talk","hide":true}`,
			`{"_id":3,"type":"tolk"}`
		const notPublic = "not public: 1 of %d records, 1 hidden by hide"
		for _, tt := range []struct {
			name   string
			change func()
			q      materialize.Request
			want   []string
		}{
			{"at first", func() { set(talk, hidden, wrong) }, materialize.Request{},
				[]string{fmt.Sprintf(notPublic, 3), `unknown type "tolk": 1 records, did you mean talk?`}},
			{"nothing", func() {}, materialize.Request{},
				[]string{fmt.Sprintf(notPublic, 3), `unknown type "tolk": 1 records, did you mean talk?`}},
			{"all anew", func() {}, materialize.Request{Full: true},
				[]string{fmt.Sprintf(notPublic, 3), `unknown type "tolk": 1 records, did you mean talk?`}},
			{"a record is repaired", func() { set(talk, hidden, `{"_id":3,"type":"talk"}`) }, materialize.Request{},
				[]string{fmt.Sprintf(notPublic, 3)}},
			{"a record vanishes", func() { set(talk, hidden) }, materialize.Request{Force: true},
				[]string{fmt.Sprintf(notPublic, 2)}},
			{"a record is shown", func() { set(talk) }, materialize.Request{Force: true}, nil},
			{"a type is no longer known", func() { known = reports.Codes{Types: []string{"paper"}} },
				materialize.Request{}, []string{`unknown type "talk": 1 records`}},
		} {
			tt.change()
			out := once(t, r, tt.q)
			if got := out.Findings(); !slices.Equal(got, tt.want) {
				t.Errorf("%s: %q, want %q (%s, %v)", tt.name, got, tt.want, out.Result, out.Err)
			}
			if stored := out.Meta.Health.Findings; !slices.Equal(stored, tt.want) {
				t.Errorf("%s: the health has %q", tt.name, stored)
			}
			all, err := materialize.Survey(t.Context(), store, []materialize.Job{job},
				func(string) bool { return true })
			if err != nil || len(all) != 1 || all[0].View != rules.ViewActivities ||
				!slices.Equal(all[0].Lines(), tt.want) {
				t.Errorf("%s: surveyed: %v, %v", tt.name, all, err)
			}
		}
	})
}
