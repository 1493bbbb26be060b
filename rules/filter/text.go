package filter

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// Text returns a condition for people, such as year >= 2020.
func Text(n Node) string {
	switch n := n.(type) {
	case *AndNode:
		return textOf(n.Nodes, " and ", "everything")
	case *OrNode:
		return textOf(n.Nodes, " or ", "nothing")
	case *NotNode:
		if leaf, ok := n.Node.(*Leaf); ok {
			return leafText(leaf, "not ")
		}
		return "not (" + Text(n.Node) + ")"
	case *Leaf:
		return leafText(n, "")
	case *Elem:
		if n.Value != nil {
			return "an element of " + n.Path.String() + " is (" + Text(n.Value) + ")"
		}
		return "an element of " + n.Path.String() + " has (" + Text(n.Node) + ")"
	}
	return KeyOf(n)
}

// textOf joins the texts of nodes; combined ones are in parentheses.
func textOf(nodes []Node, by, none string) string {
	if len(nodes) == 0 {
		return none
	}
	texts := make([]string, len(nodes))
	for i, n := range nodes {
		if texts[i] = Text(n); len(children(n)) > 1 {
			texts[i] = "(" + texts[i] + ")"
		}
	}
	return strings.Join(texts, by)
}

// leafText returns a condition on a path for people. not is "not " for its opposite, or "".
func leafText(n *Leaf, not string) string {
	text := ""
	switch t := n.Test.(type) {
	case *Compare:
		if text = []string{"=", ">", ">=", "<", "<="}[t.Op] + " " + ValueText(t.Value); not != "" && t.Op == Eq {
			not = "!"
		}
	case *In:
		var all []string
		for _, v := range t.Values {
			all = append(all, ValueText(v))
		}
		for _, re := range t.Regexes {
			all = append(all, "/"+re.Pattern+"/"+re.Options())
		}
		text = "in (" + strings.Join(all, ", ") + ")"
	case *Regex:
		text = "like /" + t.Pattern + "/" + t.Options()
	case *Exists:
		text = "existing"
	default: // the rarer tests, without their path
		text = strings.TrimPrefix(KeyOf(n), strconv.Quote(n.Path.String())+"*filter.")
	}
	return strings.TrimSpace(n.Path.String() + " " + not + text)
}

// ValueText returns a value as Extended JSON; long ones are cut.
func ValueText(v bson.RawValue) string {
	const most = 200
	text := string(ejson.Append(nil, v))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// Values returns the path that a condition tests, or "" if it has no single one, and the first values of a document there.
func Values(n Node, doc bson.Raw, most int) (path string, values []bson.RawValue) {
	at := raw.Path{}
	switch n := n.(type) {
	case *NotNode:
		return Values(n.Node, doc, most)
	case *Leaf:
		at = n.Path
	case *Elem:
		at = n.Path
	}
	if at.Len() == 0 {
		return "", nil
	}
	raw.Walk(doc, at, func(v raw.Value) bool {
		whole := v.Raw.Type == bson.TypeArray && !v.Elem && len(values) > 0 // of the elements before
		if !v.Missing && !whole && !slices.ContainsFunc(values, v.Raw.Equal) {
			values = append(values, v.Raw)
		}
		return len(values) < most
	})
	return at.String(), values
}

// Verdict is what a condition found of one document.
type Verdict struct {
	Holds bool
	Err   error // why it could not decide
}

// Verdicts matches a document with a tree as Match does, and returns what each condition of the tree found. The
// conditions inside $elemMatch have no verdicts of their own.
func Verdicts(n Node, doc bson.Raw, budget *pcre.Budget) map[Node]Verdict {
	all := map[Node]Verdict{}
	_, _ = Match(traced(n, all), doc, budget) // all has the result
	return all
}

// reporter is a node that records its verdict. Its children are reporters, too.
type reporter struct {
	Node
	of  Node // the node without reporters
	all map[Node]Verdict
}

// traced returns a tree that matches like another and records verdicts.
func traced(n Node, all map[Node]Verdict) Node {
	wrapped, nodes := n, slices.Clone(children(n))
	for i, c := range nodes {
		nodes[i] = traced(c, all)
	}
	switch n.(type) {
	case *AndNode:
		wrapped = &AndNode{nodes}
	case *OrNode:
		wrapped = &OrNode{nodes}
	case *NotNode:
		wrapped = &NotNode{nodes[0]}
	}
	return &reporter{wrapped, n, all}
}

// match records what the node finds, then matches the children that it did not need.
func (r *reporter) match(v bson.RawValue, budget *pcre.Budget) (bool, error) {
	ok, err := r.Node.match(v, budget)
	r.all[r.of] = Verdict{ok, err}
	for _, c := range children(r.Node) {
		if _, matched := r.all[c.(*reporter).of]; !matched {
			_, _ = c.match(v, budget) // the verdict does not depend on it
		}
	}
	return ok, err
}
