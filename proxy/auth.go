package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
)

// secret is a configured key, kept as its hash so that comparing takes the same
// time whatever is compared, lengths included. The zero secret is no key at all.
type secret struct {
	set bool
	sum [sha256.Size]byte
}

func newSecret(key string) secret {
	return secret{set: key != "", sum: sha256.Sum256([]byte(key))}
}

// is reports whether given is the key, in constant time.
func (s secret) is(given string) bool {
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(s.sum[:], sum[:]) == 1 && s.set
}

// credentials are what a request brings to be let in.
type credentials struct {
	param    string // apikey
	hasParam bool
	header   string // X-API-Key
	user     string // of the session
}

// admits decides whether a request may pass (API.md: Authentication; DESIGN.md:
// 10, 19). A right header passes beside a wrong parameter. A session passes
// without a key, but not with a wrong one: giving apikey also lifts the
// session's visibility restrictions on all-activities, so it has to be right.
func (s secret) admits(c credentials) bool {
	switch {
	case !s.set:
		return true
	case c.header != "" && s.is(c.header):
		return true
	case c.hasParam:
		return s.is(c.param)
	default:
		return c.user != ""
	}
}
