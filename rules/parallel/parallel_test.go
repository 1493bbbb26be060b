package parallel_test

import (
	"errors"
	"fmt"
	"iter"
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

// TestMap: results come in the order of the inputs, until an error, a panic, or until their reader
// stops.
func TestMap(t *testing.T) {
	broken := errors.New("broken")
	inputs := func(n int, last error) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := range n {
				if !yield(i, nil) {
					return
				}
			}
			if last != nil {
				yield(0, last)
			}
		}
	}
	double := func(i int) (int, error) { return 2 * i, nil }
	for _, ahead := range []int{0, 1, 3} {
		for _, tt := range []struct {
			name   string
			inputs iter.Seq2[int, error]
			work   func(int) (int, error)
			want   int
			err    error
		}{
			{"all", inputs(50, nil), double, 50, nil},
			{"none", inputs(0, nil), double, 0, nil},
			{"an input fails", inputs(5, broken), double, 5, broken},
			{"work fails", inputs(50, nil), func(i int) (int, error) {
				if i == 7 {
					return 0, broken
				}
				return double(i)
			}, 7, broken},
		} {
			var got int
			var last error
			for out, err := range parallel.Map(tt.inputs, ahead, tt.work) {
				if last = err; err != nil {
					continue
				}
				if out != 2*got {
					t.Errorf("%s: outcome %d is %d", tt.name, got, out)
				}
				got++
			}
			if got != tt.want || last != tt.err {
				t.Errorf("%s: %d outcomes, %v", tt.name, got, last)
			}
		}
		for range parallel.Map(inputs(50, nil), ahead, double) {
			break
		}
		text := func() (text string) {
			defer func() { text = fmt.Sprint(recover()) }()
			for range parallel.Map(inputs(5, nil), ahead, func(int) (int, error) { panic("the work is broken") }) {
				t.Error("there is a result")
			}
			return ""
		}()
		if !strings.HasPrefix(text, "the work is broken\n") {
			t.Errorf("Map panicked with %q", text)
		}
	}
}
