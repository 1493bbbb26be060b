package result

const mostKept = 16 << 20

// Sized returns options for answers that take budget bytes kept and inFlight bytes while they are made or sent, and the
// size of the largest answer to keep. That is at most a third of inFlight, so that it has room while it is sent, and a
// large one fits the half of the budget for large answers.
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
