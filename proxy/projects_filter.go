package proxy

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/filter"
)

// publicField is the field whose filter value is cast to a boolean.
const publicField = "public"

// searchedFilter returns the filter of an endpoint with search, which replaces
// json and filter where it is given (API.md: Shared filter behaviour, 3).
func (s *Server) searchedFilter(p params, otherwise func(params) (*filter.Filter, error)) (*filter.Filter, error) {
	text, err := p.text("search")
	if err != nil {
		return nil, err
	}
	if text = strings.TrimSpace(text); text == "" {
		return otherwise(p)
	}
	return s.compile(bson.D{{Key: "title", Value: bson.D{
		{Key: "$regex", Value: text}, {Key: "$options", Value: "i"},
	}}}, "search")
}

// projectFilter reads the filter of projects and proposals, whose top-level value
// of public is cast to a boolean (API.md: projects, 4).
func (s *Server) projectFilter(p params) (*filter.Filter, error) {
	return s.searchedFilter(p, func(p params) (*filter.Filter, error) {
		text, err := p.text("json")
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(text) != "" {
			return p.filtered(s.publicFromJSON(text))
		}
		tree, err := readBrackets(p, "filter", s.limits)
		if err != nil || tree == nil {
			return filter.All(), err
		}
		return p.filtered(s.publicFromBrackets(tree))
	})
}

func (s *Server) publicFromJSON(text string) (*filter.Filter, error) {
	o := s.filterOptions("json")
	doc, err := ejson.Parse([]byte(text), ejson.Options{Param: o.Param, MaxBytes: o.MaxBytes})
	if err != nil {
		return nil, err
	}
	if truth, ok := truthOf(doc.Lookup(publicField)); ok {
		if doc, err = withBoolean(doc, publicField, truth); err != nil {
			return nil, err
		}
	}
	return filter.FromBSON(doc, o)
}

func (s *Server) publicFromBrackets(tree *node) (*filter.Filter, error) {
	public := tree.kid(publicField)
	cast := public != nil && public.leaf
	if cast {
		tree = tree.without(publicField)
	}
	doc, err := spelled{param: "filter"}.document(tree)
	if err != nil {
		return nil, err
	}
	if cast {
		doc = append(doc, bson.E{Key: publicField, Value: bson.D{{Key: "$eq", Value: truthOfText(public.text)}}})
	}
	return s.compile(doc, "filter")
}

// truthOf casts a value to a boolean as PHP does, where the API grew up: null,
// zero, "" and "0" are false, everything else is true, the string "false"
// included. A condition such as {"$ne": true} is no value and stays what it is.
func truthOf(v bson.RawValue) (truth, ok bool) {
	switch v.Type {
	case bson.TypeNull, bson.TypeUndefined:
		return false, true
	case bson.TypeBoolean:
		return v.Boolean(), true
	case bson.TypeString:
		return truthOfText(v.StringValue()), true
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return filter.CompareValues(v, bson.RawValue{Type: bson.TypeInt32, Value: make([]byte, 4)}) != 0, true
	}
	return false, false
}

func truthOfText(s string) bool { return s != "" && s != "0" }

// withBoolean returns doc with a top-level field set to a boolean, in its place.
func withBoolean(doc bson.Raw, field string, b bool) (bson.Raw, error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, fmt.Errorf("filter: elements beside %s: %w", field, err)
	}
	d := make(bson.D, len(elements))
	for i, e := range elements {
		d[i] = bson.E{Key: e.Key(), Value: e.Value()}
		if e.Key() == field {
			d[i].Value = b
		}
	}
	raw, err := bson.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("filter: %s as boolean: %w", field, err)
	}
	return raw, nil
}
