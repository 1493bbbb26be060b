package result

// mostKept is the size in bytes of the longest answer that is kept.
const mostKept = 16 << 20

// Sized returns options for answers that take budget bytes while they are kept, and inFlight
// while they are made or sent; and the size of the longest answer that is kept, in bytes. That is
// a third of inFlight at most, so that such an answer has room while it is sent, and a large one
// has room in the half of the budget that is for those.
func Sized(budget, inFlight int64) (o Options, kept int) {
	most := min(mostKept, inFlight/3)
	if budget > 0 {
		most = min(most, max(budget/2, LargeBytes))
	}
	o = Options{Budget: budget, InFlight: inFlight}
	if most > LargeBytes {
		o.LargeBudget = budget / 2
		o.Budget -= o.LargeBudget
	}
	return o, int(most)
}
