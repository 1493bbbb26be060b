package query

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Limits on a filter in brackets.
const (
	maxBracketPairs = 512 // name=value pairs
	maxBracketDepth = 12  // brackets in one name
)

// filterParam is the parameter in bracket notation.
const filterParam = "filter"

// readBrackets reads the parameter filter into a document for the filter's parser. Pairs come in any order, so they
// are first placed in a tree of documents (bson.D), lists (bson.A) and texts (string), whose type the parser decides
// (filter.Options.Texts). The tree is encoded in one pass, because the parser reads conditions as they are stored.
// The document is nil if filter is absent or malformed. An empty plain value (filter=) counts as absent.
func readBrackets(p Params, casts []cast) bson.Raw {
	var tree any
	pairs := 0
	for pair := range p.of(filterParam) {
		if pair.brackets == "" {
			if strings.TrimSpace(pair.value) != "" {
				p.refuse(filterParam, "",
					"want bracket notation such as filter[type]=publication; JSON goes into json")
			}
			continue
		}
		p.noteBare(pair.brackets)
		var fault string
		if pairs++; pairs > maxBracketPairs {
			p.refuse(filterParam, "", "has more than %d conditions", maxBracketPairs)
		} else if tree, fault = p.place(tree, pair); fault != "" {
			p.refuse(filterParam, Printable(filterParam+pair.brackets), "%s", fault)
		}
		if p.err != nil {
			return nil
		}
	}
	if tree == nil {
		return nil
	}
	doc, ok := tree.(bson.D)
	if !ok || inOrder(doc) != nil {
		p.refuse(filterParam, "", "want named conditions such as filter[type]=publication, not a list")
		return nil
	}
	// Encode the tree, and cast the fields that need it.
	var b raw.Builder
	for _, e := range doc {
		v := p.encode(e.Key, e.Value)
		for _, c := range casts {
			if to, ok := c.to(v); ok && e.Key == c.field && v.Type == bson.TypeString {
				v = to
			}
		}
		b.Add(e.Key, v)
	}
	return b.Document()
}

// bare matches operators without $ where operators of a field stand. Hardly any stored field has such a name. For
// example, filter[year][gte]=2020 asks for the field gte of year, which no record has.
var bare = regexp.MustCompile(`(?:\]\[|:\s*\{\s*")([gl]te?|ne|n?in|regex|exists|elemMatch)["\]]`)

// noteBare reports such names, because with them the filter compares with stored documents.
func (p Params) noteBare(text string) {
	for _, m := range bare.FindAllStringSubmatch(text, -1) {
		p.unknown = append(p.unknown, m[1]+" (did you mean $"+m[1]+"?)")
	}
}

// place adds the value of one pair to a tree. fault says what is wrong with the pair; it is "" if nothing is.
func (p Params) place(tree any, pair pair) (with any, fault string) {
	p.UTF8(filterParam, pair.brackets+pair.value)
	path, ok := splitBrackets(pair.brackets)
	switch {
	case !ok:
		return nil, "brackets do not match"
	case len(path) > maxBracketDepth:
		return nil, fmt.Sprintf("is nested deeper than %d brackets", maxBracketDepth)
	case strings.IndexByte(pair.brackets, 0) >= 0:
		return nil, "has a zero byte, which no field name has"
	}
	return set(tree, path, pair.value)
}

// splitBrackets splits "[a][$in][]" into its parts. It returns false if brackets do not match. For example,
// "[a][$in][]" has the parts "a", "$in" and "".
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

// set adds a text to a tree at a path, of which an empty part appends to a list. fault says what is wrong, or is
// "". It may change the tree that it gets.
func set(tree any, path []string, text string) (with any, fault string) {
	const both = "is given both a value and conditions of its own"
	_, leaf := tree.(string)
	switch {
	case len(path) == 0 && tree == nil:
		return text, ""
	case len(path) == 0 && leaf:
		return nil, "is given twice"
	case len(path) == 0, leaf:
		return nil, both
	}
	list, isList := tree.(bson.A)
	doc, isDoc := tree.(bson.D)
	switch name := path[0]; {
	// PHP would make a map of both; here it is more likely a mistake.
	case name == "" && isDoc, name != "" && isList:
		return nil, "mixes [] with named brackets"
	case name == "":
		element, fault := set(nil, path[1:], text)
		return append(list, element), fault
	default:
		at := slices.IndexFunc(doc, func(e bson.E) bool { return e.Key == name })
		if at < 0 {
			at, doc = len(doc), append(doc, bson.E{Key: name})
		}
		doc[at].Value, fault = set(doc[at].Value, path[1:], text)
		return doc, fault
	}
}

// inOrder returns the values of a document with the keys 0, 1, … in the order of these, or nil for any other: such
// a document is a list. PHP clients number the elements of lists: filter[a][0]=x&filter[a][1]=y.
func inOrder(doc bson.D) bson.A {
	list, found := make(bson.A, len(doc)), 0
	for _, e := range doc {
		if n, err := strconv.Atoi(e.Key); err == nil && n >= 0 && n < len(list) && strconv.Itoa(n) == e.Key {
			list[n] = e.Value
			found++
		}
	}
	if found < len(list) {
		return nil
	}
	return list
}

// encode returns a tree at a path as a value.
func (p Params) encode(path string, tree any) bson.RawValue {
	var b raw.Builder
	switch tree := tree.(type) {
	case string:
		return raw.NewString(tree)
	case bson.A:
		for _, element := range tree {
			b.Push(p.encode(path, element))
		}
		return b.Finish(bson.TypeArray)
	case bson.D:
		if list := inOrder(tree); list != nil {
			return p.encode(path, list)
		}
		// The wrappers of Extended JSON have exactly one member.
		if text, ok := tree[0].Value.(string); ok && len(tree) == 1 {
			switch tree[0].Key {
			case "$oid":
				return p.objectID(path, text)
			case "$date":
				return p.date(path, text)
			}
		}
		for _, e := range tree {
			b.Add(e.Key, p.encode(path+"."+e.Key, e.Value))
		}
	}
	return b.Finish(bson.TypeEmbeddedDocument)
}

// objectID and date read the texts in the two wrappers of Extended JSON that make sense in a URL.
func (p Params) objectID(path, text string) bson.RawValue {
	id, err := bson.ObjectIDFromHex(text)
	if err != nil {
		p.refuse(filterParam, path+".$oid", "want 24 hex digits, got %s", Quote(text))
	}
	return bson.RawValue{Type: bson.TypeObjectID, Value: id[:]}
}

func (p Params) date(path, text string) bson.RawValue {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		p.refuse(filterParam, path+".$date", "want a date such as 2024-01-31T00:00:00Z, got %s", Quote(text))
	}
	millis := uint64(bson.NewDateTimeFromTime(t))
	return bson.RawValue{Type: bson.TypeDateTime, Value: binary.LittleEndian.AppendUint64(nil, millis)}
}
