package registry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
)

// ResponseTable keeps the documents of responses, and numbers for their changes. Numbers only grow: generations and
// tokens of claims are numbers, so that a token stays unique even if the document with it is deleted.
type ResponseTable interface {
	// Read returns the document of a key. It is zero if there is none or it cannot be read.
	Read(ctx context.Context, key string, body bool) (Response, error)
	// Update changes the document of a key in one atomic step, and returns it without its body. change gets it
	// without its body, and a number greater than all in it; Update stores nothing if change returns an error. If
	// another update comes first, it calls change again. The stored body stays unless change sets Body or removes
	// Digest; Asked and Requests always stay, unless the document could not be read.
	Update(ctx context.Context, key string, change func(d *Response, number uint64) error) (Response, error)
	// Drop calls Response.Drop for the documents of keys that there are, in as few steps as possible.
	Drop(ctx context.Context, keys []string) error
	// Since yields the readable documents with a generation greater than since, without bodies and in any order.
	Since(ctx context.Context, since uint64) iter.Seq2[Response, error]
	// AddDemand calls Response.AddDemand for the kept ones among the documents of demand. It may lose a change that
	// another process makes at the same time.
	AddDemand(ctx context.Context, demand []origin.Demand) error
	// Sweep deletes documents without an answer whose generation and token are less than number.
	Sweep(ctx context.Context, number uint64) error
	// State returns what is stored beside the documents, or the zero state.
	State(ctx context.Context) (ResponseState, error)
	// UpdateState changes the state in one atomic step, but not its Generation.
	UpdateState(ctx context.Context, change func(*ResponseState) error) error
}

// Responses implements origin.Responses on a table.
//
// A claim is a part of its response's document: Put checks it in the same atomic step in which it writes the answer.
// Drop releases claims in the step in which it removes the answer. So each document changes in one order, whichever
// processes stop in between.
type Responses struct {
	table  ResponseTable
	leases *Leases
	seen   *sightings[claim]
}

// claim is what changes when a holder takes a key again.
type claim struct {
	holder string
	token  uint64
	term   time.Duration
}

// NewResponses returns responses on the table that open returns for a clock. The clocks are those of leases, under
// which marks are written.
func NewResponses(leases *Leases, open func(now func() time.Time) ResponseTable) *Responses {
	return &Responses{open(leases.now), leases, newSightings[claim](leases.elapsed)}
}

