package proxy

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/cache/view"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
)

// recordRow shows columns of stored records, as they are or rendered.
type recordRow struct {
	columns columns
	// ownID: the stored id stands in for the generated one (DESIGN.md: 16).
	ownID bool
	style *display.Style // nil: values as stored
}

// key is canonical for what the row shows, and how.
func (r recordRow) key() string {
	how := "raw"
	if r.style != nil {
		how = r.style.Lang
	}
	return how + " " + r.columns.key()
}

// append writes a row of a snapshot.
func (r recordRow) append(dst []byte, s *view.Snapshot, slot view.Slot) []byte {
	doc := s.Doc(slot)
	return r.appendFields(dst, doc, func(name string) bson.RawValue { return doc.Lookup(name) })
}

// appendFields writes a row of a document whose top-level fields are looked up
// by field, so that one of them may stand for what unwinding made of it. Missing
// fields are left out.
func (r recordRow) appendFields(dst []byte, doc bson.Raw, field func(string) bson.RawValue) []byte {
	dst = append(dst, '{')
	if !r.ownID {
		dst = append(appendID(append(dst, `"id":`...), doc.Lookup("_id")), ',')
	}
	for _, c := range r.columns {
		if c.name == "id" && !r.ownID {
			continue
		}
		v, ok := c.stored.of(field(c.name))
		if !ok {
			continue
		}
		dst = append(ejson.AppendString(dst, c.name), ':')
		if r.style == nil {
			dst = ejson.Append(dst, display.Stored(c.name, v))
		} else {
			dst = r.style.Append(dst, c.name, v, c.resolving(doc))
		}
		dst = append(dst, ',')
	}
	return append(dst[:len(dst)-trailing(dst)], '}')
}

// resolving is the row to take resolved names from: none for a part of a field,
// which shows itself and not what the whole would be called.
func (c *column) resolving(row bson.Raw) bson.Raw {
	if !c.stored.whole {
		return nil
	}
	return row
}

// trailing is the length of the comma behind the last field, if there is a field.
func trailing(dst []byte) int {
	if dst[len(dst)-1] == ',' {
		return 1
	}
	return 0
}

// of is what the projection lets through of a value; false if nothing.
func (p *projection) of(v bson.RawValue) (bson.RawValue, bool) {
	switch {
	case v.IsZero():
		return v, false
	case p.whole:
		return v, true
	case v.Type == bson.TypeArray:
		values, _ := v.Array().Values() // of a broken array, what can be read
		b := bsoncore.NewArrayBuilder()
		for _, element := range values {
			if kept, ok := p.of(element); ok {
				b.AppendValue(bsoncore.Value{Type: bsoncore.Type(kept.Type), Data: kept.Value})
			}
		}
		return bson.RawValue{Type: bson.TypeArray, Value: b.Build()}, true
	case v.Type == bson.TypeEmbeddedDocument:
		elements, _ := v.Document().Elements() // likewise
		b := bsoncore.NewDocumentBuilder()
		for _, e := range elements {
			part, asked := p.parts[e.Key()]
			if !asked {
				continue
			}
			if kept, ok := part.of(e.Value()); ok {
				b.AppendValue(e.Key(), bsoncore.Value{Type: bsoncore.Type(kept.Type), Data: kept.Value})
			}
		}
		return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: b.Build()}, true
	default:
		return bson.RawValue{}, false
	}
}

// storedColumns reads columns[] as paths of stored fields.
func (s *Server) storedColumns(p params) ([]string, error) {
	names, err := s.columnNames(p)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := checkStored("columns", name); err != nil {
			return nil, err
		}
		if name != "id" {
			p.reach(name)
		}
	}
	return names, nil
}

// storedField reads a parameter that names the path of a stored field; "" when
// it was not given.
func (s *Server) storedField(p params, param string) (string, error) {
	path, err := p.text(param)
	if path = strings.TrimSpace(path); err != nil || path == "" {
		return "", err
	}
	if err := s.checkPath(param, path); err != nil {
		return "", err
	}
	p.reach(path)
	return path, checkStored(param, path)
}

// checkStored refuses the field that holds the house's own notes in a row.
func checkStored(param, path string) error {
	if top, _, _ := strings.Cut(path, "."); top == display.Reserved {
		return rules.Wrongf(param, path, "is not the path of a stored field")
	}
	return nil
}
