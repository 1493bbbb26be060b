package fair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"vitrine/rules"
)

const (
	// maxWaiting is the most works that wait in a Line.
	maxWaiting = 1 << 12
	// checkPeriod is how often waiting work checks again whether it can meet its deadline.
	checkPeriod = 100 * time.Millisecond
	// safety is by how much slower than estimated the service may become before admitted work misses its deadline.
	safety = 2
	// smoothing is the weight of the mean time of earlier works, against 1 for the last one.
	smoothing = 7
)

// ErrLate is wrapped by the error of work that a Line refuses because it would miss its deadline. The same work may
// have its turn in time for another caller, who has more time left.
var ErrLate = fmt.Errorf("%w: too little time is left", rules.ErrUnavailable)

// Line is an admission queue before a service that handles few works at a time, such as a database. It admits work in
// the order of arrival. Work keeps its slot from its first query to its end, so that later queries do not wait again,
// and releases it while it is paused. The line refuses work as soon as it estimates that the work would miss its
// deadline. It checks this when the work arrives, and again while the work waits.
type Line struct {
	slots int
	// queue has a turn for each slot. Its turns name no client: a client with precedence could overtake works that
	// were admitted to the line because their turn seemed to come in time.
	queue *Queue

	mu         sync.Mutex
	admittedAt map[*slot]time.Time // when each work got its slot; guarded by mu
	meanTime   time.Duration       // moving average of how long a work keeps its slot; guarded by mu
	refused    uint64              // works refused because they would miss their deadlines; guarded by mu
}

// LineStats is the state of a Line.
type LineStats struct {
	Used     int           // slots in use
	Waiting  int           // works that wait for a slot
	Refused  uint64        // works refused so far
	SlotTime time.Duration // estimate of how long a work keeps its slot
}

// Stats returns the state of the line.
func (l *Line) Stats() LineStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	took, _ := l.estimateLocked()
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	waiting := len(l.queue.ordinary.waiting)
	return LineStats{Used: l.slots - l.queue.ordinary.free, Waiting: waiting, Refused: l.refused, SlotTime: took}
}

// NewLine returns a line with a number of slots.
func NewLine(slots int) *Line {
	return &Line{slots: slots, queue: New(slots, maxWaiting), admittedAt: map[*slot]time.Time{}}
}

// slot is the slot of a work in a line, or its wait for one.
type slot struct {
	line     *Line
	turn     *Turn         // identifies the work in line.queue
	entering chan struct{} // holds an item while a goroutine of the work waits for the slot
	admitted bool          // the work has its slot; guarded by the mu of the work's turn
}

func (l *Line) newSlot() *slot {
	return &slot{line: l, turn: &Turn{}, entering: make(chan struct{}, 1)}
}

// Enter waits for a slot for the work in ctx, unless the work has one. The work keeps the slot until Turn.Pause or
// Turn.End; work without a turn keeps it until it calls leave. The error is a rules.RetryError with
// rules.ErrUnavailable if the work would miss its deadline, or the context's cause.
func (l *Line) Enter(ctx context.Context) (leave func(), err error) {
	if t := TurnOf(ctx); t != nil {
		return func() {}, t.enter(ctx, l)
	}
	s := l.newSlot()
	if err := s.wait(ctx); err != nil {
		return func() {}, err
	}
	return s.leave, nil
}

// enter waits for the work's slot without its turn. If several goroutines of the work call it, one waits for the slot
// and the others wait for that one.
func (t *Turn) enter(ctx context.Context, l *Line) error {
	s, has := t.slotIn(l)
	if has {
		return nil
	}
	select {
	case s.entering <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.entering }()
	if _, has := t.slotIn(l); has {
		return nil
	}
	if err := t.RunPaused(ctx, func() error { return s.wait(ctx) }); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.admitted = true
	s.turn.shared.Store(1) // if the work releases the slot for a while, it goes first afterwards
	if t.ended {
		t.leaveLocked()
	}
	return nil
}

// slotIn returns the work's slot in a line, and whether the work was admitted. A work uses only one line.
func (t *Turn) slotIn(l *Line) (*slot, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.slot == nil {
		t.slot = l.newSlot()
	}
	return t.slot, t.slot.admitted
}

// leaveLocked releases the work's slot.
func (t *Turn) leaveLocked() {
	if t.slot != nil && t.slot.admitted {
		t.slot.admitted = false
		t.slot.leave()
	}
}

