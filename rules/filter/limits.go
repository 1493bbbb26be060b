package filter

import (
	"cmp"
	"time"
)

// Options are the limits of a filter and the parameter in its errors. The zero value means the
// defaults. The limits bound the memory and time of parsing one request; what evaluation costs,
// pcre.Budget and maxWork bound.
type Options struct {
	Param string // request parameter that errors name; "json" if empty
	// MaxBytes is the longest JSON; 32768 if 0. BSON may be eight times as long, as it spells out indexes.
	MaxBytes int
	MaxDepth int // how deep operators and values may nest; 64 if 0
	// MaxNodes is how many conditions a filter may have; 10,000 if 0. Lists may have ten times as many values.
	MaxNodes int
	// Foreign accepts filters that memory does not evaluate, as a ForeignNode, into which HexIDs does not reach;
	// otherwise they are refused with ErrNotInMemory. See also Filter.Foreign.
	Foreign bool
	// Texts says that the values are texts, as in a URL: each is a string and, if it can be read as a number, a
	// boolean or null, that value, too.
	Texts bool
	// Refusal returns why a filter may not name a path, or "" if it may. The parts of a path may be positions in
	// arrays and lists. If nil, a filter may name every path.
	Refusal func(path string) (reason string)
	Now     time.Time // value of $$NOW, in whole seconds; if zero, the current time
	// HexIDs says that a string of 24 hexadecimal digits that $eq, $ne, $in, $nin or a range
	// compares with "_id" also matches the ObjectID with these digits (docs/decisions.md: Filters).
	HexIDs bool
}

// maxPattern is the longest regular expression in bytes. Compiling takes time and memory in
// proportion to the pattern, and more with repetitions such as a{100}.
const maxPattern = 4 << 10

// withDefaults replaces zeros. Now loses its fraction, so that all requests of one second share the
// kept answer.
func (o Options) withDefaults() Options {
	o.Param = cmp.Or(o.Param, "json")
	o.MaxBytes = cmp.Or(o.MaxBytes, 32768)
	o.MaxDepth = cmp.Or(o.MaxDepth, 64)
	o.MaxNodes = cmp.Or(o.MaxNodes, 10_000)
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	o.Now = o.Now.Truncate(time.Second)
	return o
}
