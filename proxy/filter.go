package proxy

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/filter"
)

// readFilter returns the caller's filter: json, or else filter in bracket
// notation, or else all (API.md: Shared filter behaviour). objectIDs names a
// top-level field whose 24 hex digits mean an ObjectID; "" for none.
func (s *Server) readFilter(p params, objectIDs string) (*filter.Filter, error) {
	text, err := p.text("json")
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) != "" {
		return p.filtered(s.filterFromJSON(text, objectIDs))
	}
	tree, err := readBrackets(p, "filter", s.limits)
	if err != nil || tree == nil {
		return filter.All(), err
	}
	doc, err := spelled{param: "filter", objectIDs: objectIDs}.document(tree)
	if err != nil {
		return nil, err
	}
	return p.filtered(s.compile(doc, "filter"))
}

func (s *Server) filterFromJSON(text, objectIDs string) (*filter.Filter, error) {
	o := s.filterOptions("json")
	if objectIDs == "" {
		return filter.Parse([]byte(text), o)
	}
	doc, err := ejson.Parse([]byte(text), ejson.Options{Param: o.Param, MaxBytes: o.MaxBytes})
	if err != nil {
		return nil, err
	}
	doc, err = withObjectID(doc, objectIDs)
	if err != nil {
		return nil, err
	}
	return filter.FromBSON(doc, o)
}

// withObjectID returns doc with a top-level field's hex string as the ObjectID
// it spells; unchanged where it is anything else, such as a project's name.
func withObjectID(doc bson.Raw, field string) (bson.Raw, error) {
	text, ok := doc.Lookup(field).StringValueOK()
	if !ok {
		return doc, nil
	}
	id, ok := objectID(text)
	if !ok {
		return doc, nil
	}
	elements, err := doc.Elements()
	if err != nil {
		return nil, fmt.Errorf("filter: elements of %s: %w", field, err)
	}
	d := make(bson.D, len(elements))
	for i, e := range elements {
		d[i] = bson.E{Key: e.Key(), Value: e.Value()}
		if e.Key() == field {
			d[i].Value = id
		}
	}
	raw, err := bson.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("filter: %s as ObjectID: %w", field, err)
	}
	return raw, nil
}

// compile turns a query made here into a filter. param is the parameter it came
// from; empty for the proxy's own.
func (s *Server) compile(d bson.D, param string) (*filter.Filter, error) {
	raw, err := bson.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("filter: encode: %w", err)
	}
	return filter.FromBSON(raw, s.filterOptions(param))
}

func (s *Server) filterOptions(param string) filter.Options {
	o := s.filterLimits
	o.Param = param
	o.HexIDs = true
	o.Now = s.now()
	o.Foreign = true // the view knows whether there is a database to ask
	return o
}
