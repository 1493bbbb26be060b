package kept

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules/fault"
)

// flightTime bounds a flight: the claim, the turn, the request and the store.
const flightTime = time.Minute

// fly gets the answer of a flight, and lands it for the callers that wait. The file and the budget come after that,
// so that they delay no caller. A panic, as in the parser of an answer, fails the flight and not the program.
func (k *Keeper) fly(f *fetch) {
	defer k.store.flights.leave()
	defer fault.Panics()()
	var found Found
	err := fault.Guard(func() (err error) {
		ctx, cancel := context.WithTimeout(k.life, flightTime)
		defer cancel()
		found, err = k.obtain(ctx, f)
		return err
	})
	k.store.flights.land(f, found, err)
	e := found.Entry
	if err != nil || e == nil || e.slot == nil {
		return
	}
	err = fault.Guard(func() error {
		if found.Body != nil {
			k.store.copy(e, found.Body)
		}
		// Close waits for it: what is stored has to fit
		_, err := k.store.fit(context.WithoutCancel(k.life), f.rule, e)
		return err
	})
	if err != nil && k.life.Err() == nil {
		k.store.log.Warn("after the fetch of a kept answer", "key", f.key, "error", err)
	}
}

// obtain gets the answer of a flight: from the store if another process has fetched it, otherwise from the other
// server.
//
// The steps, each of which may end the flight: take the claim; look whether another process has brought the answer
// meanwhile; request it and judge it; save it; make it the entry. Without the claim, the flight does all but
// saving.
func (k *Keeper) obtain(ctx context.Context, f *fetch) (Found, error) {
	before := k.store.index.get(f.key)
	claim, kept, err := k.store.remote.claim(ctx, f.key)
	if err != nil {
		return Found{}, err
	}
	if claim != nil {
		defer func() {
			if claim != nil {
				k.store.remote.unclaim(ctx, claim)
			}
		}()
		if kept.Digest != "" {
			k.store.keep(f, kept)
		}
	}
	if e := k.freshEntry(f); e != nil {
		return Found{Entry: e, Outcome: outcomeOf(before, e, Shared)}, nil
	}
	r, v, err := k.request(ctx, f)
	if claim == nil && (err != nil || !v.keep) {
		k.store.find(ctx, f)
	}
	if err != nil {
		return Found{}, err
	}
	if !v.keep {
		return Found{Passed: v.answer, Body: v.answer.Body, Outcome: Passed, Reason: v.reason}, nil
	}
	content, outcome := k.content(ctx, r), notSaved
	if claim != nil && (content != nil || kept.Digest == r.Digest) {
		r.Body = content
		r, outcome = k.store.remote.save(ctx, claim, r, kept.Digest == r.Digest, saveTime)
		claim = nil // save has given it back, or the store fails
	}
	if outcome == notSaved && content != nil {
		k.store.bodies.put(r.Key, r.Digest, content)
		k.store.unsaved.Store(true)
	}
	var e *Entry
	if outcome == fenced { // the next request gets what replaces it
		e = newEntry(r, f.rule, nil, k.clock.now())
	} else if e = k.store.keep(f, r); e.slot == nil { // dropped
		k.store.bodies.remove(r.Key)
	}
	return Found{Entry: e, Body: content, Outcome: outcomeOf(before, e, Fetched)}, nil
}

// outcomeOf returns an outcome, or Confirmed if an entry has the digest of the one before it.
func outcomeOf(before, e *Entry, otherwise Outcome) Outcome {
	if before != nil && before.Digest == e.Digest {
		return Confirmed
	}
	return otherwise
}

// content returns the body of an answer that was fetched, or that status 304 confirmed; nil if it cannot be read
// now. After status 304 the body is that of the entry.
func (k *Keeper) content(ctx context.Context, r origin.Response) []byte {
	if r.Body != nil {
		return r.Body
	}
	e := k.store.index.get(r.Key)
	if e == nil || e.Digest != r.Digest {
		return nil
	}
	content, _ := k.store.body(ctx, e)
	return content
}

// freshEntry returns the entry that makes a request unnecessary, or nil.
func (k *Keeper) freshEntry(f *fetch) *Entry {
	e := k.store.index.get(f.key)
	if e == nil || !k.clock.freshUntil(e, f.rule, f.due) || f.force && e.Checked.Before(f.began) {
		return nil
	}
	return e
}

// request requests the answer of a flight from the other server when the rule's pace allows it. The time of an
// answer is that before its request: it is as old as that at most.
func (k *Keeper) request(ctx context.Context, f *fetch) (r origin.Response, v verdict, err error) {
	if !f.paid { // otherwise Refresh has waited for its own pace
		done, err := f.rule.state.pace.ownTurn(ctx, f)
		if err != nil {
			return r, v, err
		}
		defer done()
	}
	kept := k.usable(f.rule, f.key)
	now := k.clock.now()
	marks := k.clock.marks(now) // before the request: what changes during it may not be in the answer
	request := Request{Target: f.key, Accept: f.rule.Type, Most: f.rule.Most, Rule: f.rule.Name}
	if kept != nil {
		request.ETag, request.Modified = kept.ETag, kept.Modified
	}
	f.rule.state.misses.Add(1)
	defer k.metrics.time(f.rule)()
	answer, err := k.fetch(ctx, request)
	if err == nil {
		r, v, err = k.read(answer, f, kept)
	}
	if err == nil && answer.Judged != nil {
		answer.Judged(r.Status, v.failure(r.Status, kept))
	}
	if err != nil || !v.keep {
		k.failed(f, kept, v, err)
		return r, v, err
	}
	if f.rule.state.succeed() {
		k.store.log.Info("the other server sends answers to keep again", "rule", f.rule.Name)
	}
	r.Generation = 0 // until it is saved
	r.Checked = now.Truncate(time.Millisecond)
	r.Fetched, r.Marks = r.Checked, marks.record(f.rule)
	if kept != nil && kept.Digest == r.Digest {
		r.Fetched = kept.Fetched
	}
	return r, v, nil
}

// read judges the answer to a request, which had the validators of kept. (RFC 9110, section 15.4.5: a 304 has no
// body and confirms the validators' answer.)
func (k *Keeper) read(answer Answer, f *fetch, kept *Entry) (origin.Response, verdict, error) {
	if answer.Status != http.StatusNotModified {
		r, v := judge(answer, f.rule, f.key, kept)
		v.answer = answer
		if r.Status >= http.StatusBadRequest { // an error in an envelope: others in it may not have a body
			v.answer.Status = r.Status
		}
		return r, v, nil
	}
	if kept == nil || kept.ETag == "" && kept.Modified == "" {
		return origin.Response{}, verdict{}, errors.New("status 304, although the request had no validator")
	}
	return kept.Response, verdict{keep: true}, nil
}

// failed records that a request brought no answer that is kept. It is a failure of the other server if it sent
// nothing, or something else than a good answer that there was.
func (k *Keeper) failed(f *fetch, kept *Entry, v verdict, err error) {
	if k.life.Err() != nil {
		return // the keeper has ended the request
	}
	reason := v.reason
	if err != nil {
		reason = err.Error()
	}
	if kept != nil {
		kept.slot.fail(k.clock.now())
	}
	if kept != nil || v.broken || err != nil {
		level := slog.LevelDebug
		if f.rule.state.fail(k.clock.now(), f.key+": "+reason) {
			level = slog.LevelWarn
		}
		k.store.log.Log(k.life, level, "the other server sent no answer to keep: kept ones stay",
			"rule", f.rule.Name, "key", f.key, "reason", reason)
	}
}
