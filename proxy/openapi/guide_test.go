package openapi

import (
	"fmt"
	"strings"
	"testing"
)

// described is a description of one endpoint with everything that the page shows of endpoints.
const described = `
tags: [{name: Some Lists}, {name: Others}]
components:
  parameters: {Limit: {name: limit, in: query, description: How many., schema: {type: integer}, example: 10}}
  schemas:
    Answer: {anyOf: [{$ref: '#/components/schemas/Full', x-mode: full, x-when: {full: on, page: filled, raw: present}}, {$ref: '#/components/schemas/List', x-mode: list}]}
    Full: {description: All of it., properties: {data: {type: array, items: {additionalProperties: true}}}}
    List: {description: Some of it., properties: {data: {type: array, items: {required: [id], properties: {id: {type: string, description: The id.}, a: {type: object, properties: {b: {type: integer}}}, l: {type: array, items: {properties: {c: {const: 1}}}}}}}}}
  responses: {Refused: {description: Not so., content: {application/json: {examples: {one: {value: {status: 400}}}}}}}
paths:
  /a:
    get:
      tags: [Some Lists]
      operationId: getA
      summary: Lists.
      security: []
      parameters:
        - $ref: '#/components/parameters/Limit'
        - {name: full, in: query, allowEmptyValue: true, schema: {type: string}}
        - {name: sure, in: query, schema: {type: boolean}}
        - {name: kind, in: query, required: true, schema: {type: string, enum: [x, y]}}
        - {name: columns, in: query, schema: {type: array, items: {type: string}}, example: [web, year]}
        - {name: filter, in: query, schema: {type: object}, example: {type: x, year: 2020}}
      responses:
        '200': {description: Fine., content: {application/json: {schema: {$ref: '#/components/schemas/Answer'}, examples: {list: {summary: '?limit=1', value: {a: 1}}, full: {summary: Everything, value: {a: 2}}}}}}
        '304': {description: The same.}
        4XX: {$ref: '#/components/responses/Refused'}
  /b:
    get: {tags: [Others], operationId: getB, security: [{key: []}], responses: {'200': {description: One., content: {application/json: {schema: {properties: {n: {type: number}}}, examples: {one: {summary: '/b?x', value: 7}}}}}}}
  /c:
    get: {tags: [Others], operationId: getC, responses: {'200': {description: None.}}}
`

// TestEndpoints: the endpoints of a tag are in the order of the description.
func TestEndpoints(t *testing.T) {
	root := read(t, described)
	api := node{root, root}
	var got []string
	for tag := range api.Get("tags").Items() {
		got = append(got, tag.Anchor())
		for _, e := range api.Endpoints(tag.Text("name")) {
			got = append(got, fmt.Sprint(e.Path, " ", e.Text("operationId"), " ", e.Open()))
		}
	}
	if want := "about-some-lists, /a getA true, about-others, /b getB false, /c getC false"; strings.Join(got,
		", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// TestParameters: the page shows each parameter's type, choices and initial field value.
func TestParameters(t *testing.T) {
	root := read(t, described)
	var got []string
	for _, p := range (node{root, root}).Endpoints("Some Lists")[0].Parameters() {
		got = append(got, fmt.Sprintf("%s: %s %v %v %q", p.Text("name"), p.Type, p.Flag, p.Choices, p.Example()))
	}
	want := []string{
		`limit: integer false [] "10"`,
		`full: flag true [] ""`,
		`sure: flag true [] ""`,
		`kind: string false [x y] ""`,
		`columns: array of string false [] "web,year"`,
		`filter: object false [] "filter[type]=x&filter[year]=2020"`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestAnswers: the mode of a call without parameters comes first, with its example and fields.
func TestAnswers(t *testing.T) {
	root := read(t, described)
	api := node{root, root}
	for _, tt := range []struct{ tag, want string }{
		{"Some Lists", `list, by default: Some of it. /a?limit=1 {"a":1} [id string true, a object false, a.b integer false, l array of any false, l[].c 1 false]
full, full=1 and page=… and raw: All of it.  {"a":2} [… any false]`},
		{"Others", `, : One. /b?x 7 [n number false]`},
	} {
		var got []string
		for _, e := range api.Endpoints(tt.tag) {
			for _, a := range e.Answers() {
				var fields []string
				for _, f := range a.Fields {
					fields = append(fields, fmt.Sprint(f.Name, " ", f.Type, " ", f.Always))
				}
				got = append(got, fmt.Sprintf("%s, %s: %s %s %s [%s]", a.Name, a.When, a.About, a.Call, a.Body,
					strings.Join(fields, ", ")))
			}
		}
		if strings.Join(got, "\n") != tt.want {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), tt.want)
		}
	}
	errors := api.Endpoints("Some Lists")[0].Errors()
	if len(errors) != 1 || errors[0].Status != "4XX" || errors[0].Body() != `{"status":400}` ||
		errors[0].About() != "Not so." {
		t.Errorf("errors %v", errors)
	}
}
