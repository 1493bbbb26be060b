package materialize_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/filter"
)

// fakeStore keeps its content in maps. Its hooks let tests look into a run, pause it, or make the
// store fail; the store calls them without the lock.
type fakeStore struct {
	mu      sync.Mutex // guards the fields up to the hooks
	sources map[string][]bson.Raw
	views   map[string]*fakeView
	lease   origin.Lease
	term    time.Duration // the lease's term
	newest  uint64        // the greatest token in the metas, which refuse older ones
	seen    origin.Lease  // the lease that the last refused holder saw
	seenAt  time.Time
	scanned map[string]int    // calls of Scan by collection
	version map[string]string // the versions that Version returns, by collection
	exact   bool              // what Version reports
	begun   int
	hashed  int // calls of Hashes
	aborted int

	onScan   func(ctx context.Context, collection string) error // called before each document
	onPut    func(rows []origin.Row)
	onCommit func() error
	silent   atomic.Bool // if true, asking for or renewing a lease fails
}

// errSilent is the error of a store that does not answer.
var errSilent = errors.New("connection refused")

type fakeView struct {
	meta origin.Meta
	rows map[string]origin.Row // tombstones stay
}

func newFakeStore() *fakeStore {
	return &fakeStore{
		sources: map[string][]bson.Raw{}, views: map[string]*fakeView{}, scanned: map[string]int{},
		version: map[string]string{},
	}
}

// replace sets a collection's documents.
func (s *fakeStore) replace(collection string, docs ...any) {
	raws := make([]bson.Raw, len(docs))
	for i, d := range docs {
		raws[i] = doc(d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sources[collection] = raws
}

func doc(d any) bson.Raw {
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err) // a mistake in a test
	}
	return raw
}

func key(id bson.RawValue) string { return string(append([]byte{byte(id.Type)}, id.Value...)) }

func (s *fakeStore) Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		s.mu.Lock()
		docs := slices.Clone(s.sources[collection])
		s.scanned[collection]++
		s.mu.Unlock()
		for _, d := range docs {
			if s.onScan != nil {
				if err := s.onScan(ctx, collection); err != nil {
					yield(nil, err)
					return
				}
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (s *fakeStore) Sift(ctx context.Context, collection string,
	want func(bson.Raw) bool) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for d, err := range s.Scan(ctx, collection) {
			if err != nil {
				yield(nil, err)
				return
			}
			shown := bytes.Clone(d)
			wanted := want(shown)
			clear(shown) // a caller that keeps the document loses its content
			if wanted && !yield(d, nil) {
				return
			}
		}
	}
}

// Find does not count as a Scan.
func (s *fakeStore) Find(_ context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		if q.Filter == nil {
			q.Filter = doc(bson.D{})
		}
		f, err := filter.FromBSON(q.Filter, filter.Options{})
		if err != nil {
			yield(nil, err)
			return
		}
		s.mu.Lock()
		docs := slices.Clone(s.sources[collection])
		s.mu.Unlock()
		for _, d := range docs {
			if ok, err := f.Match(d); (ok || err != nil) && !yield(d, err) {
				return
			}
		}
	}
}

func (s *fakeStore) Version(_ context.Context, collection, field string) (origin.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version[collection] == "unknown" {
		return origin.Version{}, errSilent
	}
	return origin.Version{Text: s.version[collection] + field, Exact: s.exact}, nil
}

// viewLocked returns a view, and makes it if there is none.
func (s *fakeStore) viewLocked(name string) *fakeView {
	v := s.views[name]
	if v == nil {
		v = &fakeView{meta: origin.Meta{View: name}, rows: map[string]origin.Row{}}
		s.views[name] = v
	}
	return v
}

func (s *fakeStore) Meta(_ context.Context, view string) (origin.Meta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.viewLocked(view).meta, nil
}

func (s *fakeStore) Metas(context.Context) ([]origin.Meta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var metas []origin.Meta
	for _, name := range slices.Sorted(maps.Keys(s.views)) {
		metas = append(metas, s.views[name].meta)
	}
	return metas, nil
}

func (s *fakeStore) Rows(_ context.Context, view string, since uint64,
	fn func(origin.Row) error) (origin.Meta, error) {
	s.mu.Lock()
	v := s.viewLocked(view)
	meta, rows := v.meta, slices.Collect(maps.Values(v.rows))
	s.mu.Unlock()
	for _, r := range rows {
		if r.Generation > since && (since > 0 || r.Doc != nil) {
			if err := fn(r); err != nil {
				return meta, err
			}
		}
	}
	return meta, nil
}

func (s *fakeStore) Hashes(ctx context.Context, view string, fn func(bson.RawValue, uint64) error) error {
	s.mu.Lock()
	s.hashed++
	s.mu.Unlock()
	_, err := s.Rows(ctx, view, 0, func(r origin.Row) error { return fn(r.ID, r.Hash) })
	return err
}

