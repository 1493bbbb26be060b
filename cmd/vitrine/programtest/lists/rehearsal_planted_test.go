package lists

import (
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"vitrine/configs"
	"vitrine/proxy/compare"
	"vitrine/proxy/proxytest/mistakes"
	"vitrine/proxy/proxytest/osiristest"
	"vitrine/rules/access"
)

// mistaken is a transport that gives another answer to one target.
type mistaken struct {
	target  string
	instead mistakes.Answer
}

// RoundTrip implements http.RoundTripper.
func (m *mistaken) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && r.URL.RequestURI() == m.target {
		_ = res.Body.Close() // what is not read
		res.StatusCode, res.Body = m.instead.Status, io.NopCloser(strings.NewReader(m.instead.Body))
		res.Header.Set("Content-Type", m.instead.Type)
	}
	return res, err
}

// ownAnswers returns the answers of a server to the recorded paths, without those that it forwards.
func ownAnswers(t *testing.T, address string) map[string]mistakes.Answer {
	t.Helper()
	all := map[string]mistakes.Answer{}
	for _, target := range osiristest.RecordedPaths(t) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-API-Key", osiristest.RecordedKey)
		res, err := http.DefaultTransport.RoundTrip(req) // which does not follow redirections
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // it has been read
		if res.Header.Get("Via") == "" {
			all[target] = mistakes.Answer{
				Status: res.StatusCode, Type: res.Header.Get("Content-Type"), Body: string(body),
			}
		}
	}
	return all
}

// unproven are the recorded paths to which OSIRIS has no answer, no rows or rows without ids, so that a person who
// decides about the new answer has to look at it.
var unproven = []string{
	"/portfolio/spectrum",
	`/api/activities?json=%7B%22_id%22%3A%22f6558bfaa44ec6c42ea00ccd%22%7D`,
	`/api/all-activities?json=%7B%22projects%22%3A%22LANTERN%22%7D`,
	"/api/search/conferences",
	"/api/activities?columns[]=id&columns[]=title&limit=5",
}

// plantMistakes checks that a mistake in an answer to a recorded path is found, although the rules of docs/osiris.md
// and all decisions hold. Nothing else differs in these answers.
func plantMistakes(t *testing.T, old, new string) {
	t.Helper()
	text, err := os.ReadFile(decisions)
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := compare.ParseAccepted(decisions, text)
	if err != nil {
		t.Fatal(err)
	}
	m := &mistaken{}
	keys := compare.Keys{API: osiristest.RecordedKey, Portfolio: osiristest.RecordedKey}
	side := func(name, address string, transport http.RoundTripper) *compare.Side {
		s, err := compare.NewSide(name, address, keys, transport)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	sides := [2]*compare.Side{side("old", old, nil), side("new", new, m)}
	hidden, err := access.NewFields(configs.Default().Access.HiddenFields)
	if err != nil {
		t.Fatal(err)
	}
	settings := compare.Settings{Accepted: slices.Concat(accepted, compare.OSIRIS()), Examples: 1, Hidden: hidden.Hides}
	c := compare.NewComparison(sides[0], sides[1], settings)
	answers, chance := ownAnswers(t, new), rand.New(rand.NewPCG(3, 5))
	targets := slices.DeleteFunc(slices.Sorted(maps.Keys(answers)), func(target string) bool {
		return slices.Contains(unproven, target)
	})
	const each = 4 // answers of a kind
	all := 0
	for _, name := range slices.Sorted(maps.Keys(mistakes.Kinds)) {
		planted := 0
		for _, i := range chance.Perm(len(targets)) {
			m.target, m.instead = targets[i], answers[targets[i]]
			if !mistakes.Kinds[name](chance, &m.instead) {
				continue
			}
			outcome, err := c.Ask(t.Context(), compare.Request{Method: http.MethodGet, Target: m.target})
			if outcome != "differ" && outcome != "agree" { // a mistake may bring rows into OSIRIS's order
				t.Errorf("%s: %s in %s: %v", name, outcome, m.target, err)
				alone := compare.NewComparison(sides[0], sides[1], settings)
				_, _ = alone.Ask(t.Context(), compare.Request{Method: http.MethodGet, Target: m.target}) // as above
				for _, g := range alone.Report().Differences() {
					t.Logf("%+v: %q, %q", g.Place, g.Examples[0].Old, g.Examples[0].New)
				}
			}
			if planted++; planted == each {
				break
			}
		}
		all += planted
	}
	if all < 200 {
		t.Errorf("%d mistakes planted", all)
	}
}
