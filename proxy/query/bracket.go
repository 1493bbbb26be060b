package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Bounds of one filter in brackets.
const (
	maxBracketPairs = 512 // name=value pairs
	maxBracketDepth = 12  // brackets in one name
)

// filterParam is the parameter in bracket notation.
const filterParam = "filter"

// node is a value in bracket notation: filter[year][$gte]=2020. It is a leaf with
// text, or has kids in the order of their first appearance.
type node struct {
	leaf  bool          // it has a text and no kids
	text  string        // as sent
	cast  bson.RawValue // what the leaf means alone; zero: see values
	list  bool          // kids are the elements of a list, without names
	names []string      // of the kids; all are empty in a list of [], and there are none in one of [0]
	kids  []*node
}

// kid returns the kid of a name, or nil.
func (n *node) kid(name string) *node {
	if i := slices.Index(n.names, name); i >= 0 {
		return n.kids[i]
	}
	return nil
}

// readBrackets builds the tree of filter; nil when it was not given or cannot be read. An
// empty plain value (filter=) is like none.
func readBrackets(p Params) *node {
	root := &node{}
	pairs := 0
	for pair := range p.of(filterParam) {
		if pair.brackets == "" {
			if strings.TrimSpace(pair.value) != "" {
				p.refuse(filterParam, "", "want bracket notation such as filter[type]=publication; JSON goes into json")
			}
			continue
		}
		if pairs++; pairs > maxBracketPairs {
			p.refuse(filterParam, "", "has more than %d conditions", maxBracketPairs)
		} else if fault := root.add(p, pair); fault != "" {
			p.refuse(filterParam, Printable(filterParam+pair.brackets), "%s", fault)
		}
		if p.err != nil {
			return nil
		}
	}
	if pairs == 0 {
		return nil
	}
	if root.findLists(); root.list {
		p.refuse(filterParam, "", "want named conditions such as filter[type]=publication, not a list")
		return nil
	}
	return root
}

// add places the value of one pair in the tree. It returns what is wrong with the pair,
// "" if nothing.
func (n *node) add(p Params, pair pair) (fault string) {
	p.UTF8(filterParam, pair.brackets+pair.value)
	path, ok := splitBrackets(pair.brackets)
	switch {
	case !ok:
		return "brackets do not match"
	case len(path) > maxBracketDepth:
		return fmt.Sprintf("is nested deeper than %d brackets", maxBracketDepth)
	case strings.IndexByte(pair.brackets, 0) >= 0:
		return "has a zero byte, which no field name has"
	}
	return n.set(path, pair.value)
}

// splitBrackets turns "[a][$in][]" into its parts; false if brackets do not match.
func splitBrackets(s string) (parts []string, ok bool) {
	inside, ok := strings.CutPrefix(s, "[")
	if inside, closed := strings.CutSuffix(inside, "]"); ok && closed {
		parts = strings.Split(inside, "][")
	}
	for _, part := range parts {
		ok = ok && !strings.ContainsAny(part, "[]")
	}
	return parts, ok && parts != nil
}

// set places text at a path. An empty part appends to a list. It returns what is wrong
// with the path, "" if nothing.
func (n *node) set(path []string, text string) (fault string) {
	const both = "is given both a value and conditions of its own"
	for i, name := range path {
		last := i == len(path)-1
		if n.leaf {
			return both
		}
		appends := name == ""
		if len(n.kids) > 0 && n.list != appends {
			return "mixes [] with named brackets"
		}
		n.list = appends
		next := n.kid(name)
		switch {
		case appends || next == nil:
			next = &node{}
			n.kids = append(n.kids, next)
			n.names = append(n.names, name)
		case last && next.leaf:
			return "is given twice"
		case last:
			return both
		}
		n = next
	}
	n.leaf, n.text = true, text
	return ""
}

// findLists recognises [0], [1], … as the elements of a list, in their order.
func (n *node) findLists() {
	for _, kid := range n.kids {
		kid.findLists()
	}
	if n.leaf || n.list {
		return
	}
	ordered := make([]*node, len(n.kids))
	for i := range ordered {
		if ordered[i] = n.kid(strconv.Itoa(i)); ordered[i] == nil {
			return
		}
	}
	n.list, n.kids, n.names = true, ordered, nil
}

// operators reports whether a node's names include an operator.
func (n *node) operators() bool {
	return slices.ContainsFunc(n.names, func(name string) bool { return strings.HasPrefix(name, "$") })
}
