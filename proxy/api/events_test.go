package api_test

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
	"vitrine/rules"
)

// TestRelevantDeadlines: a deadline is relevant to callers with one of its roles. All callers have the role "user",
// with or without a session. Callers with the same roles share an answer.
func TestRelevantDeadlines(t *testing.T) {
	secret := []byte("session secret")
	store := matrixStore(t)
	store.Publish(rules.ViewDeadlines, proxytest.Parse(t,
		`{"_id":"d1","roles":["user"]}`, `{"_id":"d2","roles":["editor","viewer"]}`,
		`{"_id":"d3","roles":["Viewer"]}`, `{"_id":"d4","roles":[]}`, `{"_id":"d5"}`,
		`{"_id":"d6","roles":"admin"}`)...)
	s := proxytest.Open(t, store, matrixOptions(t, secret, false, "10.0.0.0/8"))
	for _, tt := range []struct{ user, want string }{
		{"", "d1"}, {"linda", "d1"}, {viewer, "d1 d2"}, {admin, "d1 d6"}, {viewer, "d1 d2"}, {"", "d1"},
	} {
		var headers []string
		if tt.user != "" {
			headers = []string{"Authorization", "Bearer " + proxytest.Token(t, tt.user, secret)}
		}
		res := s.Get("/api/deadlines", headers...)
		var got []string
		for _, row := range res.Envelope(t).Rows(t) {
			if row["relevant"] == true {
				got = append(got, fmt.Sprint(row["id"]))
			}
		}
		if shown := strings.Join(got, " "); shown != tt.want {
			t.Errorf("%q: relevant are %q, want %q", tt.user, shown, tt.want)
		}
		if private := strings.Contains(res.Header.Get("Cache-Control"), "private"); private != (tt.user != "") {
			t.Errorf("%q: Cache-Control %q", tt.user, res.Header.Get("Cache-Control"))
		}
	}
}
