package purge

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vitrine/rules"
	"vitrine/rules/backoff"
)

// target is a cache, or another receiver of changes, and its queue. The fields above mu belong to the goroutine
// that serves the target, but for queue, which has a lock of its own.
type target struct {
	name, url, token string
	secret           []byte // that signs webhooks
	kind             kind
	queue            *queue
	sent, failed     prometheus.Counter // requests
	skips            prometheus.Counter // batches given up
	pauses           *backoff.Exponential
	pause            time.Duration // for which everything waits; 0 unless the target itself fails
	accepted         time.Time     // when the target last accepted a request

	mu      sync.Mutex // guards the rest, which only serve changes
	retries []*batch   // failed batches
	skipped int        // batches given up
	err     error      // why the last request failed; nil if it did not
}

// batch is the tags of one request. It stays as it is after a failure, so that a target which refuses one of its tags
// gets all others.
type batch struct {
	tags    []string
	refused int       // failures for which the batch is the cause, not the target
	tried   time.Time // when it last failed
	pauses  *backoff.Exponential
	pause   time.Duration // after the last failure
	due     time.Time     // of the next try; zero before the first
	err     error         // of the last try
}

// mostRefused is how often a target gets a batch which it refuses while it accepts others. A single refusal may be
// the fault of the moment, such as a restart.
const mostRefused = 5

// refusedError is a response other than success.
type refusedError struct {
	text   string
	status int
}

func (e *refusedError) Error() string { return e.text }

// ofBatch reports whether an error concerns the batch. Others mean that the target is away or does not know Vitrine.
func ofBatch(err error) bool {
	refused, ok := errors.AsType[*refusedError](err)
	if !ok {
		return false
	}
	switch refused.status {
	case http.StatusBadRequest, http.StatusNotAcceptable, http.StatusConflict, http.StatusRequestEntityTooLarge,
		http.StatusUnprocessableEntity, http.StatusRequestHeaderFieldsTooLarge, http.StatusInternalServerError:
		return true
	}
	return false
}

// retryAfter returns how long a target wants no requests, as Cloudflare does after many.
func retryAfter(err error) time.Duration {
	if retry, ok := errors.AsType[*rules.RetryError](err); ok {
		return min(retry.After, longest)
	}
	return 0
}

// newPauses returns the pauses after failures in a row.
func newPauses() *backoff.Exponential { return backoff.New(shortest, longest, 0) }

// withJitter returns up to half more, so that instances do not send at the same time.
func withJitter(pause time.Duration) time.Duration { return backoff.Jitter(pause*5/4, .2) }

// serve sends the tags that wait for a target in batches, and failed ones again, until ctx ends.
func (p *Purger) serve(ctx context.Context, t *target) {
	for ctx.Err() == nil {
		more, due := t.queue.more, t.due()
		if t.pause > 0 {
			more, due = nil, time.After(withJitter(t.pause))
		}
		select {
		case <-ctx.Done():
		case <-more:
		case <-due:
		}
		p.round(ctx, t)
	}
}

// due returns a channel that yields when the first failed batch is due; nil if there is none. The timer of an
// earlier call is dropped with its channel.
func (t *target) due() <-chan time.Time {
	var first time.Time
	for _, b := range t.retries {
		if first.IsZero() || b.due.Before(first) {
			first = b.due
		}
	}
	if first.IsZero() {
		return nil
	}
	return time.After(time.Until(first))
}

// round sends everything that waits. New tags go first, so that a batch which is always refused delays no other. It
// ends early if the target seems to be away: it may take a long time to find out, and a failing cache needs no more
// requests.
func (p *Purger) round(ctx context.Context, t *target) {
	batches := t.take()
	var failed []*batch
	accepted, inRow, wait := false, 0, time.Duration(0)
	for len(batches) > 0 && ctx.Err() == nil && inRow < 2 && wait == 0 {
		b := batches[0]
		batches = batches[1:]
		if b.err = p.send(ctx, t, b.tags); b.err == nil {
			t.sent.Inc()
			accepted, inRow, t.accepted = true, 0, time.Now()
			continue
		}
		t.failed.Inc()
		failed, wait = append(failed, b), retryAfter(b.err)
		if !ofBatch(b.err) && b.refused == 0 {
			inRow++
		}
	}
	if ctx.Err() != nil {
		return
	}
	if away := inRow > 0 && !accepted; away || wait > 0 {
		t.pause = max(t.pauses.NextBackOff(), wait)
	} else {
		t.pauses.Reset()
		t.pause = 0
	}
	now := time.Now()
	for _, b := range failed {
		// The target accepts others, and is not to blame: now, or between two tries, or when it last was not.
		if accepted || !b.tried.IsZero() && t.accepted.After(b.tried) || b.refused > 0 && ofBatch(b.err) {
			b.refused++
		}
		b.pause = b.pauses.NextBackOff()
		b.tried, b.due = now, now.Add(withJitter(b.pause))
	}
	p.keep(t, batches, failed)
}

