package main

import (
	"log/slog"

	"vitrine/cache/origin"
	"vitrine/configs"
)

// leastSecret is the least length of a secret for HS256, in bytes (RFC 7518: 3.2).
const leastSecret = 32

// leastKey is the least length of a key, in bytes: any caller may try to guess it.
const leastKey = 16

// warnOfKeys logs settings that protect less than they seem to.
func warnOfKeys(cfg configs.Config, log *slog.Logger) {
	if n := len(cfg.Auth.Session.JWTSecret.Reveal()); n > 0 && n < leastSecret {
		log.Warn("auth.session.jwt_secret is short: who has a token can try secrets until one fits", "bytes", n, "want", leastSecret)
	}
	for name, key := range map[string]configs.Secret{"auth.api_key": cfg.Auth.APIKey, "auth.portfolio_key": cfg.Auth.PortfolioKey, "admin.token": cfg.Admin.Token} {
		if n := len(key.Reveal()); n > 0 && n < leastKey {
			log.Warn(name+" is short: it can be guessed, slowly", "bytes", n, "want", leastKey)
		}
	}
	s := cfg.Auth.Session
	if (s.JWTSecret.Reveal() != "" || s.PublicKey != "") && (s.Issuer == "" || s.Audience == "" || s.Type == "") {
		log.Warn("auth.session: issuer, audience or type of tokens is not required: one that was signed with the same key for something else counts as a session",
			"issuer", s.Issuer, "audience", s.Audience, "type", s.Type)
	}
	if s.Endless {
		log.Warn("auth.session.endless: a token that was lost is good for ever")
	}
}

// warnOfDamage logs damage to an embedded store that concerns more than single records.
func warnOfDamage(store origin.Store, log *slog.Logger) {
	if s, ok := store.(interface{ Damage() []string }); ok {
		for _, note := range s.Damage() {
			log.Warn("the store is damaged: vitrine check says what to do", "store", store.Name(), "damage", note)
		}
	}
}
