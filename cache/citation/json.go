package citation

import (
	"cmp"
	"encoding/json"
	"strings"
)

// Years are citations by year, in the page's order. As JSON they are an object, or
// an empty array if there are none.
type Years []Year

// Year is one year's citations.
type Year struct{ Year, Citations string }

// MarshalJSON writes the object.
func (y Years) MarshalJSON() ([]byte, error) {
	if len(y) == 0 {
		return []byte("[]"), nil
	}
	var o object
	for _, year := range y {
		o = append(o, member{year.Year, year.Citations})
	}
	return o.MarshalJSON()
}

// Number is a number as the page shows it. As JSON it is a string, or the integer 0
// if it is empty.
type Number string

// MarshalJSON writes the string or 0.
func (n Number) MarshalJSON() ([]byte, error) {
	if n == "" {
		return []byte("0"), nil
	}
	return json.Marshal(string(n))
}

// MarshalJSON writes title, doi, and the fields.
func (d Document) MarshalJSON() ([]byte, error) {
	o := object{{"title", d.Title}, {"doi", d.DOI}}
	for _, field := range d.Fields {
		if field.Label == authorsLabel {
			o = append(o, member{field.Label, names(field.Value)})
			continue
		}
		o = append(o, member{field.Label, field.Value})
	}
	return o.MarshalJSON()
}

// names splits a list of names.
func names(list string) []string {
	all := []string{}
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}

// object is a JSON object whose members have an order, which maps do not keep.
type object []member

// member is a member of an object: a string, or a list of them.
type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		name, nameErr := json.Marshal(m.name)
		value, err := json.Marshal(m.value)
		if err = cmp.Or(nameErr, err); err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}
