package upstream

import (
	"hash/maphash"
	"sync"
	"time"

	"vitrine/rules/lru"
)

// unkept remembers keys whose answers could not be kept, so that requests for them do not wait for each other. It
// keeps only hashes of the latest ones: at worst requests wait, or do not, as for another key.
type unkept struct {
	mu    sync.Mutex
	until *lru.Cache[uint64, time.Time] // guarded by mu
}

const (
	mostUnkept = 1 << 14 // about 2 MB
	// A minute: long enough that a burst does not queue, short enough that a page that becomes cacheable is shared
	// soon.
	unkeptFor = time.Minute
)

func newUnkept() *unkept { return &unkept{until: lru.New[uint64, time.Time](mostUnkept)} }

var unkeptSeed = maphash.MakeSeed() // so that clients cannot make keys with the same hash

// has reports whether an answer of a key could not be kept lately.
func (u *unkept) has(key string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	until := u.until.Get(maphash.String(unkeptSeed, key))
	return until != nil && now.Before(*until)
}

// note records that an answer could not be kept.
func (u *unkept) note(key string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.until.Put(maphash.String(unkeptSeed, key), now.Add(unkeptFor))
}

// forget records that an answer was kept.
func (u *unkept) forget(key string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.until.Remove(maphash.String(unkeptSeed, key))
}
