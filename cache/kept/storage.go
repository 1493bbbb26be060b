package kept

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/cache/origin"
)

// storage is where answers are: what is known of them in the index, and their bodies in the store, in files, or only
// in memory; and the flights that bring more.
//
// An answer arrives by keep (a flight of this process) or adopt (another process), and goes by drop (everywhere) or
// forget (here only). The index is the truth of this process; bodies and copies follow it.
type storage struct {
	rules        atomic.Pointer[ruleSet]
	index        *index
	flights      *flights
	bodies       *bodies
	copies       copies
	copying      sync.Mutex // held while a file is written or removed, so that it has the entry of its key
	remote       *remote
	pendingDrops keySet
	unsaved      atomic.Bool // there may be answers that the store has not taken

	// Options.Now, Options.Changed and Options.Log.
	now     func() time.Time
	changed func(keys []string)
	log     *slog.Logger
}

// newStorage returns storage without entries or rules.
func newStorage(o *Options) *storage {
	// A holder may take its own claims again, so no other keeper may have its name, unless it has ended.
	holder := o.Holder
	if !o.Alone {
		holder = strings.TrimSpace(o.Holder + " " + rand.Text()[:8])
	}
	s := &storage{
		index: newIndex(), flights: newFlights(), bodies: newBodies(), copies: copies{o.Folder},
		remote: &remote{store: o.Store, holder: holder, log: o.Log, reads: outage{longest: 5 * time.Second}},
		now:    o.Now, changed: o.Changed, log: o.Log,
	}
	s.rules.Store(&ruleSet{})
	return s
}

// open reads the copies. They are read before the keeper has rules, so entries get theirs with the first Adopt. A
// copy that the store has never taken has generation 0, and is offered to it again.
func (s *storage) open() error {
	return s.copies.open(func(r origin.Response) {
		e, _ := s.index.put(r, s.rules.Load, s.now(), func(before *Entry) bool { return before == nil })
		e.slot.copy(&r)
		if r.Generation == 0 {
			s.unsaved.Store(true)
		}
	})
}

// keep makes an answer the entry of its key, unless the key was dropped since the flight began or there is a newer
// one. It returns the key's entry, or one that is not kept.
//
// The entry that is not kept has no slot. It is for those who wait for the flight.
func (s *storage) keep(f *fetch, r origin.Response) (e *Entry) {
	var before *Entry
	now := s.now()
	newest := func(r *origin.Response, before *Entry) bool {
		// also if the clock was ahead when the one before arrived
		return supersedes(r, before) || r.Generation == 0 && before.Checked.After(now)
	}
	if !s.flights.unlessVoid(f, func() { e, before = s.put(r, newest) }) {
		return newEntry(r, f.rule, nil, s.now())
	}
	s.report(before, e)
	return e
}

// find gets what the store has of a flight's key, if nothing is known of it here: other processes may have kept it
// before this one has read their changes. Thus a process that has just started can send an answer although the
// other server fails.
func (s *storage) find(ctx context.Context, f *fetch) {
	if s.index.get(f.key) != nil || !s.remote.readable() {
		return
	}
	if r, err := s.remote.response(ctx, f.key); err == nil {
		r.Body = nil
		s.keep(f, r)
	}
}

// adopt makes an answer the entry of its key if it supersedes the one before. It returns the key's entry. Unlike
// keep, it belongs to no flight.
func (s *storage) adopt(r origin.Response, supersedes func(r *origin.Response, before *Entry) bool) *Entry {
	e, before := s.put(r, supersedes)
	s.report(before, e)
	return e
}

// put is adopt without the report to caches in front. What the store has taken needs no place in bodies.
func (s *storage) put(r origin.Response, supersedes func(r *origin.Response, before *Entry) bool) (e, before *Entry) {
	e, before = s.index.put(r, s.rules.Load, s.now(), func(before *Entry) bool { return supersedes(&r, before) })
	if e.Generation > 0 {
		s.bodies.remove(e.Key)
	}
	return e, before
}