// RunPaused pauses the turn while it calls wait, which waits for something other than a processor. The work keeps its
// slot in a Line. The error is wait's, or the context's cause.
func (t *Turn) RunPaused(ctx context.Context, wait func() error) error {
	if !t.Held() { // there is no turn, or another goroutine of the work has paused it
		return wait()
	}
	t.mu.Lock()
	t.pauseLocked()
	t.mu.Unlock()
	if err := wait(); err != nil {
		return err
	}
	return t.Resume(ctx)
}

// wait waits for the slot.
func (s *slot) wait(ctx context.Context) error {
	l := s.line
	err := s.acquire(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.admittedAt[s] = time.Now()
	} else if errors.Is(err, rules.ErrUnavailable) {
		l.refused++
	}
	return err
}

// acquire waits for the slot, unless the work would miss its deadline.
func (s *slot) acquire(ctx context.Context) error {
	l := s.line
	waiting, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	if deadline, limited := ctx.Deadline(); limited {
		if err := l.checkDeadline(s, deadline); err != nil {
			return err
		}
		var again *time.Timer
		armed := make(chan struct{})
		again = time.AfterFunc(checkPeriod, func() {
			<-armed
			if err := l.checkDeadline(s, deadline); err != nil {
				refuse(err)
			} else if waiting.Err() == nil {
				again.Reset(checkPeriod)
			}
		})
		close(armed)
		defer again.Stop()
	}
	return l.queue.acquire(waiting, &l.queue.ordinary, s.turn, s.turn.shared.Load() > 0)
}

// leave releases the slot to the next work.
func (s *slot) leave() {
	l := s.line
	l.mu.Lock() // until the next work has the slot, so that checkDeadline sees both changes or none
	defer l.mu.Unlock()
	took := time.Since(l.admittedAt[s])
	delete(l.admittedAt, s)
	if l.meanTime == 0 {
		l.meanTime = took
	}
	l.meanTime = (smoothing*l.meanTime + took) / (smoothing + 1)
	l.queue.release(&l.queue.ordinary, s.turn.client, took)
}

// checkDeadline returns an error if a work that waits, or is about to wait, may miss its deadline. It estimates that
// the works ahead, and this work, take as long as others have taken lately, times safety. An idle line admits any
// work: otherwise it would not learn that the service is faster again. So if the estimate exceeds the time of each
// work, the line admits one at a time: several would slow each other down until none ends in time.
func (l *Line) checkDeadline(s *slot, deadline time.Time) error {
	l.mu.Lock()
	ahead, idle := l.queue.ahead(s.turn), len(l.admittedAt) == 0
	took, done := l.estimateLocked()
	l.mu.Unlock()
	wait, retry := time.Duration(0), took
	switch slots := time.Duration(l.slots); {
	case ahead > 0:
		// The slots share the works ahead. When these have ended, all slots but one may still have a work to finish.
		wait = max(took*time.Duration(ahead)-done+took*(slots-1), 0) / slots
		retry = wait
	case idle:
		return nil
	}
	if left := time.Until(deadline); (wait+took)*safety > left {
		err := fmt.Errorf("%w: the store takes about %v for a request, %d are ahead of this one, and %v are left",
			ErrLate, took.Round(time.Millisecond), ahead, left.Round(time.Millisecond))
		return &rules.RetryError{After: retry, Err: err}
	}
	return nil
}

// estimateLocked returns how long a work is expected to keep its slot, and the total time for which the present works
// have kept theirs. It expects that works take as long as the recent mean, or as long as each present work has taken
// already, if that is longer. A slot whose work has not taken it yet counts as taken now.
func (l *Line) estimateLocked() (took, done time.Duration) {
	took = l.meanTime
	if len(l.admittedAt) == l.slots {
		var latest time.Time
		for _, since := range l.admittedAt {
			if since.After(latest) {
				latest = since
			}
		}
		took = max(took, time.Since(latest))
	}
	for _, since := range l.admittedAt {
		done += min(time.Since(since), took)
	}
	return took, done
}

// ahead returns how many works must end before a work gets a turn. It is 0 if a turn is free.
func (q *Queue) ahead(t *Turn) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	d := &q.ordinary
	if d.free > 0 {
		return 0
	}
	if i := slices.IndexFunc(d.waiting, func(w *waiter) bool { return w.turn == t }); i >= 0 {
		return i + 1
	}
	return len(d.waiting) + 1
}
