package api_test

import (
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestLanguageIsChecked: every endpoint refuses an unknown language.
func TestLanguageIsChecked(t *testing.T) {
	s := proxytest.Open(t, matrixStore(t), matrixOptions(t, []byte("session secret"), false, "10.0.0.0/8"))
	for _, row := range matrix {
		if !strings.HasPrefix(row.target, "/api/") && !strings.HasPrefix(row.target, "/portfolio/") {
			continue
		}
		separator := "?"
		if strings.Contains(row.target, "?") {
			separator = "&"
		}
		for lang, want := range map[string]int{"en": 200, "de": 200, "": 200, "tlh": 400, "DE": 400, "de,en": 400,
			"%00": 400, "%ff": 400, "../de": 400} {
			res := s.Get(row.target + separator + "lang=" + lang)
			if res.StatusCode != want {
				t.Errorf("%s in %q: %d, want %d", row.target, lang, res.StatusCode, want)
			}
			if want == 400 && !strings.Contains(res.Envelope(t).Msg, "lang") {
				t.Errorf("%s in %q: %s", row.target, lang, res.Body)
			}
		}
	}
}
