package kept

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules/backoff"
)

const (
	// longer than a fetch usually takes: claims of killed processes block a key as long
	claimTerm    = 30 * time.Second
	claimWait    = 10 * time.Second // for another process's fetch; then this process fetches, too, for itself
	storeTime    = time.Second      // for one request to the store, for which a client waits
	saveTime     = 2 * time.Second  // to write an answer, for which a client waits
	readTime     = 5 * time.Second  // for the body of an answer
	lateSaveTime = 10 * time.Second // to write an answer, for which no client waits
)

// remote is the store. If it fails, it is left alone for a while, so that answers are not delayed.
//
// Reads and writes fail separately: a store that may only be read still answers.
type remote struct {
	store  origin.Responses // nil if there is none
	holder string
	log    *slog.Logger
	writes outage // a store may be read-only
	reads  outage
}

// outage is the time for which something that fails is left alone: a second, doubled up to a minute. The zero
// outage is over. It uses the real clock, not Options.Now: it is about the store, not about answers.
type outage struct {
	longest time.Duration // if not 0, a shorter bound than that minute

	mu     sync.Mutex           // guards the rest
	pauses *backoff.Exponential // nil unless the last try failed
	until  time.Time
}

// over reports whether to try again. Several callers may try at once when the time is over: the store bears that.
func (o *outage) over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !time.Now().Before(o.until)
}

// end makes the next try happen at once. The next failure continues the pauses.
func (o *outage) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.until = time.Time{}
}

// report records the outcome of a try, and whether it is the first failure after a success, or the reverse. Only
// that is logged, so that an outage has one line at its begin and one at its end.
func (o *outage) report(err error) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		first = o.pauses != nil
		o.pauses, o.until = nil, time.Time{}
		return first
	}
	if first = o.pauses == nil; first {
		o.pauses = backoff.New(time.Second, cmp.Or(o.longest, time.Minute), 0)
	}
	o.until = time.Now().Add(o.pauses.NextBackOff())
	return first
}

// noteWrite records the outcome of a write. If the keeper's context has ended, an error says nothing about the
// store.
func (r *remote) noteWrite(ctx context.Context, err error) {
	if err != nil && ctx.Err() != nil {
		return // the keeper ends
	}
	switch first := r.writes.report(err); {
	case first && err != nil:
		r.log.Warn("kept answers are not written to the store for now: only this process has new ones", "error", err)
	case first:
		r.log.Info("kept answers are written to the store again")
	}
}

const firstPause, longestPause = 50 * time.Millisecond, 250 * time.Millisecond // between two tries to take a claim

// claim takes the right to fetch a key, and returns what the store has. It waits while another process fetches it.
// taken is nil if the store cannot be written or the wait is over; the caller then fetches for this process alone.
//
// It polls, because the store sends no messages. Failing or waiting in vain costs one more request to the other
// server, never the answer.
func (r *remote) claim(ctx context.Context, key string) (taken *origin.Claim, kept origin.Response, err error) {
	if r.store == nil {
		return nil, kept, nil
	}
	began, pauses := time.Now(), backoff.New(firstPause, longestPause, 0)
	for r.writes.over() && time.Since(began) < claimWait {
		taken, kept, err := r.tryClaim(ctx, key)
		if taken != nil || err != nil {
			return taken, kept, err
		}
		if err := backoff.Sleep(ctx, pauses.NextBackOff()); err != nil {
			return nil, kept, err
		}
	}
	if time.Since(began) >= claimWait {
		r.log.Info("another process takes long to fetch a kept answer: this one fetches it, too", "key", key)
	}
	return nil, kept, nil
}

// tryClaim is claim without waiting. taken is nil if another process has the claim, or the store fails. An error is
// the context's. The store's own time limit is storeTime: a client waits for it.
func (r *remote) tryClaim(ctx context.Context, key string) (taken *origin.Claim, kept origin.Response, err error) {
	limited, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	c, kept, err := r.store.Claim(limited, key, r.holder, claimTerm)
	switch {
	case err == nil:
		r.noteWrite(ctx, nil)
		return &c, kept, nil
	case errors.Is(err, origin.ErrLeaseHeld):
		r.noteWrite(ctx, nil)
	default:
		r.noteWrite(ctx, err)
	}
	if ctx.Err() != nil {
		return nil, kept, context.Cause(ctx)
	}
	return nil, origin.Response{}, nil
}

// unclaim gives a claim back. If that fails, the claim expires after claimTerm.
func (r *remote) unclaim(ctx context.Context, c *origin.Claim) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime) // at the end of the keeper, too
	defer cancel()
	r.noteWrite(limited, r.store.Unclaim(limited, *c))
}

// readable reports whether to ask the store for an answer. The caller does without the store if not.
func (r *remote) readable() bool { return r.store != nil && r.reads.over() }

// noteRead records the outcome of reading. After an outage, writes are tried again at once, since both usually fail
// for the same reason.
func (r *remote) noteRead(ctx context.Context, err error) {
	if err != nil && ctx.Err() != nil {
		return // the caller has left
	}
	switch first := r.reads.report(err); {
	case first && err != nil:
		r.log.Warn("kept answers are not read from the store for now", "error", err)
	case first:
		r.log.Info("kept answers are read from the store again")
		r.writes.end()
	}
}

// response returns the store's answer of a key, or origin.ErrNotFound. A store without the answer works, so that is
// no failure.
func (r *remote) response(ctx context.Context, key string) (origin.Response, error) {
	limited, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	found, err := r.store.Response(limited, key)
	if errors.Is(err, origin.ErrNotFound) {
		r.noteRead(ctx, nil)
		return found, err
	}
	r.noteRead(ctx, err)
	return found, err
}

// saved is what became of an answer that the store should take.
type saved int

const (
	notSaved saved = iota // the store fails
	stored
	fenced // another process has the claim, or the key was dropped
)

// save writes the answer of a claimed key, and gives the claim back; same says that the store's answer has the
// digest. It returns what the store has then. For the same answer only its times and marks are written, and not its
// body.
func (r *remote) save(
	ctx context.Context, c *origin.Claim, answer origin.Response, same bool, within time.Duration,
) (origin.Response, saved) {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var now origin.Response
	var err error
	if same {
		now, err = r.store.Confirm(limited, *c, answer.Digest, answer.Checked, answer.Marks)
	} else {
		now, err = r.store.Put(limited, *c, answer)
	}
	if errors.Is(err, origin.ErrFenced) {
		r.noteWrite(ctx, nil)
		return answer, fenced
	}
	if r.noteWrite(ctx, err); err != nil {
		return answer, notSaved
	}
	return now, stored
}

// dropBatch is how many keys one request to the store drops.
const dropBatch = 1000

// drop removes answers. Keys of batches before an error are dropped, and dropping them again does no harm.
func (r *remote) drop(ctx context.Context, keys []string) error {
	if r.store == nil {
		return nil
	}
	for some := range slices.Chunk(keys, dropBatch) {
		limited, cancel := context.WithTimeout(ctx, readTime)
		err := r.store.Drop(limited, some)
		cancel()
		if r.noteWrite(ctx, err); err != nil {
			return err
		}
	}
	return nil
}
