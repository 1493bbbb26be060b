package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"math/rand/v2"
)

// Key is a configured key, kept as its hash so that comparing takes the same
// time whatever is compared, lengths included. The zero Key is not set.
type Key struct {
	set    bool
	sum    [sha256.Size]byte
	length int
	rolled uint64 // rolling sum of its bytes
	power  uint64 // rollBase to the power of length
}

// rollBase is random, so that nothing can be learned from how long In takes.
var rollBase = rand.Uint64() | 1

// NewKey returns the Key of a text; it is not set for an empty one.
func NewKey(key string) Key {
	s := Key{set: key != "", sum: sha256.Sum256([]byte(key)), length: len(key), power: 1}
	for i := range len(key) {
		s.rolled = s.rolled*rollBase + uint64(key[i])
		s.power *= rollBase
	}
	return s
}

// Set reports whether there is a key.
func (s Key) Set() bool { return s.set }

// Is reports whether given is the key, in constant time.
func (s Key) Is(given string) bool {
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(s.sum[:], sum[:]) == 1 && s.set
}

// In reports whether text holds the key, whatever stands around it.
func (s Key) In(text string) bool {
	if !s.set {
		return false
	}
	var sum uint64
	for i := range len(text) {
		sum = sum*rollBase + uint64(text[i])
		from := i + 1 - s.length
		if from > 0 {
			sum -= s.power * uint64(text[from-1])
		}
		if from >= 0 && sum == s.rolled && s.Is(text[from:i+1]) {
			return true
		}
	}
	return false
}
