package compare

import (
	"fmt"
)

// spend counts work that is about to be done at a path. It returns false if the answers take too long, which it
// reports once, or if the context has ended. It is called before the work, so that the parts that would go beyond
// the budget are not begun. A Shadow's pause runs in here: stretches of workUntilRest, a fifth of a millisecond,
// are short beside a live request.
func (a *answers) spend(path string, units int) bool {
	if a.work.over {
		return false
	}
	if a.work.left -= units; a.work.left < a.work.rest {
		a.work.rest = a.work.left - workUntilRest
		if a.work.pause != nil {
			a.work.pause()
		}
		a.work.over = a.work.ended() != nil
	}
	if a.work.left < 0 && !a.work.over {
		a.work.over = true
		a.skip(path, "", "")
	}
	return !a.work.over
}

// skip reports that the parts at a path are not compared, and how many they are.
func (a *answers) skip(path, old, new string) {
	a.emit(Difference{Kind: Failed, Path: path, Row: a.row, Old: TooLong + old, New: TooLong + new})
}

// fit reports whether two numbers of parts can be compared, and skips them if not.
func (a *answers) fit(path string, old, new, most int, parts string) bool {
	if max(old, new) <= most {
		return true
	}
	a.skip(path, fmt.Sprintf(" (%d %s)", old, parts), fmt.Sprintf(" (%d %s)", new, parts))
	return false
}
