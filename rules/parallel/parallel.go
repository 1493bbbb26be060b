// Package parallel runs parts of one task on several goroutines. If one of them panics, the package repeats the panic
// in the waiting goroutine, where the task's own recover catches it. Otherwise the panic would end the process. So
// would a fault in a mapped file, which is a panic here (package fault).
package parallel

import (
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"vitrine/rules/fault"
)

// Group is a sync.WaitGroup whose Wait repeats panics. The zero Group is ready for use.
type Group struct {
	wg       sync.WaitGroup
	panicked atomic.Pointer[string]
}

// Go calls part in a new goroutine.
func (g *Group) Go(part func()) {
	g.wg.Go(func() {
		defer fault.Panics()()
		defer func() {
			if r := recover(); r != nil {
				fault.Report(r)
				text := fmt.Sprintf("%v\n%s", r, debug.Stack())
				g.panicked.CompareAndSwap(nil, &text)
			}
		}()
		part()
	})
}

// Wait waits for all parts. If one has panicked, Wait panics with the first panic's value and stack as text.
func (g *Group) Wait() {
	g.wg.Wait()
	if text := g.panicked.Load(); text != nil {
		panic(*text)
	}
}

// Map yields the results of work for the inputs, in their order. It computes up to ahead results in
// advance, each in its own goroutine. It ends with the first error, of an input or of work, and returns
// when all goroutines have ended.
func Map[In, Out any](inputs iter.Seq2[In, error], ahead int, work func(In) (Out, error)) iter.Seq2[Out, error] {
	type outcome struct {
		out Out
		err error
	}
	return func(yield func(Out, error) bool) {
		var g Group
		defer g.Wait()
		var working []chan outcome // one channel per running work, the oldest first
		next := func() bool {
			o, ok := <-working[0]
			working = working[1:]
			return ok && yield(o.out, o.err) && o.err == nil
		}
		for in, err := range inputs {
			made := make(chan outcome, 1)
			working = append(working, made)
			if err != nil {
				made <- outcome{err: err}
				break
			}
			g.Go(func() {
				defer close(made) // after a panic there is no outcome; Wait repeats the panic
				out, err := work(in)
				made <- outcome{out, err}
			})
			if len(working) > ahead && !next() {
				return
			}
		}
		for len(working) > 0 && next() {
		}
	}
}

// Split divides [0, n) into one range per worker, runs work for each range in its own goroutine, or in the caller's
// if there is only one, and waits for them.
func Split(n, workers int, work func(worker, from, to int)) {
	if workers <= 1 {
		work(0, 0, n)
		return
	}
	var g Group
	for w := range workers {
		g.Go(func() { work(w, n*w/workers, n*(w+1)/workers) })
	}
	g.Wait()
}
