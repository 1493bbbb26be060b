package openapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"vitrine/proxy/openapi"
)

// load parses the description once for all tests.
var load = sync.OnceValue(openapi.Load)

// TestValid: the documents are OpenAPI 3.1 and 3.0, examples included.
func TestValid(t *testing.T) {
	d := load()
	for version, text := range map[string][]byte{"3.1.": d.JSON, "3.0.": d.JSON30} {
		doc, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil {
			t.Fatal(version, err)
		}
		if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
			t.Errorf("%s: %.2000s", version, err)
		}
		if !strings.HasPrefix(doc.OpenAPI, version) {
			t.Errorf("openapi = %s, want %s", doc.OpenAPI, version)
		}
	}
}

// TestWritten: the description has a text wherever a reader needs one.
func TestWritten(t *testing.T) {
	doc := document(t)
	var ids []string
	for path, item := range doc.Paths {
		op := item.Get
		if op.OperationID == "" || op.Summary == "" || len(op.Tags) != 1 {
			t.Errorf("%s: operationId %q, summary %q, tags %v", path, op.OperationID, op.Summary, op.Tags)
		}
		if slices.Contains(ids, op.OperationID) {
			t.Errorf("operationId %s stands twice", op.OperationID)
		}
		ids = append(ids, op.OperationID)
		if _, open := op.Responses["403"]; strings.HasPrefix(path, "/api/") && !open &&
			op.OperationID != "citationIndex" {
			t.Errorf("%s requires a key, and has no 403", path)
		}
	}
}

type operation struct {
	OperationID string         `json:"operationId"`
	Summary     string         `json:"summary"`
	Tags        []string       `json:"tags"`
	Responses   map[string]any `json:"responses"`
}

// document has the parts of the description that these tests check.
func document(t testing.TB) (doc struct {
	Paths map[string]struct {
		Get operation `json:"get"`
	} `json:"paths"`
}) {
	t.Helper()
	if err := json.Unmarshal(load().JSON, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestGenerable: client generators keep the types of rows. Every schema is self-contained, rows of
// lists have a named schema, and a schema has several types only if one of them is null.
func TestGenerable(t *testing.T) {
	d := load()
	for version, text := range map[string][]byte{"3.1": d.JSON, "3.0": d.JSON30} {
		var doc struct {
			Components struct{ Schemas map[string]map[string]any }
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		for name, schema := range doc.Components.Schemas {
			checkGenerable(t, version+" "+name, schema)
			properties, _ := schema["properties"].(map[string]any)
			data, _ := properties["data"].(map[string]any)
			items, _ := data["items"].(map[string]any)
			if _, named := items["$ref"]; properties["status"] != nil && data["type"] == "array" && !named &&
				data["maxItems"] != 0.0 {
				t.Errorf("%s %s: its rows have no name", version, name)
			}
		}
	}
}

// checkGenerable checks a schema and those in it.
func checkGenerable(t *testing.T, place string, schema any) {
	t.Helper()
	s, ok := schema.(map[string]any)
	if !ok {
		t.Errorf("%s: is a boolean schema", place)
		return
	}
	types, _ := s["type"].([]any)
	if len(types) > 2 || len(types) == 2 && types[1] != "null" {
		t.Errorf("%s: type = %v, want an anyOf", place, types)
	}
	if all, _ := s["allOf"].([]any); len(all) > 0 && (len(all) > 1 || s["properties"] != nil) {
		t.Errorf("%s: has its own members beside inherited ones", place)
	}
	if s["type"] == "array" || s["items"] != nil {
		checkGenerable(t, place+"[]", s["items"])
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		all, _ := s[key].([]any)
		for _, choice := range all {
			checkGenerable(t, place+" "+key, choice)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for name, property := range properties {
		checkGenerable(t, place+"."+name, property)
	}
}
