package compare_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy/compare"
)

// TestNoFilter: an error of the old side for groups without a filter proves nothing about the new side's groups. Both
// sides are asked for them with a filter that all records fit.
func TestNoFilter(t *testing.T) {
	const groups = `{"status":200,"count":2,"data":[{"count":3,"value":"a"},{"count":1,"value":"b"}]}`
	const target = "/api/activities?aggregate=type"
	for _, tt := range []struct {
		name, old, new, filtered string // what the old side has with a filter, and the new one without and with it
		want                     string
	}{
		{"the same", groups, groups, groups, "purpose"},
		{"other groups", groups, strings.Replace(groups, `"a"`, `"x"`, 1), groups, "differ"},
		{"none", groups, `{"status":200,"count":0,"data":[]}`, groups, "differ"},
		{"other groups in both", groups, strings.Replace(groups, `"a"`, `"x"`, 1),
			strings.Replace(groups, `"a"`, `"x"`, 1), "differ"},
		{"no proof", "", groups, groups, "differ"},
	} {
		side := func(name, bare, filtered string) *compare.Side {
			s, err := compare.NewSide(name, "http://"+name+".example", compare.Keys{}, roundTrip(
				func(r *http.Request) *http.Response {
					text := bare
					if r.URL.Query().Get("json") == `{"_id":{"$exists":true}}` {
						text = filtered
					}
					status := http.StatusOK
					if text == "" {
						status = http.StatusInternalServerError
					}
					return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
						Body: io.NopCloser(strings.NewReader(text))}
				}))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		c := compare.NewComparison(side("old", "", tt.old), side("new", tt.new, tt.filtered),
			compare.Settings{Accepted: compare.OSIRIS()})
		outcome, err := c.Ask(t.Context(), compare.Request{Method: "GET", Target: target})
		if outcome != tt.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", tt.name, outcome, err, tt.want)
		}
	}
}
