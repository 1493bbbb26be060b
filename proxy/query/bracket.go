package query

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// Bounds of one filter in brackets.
const (
	maxBracketPairs = 512
	maxBracketDepth = 12
)

// filterParam is the parameter in bracket notation.
const filterParam = "filter"

// node is a value in bracket notation: filter[year][$gte]=2020. It is a leaf with
// text, or has kids in the order of their first appearance.
type node struct {
	leaf  bool
	text  string
	cast  bson.RawValue // what the leaf means alone; zero: see values
	list  bool          // kids are the elements of a list, without names
	names []string
	kids  []*node
}

// kid returns the kid of a name, or nil.
func (n *node) kid(name string) *node {
	for i, have := range n.names {
		if have == name {
			return n.kids[i]
		}
	}
	return nil
}

// readBrackets builds the tree of filter; nil when it was not given. An empty plain
// value (filter=) counts as not given.
func readBrackets(p Params) (*node, error) {
	root := &node{}
	pairs := 0
	for pair := range p.of(filterParam) {
		if pair.brackets == "" {
			if strings.TrimSpace(pair.value) != "" {
				return nil, rules.Wrongf(filterParam, "", "want bracket notation such as filter[type]=publication; JSON goes into json")
			}
			continue
		}
		if pairs++; pairs > maxBracketPairs {
			return nil, rules.Wrongf(filterParam, "", "has more than %d conditions", maxBracketPairs)
		}
		if err := root.add(pair); err != nil {
			return nil, err
		}
	}
	if pairs == 0 {
		return nil, nil
	}
	root.findLists()
	if root.list {
		return nil, rules.Wrongf(filterParam, "", "want named conditions such as filter[type]=publication, not a list")
	}
	return root, nil
}

// add places the value of one pair in the tree.
func (n *node) add(p pair) error {
	if err := CheckUTF8(filterParam, p.brackets+p.value); err != nil {
		return err
	}
	path, ok := splitBrackets(p.brackets)
	fault := ""
	switch {
	case !ok:
		fault = "brackets do not match"
	case len(path) > maxBracketDepth:
		fault = "is nested deeper than " + strconv.Itoa(maxBracketDepth) + " brackets"
	case strings.IndexByte(p.brackets, 0) >= 0:
		fault = "has a zero byte, which no field name has"
	default:
		fault = n.set(path, p.value)
	}
	if fault != "" {
		return rules.Wrongf(filterParam, Printable(filterParam+p.brackets), "%s", fault)
	}
	return nil
}

// splitBrackets turns "[a][$in][]" into its parts; false if brackets do not match.
func splitBrackets(s string) (parts []string, ok bool) {
	for s != "" {
		end := strings.IndexByte(s, ']')
		if s[0] != '[' || end < 0 || strings.IndexByte(s[1:end], '[') >= 0 {
			return nil, false
		}
		parts = append(parts, s[1:end])
		s = s[end+1:]
	}
	return parts, true
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
	for i, name := range n.names {
		at, err := strconv.Atoi(name)
		if err != nil || at < 0 || at >= len(ordered) || ordered[at] != nil || strconv.Itoa(at) != name {
			return
		}
		ordered[at] = n.kids[i]
	}
	n.list, n.kids, n.names = true, ordered, nil
}

// operators reports whether a node's names include an operator.
func (n *node) operators() bool {
	for _, name := range n.names {
		if strings.HasPrefix(name, "$") {
			return true
		}
	}
	return false
}
