package proxy

import (
	"strconv"
	"strings"

	"vitrine/rules"
)

// node is a value spelled in bracket notation: filter[year][$gte]=2020. It is a
// leaf with text, or has kids in the order of their first appearance.
type node struct {
	leaf  bool
	text  string
	list  bool // kids are the elements of a list, without names
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

// readBrackets builds the tree of a parameter; nil when it was not given. An
// empty plain value (filter=) counts as not given.
func readBrackets(p params, param string, l Limits) (*node, error) {
	root := &node{}
	pairs := 0
	p.note(param)
	for _, pair := range p.pairs {
		if pair.name == param && strings.TrimSpace(pair.value) != "" {
			return nil, rules.Wrongf(param, "", "want bracket notation such as %s[type]=publication; JSON goes into json", param)
		}
		if !bracketed(pair.name, param) {
			continue
		}
		if pairs++; pairs > l.BracketPairs {
			return nil, rules.Wrongf(param, "", "has more than %d conditions", l.BracketPairs)
		}
		where := printable(pair.name)
		path, err := splitBrackets(pair.name[len(param):])
		if err != nil {
			return nil, rules.Wrongf(param, where, "%v", err)
		}
		if len(path) > l.BracketDepth {
			return nil, rules.Wrongf(param, where, "is nested deeper than %d brackets", l.BracketDepth)
		}
		if err := checkUTF8(param, pair.name+pair.value); err != nil {
			return nil, err
		}
		if strings.IndexByte(pair.name, 0) >= 0 {
			return nil, rules.Wrongf(param, where, "has a zero byte, which no field name has")
		}
		if err := root.set(path, pair.value); err != nil {
			return nil, rules.Wrongf(param, where, "%v", err)
		}
	}
	if pairs == 0 {
		return nil, nil
	}
	root.findLists()
	if root.list {
		return nil, rules.Wrongf(param, "", "want named conditions such as %s[type]=publication, not a list", param)
	}
	return root, nil
}

// splitBrackets turns "[a][$in][]" into its parts.
func splitBrackets(s string) ([]string, error) {
	var parts []string
	for s != "" {
		end := strings.IndexByte(s, ']')
		if s[0] != '[' || end < 0 || strings.IndexByte(s[1:end], '[') >= 0 {
			return nil, spelling("brackets do not match")
		}
		parts = append(parts, s[1:end])
		s = s[end+1:]
	}
	return parts, nil
}

// spelling is what is wrong with a bracket's spelling.
type spelling string

func (s spelling) Error() string { return string(s) }

// set places text at a path. An empty part appends to a list.
func (n *node) set(path []string, text string) error {
	for i, name := range path {
		last := i == len(path)-1
		if n.leaf {
			return spelling("is given both a value and conditions of its own")
		}
		appends := name == ""
		if len(n.kids) > 0 && n.list != appends {
			return spelling("mixes [] with named brackets")
		}
		n.list = appends
		next := n.kid(name)
		switch {
		case appends || next == nil:
			next = &node{}
			n.kids = append(n.kids, next)
			n.names = append(n.names, name)
		case last && next.leaf:
			return spelling("is given twice")
		case last:
			return spelling("is given both a value and conditions of its own")
		}
		n = next
	}
	n.leaf, n.text = true, text
	return nil
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
