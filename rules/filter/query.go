package filter

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Query translates a tree into a filter for a database. Every document that the tree matches
// satisfies the query. If exact is true, no other does; otherwise the caller must match the found
// documents with the tree.
//
// The query has the conditions that all databases and the matcher here decide alike. For conditions
// on which engines differ (regular expressions beyond plain text, $elemMatch, expressions, rarer
// types) it has a wider condition, or none. The same applies to conditions on the hidden field,
// which only the documents in the database have.
func Query(n Node, hidden string) (query bson.Raw, exact bool) {
	doc, exact := queryWriter{hidden}.of(n)
	if doc == nil {
		doc = bson.D{}
	}
	query, _ = bson.Marshal(doc) // cannot fail: the values come from BSON
	return query, exact
}

// queryWriter writes queries for documents with a hidden field. A wider query costs documents that
// the matcher then drops; a narrower one would lose records. So every doubt makes it wider.
type queryWriter struct{ hidden string }

// of returns Query before encoding. An empty document matches everything.
func (w queryWriter) of(n Node) (doc bson.D, exact bool) {
	switch n := n.(type) {
	case *AndNode:
		return w.all(n.Nodes)
	case *OrNode:
		return w.any(n.Nodes)
	case *NotNode:
		return w.not(n.Node)
	case *Leaf:
		return w.leaf(n)
	case *Elem:
		doc, _ = w.all(Necessary(n))
		return doc, false
	}
	return nil, false
}

// all leaves out conditions that it cannot express, which makes the query wider.
func (w queryWriter) all(nodes []Node) (bson.D, bool) {
	parts, exact := w.parts(nodes)
	return joinQueries("$and", parts), exact
}

// any matches everything if one of the alternatives cannot be expressed.
func (w queryWriter) any(nodes []Node) (bson.D, bool) {
	parts, exact := w.parts(nodes)
	switch {
	case len(nodes) == 0:
		return nowhere(), true
	case len(parts) < len(nodes):
		return nil, exact
	}
	return joinQueries("$or", parts), exact
}

// parts returns the nodes that can be expressed. exact is true if all nodes can be expressed exactly.
func (w queryWriter) parts(nodes []Node) (parts bson.A, exact bool) {
	exact = true
	for _, n := range nodes {
		part, same := w.of(n)
		exact = exact && same
		if len(part) > 0 {
			parts = append(parts, part)
		}
	}
	return parts, exact
}

// joinQueries joins queries by an operator. Without queries it matches everything.
func joinQueries(operator string, parts bson.A) bson.D {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0].(bson.D)
	}
	return bson.D{{Key: operator, Value: parts}}
}

// not negates only an exact query: the opposite of a wider query would be too narrow.
func (w queryWriter) not(n Node) (bson.D, bool) {
	doc, exact := w.of(n)
	switch {
	case !exact:
		return nil, false
	case len(doc) == 0:
		return nowhere(), true
	}
	return bson.D{{Key: "$nor", Value: bson.A{doc}}}, true
}

// nowhere returns a query that no document satisfies. An empty $in is the form that all databases
// accept.
func nowhere() bson.D { return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{}}}}} }

// leaf returns a condition on a path. If a part of the path could be a position in an array, only the matcher
// decides.
func (w queryWriter) leaf(n *Leaf) (bson.D, bool) {
	if n.Path.Len() == 0 || n.Path.Name(0) == w.hidden || numeric(n.Path) {
		return nil, false
	}
	on := func(operator string, operand any) bson.D {
		return bson.D{{Key: n.Path.String(), Value: bson.D{{Key: operator, Value: operand}}}}
	}
	switch t := n.Test.(type) {
	case *Compare:
		if !plain(t.Value) || t.Value.Type == bson.TypeNull && t.Op != Eq {
			return nil, false
		}
		return on(t.Op.String(), t.Value), true
	case *In:
		if len(t.Regexes) > 0 || len(t.Values) > maxIn ||
			slices.ContainsFunc(t.Values, func(v bson.RawValue) bool { return !plain(v) }) {
			return nil, false
		}
		return on("$in", append([]bson.RawValue{}, t.Values...)), true
	case *Exists:
		return on("$exists", true), true
	case *Type:
		if len(t.Types) == 1 && t.Types[0] == bson.TypeString {
			return on("$type", "string"), true
		}
	case *Size:
		return on("$size", t.N), true
	case *Regex:
		return queryOfRegex(n.Path.String(), t)
	}
	return nil, false
}

// maxIn is how many values a list may have, so that lists of texts of some 300 bytes stay within the 16 MB that a
// query document of MongoDB may have.
const maxIn = 50_000

// plain reports whether a value has a type that all databases compare alike. Databases disagree on
// NaN, decimals and binary data.
func plain(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeString, bson.TypeInt32, bson.TypeInt64, bson.TypeBoolean, bson.TypeObjectID, bson.TypeDateTime,
		bson.TypeNull:
		return true
	case bson.TypeDouble:
		return !raw.IsNaN(v)
	}
	return false
}

// queryOfRegex returns a condition for a plain text, or else for the longest plain text that every
// match contains. An expression also matches itself as a stored value, so the query includes such
// values.
func queryOfRegex(path string, re *Regex) (bson.D, bool) {
	condition := func(pattern, options string) bson.D {
		return bson.D{{Key: path, Value: bson.D{{Key: "$regex", Value: pattern}, {Key: "$options", Value: options}}}}
	}
	literal, folded := re.Literal()
	if re.OnlyLiteral() && literal != "" && longestASCII(re.Pattern) == re.Pattern &&
		regexp.QuoteMeta(re.Pattern) == re.Pattern && (re.Options() == "" || re.Options() == "i") {
		return condition(re.Pattern, re.Options()), true
	}
	options := ""
	if folded {
		options, literal = "i", longestASCII(literal) // engines differ in the case of other letters
	}
	if literal == "" {
		return nil, false
	}
	itself := bson.D{{Key: path, Value: bson.D{{Key: "$type", Value: "regex"}}}}
	return bson.D{{Key: "$or", Value: bson.A{condition(regexp.QuoteMeta(literal), options), itself}}}, false
}

// longestASCII returns the longest part of s that has ASCII only.
func longestASCII(s string) (longest string) {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}
