package query

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// Limits on columns[] and on the names of stored fields.
const (
	maxColumns   = 64  // names, including repeated ones
	maxPathBytes = 256 // bytes of a dotted name
	maxPathParts = 16  // parts of a dotted name
)

// Columns are the requested fields of a record, in the order of the request. They are read-only once made.
type Columns []Column

// Column is one top-level field of a row.
type Column struct {
	Name string // name of the field
	projection
}

// projection is MongoDB's inclusion projection below a field: nested projections by name, or nil for the whole
// value. For example, columns[]=a.b&columns[]=a.c is a: {b: nil, c: nil}.
type projection map[string]projection

// Columns reads columns[]. The generated id always comes first in a row, so requesting it has no effect.
// The names in derived are not stored fields.
func (p Params) Columns(derived ...string) Columns {
	names := p.columnNames(derived)
	if len(names) > 1 {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "id" })
	}
	return p.columns(names)
}

// StoredColumns reads columns[] as paths of stored fields. Without columns[] it returns the columns in otherwise.
func (p Params) StoredColumns(otherwise ...string) Columns {
	names := p.columnNames(nil)
	if len(names) == 0 {
		names = otherwise
	}
	return p.columns(names)
}

// columnNames reads columns[] as paths without duplicates. It records all but the derived ones as stored fields.
func (p Params) columnNames(derived []string) []string {
	var names, once []string
	for _, name := range p.Values("columns") {
		if name = strings.TrimSpace(p.UTF8("columns", name)); name != "" {
			names = append(names, name)
		}
	}
	// The limit counts repeated names, too, because reading them takes the time.
	if len(names) > maxColumns {
		p.refuse("columns", "", "asks for more than %d", maxColumns)
		return nil
	}
	for _, name := range names {
		p.checkPath("columns", name)
		if slices.Contains(once, name) {
			continue
		}
		once = append(once, name)
		if name != "id" && !slices.Contains(derived, name) {
			p.paths = append(p.paths, name)
		}
	}
	return once
}

// columns joins the paths that share their first part.
func (p Params) columns(names []string) Columns {
	var all Columns
	for _, name := range names {
		path := strings.Split(name, ".")
		i := slices.IndexFunc(all, func(c Column) bool { return c.Name == path[0] })
		if i < 0 {
			all = append(all, Column{path[0], projectionOf(path[1:])})
		} else if !all[i].add(path[1:]) { // MongoDB refuses this, too
			p.refuse("columns", Printable(name),
				"collides with another column: a field is asked for whole or in parts")
		}
	}
	return all
}

// Field reads a parameter that names the path of a field. It returns "" if the parameter is absent.
func (p Params) Field(param string) string {
	path := strings.TrimSpace(p.Text(param))
	if path != "" {
		p.paths = append(p.paths, path)
		p.checkPath(param, path)
	}
	return path
}

// checkPath bounds and validates the path of a field.
func (p Params) checkPath(param, path string) {
	switch {
	case len(path) > maxPathBytes:
		p.refuse(param, Printable(path), "is longer than %d bytes", maxPathBytes)
	case strings.Count(path, ".") >= maxPathParts:
		p.refuse(param, Printable(path), "has more than %d parts", maxPathParts)
	}
	for part := range strings.SplitSeq(path, ".") {
		if part == "" || part[0] == '$' || strings.IndexByte(part, 0) >= 0 {
			p.refuse(param, Printable(path), "is not the path of a stored field")
		}
	}
	if reason := p.refusal(path); reason != "" {
		p.refuse(param, Printable(path), "%s", reason)
	}
}

// refusal returns why the caller may not name a path, perhaps after positions in the lists of a filter, or "": some
// fields are hidden, and in some this program stores its own data.
func (p Params) refusal(path string) string {
	for part := range strings.SplitSeq(path, ".") {
		if rules.Reserved(part) {
			return "is not the path of a stored field"
		}
		if strings.Trim(part, "0123456789") != "" {
			break
		}
	}
	return p.hidden.Refusal(path)
}

// projectionOf returns the projection of one path below a field; nil for the empty path, which shows all.
func projectionOf(path []string) projection {
	if len(path) == 0 {
		return nil
	}
	return projection{path[0]: projectionOf(path[1:])}
}

// add adds a path. It returns false if one of the paths contains the other.
func (p projection) add(path []string) bool {
	if p == nil || len(path) == 0 {
		return false
	}
	next, ok := p[path[0]]
	if !ok {
		p[path[0]] = projectionOf(path[1:])
		return true
	}
	return next.add(path[1:])
}

// Key returns a canonical text of the columns: fmt sorts the keys of maps and quotes names.
func (cs Columns) Key() string { return fmt.Sprintf("%q", cs) }

// Whole reports whether a column shows its whole field, not parts of it.
func (p projection) Whole() bool { return p == nil }

// Project returns the part of a value that a column shows, as MongoDB does: paths continue through arrays, and a
// scalar is left out if the path continues. It is false for nothing, and reads a malformed value up to the fault.
func (p projection) Project(v bson.RawValue) (bson.RawValue, bool) {
	if v.IsZero() || p == nil {
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
		for e := range raw.All(v.Value) {
			if part, asked := p[string(e.Key)]; asked {
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
