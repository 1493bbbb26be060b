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
	// mostInLine bounds how many works wait in a Line.
	mostInLine = 1 << 12
	// lookAgain is how often waiting work estimates anew whether its turn comes in time.
	lookAgain = 100 * time.Millisecond
	// smoothing is the weight of all earlier works against the last one in how long a work usually has its place.
	smoothing = 7
)

// Line lets work ask something that serves few at a time, such as a database, in the order of arrival. Work has its
// place from its first question to its end, so that later questions need not wait again, and gives it back while it is
// paused. Work that cannot be answered before its deadline, as long as others take now, is refused as soon as that is
// known: at once, if it is known when the work arrives.
type Line struct {
	places int
	// queue has a turn for each place. Its turns have no client, who would have precedence: whoever came later could
	// go first, and the work before it would have been let in vain.
	queue *Queue

	mu    sync.Mutex
	held  map[*seat]time.Time // when each work got its place; guarded by mu
	usual time.Duration       // how long a work has its place; guarded by mu
}

// NewLine returns a line with some places.
func NewLine(places int) *Line {
	return &Line{places: places, queue: New(places, mostInLine), held: map[*seat]time.Time{}}
}

// seat is the place of a work in a line, or its wait for one.
type seat struct {
	line     *Line
	turn     *Turn         // by which line.queue knows the work
	entering chan struct{} // holds an item while a goroutine of the work waits for the place
	has      bool          // the work has its place; guarded by the mu of the work's turn
}

func (l *Line) newSeat() *seat {
	return &seat{line: l, turn: &Turn{}, entering: make(chan struct{}, 1)}
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
	s := l.newSeat()
	if err := s.wait(ctx); err != nil {
		return func() {}, err
	}
	return s.leave, nil
}

// enter waits for the work's place without its turn. Of several goroutines one waits, and the others for that one.
func (t *Turn) enter(ctx context.Context, l *Line) error {
	s, has := t.seatIn(l)
	if has {
		return nil
	}
	select {
	case s.entering <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.entering }()
	if _, has := t.seatIn(l); has {
		return nil
	}
	if err := t.Away(ctx, func() error { return s.wait(ctx) }); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.has = true
	s.turn.shared.Store(1) // if it gives the place back for a while, it goes first
	if t.ended {
		t.leaveLocked()
	}
	return nil
}

// seatIn returns the work's seat in a line, and whether it has its place. A work asks in one line.
func (t *Turn) seatIn(l *Line) (*seat, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seat == nil {
		t.seat = l.newSeat()
	}
	return t.seat, t.seat.has
}

// leaveLocked gives the work's place back.
func (t *Turn) leaveLocked() {
	if t.seat != nil && t.seat.has {
		t.seat.has = false
		t.seat.leave()
	}
}

// Away calls wait, which waits for something other than a processor, without the turn. The work keeps its place in a
// Line. The error is wait's, or the context's cause.
func (t *Turn) Away(ctx context.Context, wait func() error) error {
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
func (s *seat) wait(ctx context.Context) error {
	l := s.line
	waiting, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	if deadline, limited := ctx.Deadline(); limited {
		if err := l.late(s, deadline); err != nil {
			return err
		}
		var again *time.Timer
		armed := make(chan struct{})
		again = time.AfterFunc(lookAgain, func() {
			<-armed
			if err := l.late(s, deadline); err != nil {
				refuse(err)
			} else if waiting.Err() == nil {
				again.Reset(lookAgain)
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
	l.held[s] = time.Now()
	return nil
}

// leave gives the place to the next work.
func (s *seat) leave() {
	l := s.line
	l.mu.Lock() // until the place is the next work's, so that late sees both changes or none
	defer l.mu.Unlock()
	took := time.Since(l.held[s])
	delete(l.held, s)
	if l.usual == 0 {
		l.usual = took
	}
	l.usual = (smoothing*l.usual + took) / (smoothing + 1)
	l.queue.release(&l.queue.ordinary, s.turn.client, took)
}

// late returns an error if a work that waits, or is about to, would not be done before its deadline: those before it
// and itself, places at a time, take as long as others have taken lately.
func (l *Line) late(s *seat, deadline time.Time) error {
	l.mu.Lock()
	before := l.queue.before(s.turn)
	took, done := l.takesLocked()
	l.mu.Unlock()
	if before == 0 {
		return nil
	}
	// The works before, shared among the places, and what all places but one may still have to do when these are through.
	places := time.Duration(l.places)
	wait := max(took*time.Duration(before)-done+took*(places-1), 0) / places
	if left := time.Until(deadline); wait+took > left {
		err := fmt.Errorf("%w: %d requests ask the store first, each for about %v, and %v are left",
			rules.ErrUnavailable, before, took.Round(time.Millisecond), left.Round(time.Millisecond))
		return &rules.RetryError{After: wait, Err: err}
	}
	return nil
}

// takesLocked returns how long a work has its place now, and for how long all present ones have had theirs, together.
// Works take as long as they did lately, or as long as every present one has taken already. A place that was given and
// not taken yet counts as taken now.
func (l *Line) takesLocked() (took, done time.Duration) {
	took = l.usual
	if len(l.held) == l.places {
		var latest time.Time
		for _, since := range l.held {
			if since.After(latest) {
				latest = since
			}
		}
		took = max(took, time.Since(latest))
	}
	for _, since := range l.held {
		done += min(time.Since(since), took)
	}
	return took, done
}

// before returns how many works must end before a work gets a turn: 0 if there is a free one.
func (q *Queue) before(t *Turn) int {
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
