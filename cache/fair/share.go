package fair

import (
	"cmp"
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"vitrine/rules/parallel"
)

// Share calls work for 0, 1, … n-1, each of which should take microseconds, on several processors, in any order, and
// one at a time while other requests arrive. It ends at the first error of work or Turn.Check.
func Share(ctx context.Context, n int, work func(i int) error) error {
	const batch, least = 16, 512 // fewer items are not worth a goroutine
	return share(ctx, n, batch, n/least+1, work)
}

// Each is Share for items that take about a millisecond each.
func Each(ctx context.Context, n int, work func(i int) error) error { return share(ctx, n, 1, n, work) }

// share does work on up to most goroutines. The caller's own is one of them, so that the work ends even if no
// helper gets a processor.
func share(ctx context.Context, n, batch, most int, work func(i int) error) error {
	s := &sharedWork{turn: TurnOf(ctx), n: n, batch: batch, work: work, alone: make(chan struct{}, 1),
		done: make(chan struct{}), rested: make(chan struct{})}
	workers := min(runtime.GOMAXPROCS(0), most)
	if s.turn != nil && s.turn.backtracks.Load() {
		workers = 1
	}
	errs := make([]error, max(workers, 1))
	var helpers parallel.Group
	for w := 1; w < len(errs); w++ {
		helpers.Go(func() { errs[w] = s.help(ctx, w == 1) })
	}
	func() {
		defer close(s.done) // after a panic, too
		for more := true; more && errs[0] == nil; {
			more, errs[0] = s.next(ctx, s.wake)
		}
	}()
	helpers.Wait()
	return cmp.Or(errs...)
}

// sharedWork is work that several goroutines, the caller's and helpers, do in batches.
type sharedWork struct {
	turn     *Turn
	n, batch int
	work     func(i int) error
	begun    atomic.Int64  // items in batches that have begun
	alone    chan struct{} // holds an item while the work is limited to one processor
	done     chan struct{} // closed when the caller finds no more items
	rested   chan struct{} // receives while a helper rests
}

func (s *sharedWork) wake() {
	select {
	case s.rested <- struct{}{}:
	default:
	}
}

// next does a batch, and calls done after each item. It reports whether more items may remain.
func (s *sharedWork) next(ctx context.Context, done func()) (more bool, err error) {
	from := int(s.begun.Add(int64(s.batch))) - s.batch
	for i := from; i < min(from+s.batch, s.n) && err == nil; i++ {
		if err = s.do(i); err == nil { // checked after each item, because some items take much longer than most
			err = s.turn.Check(ctx)
		}
		done()
	}
	if err != nil {
		s.begun.Store(int64(s.n)) // so that no goroutine begins another batch
	}
	return from < s.n, err
}

func (s *sharedWork) do(i int) error {
	if s.turn.limited() {
		s.alone <- struct{}{}
		defer func() { <-s.alone }()
	}
	return s.work(i)
}

// help does batches until none are left, but not while the turn is limited. If all processors work, Go looks for new
// requests only every ten milliseconds. So one helper rests every millisecond until the caller has done another item:
// its processor takes up waiting requests, and the caller sees that they have arrived.
func (s *sharedWork) help(ctx context.Context, rests bool) (err error) {
	working, began := time.Now(), false
	for more := true; more && err == nil; {
		limited := s.turn.limited()
		if limited || rests && time.Since(working) > checkInterval {
			rested := s.rested
			if limited {
				rested = nil // nil until requests stop arriving
			}
			select {
			case <-s.done:
				return nil
			case <-rested:
			case <-time.After(checkInterval):
			}
			working = time.Now()
			continue
		}
		if more, err = s.next(ctx, func() {}); more && !began && s.turn != nil {
			began = true
			s.turn.queue.stats.helpers.Add(1)
		}
	}
	return err
}