// report calls Options.Changed, for caches in front, if an entry has replaced another answer. An answer that was
// merely confirmed is the same to them.
func (s *storage) report(before, e *Entry) {
	if before != nil && before.Digest != e.Digest {
		s.changed([]string{e.Key})
	}
}

// supersedes reports whether an answer is newer than an entry. Generations decide where both are in the store. If
// one of them is not, the later check does.
func supersedes(r *origin.Response, before *Entry) bool {
	if before == nil {
		return true
	}
	if r.Generation > 0 && before.Generation > 0 {
		return r.Generation > before.Generation
	}
	return !before.Checked.After(r.Checked)
}

// unreadable is how long a body counts as unreadable after the store failed to return it. Until then the entry is
// neither fresh nor usable, and requests fetch the answer instead of failing at its body.
const unreadable = 5 * time.Second

// body is Keeper.Body. It looks where it is quickest first: in memory, in the file, in the store.
func (s *storage) body(ctx context.Context, e *Entry) ([]byte, error) {
	if e.Size == 0 {
		return []byte{}, nil
	}
	if content, ok := s.bodies.get(e.Key, e.Digest); ok {
		return content, nil
	}
	if content, ok := s.copies.read(e.Key, e.Digest); ok {
		return content, nil
	}
	content, err := s.fromStore(ctx, e)
	switch {
	case err == nil:
		return content, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("body of the kept answer of %s: %w", e.Key, context.Cause(ctx))
	// The store has the key no more: the entry goes, unless another one has replaced it.
	case errors.Is(err, origin.ErrNotFound):
		s.index.remove(e.Key, func(current *Entry) bool { return current == e })
		return nil, fmt.Errorf("body of the kept answer of %s: %w", e.Key, err)
	}
	e.lost.Store(s.now().Add(unreadable).UnixMilli())
	return nil, fmt.Errorf("body of the kept answer of %s: %w: %w", e.Key, origin.ErrNotFound, err)
}

// errUnread reports that the store is left alone after failures.
var errUnread = errors.New("the store of kept answers fails")

// fromStore returns the body of an entry from the store. If that has another answer, it becomes the entry.
//
// Errors are origin.ErrNotFound, errUnread, the store's and the context's.
func (s *storage) fromStore(ctx context.Context, e *Entry) ([]byte, error) {
	if s.remote.store == nil {
		return nil, origin.ErrNotFound
	}
	if !s.remote.readable() {
		return nil, errUnread
	}
	r, err := s.remote.response(ctx, e.Key)
	if err != nil {
		return nil, err
	}
	if r.Digest != e.Digest {
		s.adopt(r, supersedes)
		return nil, origin.ErrNotFound
	}
	return r.Body, nil
}

// copy writes the file of an entry, if it is still the key's. A failure, such as a full disk, is only logged: the
// next round of copyAll tries again.
func (s *storage) copy(e *Entry, content []byte) {
	if s.copies.folder == "" || !e.slot.uncopied(e) {
		return
	}
	s.copying.Lock()
	defer s.copying.Unlock()
	if e.slot.entry.Load() != e {
		return
	}
	r := e.Response
	r.Asked, r.Requests = time.UnixMilli(e.lastUse()), e.requests()
	if err := s.copies.write(&r, content); err != nil {
		s.log.Debug("kept answer not copied", "key", e.Key, "error", err)
		return
	}
	e.slot.copy(&e.Response)
}

// forget removes the entry of a key here, if accept agrees, and its body and file. It removes the file only if the
// key has no entry again: a flight may have kept another answer since.
func (s *storage) forget(key string, accept func(e *Entry) bool) bool {
	if s.index.remove(key, accept) == nil {
		return false
	}
	s.bodies.remove(key)
	if s.copies.folder != "" {
		s.copying.Lock()
		defer s.copying.Unlock()
		if s.index.get(key) == nil {
			s.copies.remove(key)
		}
	}
	return true
}
