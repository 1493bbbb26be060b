package parallel_test

import (
	"fmt"
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
