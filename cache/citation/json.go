package citation

import (
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
		o.add(year.Year, year.Citations)
	}
	return o.bytes()
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
	var o object
	o.add("title", d.Title)
	o.add("doi", d.DOI)
	for _, field := range d.Fields {
		if field.Label == authorsLabel {
			o.add(field.Label, names(field.Value))
			continue
		}
		o.add(field.Label, field.Value)
	}
	return o.bytes()
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

// object collects the members of a JSON object in order, which maps do not keep.
type object struct {
	members []byte
	err     error
}

// add appends a member.
func (o *object) add(key string, value any) {
	name, err := json.Marshal(key)
	if err != nil {
		o.err = err
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		o.err = err
		return
	}
	if len(o.members) > 0 {
		o.members = append(o.members, ',')
	}
	o.members = append(append(append(o.members, name...), ':'), text...)
}

// bytes returns the object, or the last error of add.
func (o *object) bytes() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	return append(append([]byte{'{'}, o.members...), '}'), nil
}