func (s *fakeStore) Fingerprint(context.Context, string) (string, error) {
	return "", origin.ErrUnsupported
}

func (s *fakeStore) RowCount(ctx context.Context, view string) (n int, err error) {
	_, err = s.Rows(ctx, view, 0, func(origin.Row) error { n++; return nil })
	return n, err
}

// lostLocked refuses any lease but the newest.
func (s *fakeStore) lostLocked(l origin.Lease) error {
	if l.Token != s.lease.Token {
		return origin.ErrFenced
	}
	return nil
}

// fencedLocked refuses writes under any lease but the newest, and under one that is older than the metas.
func (s *fakeStore) fencedLocked(l origin.Lease) error {
	if l.Token < s.newest {
		return origin.ErrFenced
	}
	return s.lostLocked(l)
}

// outdate makes the metas refuse the tokens so far, as after a restore of metas that are newer than the lease.
func (s *fakeStore) outdate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newest = max(s.newest, s.lease.Token) + 10
}

func (s *fakeStore) Begin(_ context.Context, view string, l origin.Lease) (origin.Publication, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fencedLocked(l); err != nil {
		return nil, err
	}
	s.begun++
	return &fakePublication{store: s, view: view, lease: l, generation: s.viewLocked(view).meta.Generation + 1}, nil
}

func (s *fakeStore) SetHealth(_ context.Context, view string, l origin.Lease, h origin.Health) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fencedLocked(l); err != nil {
		return err
	}
	v := s.viewLocked(view)
	v.meta.Health = h
	if h.Status == "ok" {
		if v.meta.Checked = time.Now(); h.Forced {
			v.meta.Forced = v.meta.Checked
		}
	}
	return nil
}

func (s *fakeStore) Acquire(_ context.Context, name, holder string, ttl time.Duration) (origin.Lease, error) {
	if s.silent.Load() {
		return origin.Lease{}, errSilent
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.lease.Holder != holder || s.lease.Token < s.newest {
		if s.lease != s.seen {
			s.seen, s.seenAt = s.lease, now
		}
		if s.lease.Holder != "" && s.lease.Holder != holder && now.Sub(s.seenAt) < s.term {
			return origin.Lease{}, origin.ErrLeaseHeld
		}
		s.lease = origin.Lease{Name: name, Holder: holder, Token: max(s.lease.Token, s.newest) + 1}
	}
	s.lease.Expires, s.term = now.Add(ttl), ttl
	return s.lease, nil
}

func (s *fakeStore) Renew(_ context.Context, l origin.Lease, ttl time.Duration) (origin.Lease, error) {
	if s.silent.Load() {
		return l, errSilent
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.lostLocked(l); err != nil {
		return l, err
	}
	s.lease.Expires, s.term = time.Now().Add(ttl), ttl
	return s.lease, nil
}

func (s *fakeStore) Release(_ context.Context, l origin.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lostLocked(l) == nil {
		s.lease.Holder = ""
	}
	return nil
}

func (s *fakeStore) Holder(context.Context, string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease.Holder, nil
}

// steal gives the lease to another instance, whether it is held or not.
func (s *fakeStore) steal(ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease = origin.Lease{Name: s.lease.Name, Holder: "thief", Token: s.lease.Token + 1,
		Expires: time.Now().Add(ttl)}
	s.term = ttl
}

// released reports whether no instance holds the lease.
func (s *fakeStore) released() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease.Holder == ""
}

type fakePublication struct {
	store      *fakeStore
	view       string
	lease      origin.Lease
	generation uint64
	rows       []origin.Row
}

func (p *fakePublication) Put(_ context.Context, rows []origin.Row) error {
	if p.store.onPut != nil {
		p.store.onPut(rows)
	}
	p.rows = append(p.rows, rows...)
	return nil
}

func (p *fakePublication) Commit(_ context.Context, rows int, rules string) (origin.Meta, error) {
	if p.store.onCommit != nil {
		if err := p.store.onCommit(); err != nil {
			return origin.Meta{}, err
		}
	}
	p.store.mu.Lock()
	defer p.store.mu.Unlock()
	if err := p.store.fencedLocked(p.lease); err != nil {
		return origin.Meta{}, err
	}
	v := p.store.viewLocked(p.view)
	for _, r := range p.rows {
		r.Generation = p.generation
		v.rows[key(r.ID)] = r
	}
	if v.meta.Generation == 0 {
		v.meta.Epoch = rand.Text()
	}
	v.meta.Generation, v.meta.Rows, v.meta.Rules, v.meta.Published = p.generation, rows, rules, time.Now()
	return v.meta, nil
}

func (p *fakePublication) Abort(context.Context) error {
	p.store.mu.Lock()
	defer p.store.mu.Unlock()
	p.store.aborted++
	return nil
}
