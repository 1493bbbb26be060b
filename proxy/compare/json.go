package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// value is a JSON value: a part of a body, which is not copied. Its length is at most the body's, and it is valid
// JSON without white space around it.
type value []byte

// UnmarshalJSON implements json.Unmarshaler. It may keep the text, because only decoded calls it, for values that
// stay.
func (v *value) UnmarshalJSON(text []byte) error {
	*v = text
	return nil
}

// documents returns the JSON documents of a body, or nil if it has something else. /api/projects?formatted has two.
// Of too many it returns one more than can be compared.
func documents(body []byte) (all []value) {
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' && body[0] != '[' {
		return nil
	}
	if json.Valid(body) {
		return []value{body}
	}
	for d := json.NewDecoder(bytes.NewReader(body)); d.More() && len(all) <= mostParts; {
		var one json.RawMessage
		if d.Decode(&one) != nil {
			return nil
		}
		all = append(all, value(one))
	}
	return all
}

// json compares two values, of which one may be nil. It decodes one level at a time, and only where their bytes
// differ, so that long lists take little more memory than their text. The order of members does not matter.
func (a *answers) json(path string, old, new value) {
	if bytes.Equal(old, new) || !a.spend(path, 2*workToDecode+workToRead*(len(old)+len(new))) {
		return
	}
	a.depth++
	defer func() { a.depth-- }()
	switch {
	case new == nil:
		a.reportValues(FieldMissing, path, old, nil)
	case old == nil:
		a.reportValues(FieldAdded, path, nil, new)
	case a.depth > mostDepth && max(len(old), len(new)) > mostSpelled:
		a.skip(path, "", "")
	case a.depth > mostDepth && canonical(old) == canonical(new):
	case a.depth > mostDepth:
		a.reportValues(FieldChanged, path, old, new)
	case old[0] == '{' && new[0] == '{':
		if a.fit(path, parts(old), parts(new), mostParts, "fields") {
			a.members(path, decoded[map[string]value](old), decoded[map[string]value](new))
		}
	case old[0] == '[' && new[0] == '[':
		if a.fit(path, parts(old), parts(new), mostParts, "rows") {
			a.rows(path, decoded[[]value](old), decoded[[]value](new))
		}
	case old[0] == '"' && new[0] == '"':
		was, is := decoded[string](old), decoded[string](new)
		if tag.MatchString(was) || tag.MatchString(is) {
			a.markup, a.cleaned = &texts{path, was, is}, nil
			a.html(path, was, is)
			a.markup, a.cleaned = nil, nil
		} else if was != is {
			a.reportValues(FieldChanged, path, old, new)
		}
	case sameNumber(string(old), string(new)):
	case path == "$.count":
		a.reportValues(Count, path, old, new)
	default:
		a.reportValues(FieldChanged, path, old, new)
	}
}

// members compares two objects. Members are visited in the order of their names, so that a report does not depend
// on the order of a map.
func (a *answers) members(path string, old, new map[string]value) {
	for _, name := range slices.Sorted(maps.Keys(old)) {
		a.json(member(path, name), old[name], new[name])
		delete(new, name)
	}
	for _, name := range slices.Sorted(maps.Keys(new)) {
		a.json(member(path, name), nil, new[name])
	}
}

// parts counts the elements of an array, or the members of an object, of which the text is known to be valid.
// Decoded, each takes many times the memory of its text.
func parts(text value) int {
	n, depth := 1, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 1 {
				n++
			}
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return n
}

// decoded returns a value of JSON that is known to be valid. With a map or slice of values as T it decodes one
// level, and the text below stays as it is.
func decoded[T any](text value) (v T) {
	_ = json.Unmarshal(text, &v) // ignore the error: the text has been read before
	return v
}

// member returns the path of a member of an object. It shortens a long name, which the paths of all values below it
// have. $.data[17] and title make $.data[17].title; a name such as a.b makes $["a.b"].
func member(path, name string) string {
	if name = shorten(name); strings.ContainsAny(name, ".[]$\" ") || name == "" {
		return path + "[" + strconv.Quote(name) + "]"
	}
	return path + "." + name
}

// show returns the text of a value: a string without quotes.
func show(text value) string {
	if len(text) > 0 && text[0] == '"' {
		return decoded[string](text)
	}
	return string(text)
}

// sameNumber reports whether two texts are numbers of the same value. Long integers, which a float64 does not hold,
// must be the same digits. 1, 1.0 and 1e0 are the same number; 16 digits and more may differ where their float64
// does not.
func sameNumber(old, new string) bool {
	o, oldErr := strconv.ParseFloat(old, 64)
	n, newErr := strconv.ParseFloat(new, 64)
	whole := !strings.ContainsAny(old+new, ".eE")
	return oldErr == nil && newErr == nil && o == n && (!whole || len(old) < 16 && len(new) < 16)
}

// row is an element of an array. at is the index that paths and reports name, so rows keep it although they are
// paired in any order.
type row struct {
	at    int // its index
	text  value
	id    string // empty if it has none
	twin  *row   // the same row of the other array
	moved bool
	list  string // the relation of the orders of both arrays; see listRelation
	end   value  // the member by which rows of the same rank are sorted
}

// identify returns the rows of an array. An element's id is the first of _id, id and value that it has. Elements
// that are no objects have none.
func (a *answers) identify(path string, array []value) (all []*row) {
	for i, text := range array {
		if !a.spend(path, 2*workToDecode+4*workToRead*len(text)) {
			return nil
		}
		all = append(all, &row{at: i, text: text, id: idOf(text)})
	}
	return all
}

