package parallel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vitrine/rules/parallel"
)

func TestPanicsReachWait(t *testing.T) {
	var g parallel.Group
	done := make([]bool, 3)
	for i := range done {
		g.Go(func() {
			done[i] = true
			if i == 1 {
				panic("part 1 is broken")
			}
		})
	}
	text := func() (text string) {
		defer func() { text = fmt.Sprint(recover()) }()
		g.Wait()
		return ""
	}()
	if !strings.HasPrefix(text, "part 1 is broken\n") || !strings.Contains(text, "goroutine") {
		t.Errorf("Wait panicked with %q", text)
	}
	if !done[0] || !done[2] {
		t.Errorf("the other parts did not run: %v", done)
	}
}

func TestSplit(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 3, 7} {
		for _, n := range []int{0, 1, 5, 100} {
			done := make([]int, n)
			parallel.Split(n, workers, func(worker, from, to int) {
				if worker > 0 && worker >= workers {
					t.Errorf("worker %d of %d", worker, workers)
				}
				for i := from; i < to; i++ {
					done[i]++
				}
			})
			if slices.ContainsFunc(done, func(times int) bool { return times != 1 }) {
				t.Errorf("%d pieces by %d workers were done %v times", n, workers, done)
			}
		}
	}
}
