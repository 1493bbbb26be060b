package filter

import (
	"fmt"

	"vitrine/rules"
)

// ErrNotInMemory marks filters that are valid MongoDB but that this package does not evaluate:
// $text, geographic operators, $jsonSchema, the rarer $expr operators and expressions, and $expr on
// values such as decimals, which only a match finds. A caller with a MongoDB may pass the filter
// on, because the rest of it has been checked. It is a rules.ErrWrongCall, too.
//
// Test for it with errors.Is before rules.ErrWrongCall, which holds for both kinds.
var ErrNotInMemory = fmt.Errorf("%w: not evaluated in memory", rules.ErrWrongCall)
