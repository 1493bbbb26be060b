package query

import (
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Reader reads filters. It is safe for concurrent use.
type Reader struct {
	Limits filter.Options   // limits of every filter
	Now    func() time.Time // the value of $$NOW
}

// cast converts the value of a top-level field.
type cast struct {
	field string
	to    func(bson.RawValue) (value bson.RawValue, ok bool)
}

// Filter returns the filter in json, or else in brackets, or else one that matches everything.
// objectIDs names a top-level field whose 24 hex digits are an ObjectID, or is "".
func (r Reader) Filter(p Params, objectIDs string) *filter.Filter {
	if objectIDs == "" {
		return r.read(p, nil)
	}
	return r.read(p, []cast{{objectIDs, func(v bson.RawValue) (bson.RawValue, bool) {
		text, _ := v.StringValueOK()
		id, err := bson.ObjectIDFromHex(text)
		return bson.RawValue{Type: bson.TypeObjectID, Value: id[:]}, err == nil
	}}})
}

// SearchFilter returns the filter of an endpoint with search, which replaces json and filter if it is present: a
// regular expression on title, without regard to case. In json and filter public is cast to a boolean, and an empty
// $and, which OSIRIS's search form sends if nothing is chosen, has no effect.
func (r Reader) SearchFilter(p Params) *filter.Filter {
	text := strings.TrimSpace(p.Text("search"))
	if text == "" {
		return r.read(p, []cast{{"public", truthOf}, {"$and", filled}})
	}
	return p.Checked(compile(bson.D{{Key: "title", Value: bson.D{
		{Key: "$regex", Value: text}, {Key: "$options", Value: "i"},
	}}}, r.callers(p, "search"))).As("search")
}

// read reads the filter in json or in brackets, and records the fields that it names.
func (r Reader) read(p Params, casts []cast) *filter.Filter {
	var f *filter.Filter
	if text := p.Text("json"); strings.TrimSpace(text) != "" {
		p.noteBare(text)
		f = p.Checked(fromJSON(text, casts, r.callers(p, "json"))).As("json")
	} else if doc := readBrackets(p, casts); doc == nil {
		return filter.All()
	} else {
		o := r.callers(p, filterParam)
		o.Texts = true
		f = p.Checked(filter.FromBSON(doc, o)).As(filterParam)
	}
	paths, _ := filter.Paths(f.Root())
	p.paths = append(p.paths, paths...)
	return f
}

// fromJSON parses a filter in JSON. Only one that may have a field to cast needs a document in between.
func fromJSON(text string, casts []cast, o filter.Options) (*filter.Filter, error) {
	if casts == nil {
		return filter.Parse([]byte(text), o)
	}
	doc, err := ejson.Parse([]byte(text), ejson.Options{Param: o.Param, MaxBytes: o.MaxBytes})
	if err != nil {
		return nil, err
	}
	for _, c := range casts {
		if value, ok := c.to(doc.Lookup(c.field)); ok {
			if doc, err = raw.SetField(doc, c.field, value); err != nil {
				return nil, fmt.Errorf("filter: cast %s: %w", c.field, err)
			}
		}
	}
	return filter.FromBSON(doc, o)
}

// Compile turns a query made by this program into a filter. param is the parameter that the query comes from, or
// "". The query is trusted: it may name fields that callers do not see.
func (r Reader) Compile(d bson.D, param string) (*filter.Filter, error) {
	return compile(d, r.options(param))
}

// compile makes a filter of a query that has Go types.
func compile(d bson.D, o filter.Options) (*filter.Filter, error) {
	doc, err := bson.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("filter: encode: %w", err)
	}
	return filter.FromBSON(doc, o)
}

// callers returns the options of a filter that a caller wrote. The database evaluates a
// foreign filter on whole records, so callers who may not see some fields cannot use one.
func (r Reader) callers(p Params, param string) filter.Options {
	o := r.options(param)
	o.Refusal = p.refusal
	if p.hidden != nil {
		o.Foreign = false
	}
	return o
}

// options returns the options of every filter, before what the caller may see restricts them.
func (r Reader) options(param string) filter.Options {
	o := r.Limits
	o.Param = param
	o.HexIDs = true
	o.Now = r.Now()
	o.Foreign = true // the view decides whether there is a database
	return o
}

// filled returns a list with the empty condition, which all records match, in place of an empty list.
func filled(v bson.RawValue) (list bson.RawValue, ok bool) {
	if v.Type != bson.TypeArray || raw.Count(v) > 0 {
		return bson.RawValue{}, false
	}
	var none, conditions raw.Builder
	conditions.Push(none.Finish(bson.TypeEmbeddedDocument))
	return conditions.Finish(bson.TypeArray), true
}

// truthOf casts a value as PHP does, from which the API comes: null, zero, "" and "0" are false, all else is true,
// even "false". A condition such as {"$ne": true} is not a value.
func truthOf(v bson.RawValue) (truth bson.RawValue, ok bool) {
	is := raw.Truth(v)
	switch v.Type {
	case bson.TypeString:
		is = v.StringValue() != "" && v.StringValue() != "0"
	case bson.TypeNull, bson.TypeUndefined, bson.TypeBoolean, bson.TypeInt32, bson.TypeInt64, bson.TypeDouble,
		bson.TypeDecimal128:
	default:
		return bson.RawValue{}, false
	}
	return raw.NewBool(is), true
}
