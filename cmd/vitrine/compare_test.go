package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"vitrine/proxy/compare"
)

// TestOutcomeOfComparison: forwarded paths are no failure, but a comparison that has nothing else is.
func TestOutcomeOfComparison(t *testing.T) {
	for _, tt := range []struct {
		total compare.Endpoint
		want  string
	}{
		{compare.Endpoint{Asked: 3, Agree: 2, Purpose: 1}, ""},
		{compare.Endpoint{Asked: 3, Agree: 1, Forwarded: 2}, ""},
		{compare.Endpoint{Asked: 3, Forwarded: 3},
			"nothing was compared: the new server forwards all of the 3 paths"},
		{compare.Endpoint{Asked: 3, Forwarded: 2, Failed: 1}, "1 of 3 requests failed"},
		{compare.Endpoint{Asked: 3, Failed: 1, Differ: 1, Agree: 1}, "1 of 3 answers differ"},
		{compare.Endpoint{}, "the logs have no request to compare"},
	} {
		got := ""
		err := outcome(compare.Report{Total: tt.total})
		if err != nil {
			got = err.Error()
		}
		if got != tt.want || errors.Is(err, errDiffer) != (tt.total.Differ > 0) {
			t.Errorf("%+v: %q, want %q", tt.total, got, tt.want)
		}
	}
}

// TestCompareOutput: the command prints causes in their parts, with what would accept them.
func TestCompareOutput(t *testing.T) {
	var b bytes.Buffer
	c := compare.Cause{CauseKey: compare.CauseKey{Kind: compare.Count}, Extent: compare.Extent{Answers: 2, Values: 3},
		Says: "`count` differs", Accepted: "- reason: x\n", Places: []compare.Group{{
			Place:    compare.Place{Endpoint: "/api/x"},
			Examples: []compare.Difference{{Target: "/api/x?a", Path: "$.count", Old: "3"}}}}}
	kept := compare.Cause{CauseKey: compare.CauseKey{Reason: "It is so."}, Says: "It is so.",
		Extent: compare.Extent{Answers: 1, Values: 1}}
	err := output.ExecuteTemplate(&b, "compare causes",
		compare.Report{Total: compare.Endpoint{Asked: 4, Forwarded: 1, Kept: 2}, Causes: []compare.Cause{c, kept}})
	const want = "paths that the new server forwards, not compared: 1\n" +
		"paths that the new server keeps by rule, compared: 2\n\n" +
		"2 answers: `count` differs\n    3 values at 1 endpoint: /api/x\n    /api/x?a $.count\n    old: 3\n" +
		"    new: nothing\nto agree with it:\n- reason: x\n\n\non purpose:\n  1 answer: It is so.\n"
	if err != nil || strings.TrimSpace(b.String()) != strings.TrimSpace(want) {
		t.Errorf("%v\n%q\nwant\n%q", err, b.String(), want)
	}
}
