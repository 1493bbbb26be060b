package compare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
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

// number returns the number that a value is, or that its text is, or 0.
func number(v value) int {
	if len(v) == 0 || len(v) > 8 {
		return 0
	}
	n, _ := strconv.Atoi(show(v)) // 0 for what is none
	return n
}

// step matches a member or an index of a path.
var step = regexp.MustCompile(`^(?:\.([^.\[\]$" ]+)|\[(\d+)\])`)

// find returns the value at a path. The row of $.data is the one with an id, or the one of the path if it has none.
func find(v value, path, id string) value {
	for path = strings.TrimPrefix(path, "$"); path != ""; {
		found := step.FindStringSubmatch(path)
		if found == nil || len(v) == 0 {
			return nil
		}
		path = path[len(found[0]):]
		switch {
		case found[1] != "" && v[0] == '{':
			v = decoded[map[string]value](v)[found[1]]
		case found[2] != "" && v[0] == '[':
			all := decoded[[]value](v)
			at, err := strconv.Atoi(found[2])
			if id != "" {
				at = slices.IndexFunc(all, func(r value) bool { return idOf(r) == id })
				id = ""
			}
			if err != nil || at < 0 || at >= len(all) {
				return nil
			}
			v = all[at]
		default:
			return nil
		}
	}
	return v
}

// rows returns the rows of a list, or nil.
func (a Answer) rows() []value {
	all := documents(a.Body)
	if len(all) != 1 || all[0][0] != '{' {
		return nil
	}
	data := decoded[map[string]value](all[0])["data"]
	if len(data) == 0 || data[0] != '[' || parts(data) > mostAsked {
		return nil
	}
	return decoded[[]value](data)
}
