package main

import (
	"strings"
	"testing"
	"time"

	"vitrine/proxy/explain"
)

// TestExplainKept: what explain prints about an answer that is kept of the other server's.
func TestExplainKept(t *testing.T) {
	at := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	x := &explain.Upstream{
		Rule: "/portfolio/", Until: []string{"activities", "persons"}, Key: "/portfolio/unit/BIO",
		Callers: "everyone",
		Next:    "gets it", Refresh: "skips it", Failed: "timeout",
		Answer: &explain.Entry{
			Status: 200, Bytes: 12, Type: "application/json", Since: at, Checked: at,
			Marks: map[string]time.Time{"activities": at},
			Fresh: true, FreshTill: at.Add(time.Hour), Usable: at.Add(2 * time.Hour),
		},
	}
	print := func() string {
		var out strings.Builder
		if err := (explain.Explanation{Upstream: x, Ignored: "utm"}).WriteText(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const head, tail = "rule: /portfolio/, for everyone\nkey: /portfolio/unit/BIO\n",
		"the next request gets it\na refresh skips it\nlast failure: timeout\nignored: utm\n"
	const kept = "kept: since 2026-05-04 10:00:00 UTC, checked 2026-05-04 10:00:00 UTC\n" +
		"answer: status 200, 12 bytes, application/json\n  activities had changed at 2026-05-04 10:00:00 UTC\n"
	const fresh = "fresh: until 2026-05-04 11:00:00 UTC, or a change of activities, persons\n"
	if got, want := print(), head+kept+fresh+tail; got != want {
		t.Errorf("fresh: got\n%s\nwant\n%s", got, want)
	}
	x.Answer.Fresh, x.Answer.Changed = false, []string{"persons"}
	stale := "stale: changed since: persons; sent until 2026-05-04 12:00:00 UTC while the other server fails\n"
	if got, want := print(), head+kept+stale+tail; got != want {
		t.Errorf("stale: got\n%s\nwant\n%s", got, want)
	}
	x.Answer = nil
	if got, want := print(), head+"kept: nothing in this process\n"+tail; got != want {
		t.Errorf("nothing: got\n%s\nwant\n%s", got, want)
	}
}
