package openapi

import (
	"cmp"
	"slices"
	"strings"
)

// field is a member of an answer's rows.
type field struct {
	Name   string // its path: a.b, and a[].b for the elements of an array
	Type   string // as the page shows it, see kind
	Always bool   // every row has it
	About  prose
}

// fields returns the members of the rows of an answer, or of the object if the answer is one.
func (n node) fields() []field {
	schema := n.follow()
	if data := schema.Get("properties").Get("data"); data.Node != nil {
		schema = data.follow()
		if items := schema.Get("items"); items.Node != nil {
			schema = items.follow()
		}
	}
	return schema.properties("")
}

// properties lists the members of an object, and their members by path.
func (n node) properties(prefix string) []field {
	required := n.Get("required").values()
	var all []field
	for name, schema := range n.Get("properties").Members() {
		about := cmp.Or(schema.About(), schema.follow().About())
		all = append(all, field{prefix + name, schema.kind(), slices.Contains(required, name), about})
		inside := schema.follow()
		path := prefix + name + "."
		if items := inside.Get("items"); items.Node != nil {
			inside, path = items.follow(), prefix+name+"[]."
		}
		if inside.Get("properties").Get("$oid").Node == nil {
			all = append(all, inside.properties(path)...)
		}
	}
	if more := n.Get("additionalProperties"); more.Node != nil && more.Value != "false" {
		all = append(all, field{Name: prefix + "…", Type: more.kind(), About: "Further fields."})
	}
	return all
}

// kinds are the names that the page shows for named schemas.
var kinds = map[string]string{
	"Stored": "any", "StoredID": "object or string", "ObjectID": "object", "ID": "string", "HTML": "HTML",
	"Date": "string or object", "Year": "integer or string", "Figure": "string or 0",

	// For stored fields, the usual type.
	"StoredText": "string", "StoredTexts": "array of string", "StoredFlag": "boolean",
	"StoredYear": "number or string",
	"StoredDate": "string or object", "StoredReference": "object or string", "StoredReferences": "array of object",
	"StoredPersons": "array of object", "StoredMemberships": "array of object", "StoredObjects": "array of object",
	"StoredWorkflow": "object", "StoredRendering": "object",
}

// kind returns the type of a value, as the page shows it.
func (n node) kind() string {
	if name, ok := strings.CutPrefix(n.Text("$ref"), "#/components/schemas/"); ok {
		if kind, ok := kinds[name]; ok {
			return kind
		}
		return n.follow().kind()
	}
	if c := n.Get("const"); c.Node != nil {
		return c.json()
	}
	all := n.Get("type").values()
	for choice := range n.Get("anyOf").Items() {
		all = append(all, choice.kind())
	}
	switch t := n.Text("type"); {
	case len(all) > 0:
		return strings.Join(slices.Compact(all), " or ")
	case t == "array" && n.Get("items").Node != nil:
		return "array of " + n.Get("items").kind()
	case t != "":
		return t
	}
	return "any"
}