// idOf returns the id of an element, or "".
func idOf(text value) string {
	if len(text) == 0 || text[0] != '{' {
		return ""
	}
	named := decoded[struct {
		OID   value `json:"_id"`
		ID    value `json:"id"`
		Value value `json:"value"` // of a group
	}](text)
	if id := cmp.Or(string(named.OID), string(named.ID), string(named.Value)); id != "" {
		return keyOf(value(id))
	}
	return ""
}

// pair makes twins of rows of two arrays that have the same key, in their order: a search returns a record several
// times if it unwinds an array. It leaves out rows without a key.
func pair(was, is []*row, key func(*row) string) {
	waiting := map[string][]*row{}
	for _, r := range is {
		if k := key(r); r.twin == nil && k != "" {
			waiting[k] = append(waiting[k], r)
		}
	}
	for _, r := range was {
		k := key(r)
		if same := waiting[k]; r.twin == nil && len(same) > 0 {
			r.twin, same[0].twin = same[0], r
			waiting[k] = same[1:]
		}
	}
}

// canonical returns a value in one spelling. An ObjectID is its digits. json.Marshal sorts members, so two
// spellings of an object become one.
func canonical(text value) string {
	v := decoded[any](text)
	if m, ok := v.(map[string]any); ok && len(m) == 1 && m["$oid"] != nil {
		v = m["$oid"]
	}
	if s, ok := v.(string); ok {
		return s
	}
	spelled, _ := json.Marshal(v) // cannot fail: it was JSON
	return string(spelled)
}

// keyOf returns a short text for a value, which values of the same meaning share; long ones only if their text is
// equal. The hash takes the place of a long id or element in the map, whose keys would otherwise hold the whole
// answer again.
func keyOf(text value) string {
	spelled := string(text[:min(len(text), mostSpelled)])
	if len(text) <= mostSpelled {
		if spelled = canonical(text); len(spelled) <= mostShown {
			return spelled
		}
		text = value(spelled)
	}
	return fmt.Sprintf("%s… %x", strings.ToValidUTF8(spelled[:mostShown], ""), xxhash.Sum64(text))
}

// rows compares two arrays: rows that one of them lacks, rows that have moved, and differences within the others.
// Three steps: pair the rows with equal ids, then mark those that have moved, then pair the rest in their order and
// compare each pair. An edit distance would find a better pairing, but takes the square of the rows.
func (a *answers) rows(path string, old, new []value) {
	was, is := a.identify(path, old), a.identify(path, new)
	if a.work.over {
		return
	}
	// rows with the same id as another: equal ones first
	if several := repeated(was, is); len(several) > 0 {
		pair(was, is, func(r *row) string {
			if !several[r.id] || !a.spend(path, workToDecode+8*workToRead*min(len(r.text), mostSpelled)) {
				return ""
			}
			return r.id + "\x00" + keyOf(r.text)
		})
	}
	pair(was, is, func(r *row) string { // its id, or all of it
		if r.id == "" {
			return "\x00" + keyOf(r.text)
		}
		return r.id
	})
	if markMoved(was, is) {
		if relation := a.listRelation(path, was, is); relation != "" {
			for _, r := range was {
				r.list = relation
			}
		}
	}
	pair(was, is, func(r *row) string { // those without an id and an equal are compared in their order
		switch {
		case r.id != "":
			return ""
		case r.text[0] == '{':
			return "object"
		}
		return "other"
	})
	none := &row{}
	for _, r := range was {
		a.inRow(r, path, r.text, cmp.Or(r.twin, none).text)
	}
	for _, r := range is {
		if r.twin == nil {
			a.inRow(r, path, nil, r.text)
		}
	}
}

// markMoved marks rows of the old array so that the others have one order. Where the orders part, it takes the row
// that is farther away in the other array. One row moved to the front is one difference, not one for every row
// behind it. It reports whether there is any.
func markMoved(was, is []*row) (some bool) {
	for i, j := 0, 0; i < len(was); {
		switch o := was[i]; {
		case o.twin == nil || o.moved:
			i++
		case is[j].twin == nil || is[j].twin.moved: // there is a j, because o.twin is not passed yet
			j++
		case o.twin == is[j]:
			i, j = i+1, j+1
		case o.twin.at-j >= is[j].twin.at-i:
			o.moved, some = true, true
		default:
			is[j].twin.moved, some = true, true
		}
	}
	return some
}

// repeated returns the ids that several rows of an array have: a search that unwinds an array has a row for each of
// its elements.
func repeated(arrays ...[]*row) map[string]bool {
	several := map[string]bool{}
	for _, rows := range arrays {
		seen := make(map[string]bool, len(rows))
		for _, r := range rows {
			if r.id != "" && seen[r.id] {
				several[r.id] = true
			}
			seen[r.id] = true
		}
	}
	return several
}

// inRow compares a row, of which one side may be nil. Differences in a nested row belong to the outer one.
func (a *answers) inRow(r *row, array string, old, new value) {
	row, record := a.row, a.record
	defer func() { a.row, a.record = row, record }()
	a.row, a.record = cmp.Or(row, r.id), cmp.Or(r.id, record)
	path := array + "[" + strconv.Itoa(r.at) + "]"
	switch object := r.text[0] == '{'; {
	case object && new == nil:
		a.reportValues(RowMissing, path, old, nil)
	case object && old == nil:
		a.reportValues(RowAdded, path, nil, new)
	default:
		if r.moved {
			a.reportDifference(Difference{Kind: Order, Path: path, Old: strconv.Itoa(r.at),
				New: strconv.Itoa(r.twin.at), list: r.list})
		}
		a.json(path, old, new)
	}
}
