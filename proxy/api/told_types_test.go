package api_test

import (
	"testing"

	"vitrine/proxy/auth"
	"vitrine/proxy/proxytest"
)

// TestUnknownTypesAreNotToldToAll: callers whose roles hide types do not learn which types others' records have.
func TestUnknownTypesAreNotToldToAll(t *testing.T) {
	secret := []byte("session secret")
	o := proxytest.Options(t)
	o.Auth.Session = auth.SessionOptions{Secret: secret, UnknownUsers: true}
	s := proxytest.Open(t, proxytest.Institute(t), o)
	for _, tt := range []struct{ user, want string }{
		{"zoe", ""}, // has no role that sees reviews
		{"bob", "type=reviev (no record has it; did you mean review?)"},
		{"", "type=reviev (no record has it; did you mean review?)"},
	} {
		var headers []string
		if tt.user != "" {
			headers = []string{"Authorization", "Bearer " + proxytest.Token(t, tt.user, secret)}
		}
		for range 2 {
			res := s.Get("/api/all-activities?type=reviev", headers...)
			if got := res.Header.Get("Vitrine-Ignored"); got != tt.want {
				t.Errorf("user %q: ignored %q, want %q", tt.user, got, tt.want)
			}
		}
	}
}
