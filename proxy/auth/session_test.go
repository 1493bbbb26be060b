package auth_test

import (
	"strings"
	"testing"
	"time"

	"vitrine/proxy/auth"
)

func TestMintTokenRefuses(t *testing.T) {
	tests := map[string]struct{ user, secret string }{
		"no secret":        {"ada", ""},
		"no user":          {"", "s"},
		"a control in it":  {"a\nb", "s"},
		"too long":         {strings.Repeat("a", 200), "s"},
		"PEM of something": {"ada", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tok, err := auth.MintToken(tt.user, []byte(tt.secret), auth.SessionOptions{}, time.Now(), 0); err ==
				nil {
				t.Errorf("minted %s", tok)
			}
		})
	}
}