// take returns the batches to send: those of the queue, then failed ones that are due, or all after a pause.
func (t *target) take() (batches []*batch) {
	for tags := t.queue.take(); len(tags) > 0; {
		n := t.kind.batch(tags)
		batches, tags = append(batches, &batch{tags: tags[:n], pauses: newPauses()}), tags[n:]
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var waiting []*batch
	for now := time.Now(); len(t.retries) > 0; t.retries = t.retries[1:] {
		if b := t.retries[0]; t.pause > 0 || !b.due.After(now) {
			batches = append(batches, b)
		} else {
			waiting = append(waiting, b)
		}
	}
	t.retries = waiting
	return batches
}

// keep keeps the batches that were not tried, and those that have failed, or gives them up.
func (p *Purger) keep(t *target, untried, failed []*batch) {
	var err error
	var kept, skipped []*batch
	for _, b := range failed {
		if err = b.err; b.refused < mostRefused {
			kept = append(kept, b)
			continue
		}
		skipped = append(skipped, b)
		t.skips.Inc()
	}
	t.mu.Lock()
	for _, b := range untried {
		if b.due.IsZero() {
			t.queue.add(b.tags, p.whole)
		} else {
			t.retries = append(t.retries, b)
		}
	}
	t.retries, t.err = append(t.retries, kept...), err
	t.skipped += len(skipped)
	tags := t.tagsLocked()
	full := tags > mostRetries
	if full {
		t.retries = nil
	}
	pause := t.pause
	t.mu.Unlock()
	if full {
		t.queue.add(p.whole(), p.whole)
	}
	for _, b := range skipped {
		p.giveUp(t, b)
	}
	if len(kept) > 0 {
		if pause == 0 {
			pause = kept[len(kept)-1].pause
		}
		p.log.Warn("purge failed", "target", t.name, "tags", tags+t.queue.size(), "again_in", pause, "error", err)
	}
}

// giveUp drops a batch that its target refuses. So that no answer stays for it, the target is asked to drop all
// answers, unless it has just refused that.
func (p *Purger) giveUp(t *target, b *batch) {
	effect := "the target is asked to drop all answers"
	if slices.ContainsFunc(b.tags, func(tag string) bool { return !strings.HasPrefix(tag, "view-") }) {
		t.queue.add(p.whole(), p.whole)
	} else {
		effect = "answers stay there until they expire"
	}
	p.log.Error("purge given up: the target refuses it", "target", t.name, "first_tag", b.tags[0], "tags",
		len(b.tags),
		"effect", effect, "error", b.err)
}

// tagsLocked returns the number of tags in failed batches.
func (t *target) tagsLocked() (n int) {
	for _, b := range t.retries {
		n += len(b.tags)
	}
	return n
}

// Status is the state of a target.
type Status struct {
	Target  string `json:"target"`
	Waiting int    `json:"waiting"`         // tags to be sent
	Skipped int    `json:"skipped"`         // batches given up since the start, because the target refuses them
	Error   string `json:"error,omitempty"` // why the last requests failed
}

// Status returns the state of all targets, by name. A nil Purger has none.
func (p *Purger) Status() (all []Status) {
	if p == nil {
		return nil
	}
	for _, t := range p.targets {
		all = append(all, t.status())
	}
	return all
}

// status returns the state of one target.
func (t *target) status() Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Status{Target: t.name, Waiting: t.queue.size() + t.tagsLocked(), Skipped: t.skipped}
	if t.err != nil {
		s.Error = t.err.Error()
	}
	return s
}

// measure registers what is measured of a target.
func (t *target) measure(add promauto.Factory, requests, skips *prometheus.CounterVec) {
	t.sent, t.failed = requests.WithLabelValues(t.name, "sent"), requests.WithLabelValues(t.name, "failed")
	t.skips = skips.WithLabelValues(t.name)
	add.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vitrine_purge_waiting_tags", Help: "Number of tags that wait to be sent to a target.",
		ConstLabels: prometheus.Labels{"target": t.name},
	}, func() float64 { return float64(t.status().Waiting) })
}
