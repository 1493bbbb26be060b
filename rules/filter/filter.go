package filter

import (
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// ErrNotInMemory marks filters that are valid MongoDB but beyond what this package
// evaluates: $text, geographic operators, $jsonSchema, the rarer $expr operators
// and expressions. A caller with a MongoDB behind it may hand the filter through:
// everything else in it has been checked. It is a rules.ErrWrongCall as well.
var ErrNotInMemory = fmt.Errorf("%w: not evaluated in memory", rules.ErrWrongCall)

// Options are the limits of a filter and the names in its errors. The zero value
// takes the defaults.
type Options struct {
	// Param is the request parameter that errors name; "json" if empty.
	Param string
	// MaxBytes is the longest JSON text; 32768 if 0. BSON may be eight times as
	// long, as it spells out array indexes and widths.
	MaxBytes int
	// MaxDepth is how deep operators and values may nest; 32 if 0.
	MaxDepth int
	// MaxNodes is how many conditions a filter may have; 1000 if 0. Values in lists
	// count apart: ten times as many are allowed.
	MaxNodes int
	// MaxPattern is the longest regular expression in bytes; 1000 if 0.
	MaxPattern int
	// RegexTimeout bounds one match of the backtracking engine; 200 ms if 0. A filter
	// that is bound to a Budget has that instead.
	RegexTimeout time.Duration
	// Foreign accepts filters that are not evaluated in memory, as a ForeignNode; if
	// false they are refused with ErrNotInMemory. HexIDs does not reach into them.
	Foreign bool
	// Refusal returns why a filter may not name a path, "" if it may. The parts of a path
	// may be positions in arrays and lists. If nil, a filter may name every path.
	Refusal func(path string) (reason string)
	// Now is what $$NOW means, in whole seconds; the present if zero.
	Now time.Time
	// HexIDs lets a string of 24 hexadecimal digits compared with "_id" by $eq, $ne,
	// $in, $nin or a range also match the ObjectID it spells (DESIGN.md: What API.md leaves open, 5).
	HexIDs bool
}

// withDefaults replaces what is not set.
func (o Options) withDefaults() Options {
	set := func(n *int, value int) {
		if *n <= 0 {
			*n = value
		}
	}
	if o.Param == "" {
		o.Param = "json"
	}
	set(&o.MaxBytes, 32768)
	set(&o.MaxDepth, 32)
	set(&o.MaxNodes, 1000)
	set(&o.MaxPattern, 1000)
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	o.Now = o.Now.Truncate(time.Second)
	if o.RegexTimeout <= 0 {
		o.RegexTimeout = pcre.DefaultBudget
	}
	return o
}

// Filter is a parsed, validated query. It is immutable and safe for concurrent use.
type Filter struct {
	root       Node
	key        string
	until      time.Time
	backtracks bool // an expression needs the backtracking engine
}

// Parse reads a filter from Extended JSON (API.md: Shared filter behaviour).
// Errors are *rules.Error; Where is an offset for malformed JSON and the path of
// the fault, such as "$or.1.year.$gte", for a malformed filter.
func Parse(json []byte, o Options) (*Filter, error) {
	o = o.withDefaults()
	doc, err := ejson.Parse(json, ejson.Options{Param: o.Param, MaxBytes: o.MaxBytes, MaxDepth: o.MaxDepth})
	if err != nil {
		return nil, err
	}
	return FromBSON(doc, o)
}

// FromBSON reads a filter from BSON. The filter keeps pointing into doc, which must
// not change afterwards.
func FromBSON(doc bson.Raw, o Options) (*Filter, error) {
	o = o.withDefaults()
	if len(doc) > 8*o.MaxBytes {
		return nil, rules.Wrongf(o.Param, "", "the filter is larger than %d bytes", 8*o.MaxBytes)
	}
	p := parser{reader: &reader{o: o}}
	if !wellFormed(doc, o.MaxDepth) {
		return nil, p.wrongf("the filter is malformed or nests deeper than %d levels", o.MaxDepth)
	}
	root := p.document(doc, true)
	switch {
	case p.fault != nil:
		return nil, p.fault
	case p.beyond != nil && !o.Foreign:
		return nil, p.beyond
	case p.beyond != nil:
		root = &ForeignNode{Doc: doc, Refusal: p.beyond, moment: p.moment()}
	}
	f := newFilter(root)
	f.backtracks = p.backtracks
	if p.timed {
		f.until = o.Now.Add(time.Second)
	}
	return f, nil
}

// wellFormed reports whether a document can be read to its end within a depth.
func wellFormed(doc []byte, depth int) bool {
	b := raw.Body(doc)
	if b == nil || len(b)+5 != len(doc) || doc[len(doc)-1] != 0 || depth <= 0 {
		return false
	}
	r := raw.Read(doc)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		nested := e.Type == bson.TypeEmbeddedDocument || e.Type == bson.TypeArray
		if nested && !wellFormed(e.Data, depth-1) {
			return false
		}
	}
	return !r.Faulty()
}

// newFilter computes the key once: it is asked for by every request.
func newFilter(root Node) *Filter {
	return &Filter{root: root, key: string(root.appendKey(nil))}
}

// All returns the filter that matches every document.
func All() *Filter { return newFilter(&AndNode{}) }

// And returns the filter that holds where all given ones do; nil filters are
// skipped, and without filters everything matches. It is how a restriction is
// joined to a caller's filter without overwriting any of it.
func And(filters ...*Filter) *Filter {
	var nodes []Node
	var until time.Time
	backtracks := false
	for _, f := range filters {
		if f == nil {
			continue
		}
		nodes = append(nodes, f.root)
		backtracks = backtracks || f.backtracks
		if !f.until.IsZero() && (until.IsZero() || f.until.Before(until)) {
			until = f.until
		}
	}
	joined := newFilter(and(nodes))
	joined.until, joined.backtracks = until, backtracks
	return joined
}

// Until returns when the filter, read again, may match other documents by the clock
// alone, as with $$NOW. The zero time never comes.
func (f *Filter) Until() time.Time { return f.until }

// Match reports whether a document satisfies the filter. An error is a *rules.Error
// of kind rules.ErrWrongCall: an expression ran out of time, or $expr met values
// it cannot compute with; or it is that of a pause (see Within).
func (f *Filter) Match(doc bson.Raw) (bool, error) { return Match(f.root, doc) }

// Root returns the filter's tree, which must not be changed.
func (f *Filter) Root() Node { return f.root }

// Key returns a canonical text of the filter: filters whose text differs only in
// spelling (white space, the order of conditions, an implicit $eq or $and, how a
// number is written) have the same key, and different filters have different keys.
func (f *Filter) Key() string { return f.key }

// Paths returns the paths that the filter's conditions look at, each once. Those in $expr
// are left out, and those of a filter that is not evaluated in memory.
func (f *Filter) Paths() []string {
	var all []string
	var add func(n Node, before string)
	add = func(n Node, before string) {
		for _, c := range children(n) {
			add(c, before)
		}
		switch n := n.(type) {
		case *Leaf:
			if path := before + n.Path.String(); !slices.Contains(all, path) {
				all = append(all, path)
			}
		case *Elem:
			if n.Node == nil {
				add(&Leaf{Path: n.Path}, before)
			} else {
				add(n.Node, before+n.Path.String()+".")
			}
		}
	}
	add(f.root, "")
	return all
}
