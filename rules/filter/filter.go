package filter

import (
	"cmp"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// Filter is a parsed, validated query. It is immutable and safe for concurrent use.
type Filter struct {
	root Node
	key  string
	// until is the end of the second of $$NOW. The zero time means that the filter holds forever.
	until      time.Time
	backtracks bool // an expression needs the backtracking engine
	origins    []origin
	asks       bool // root has a ForeignNode
	foreign    Node // root with a ForeignNode for each caller's filter with an expression; nil if there are none
}

// origin says where a condition comes from. It is found again by the identity of the node, because
// joining filters dissolves their trees but keeps the nodes.
type origin struct {
	node Node
	name string
}

// Parse reads a filter from Extended JSON (docs/filters.md). Errors are *rules.Error. Their Where is an offset for
// malformed JSON, and a path such as "$or.1.year.$gte" for a malformed filter.
func Parse(json []byte, o Options) (*Filter, error) {
	o = o.withDefaults()
	doc, err := ejson.Parse(json, ejson.Options{Param: o.Param, MaxBytes: o.MaxBytes, MaxDepth: o.MaxDepth})
	if err != nil {
		return nil, err
	}
	return FromBSON(doc, o)
}

// FromBSON reads a filter from BSON. The filter keeps pointing into doc, which must not change
// afterwards. FromBSON is for filters that the program makes, and for those in brackets; it reports
// the same errors. doc may come from a caller, so its size and depth are checked here.
func FromBSON(doc bson.Raw, o Options) (f *Filter, err error) {
	defer rules.Catch(&err)
	o = o.withDefaults()
	p := parser{o: o}
	if len(doc) > 8*o.MaxBytes {
		p.fail("the filter is larger than %d bytes", 8*o.MaxBytes)
	}
	if !raw.CheckDepth(doc, o.MaxDepth) {
		p.fail("the filter is malformed or nests deeper than %d levels", o.MaxDepth)
	}
	root := p.document(doc, true)
	if p.beyond != nil && !o.Foreign {
		return nil, p.beyond
	}
	f = &Filter{backtracks: p.backtracks, asks: p.beyond != nil}
	// The database gets the caller's filter whole: to split it would mix the two orders of
	// evaluation, and with them the errors.
	if f.asks || p.expression != nil && o.Foreign {
		if o.Texts { // a database compares with only one of a text's values
			doc = convertTexts(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}).Value
		}
		f.foreign = &ForeignNode{Doc: doc, Source: p.source, Refusal: cmp.Or(p.beyond, p.expression),
			moment: p.moment()}
	}
	if f.asks {
		root = f.foreign
	}
	f.setRoot(root)
	// Now is a whole second, so the filter holds until the next one begins.
	if p.timed {
		f.until = o.Now.Add(time.Second)
	}
	return f, nil
}

// setRoot computes the key once, since every request needs it.
func (f *Filter) setRoot(root Node) { f.root, f.key = root, string(root.appendKey(nil)) }

// Until returns the time from which the same filter text may match other documents because of the clock, as with
// $$NOW. The zero time means never.
func (f *Filter) Until() time.Time { return f.until }

// Match reports whether a document satisfies the filter. An error is a *rules.Error of kind
// rules.ErrWrongCall: an expression ran out of time, or $expr met values it cannot compute with. It
// walks the tree without an index and so defines what every other evaluator must answer.
func (f *Filter) Match(doc bson.Raw) (bool, error) { return Match(f.root, doc, nil) }

// Backtracks reports whether the filter has backtracking expressions. Such filters need a budget
// that all rows of a request share.
func (f *Filter) Backtracks() bool { return f.backtracks }

// As returns the filter with a name for the place that its conditions come from, such as a
// parameter. Filters that it is joined to keep the name; names given before stay.
func (f *Filter) As(name string) *Filter {
	named := *f
	named.origins = slices.Clip(f.origins)
	for _, n := range f.Conditions() { // joined to others the filter dissolves into them
		if f.Origin(n) == "" {
			named.origins = append(named.origins, origin{n, name})
		}
	}
	return &named
}

// Origin returns the name of the place that one of the filter's conditions comes from, or "".
func (f *Filter) Origin(n Node) string {
	for _, o := range f.origins {
		if o.node == n {
			return o.name
		}
	}
	return ""
}

// Foreign returns the filter for rows with a value that expressions here do not compute with, such
// as a decimal (see ErrNotInMemory): the whole of each caller's filter that has an expression is a
// ForeignNode. It returns nil if there is none, or if the parser was not to leave anything to a
// database.
func (f *Filter) Foreign() *Filter {
	if f.asks || f.foreign == nil {
		return nil
	}
	left := *f
	left.root, left.asks = f.foreign, true
	return &left
}

// Resolve returns the filter with another node for each ForeignNode. by is called once for each of
// them, and its first error ends the search. Key stays that of f, since it
// identifies what the caller asked.
func (f *Filter) Resolve(by func(*ForeignNode) (Node, error)) (*Filter, error) {
	if !f.asks {
		return f, nil
	}
	root, err := resolve(f.root, by)
	resolved := *f
	resolved.root, resolved.asks = root, false
	return &resolved, err
}

// Conditions returns the parts of the filter's tree that all have to hold. A filter without
// conditions has none, because it is an AndNode without nodes.
func (f *Filter) Conditions() []Node {
	if and, several := f.root.(*AndNode); several {
		return and.Nodes
	}
	return []Node{f.root}
}

// Alone returns one of the filter's conditions as a filter. Explanations evaluate conditions one by
// one with it. The result has no variant for a database.
func (f *Filter) Alone(n Node) *Filter {
	alone := &Filter{until: f.until, backtracks: f.backtracks, origins: f.origins}
	alone.setRoot(n)
	return alone
}

// Root returns the filter's tree, which must not be changed.
func (f *Filter) Root() Node { return f.root }

// Key returns a canonical text of the filter. Filters that differ only in spelling (white space,
// the order of conditions, an implicit $eq or $and, the form of a number) have the same key, and
// different filters have different keys. The cache relies on both halves: the first saves a second
// evaluation, the second keeps answers apart. The key of $$NOW has the second.
func (f *Filter) Key() string { return f.key }

// KeyOf returns the canonical text of one condition, as Key does for a filter.
func KeyOf(n Node) string { return string(n.appendKey(nil)) }

// Paths returns the distinct paths that a tree tests. If all is false, it has other conditions,
// too: an $expr, or what memory does not evaluate. An $elemMatch on elements themselves counts as
// its array.
func Paths(n Node) (paths []string, all bool) {
	all = true
	var add func(n Node, before string)
	add = func(n Node, before string) {
		switch n := n.(type) {
		case *AndNode, *OrNode, *NotNode:
			for _, c := range Parts(n) {
				add(c, before)
			}
		case *Leaf:
			if path := before + n.Path.String(); !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		case *Elem:
			// If the inner paths add nothing, the elem still depends on its array.
			known := len(paths)
			if n.Node != nil {
				add(n.Node, before+n.Path.String()+".")
			}
			if len(paths) == known {
				add(&Leaf{Path: n.Path}, before)
			}
		default:
			all = false
		}
	}
	add(n, "")
	return paths, all
}
