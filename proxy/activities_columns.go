package proxy

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
)

// columns are the requested fields of an activity, in the order asked for
// (API.md: activities, 2).
type columns []column

// column is one top-level key of a row.
type column struct {
	name     string
	rendered bool
	stored   projection
}

// projection is MongoDB's inclusion projection below one field: the whole of
// it, or what the parts let through.
type projection struct {
	whole bool
	parts map[string]*projection
}

// columnsFromRendered are read from the rendered representation, everything
// else from the record.
var columnsFromRendered = []string{"web", "print", "icon", "type", "subtype", "authors", "title", "departments"}

// columns reads columns[]. The generated id always leads a row, so asking for it
// changes nothing (DESIGN.md: 16).
func (s *Server) columns(p params) (columns, error) {
	names, err := s.columnNames(p)
	if err != nil {
		return nil, err
	}
	var all columns
	for _, name := range names {
		if name == "id" && len(names) > 1 {
			continue
		}
		if all, err = all.with(name); err != nil {
			return nil, err
		}
		if name != "id" && !slices.Contains(columnsFromRendered, name) {
			p.reach(name)
		}
	}
	return all, nil
}

// columnNames reads columns[] as paths, each once, in the order asked for.
func (s *Server) columnNames(p params) ([]string, error) {
	names, err := p.list("columns")
	if err != nil {
		return nil, err
	}
	if len(names) > s.limits.Columns {
		return nil, rules.Wrongf("columns", "", "asks for more than %d", s.limits.Columns)
	}
	var once []string
	for _, name := range names {
		if err := s.checkPath("columns", name); err != nil {
			return nil, err
		}
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once, nil
}

// with adds a column, joined to the one that shares its first part.
func (cs columns) with(name string) (columns, error) {
	top, rest, dotted := strings.Cut(name, ".")
	i := slices.IndexFunc(cs, func(c column) bool { return c.name == top })
	if i < 0 {
		cs = append(cs, column{name: top, rendered: !dotted && slices.Contains(columnsFromRendered, top)})
		i = len(cs) - 1
	} else if !dotted || cs[i].stored.whole {
		return nil, collision(name)
	}
	if !dotted {
		cs[i].stored.whole = true
		return cs, nil
	}
	if !cs[i].stored.add(strings.Split(rest, ".")) {
		return nil, collision(name)
	}
	return cs, nil
}

// collision is what MongoDB too says of a field asked for whole and in parts.
func collision(name string) error {
	return rules.Wrongf("columns", printable(name), "collides with another column: a field is asked for whole or in parts")
}

// add lets a path through; false if that contradicts what is there.
func (p *projection) add(path []string) bool {
	if p.whole {
		return false
	}
	if len(path) == 0 {
		p.whole = len(p.parts) == 0
		return p.whole
	}
	if p.parts == nil {
		p.parts = map[string]*projection{}
	}
	next, ok := p.parts[path[0]]
	if !ok {
		next = &projection{}
		p.parts[path[0]] = next
	}
	return next.add(path[1:])
}

// key is canonical for what the columns show, and in which order. Names are free
// of zero bytes.
func (cs columns) key() string {
	var b strings.Builder
	for _, c := range cs {
		b.WriteString(c.name)
		c.stored.key(&b)
		b.WriteByte(',')
	}
	return b.String()
}

func (p *projection) key(b *strings.Builder) {
	if p.whole {
		return
	}
	names := make([]string, 0, len(p.parts))
	for name := range p.parts {
		names = append(names, name)
	}
	slices.Sort(names)
	b.WriteByte('.')
	b.WriteByte('{')
	for _, name := range names {
		b.WriteString(name)
		p.parts[name].key(b)
		b.WriteByte(',')
	}
	b.WriteByte('}')
}

// row appends a row of these columns.
func (cs columns) row(dst []byte, a activity) []byte {
	dst = append(dst, a.snap.Fragment(a.slot, fragID)...)
	doc := a.doc()
	for _, c := range cs {
		if c.name != "id" {
			dst = c.append(dst, doc)
		}
	}
	return append(dst, '}')
}

// append writes ,"name":…, or nothing where the record has nothing.
func (c *column) append(dst []byte, doc bson.Raw) []byte {
	before := len(dst)
	dst = append(ejson.AppendString(append(dst, ','), c.name), ':')
	dst, ok := c.value(dst, doc)
	if !ok {
		return dst[:before]
	}
	return dst
}

func (c *column) value(dst []byte, doc bson.Raw) ([]byte, bool) {
	if !c.rendered {
		return c.stored.append(dst, display.Stored(c.name, doc.Lookup(c.name)))
	}
	v := doc.Lookup("rendered", c.name)
	if !present(v) && c.name == "departments" {
		v = doc.Lookup("units")
	}
	if v.IsZero() {
		return dst, false
	}
	return ejson.Append(dst, v), true
}

// append writes what the projection lets through of a value, as MongoDB does:
// sub-documents keep their order, arrays are gone through, and a scalar where
// the path goes on is left out.
func (p *projection) append(dst []byte, v bson.RawValue) ([]byte, bool) {
	switch {
	case v.IsZero():
		return dst, false
	case p.whole:
		return ejson.Append(dst, v), true
	case v.Type == bson.TypeArray:
		return p.appendArray(dst, v.Array()), true
	case v.Type == bson.TypeEmbeddedDocument:
		return p.appendDocument(dst, v.Document()), true
	default:
		return dst, false
	}
}

func (p *projection) appendArray(dst []byte, array bson.RawArray) []byte {
	values, _ := array.Values() // of a broken array, what can be read
	dst = append(dst, '[')
	first := true
	for _, v := range values {
		before := len(dst)
		if !first {
			dst = append(dst, ',')
		}
		out, ok := p.append(dst, v)
		if !ok {
			dst = out[:before]
			continue
		}
		dst, first = out, false
	}
	return append(dst, ']')
}

func (p *projection) appendDocument(dst []byte, doc bson.Raw) []byte {
	elements, _ := doc.Elements() // of a broken document, what can be read
	dst = append(dst, '{')
	first := true
	for _, e := range elements {
		part, ok := p.parts[e.Key()]
		if !ok {
			continue
		}
		before := len(dst)
		if !first {
			dst = append(dst, ',')
		}
		out, ok := part.append(append(ejson.AppendString(dst, e.Key()), ':'), e.Value())
		if !ok {
			dst = out[:before]
			continue
		}
		dst, first = out, false
	}
	return append(dst, '}')
}
