package filter

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// Text returns a condition for people, such as year >= 2020. It is for explanations, not for
// caches: unlike Key it cuts long values, so different filters may have one text.
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
		if texts[i] = Text(n); len(Parts(n)) > 1 {
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
		if text = []string{"=", ">", ">=", "<", "<="}[t.Op] + " " + valueText(t.Value); not != "" && t.Op == Eq {
			not = "!"
		}
	case *In:
		var all []string
		for _, v := range t.Values {
			all = append(all, valueText(v))
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

// valueText returns a value as Extended JSON; long ones are cut. The cut may split a character,
// which ToValidUTF8 removes.
func valueText(v bson.RawValue) string {
	const most = 200
	text := string(ejson.Append(nil, v))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// Values returns the path that a condition tests, or "" if it has no single one, and the first
// values of a document there, as Extended JSON; long ones are cut. They answer why a record does
// not match. Ten values are enough for that, and a record may have thousands.
func Values(n Node, doc bson.Raw) (path string, values []string) {
	const most = 10
	at := raw.Path{}
	switch n := n.(type) {
	case *NotNode:
		return Values(n.Node, doc)
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
		if text := valueText(v.Raw); !v.Missing && !whole && !slices.Contains(values, text) {
			values = append(values, text)
		}
		return len(values) < most
	})
	return at.String(), values
}
