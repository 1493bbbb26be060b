package main

import (
	"log/slog"

	"vitrine/cache/origin"
	"vitrine/configs"
)

// leastSecret is how many bytes a secret of HS256 should have (RFC 7518: 3.2).
const leastSecret = 32

// warnOfKeys tells the operator of settings that are weaker than they look.
func warnOfKeys(cfg configs.Config, log *slog.Logger) {
	if n := len(cfg.Auth.Session.JWTSecret.Reveal()); n > 0 && n < leastSecret {
		log.Warn("auth.session.jwt_secret is short: who has a token can try secrets until one fits", "bytes", n, "want", leastSecret)
	}
	if cfg.Auth.Session.Endless {
		log.Warn("auth.session.endless: a token that was lost is good for ever")
	}
}

// warnOfDamage tells the operator what is wrong with an embedded store beyond single records.
func warnOfDamage(store origin.Store, log *slog.Logger) {
	if s, ok := store.(interface{ Damage() []string }); ok {
		for _, note := range s.Damage() {
			log.Warn("the store is damaged: vitrine check says what to do", "store", store.Name(), "damage", note)
		}
	}
}
