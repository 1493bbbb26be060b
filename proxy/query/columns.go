package query

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/raw"
)

// Bounds of columns[] and of the names of stored fields.
const (
	maxColumns   = 64
	maxPathBytes = 256
	maxPathParts = 16
)

// Columns are the requested fields of a record, in the order of the request
// (API.md: activities, 2).
type Columns []Column

// Column is one top-level field of a row.
type Column struct {
	Name string
	projection
}

// projection is MongoDB's inclusion projection below one field: the whole of
// it, or what the parts let through.
type projection struct {
	whole bool
	parts map[string]*projection
}

// Columns reads columns[]. The generated id always leads a row, so asking for it
// changes nothing (DESIGN.md: 16). The names in derived are no stored fields.
func (p Params) Columns(derived ...string) (Columns, error) {
	names, err := p.columnNames()
	if err != nil {
		return nil, err
	}
	var all Columns
	for _, name := range names {
		if name == "id" && len(names) > 1 {
			continue
		}
		if all, err = all.With(name); err != nil {
			return nil, err
		}
		if name != "id" && !slices.Contains(derived, name) {
			p.paths = append(p.paths, name)
		}
	}
	return all, nil
}

// StoredColumns reads columns[] as paths of stored fields.
func (p Params) StoredColumns() ([]string, error) {
	names, err := p.columnNames()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := checkStored("columns", name); err != nil {
			return nil, err
		}
		if name != "id" {
			p.paths = append(p.paths, name)
		}
	}
	return names, nil
}

// columnNames reads columns[] as paths, each once, in the order of the request.
func (p Params) columnNames() ([]string, error) {
	names, err := p.list("columns")
	if err != nil {
		return nil, err
	}
	if len(names) > maxColumns {
		return nil, rules.Wrongf("columns", "", "asks for more than %d", maxColumns)
	}
	var once []string
	for _, name := range names {
		if err := checkPath("columns", name); err != nil {
			return nil, err
		}
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once, nil
}

// Field reads a parameter that names the path of a field; "" when it was not given.
func (p Params) Field(param string) (string, error) {
	path, err := p.Text(param)
	if path = strings.TrimSpace(path); err != nil || path == "" {
		return "", err
	}
	p.paths = append(p.paths, path)
	return path, checkPath(param, path)
}

// StoredField is Field for paths of stored fields.
func (p Params) StoredField(param string) (string, error) {
	path, err := p.Field(param)
	if err != nil {
		return "", err
	}
	return path, checkStored(param, path)
}

// checkPath bounds and validates the path of a field.
func checkPath(param, path string) error {
	switch {
	case len(path) > maxPathBytes:
		return rules.Wrongf(param, Printable(path), "is longer than %d bytes", maxPathBytes)
	case strings.Count(path, ".") >= maxPathParts:
		return rules.Wrongf(param, Printable(path), "has more than %d parts", maxPathParts)
	}
	for part := range strings.SplitSeq(path, ".") {
		if part == "" || part[0] == '$' || strings.IndexByte(part, 0) >= 0 {
			return rules.Wrongf(param, Printable(path), "is not the path of a stored field")
		}
	}
	return nil
}

// checkStored refuses the field that holds this program's own notes in a row.
func checkStored(param, path string) error {
	if top, _, _ := strings.Cut(path, "."); top == display.Reserved {
		return rules.Wrongf(param, path, "is not the path of a stored field")
	}
	return nil
}

// With adds a column, joined to the one that shares its first part.
func (cs Columns) With(name string) (Columns, error) {
	path := strings.Split(name, ".")
	i := slices.IndexFunc(cs, func(c Column) bool { return c.Name == path[0] })
	if i < 0 {
		i = len(cs)
		cs = append(cs, Column{Name: path[0]})
	} else if len(path) == 1 {
		return nil, collision(name)
	}
	if !cs[i].add(path[1:]) {
		return nil, collision(name)
	}
	return cs, nil
}

// collision is what MongoDB too says of a field asked for whole and in parts.
func collision(name string) error {
	return rules.Wrongf("columns", Printable(name), "collides with another column: a field is asked for whole or in parts")
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

// Key is canonical for what the columns show, and in which order. Names are free
// of zero bytes.
func (cs Columns) Key() string {
	var b strings.Builder
	for _, c := range cs {
		b.WriteString(c.Name)
		c.key(&b)
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
	b.WriteString(".{")
	for _, name := range names {
		b.WriteString(name)
		p.parts[name].key(b)
		b.WriteByte(',')
	}
	b.WriteByte('}')
}

// Whole reports whether a field is asked for as a whole, not in parts.
func (c *Column) Whole() bool { return c.whole }

// Project returns what a column shows of its field's value, as MongoDB does:
// sub-documents keep their order, arrays are gone through, and a scalar where
// the path goes on is left out. It returns false if nothing is shown. Of a broken value
// it shows what can be read.
func (p *projection) Project(v bson.RawValue) (bson.RawValue, bool) {
	if v.IsZero() || p.whole {
		return v, !v.IsZero()
	}
	var b raw.Builder
	switch v.Type {
	case bson.TypeArray:
		for element := range raw.Elements(v) {
			if shown, ok := p.Project(element); ok {
				b.Push(shown)
			}
		}
	case bson.TypeEmbeddedDocument:
		r := raw.Read(v.Value)
		for e, more := r.Next(); more; e, more = r.Next() {
			if part := p.parts[string(e.Key)]; part != nil {
				if shown, ok := part.Project(e.Value()); ok {
					b.Add(string(e.Key), shown)
				}
			}
		}
	default:
		return bson.RawValue{}, false
	}
	return b.Finish(v.Type), true
}
