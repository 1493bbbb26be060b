package kept_test

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"vitrine/cache/origin"
)

// memory is a store of answers in memory, much faster than a file, without terms of claims.
type memory struct {
	mu     sync.Mutex
	docs   map[string]memoryDoc
	number uint64
	marks  origin.Marks
	down   bool
}

type memoryDoc struct {
	r     origin.Response
	claim origin.Claim
}

func newMemory() *memory { return &memory{docs: map[string]memoryDoc{}, number: 1000} }

// do calls change with the document of a key and the next number, and stores what it returns.
func (m *memory) do(key string, change func(d *memoryDoc, number uint64) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return errDown
	}
	d := m.docs[key]
	m.number++
	if err := change(&d, m.number); err != nil {
		return err
	}
	m.docs[key] = d
	return nil
}

func without(r origin.Response) origin.Response {
	r.Body = nil
	return r
}

func (m *memory) Response(_ context.Context, key string) (r origin.Response, err error) {
	err = m.do(key, func(d *memoryDoc, _ uint64) error {
		if r = d.r; r.Digest == "" {
			return origin.ErrNotFound
		}
		return nil
	})
	return r, err
}

func (m *memory) Claim(
	_ context.Context, key, holder string, term time.Duration,
) (c origin.Claim, r origin.Response, err error) {
	err = m.do(key, func(d *memoryDoc, number uint64) error {
		if d.claim.Holder != "" && d.claim.Holder != holder {
			return origin.ErrLeaseHeld
		}
		d.claim = origin.Claim{Key: key, Holder: holder, Token: number, Term: term}
		if c, r = d.claim, without(d.r); r.Digest == "" {
			r = origin.Response{}
		}
		return nil
	})
	return c, r, err
}

func (m *memory) Put(_ context.Context, c origin.Claim, put origin.Response) (r origin.Response, err error) {
	err = m.do(c.Key, func(d *memoryDoc, number uint64) error {
		if d.claim != c {
			return origin.ErrFenced
		}
		put.Generation, put.Asked, put.Requests = number, d.r.Asked, d.r.Requests
		*d = memoryDoc{r: put}
		r = without(put)
		return nil
	})
	return r, err
}

func (m *memory) Confirm(
	_ context.Context, c origin.Claim, digest string, checked time.Time, marks map[string]int64,
) (r origin.Response, err error) {
	err = m.do(c.Key, func(d *memoryDoc, number uint64) error {
		if d.claim != c || d.r.Digest != digest {
			return origin.ErrFenced
		}
		d.r.Generation, d.r.Checked, d.r.Marks, d.claim = number, checked, marks, origin.Claim{}
		r = without(d.r)
		return nil
	})
	return r, err
}

func (m *memory) Unclaim(_ context.Context, c origin.Claim) error {
	return m.do(c.Key, func(d *memoryDoc, _ uint64) error {
		if d.claim == c {
			d.claim = origin.Claim{}
		}
		return nil
	})
}

func (m *memory) Drop(_ context.Context, keys []string) error {
	for _, key := range keys {
		err := m.do(key, func(d *memoryDoc, number uint64) error {
			*d = memoryDoc{r: origin.Response{Key: key, Generation: number}}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Changes(_ context.Context, since uint64) (iter.Seq2[origin.Response, error], uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return nil, 0, errDown
	}
	if since > m.number {
		return nil, 0, origin.ErrStale
	}
	docs := slices.Collect(maps.Values(m.docs))
	return func(yield func(origin.Response, error) bool) {
		for _, d := range docs {
			changed := d.r.Generation > since && (since > 0 || d.r.Digest != "")
			if changed && !yield(without(d.r), nil) {
				return
			}
		}
	}, m.number, nil
}

func (m *memory) AddDemand(_ context.Context, demand []origin.Demand) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range demand {
		if d := m.docs[a.Key]; d.r.Digest != "" {
			d.r.Asked, d.r.Requests = a.Last, d.r.Requests+a.Requests
			m.docs[a.Key] = d
		}
	}
	return nil
}

func (m *memory) Sweep(_ context.Context, generation uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.docs, func(_ string, d memoryDoc) bool {
		return d.r.Digest == "" && d.r.Generation < generation && d.claim.Token < generation
	})
	return nil
}

func (m *memory) Marks(context.Context) (origin.Marks, uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down {
		return nil, 0, errDown
	}
	return m.marks, m.number, nil
}

func (m *memory) SetMarks(_ context.Context, _ origin.Lease, marks origin.Marks) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks = marks
	return nil
}

// requests returns how many requests for a key the store knows of.
func (m *memory) requests(key string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.docs[key].r.Requests
}
