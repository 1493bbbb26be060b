package citation

import (
	"encoding/json"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
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
	var o bson.D // keeps its order, as maps do not
	for _, year := range y {
		o = append(o, bson.E{Key: year.Year, Value: year.Citations})
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
	o := bson.D{{Key: "title", Value: d.Title}, {Key: "doi", Value: d.DOI}}
	for _, field := range d.Fields {
		var value any = field.Value
		if field.Label == authorsLabel {
			value = names(field.Value)
		}
		o = append(o, bson.E{Key: field.Label, Value: value})
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
