package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// value is a JSON value: a part of a body, which is not copied.
type value []byte

// UnmarshalJSON implements json.Unmarshaler. It may keep the text, because only decoded calls it, for values that stay.
func (v *value) UnmarshalJSON(text []byte) error {
	*v = text
	return nil
}

// documents returns the JSON documents of a body, or nil if it has others.
func documents(body []byte) (all []value) {
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' && body[0] != '[' {
		return nil
	}
	if json.Valid(body) { // one document, as nearly always
		return []value{body}
	}
	for d := json.NewDecoder(bytes.NewReader(body)); ; {
		var one json.RawMessage
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			return nil
		}
		all = append(all, value(one))
	}
}

const (
	mostDepth = 30      // how deep values are compared by their parts: each level decodes what is below it
	mostRows  = 200_000 // how many rows of an array are compared
)

// json compares two values. It decodes one level at a time, and only where their bytes differ, so that long lists take
// little more memory than their text. The order of members does not matter.
func (a *answers) json(path string, old, new value) {
	if bytes.Equal(old, new) {
		return
	}
	a.depth++
	defer func() { a.depth-- }()
	switch kind := old[0]; {
	case a.depth > mostDepth:
		if was, is := canonical(old), canonical(new); was != is {
			a.report(FieldChanged, path, was, is)
		}
	case kind == '{' && new[0] == '{':
		was, is := decoded[map[string]value](old), decoded[map[string]value](new)
		for _, name := range slices.Sorted(maps.Keys(was)) {
			if other, ok := is[name]; ok {
				a.json(member(path, name), was[name], other)
			} else {
				a.report(FieldMissing, member(path, name), show(was[name]), "")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(is)) {
			if _, ok := was[name]; !ok {
				a.report(FieldAdded, member(path, name), "", show(is[name]))
			}
		}
	case kind == '[' && new[0] == '[':
		a.rows(path, decoded[[]value](old), decoded[[]value](new))
	case kind == '"' && new[0] == '"':
		was, is := decoded[string](old), decoded[string](new)
		if was != is && (tag.MatchString(was) || tag.MatchString(is)) {
			a.html(path, was, is)
		} else if was != is {
			a.report(FieldChanged, path, was, is)
		}
	case !sameNumber(string(old), string(new)):
		changed := FieldChanged
		if path == "$.count" {
			changed = Count
		}
		a.report(changed, path, show(old), show(new))
	}
}

// decoded returns a value of JSON that is known to be valid.
func decoded[T any](text value) (v T) {
	_ = json.Unmarshal(text, &v) // ignore the error: the text has been read before
	return v
}

// member returns the path of a member of an object.
func member(path, name string) string {
	if strings.ContainsAny(name, ".[]$\" ") || name == "" {
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
// must be the same digits.
func sameNumber(old, new string) bool {
	o, oldErr := strconv.ParseFloat(old, 64)
	n, newErr := strconv.ParseFloat(new, 64)
	whole := !strings.ContainsAny(old+new, ".eE")
	return oldErr == nil && newErr == nil && o == n && (!whole || len(old) < 16 && len(new) < 16)
}

// row is an element of an array.
type row struct {
	at       int // its index
	text     value
	key      string // finds the same row in the other array
	id       string // empty if it has none
	isObject bool
}

// identify returns the rows of an array. The key of a row is its id; without one its whole value. Rows with the same key
// are counted, since a search returns a record several times if it unwinds an array.
func identify(array []value) []row {
	all, times := make([]row, len(array)), map[string]int{}
	for i, text := range array {
		r := row{at: i, text: text, isObject: text[0] == '{'}
		if r.isObject {
			named := decoded[struct {
				OID   value `json:"_id"`
				ID    value `json:"id"`
				Value value `json:"value"` // of a group
			}](text)
			for _, id := range []value{named.OID, named.ID, named.Value} {
				if r.id == "" && len(id) > 0 {
					r.id = canonical(id)
				}
			}
		}
		if r.key = r.id; r.id == "" {
			r.key = "\x00" + canonical(text)
		}
		times[r.key]++
		r.key += "\x00" + strconv.Itoa(times[r.key])
		all[i] = r
	}
	return all
}

// canonical returns a value in one spelling. An ObjectID is its digits.
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

// rows compares two arrays: which rows one of them lacks, which have moved, and what differs in the others. Rows that
// have no id and no equal are compared in their order.
func (a *answers) rows(path string, old, new []value) {
	if max(len(old), len(new)) > mostRows {
		a.report(Failed, path, fmt.Sprintf("%d rows, too many to compare", len(old)), fmt.Sprintf("%d rows, too many to compare", len(new)))
		return
	}
	was, is := identify(old), identify(new)
	found := make(map[string]row, len(is))
	for _, r := range is {
		found[r.key] = r
	}
	var pairs [][2]row
	var lost []row
	for _, r := range was {
		if other, ok := found[r.key]; ok {
			pairs = append(pairs, [2]row{r, other})
			delete(found, r.key)
		} else {
			lost = append(lost, r)
		}
	}
	gained := slices.DeleteFunc(is, func(r row) bool { _, left := found[r.key]; return !left })
	unnamed := map[bool][]row{} // gained rows without an id, by whether they are objects
	for _, r := range gained {
		if r.id == "" {
			unnamed[r.isObject] = append(unnamed[r.isObject], r)
		}
	}
	for _, r := range lost {
		if left := unnamed[r.isObject]; r.id == "" && len(left) > 0 {
			unnamed[r.isObject] = left[1:]
			delete(found, left[0].key)
			a.json(r.path(path), r.text, left[0].text)
		} else {
			a.inRow(r, func() { a.report(r.kind(RowMissing, FieldMissing), r.path(path), show(r.text), "") })
		}
	}
	for _, r := range gained {
		if _, left := found[r.key]; left {
			a.inRow(r, func() { a.report(r.kind(RowAdded, FieldAdded), r.path(path), "", show(r.text)) })
		}
	}
	moved := outOfOrder(pairs)
	for i, p := range pairs {
		a.inRow(p[0], func() {
			if moved[i] {
				a.report(Order, p[0].path(path), strconv.Itoa(p[0].at), strconv.Itoa(p[1].at))
			}
			a.json(p[0].path(path), p[0].text, p[1].text)
		})
	}
}

func (r row) path(array string) string { return array + "[" + strconv.Itoa(r.at) + "]" }

func (r row) kind(object, other Kind) Kind {
	if r.isObject {
		return object
	}
	return other
}

// inRow calls report while differences belong to a row. In rows of a row they belong to the outer one.
func (a *answers) inRow(r row, report func()) {
	if a.row == "" && r.id != "" {
		a.row = r.id
		defer func() { a.row = "" }()
	}
	report()
}

// outOfOrder returns the least number of pairs, by index, that must move so that the others have one order: those that
// are not in the longest increasing subsequence.
func outOfOrder(pairs [][2]row) map[int]bool {
	var tails []int // by length: the pair that ends a subsequence with the lowest index
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n := sort.Search(len(tails), func(n int) bool { return pairs[tails[n]][1].at >= p[1].at })
		if before[i] = -1; n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		}
		tails[n] = i
	}
	moved := map[int]bool{}
	if len(tails) == len(pairs) {
		return moved
	}
	for i := range pairs {
		moved[i] = true
	}
	for i := tails[len(tails)-1]; i >= 0; i = before[i] {
		delete(moved, i)
	}
	return moved
}
