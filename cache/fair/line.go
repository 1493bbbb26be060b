package fair

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"vitrine/rules"
)

const (
	// maxWaiting bounds how many works wait in a Line.
	maxWaiting = 1 << 12
	// checkPeriod is how often waiting work estimates anew whether its turn comes in time.
	checkPeriod = 100 * time.Millisecond
	// smoothing is the weight of all earlier works against the last one in how long a work usually has its place.
	smoothing = 7
)

// Line lets work ask something that serves few at a time, such as a database, in the order of arrival. Work has its
// place from its first question to its end, so that later questions need not wait again, and gives it back while it is
// paused. Work that cannot be answered before its deadline, as long as others take now, is refused as soon as that is
// known: at once, if it is known when the work arrives.
type Line struct {
	slots int
	// queue has a turn for each place. Its turns have no client, who would have precedence: whoever came later could
	// go first, and the work before it would have been let in vain.
	queue *Queue

	mu         sync.Mutex
	admittedAt map[*slot]time.Time // when each work got its place; guarded by mu
	meanTime   time.Duration       // how long a work has its place; guarded by mu
}

// NewLine returns a line with some places.
func NewLine(slots int) *Line {
	return &Line{slots: slots, queue: New(slots, maxWaiting), admittedAt: map[*slot]time.Time{}}
}

// slot is the place of a work in a line, or its wait for one.
type slot struct {
	line     *Line
	turn     *Turn         // by which line.queue knows the work
	entering chan struct{} // holds an item while a goroutine of the work waits for the place
	admitted bool          // the work has its place; guarded by the mu of the work's turn
}

func (l *Line) newSlot() *slot {
	return &slot{line: l, turn: &Turn{}, entering: make(chan struct{}, 1)}
}

// Enter waits for a place for the work in ctx, unless it has one. Until Turn.Pause or Turn.End the place is the work's;
// a request without a turn has it until leave is called. The program's own work, without either, is not delayed. The
// error is a rules.RetryError with rules.ErrUnavailable if the work would not be done in time, or the context's cause.
func (l *Line) Enter(ctx context.Context) (leave func(), err error) {
	if t := TurnOf(ctx); t != nil {
		return func() {}, t.enter(ctx, l)
	}
	if ctx.Value(accountKey{}) == nil {
		return func() {}, nil
	}
	s := l.newSlot()
	if err := s.wait(ctx); err != nil {
		return func() {}, err
	}
	return s.leave, nil
}

// enter waits for the work's place without its turn. Of several goroutines one waits, and the others for that one.
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
	s.turn.shared.Store(1) // if it gives the place back for a while, it goes first
	if t.ended {
		t.leaveLocked()
	}
	return nil
}

// slotIn returns the work's slot in a line, and whether it has its place. A work asks in one line.
func (t *Turn) slotIn(l *Line) (*slot, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.slot == nil {
		t.slot = l.newSlot()
	}
	return t.slot, t.slot.admitted
}

// leaveLocked gives the work's place back.
func (t *Turn) leaveLocked() {
	if t.slot != nil && t.slot.admitted {
		t.slot.admitted = false
		t.slot.leave()
	}
}

// RunPaused calls wait, which waits for something other than a processor, without the turn. The work keeps its place in a
// Line. The error is wait's, or the context's cause.
func (t *Turn) RunPaused(ctx context.Context, wait func() error) error {
	if !t.Held() { // there is none, or another goroutine of the work is away, too
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

// wait waits for the place.
func (s *slot) wait(ctx context.Context) error {
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
	if err := l.queue.acquire(waiting, &l.queue.ordinary, s.turn, s.turn.shared.Load() > 0); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admittedAt[s] = time.Now()
	return nil
}

// leave gives the place to the next work.
func (s *slot) leave() {
	l := s.line
	l.mu.Lock() // until the place is the next work's, so that late sees both changes or none
	defer l.mu.Unlock()
	took := time.Since(l.admittedAt[s])
	delete(l.admittedAt, s)
	if l.meanTime == 0 {
		l.meanTime = took
	}
	l.meanTime = (smoothing*l.meanTime + took) / (smoothing + 1)
	l.queue.release(&l.queue.ordinary, s.turn.client, took)
}

// checkDeadline returns an error if a work that waits, or is about to, would not be done before its deadline: those before it
// and itself, places at a time, take as long as others have taken lately.
func (l *Line) checkDeadline(s *slot, deadline time.Time) error {
	l.mu.Lock()
	before := l.queue.ahead(s.turn)
	took, done := l.estimateLocked()
	l.mu.Unlock()
	if before == 0 {
		return nil
	}
	// The works before, shared among the places, and what all places but one may still have to do when these are through.
	places := time.Duration(l.slots)
	wait := max(took*time.Duration(before)-done+took*(places-1), 0) / places
	if left := time.Until(deadline); wait+took > left {
		err := fmt.Errorf("%w: %d requests ask the store first, each for about %v, and %v are left",
			rules.ErrUnavailable, before, took.Round(time.Millisecond), left.Round(time.Millisecond))
		return &rules.RetryError{After: wait, Err: err}
	}
	return nil
}

// estimateLocked returns how long a work has its place now, and for how long all present ones have had theirs, together.
// Works take as long as they did lately, or as long as every present one has taken already. A place that was given and
// not taken yet counts as taken now.
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

// ahead returns how many works must end before a work gets a turn: 0 if there is a free one.
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