// Response implements origin.Responses. It drops an answer whose body it cannot read: Confirm would otherwise keep
// it.
func (r *Responses) Response(ctx context.Context, key string) (_ origin.Response, err error) {
	defer wrap.Error(&err, "read answer of %s", key)
	d, err := r.table.Read(ctx, key, true)
	if err == nil && d.Digest == "" {
		err = origin.ErrNotFound
	}
	if err != nil {
		return origin.Response{}, err
	}
	if d.Body != nil && len(d.Body) == d.Size {
		return d.response(), nil
	}
	_, err = r.table.Update(ctx, key, func(now *Response, number uint64) error {
		if now.Generation == d.Generation {
			now.Drop(number)
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("drop it because its body is damaged: %w", err)
	}
	return origin.Response{}, errors.Join(origin.ErrNotFound, err)
}

// Claim implements origin.Responses.
func (r *Responses) Claim(
	ctx context.Context, key, holder string, term time.Duration,
) (_ origin.Claim, _ origin.Response, err error) {
	defer wrap.Error(&err, "claim %s", key)
	switch {
	case holder == "":
		err = errors.New("holder is missing")
	case term < time.Millisecond || term > origin.MaxTerm:
		err = fmt.Errorf("term %v: want from 1ms to %v", term, origin.MaxTerm)
	default:
		err = checkResponseKey(key)
	}
	// Read it first: a process that waits calls Claim often, and need not take a number each time.
	var d Response
	if err == nil {
		d, err = r.table.Read(ctx, key, false)
	}
	if err == nil {
		err = d.free(r.seen, holder)
	}
	if err != nil {
		return origin.Claim{}, origin.Response{}, err
	}
	d, err = r.table.Update(ctx, key, func(d *Response, number uint64) error {
		err := d.free(r.seen, holder)
		d.Holder, d.Token, d.Term = text(holder), number, term
		return err
	})
	if err != nil {
		return origin.Claim{}, origin.Response{}, err
	}
	r.seen.forget(key)
	return origin.Claim{Key: key, Holder: holder, Token: d.Token, Term: term}, d.kept(), nil
}

// free returns nil if holder may claim the key, and an origin.ErrLeaseHeld otherwise.
func (d Response) free(seen *sightings[claim], holder string) error {
	held := d.Holder != "" && d.Term >= time.Millisecond && d.Term <= origin.MaxTerm
	if !held || string(d.Holder) == holder || seen.expired(d.Key, claim{string(d.Holder), d.Token, d.Term}, d.Term) {
		return nil
	}
	return fmt.Errorf("%w: %s; another process may claim it once it has not changed for %s",
		origin.ErrLeaseHeld, d.Holder, d.Term)
}

// Put implements origin.Responses. Storing the answer and giving back the claim is one step, so that no other
// process fetches the same answer again in between.
func (r *Responses) Put(ctx context.Context, c origin.Claim, put origin.Response) (_ origin.Response, err error) {
	defer wrap.Error(&err, "store answer of %s", c.Key)
	put.Key = c.Key
	if err := checkResponse(put); err != nil {
		return origin.Response{}, err
	}
	d, err := r.table.Update(ctx, c.Key, func(d *Response, number uint64) error {
		if err := d.claimed(c); err != nil {
			return err
		}
		d.put(put, number)
		d.release()
		return d.Check()
	})
	return d.keptUnless(err)
}

// Confirm implements origin.Responses.
func (r *Responses) Confirm(
	ctx context.Context, c origin.Claim, digest string, checked time.Time, marks map[string]int64,
) (_ origin.Response, err error) {
	defer wrap.Error(&err, "confirm answer of %s", c.Key)
	d, err := r.table.Update(ctx, c.Key, func(d *Response, number uint64) error {
		err := d.claimed(c)
		if err == nil && (digest == "" || string(d.Digest) != digest) {
			err = fmt.Errorf("%w: the stored answer has digest %q, not %q", origin.ErrFenced, d.Digest, digest)
		}
		d.Generation, d.Checked, d.Marks = number, latest(d.Fetched, storedTime(checked)), marksOf(marks)
		d.release()
		return err
	})
	return d.keptUnless(err)
}

// Unclaim implements origin.Responses. It deletes a document that has never been kept: no other claim gets its token.
func (r *Responses) Unclaim(ctx context.Context, c origin.Claim) (err error) {
	defer wrap.Error(&err, "give back %s", c.Key)
	_, err = r.table.Update(ctx, c.Key, func(d *Response, _ uint64) error {
		err := d.claimed(c)
		d.release()
		d.Remove = d.Generation == 0
		return err
	})
	if errors.Is(err, origin.ErrFenced) {
		return nil
	}
	return err
}

// Drop implements origin.Responses.
func (r *Responses) Drop(ctx context.Context, keys []string) (err error) {
	defer wrap.Error(&err, "drop %d kept answers", len(keys))
	return r.table.Drop(ctx, keys)
}

// Changes implements origin.Responses.
func (r *Responses) Changes(
	ctx context.Context, since uint64,
) (_ iter.Seq2[origin.Response, error], latest uint64, err error) {
	defer wrap.Error(&err, "answers changed since generation %d", since)
	s, err := r.table.State(ctx)
	if err == nil && since > s.Generation {
		err = origin.ErrStale
	}
	if err != nil {
		return nil, 0, err
	}
	changed := func(yield func(origin.Response, error) bool) {
		for d, err := range wrap.Each(r.table.Since(ctx, since), "answers changed since generation %d", since) {
			if since == 0 && d.Digest == "" && err == nil {
				continue
			}
			if !yield(d.response(), err) {
				return
			}
		}
	}
	return changed, s.Generation, nil
}

// AddDemand implements origin.Responses.
func (r *Responses) AddDemand(ctx context.Context, demand []origin.Demand) (err error) {
	defer wrap.Error(&err, "add demand for %d answers", len(demand))
	return r.table.AddDemand(ctx, demand)
}

// Sweep implements origin.Responses.
func (r *Responses) Sweep(ctx context.Context, generation uint64) (err error) {
	defer wrap.Error(&err, "remove answers dropped before generation %d", generation)
	return r.table.Sweep(ctx, generation)
}

// Marks implements origin.Responses.
func (r *Responses) Marks(ctx context.Context) (_ origin.Marks, latest uint64, err error) {
	defer wrap.Error(&err, "read marks")
	s, err := r.table.State(ctx)
	return s.marks(), s.Generation, err
}

// SetMarks implements origin.Responses. The token in the state fences off a materializer that lost its lease after
// the check.
func (r *Responses) SetMarks(ctx context.Context, lease origin.Lease, m origin.Marks) (err error) {
	defer wrap.Error(&err, "set marks")
	if err := r.leases.Check(ctx, lease); err != nil {
		return err
	}
	return r.table.UpdateState(ctx, func(s *ResponseState) error {
		err := outranked(lease, s.Token, string(s.Holder), "marks were")
		s.setMarks(m)
		s.Token, s.Holder = lease.Token, text(lease.Holder)
		return err
	})
}

// checkResponseKey returns an error unless a response may have this key. The state has another one.
func checkResponseKey(key string) error {
	if !strings.HasPrefix(key, "/") || len(key) > maxKey {
		return fmt.Errorf("key %.100q: want a slash and at most %d bytes", key, maxKey)
	}
	return nil
}

// maxKey bounds keys. An embedded store accepts 32 KB.
const maxKey = 16 << 10

// checkResponse returns an error unless an answer can be stored.
func checkResponse(r origin.Response) error {
	switch {
	case r.Digest == "":
		return errors.New("its digest is missing")
	case r.Status < minStatus || r.Status > maxStatus:
		return fmt.Errorf("status %d", r.Status)
	}
	return checkResponseKey(r.Key)
}

// latest returns the later of two times.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
