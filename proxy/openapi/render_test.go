package openapi

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// read parses a YAML text.
func read(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

func TestMerge(t *testing.T) {
	tests := []struct{ name, one, two, want, err string }{
		{"other keys", "a: 1", "b: 2", `{"a":1,"b":2}`, ""},
		{"the same mapping", "paths: {/a: {get: 1}}", "paths: {/b: {get: 2}}",
			`{"paths":{"/a":{"get":1},"/b":{"get":2}}}`, ""},
		{"components by kind", "components: {schemas: {A: 1}}", "components: {schemas: {B: 2}, headers: {C: 3}}",
			`{"components":{"schemas":{"A":1,"B":2},"headers":{"C":3}}}`, ""},
		{"a name twice", "components: {schemas: {A: {x: 1}}}", "components: {schemas: {A: {y: 2}}}", "",
			"A is described twice"},
		{"a scalar twice", "openapi: 3", "openapi: 3", "", "openapi is described twice"},
		{"no mapping", "a: 1", "- a", "", "want a mapping"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			into := read(t, tt.one)
			err := merge(into, read(t, tt.two), mergeDepth)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("err = %v, want %s", err, tt.err)
				}
				return
			}
			got := appendJSON(nil, into)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s (%v), want %s", got, err, tt.want)
			}
		})
	}
}

func TestAppendJSON(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"order", "{z: 1, a: 2, m: 3}", `{"z":1,"a":2,"m":3}`},
		{"scalars", "[1, -1.5, text, '1', true, 'true', null, '']", `[1,-1.5,"text","1",true,"true",null,""]`},
		{"keys are texts", "{200: a, '404': b, true: c}", `{"200":"a","404":"b","true":"c"}`},
		{"markup stays readable", `"<b>&\"quoted\"</b>"`, `"<b>&\"quoted\"</b>"`},
		{"an alias", "{a: &x {b: 1}, c: *x}", `{"a":{"b":1},"c":{"b":1}}`},
		{"several lines", "|\n  one\n  two\n", `"one\ntwo\n"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := appendJSON(nil, read(t, tt.text)); string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestExtend(t *testing.T) {
	const bases = "bases: {List: {type: object, properties: {count: {type: integer}, data: {}}}, " +
		"Page: {extends: List, properties: {limit: {type: integer}}}}\n"
	tests := []struct{ name, schemas, want, err string }{
		{"a base", "{A: {extends: List}}",
			`{"A":{"type":"object","properties":{"count":{"type":"integer"},"data":{}}}}`, ""},
		{"a base of a base, twice",
			"{A: {extends: Page, properties: {data: {type: array}}}, B: {extends: Page, required: [data]}}",
			`{"A":{"type":"object","properties":{"count":{"type":"integer"},"data":{"type":"array"},` +
				`"limit":{"type":"integer"}}},` +
				`"B":{"type":"object","properties":{"count":{"type":"integer"},"data":{},"limit":{"type":"integer"}` +
				`},"required":["data"]}}`, ""},
		{"none of that name", "{A: {extends: Pages}}", "", "there is no base Pages"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := read(t, bases+"components: {schemas: "+tt.schemas+"}")
			err := extend(root)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("err = %v, want %s", err, tt.err)
				}
				return
			}
			got := appendJSON(nil, root)
			if want := `{"components":{"schemas":` + tt.want + "}}"; err != nil || string(got) != want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, want)
			}
		})
	}
}

func TestOlderSchema(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"a constant", "{const: 200}", `{"type":"integer","enum":[200]}`},
		{"null among types", "{type: [string, 'null']}", `{"type":"string","nullable":true}`},
		{"null among alternatives", "{anyOf: [{$ref: '#/a'}, {type: string}, {type: 'null'}]}",
			`{"anyOf":[{"$ref":"#/a"},{"type":"string","nullable":true}]}`},
		{"a reference with a description", "{$ref: '#/a', description: b, x-when: c}",
			`{"description":"b","allOf":[{"$ref":"#/a"}]}`},
		{"a reference with our keywords", "{$ref: '#/a', x-when: c}", `{"$ref":"#/a"}`},
		{"keywords that 3.0 lacks", "{type: object, dependentRequired: {a: [b]}}", `{"type":"object"}`},
		{"alternatives", "{anyOf: [{const: 1}, {items: {const: a}}]}",
			`{"anyOf":[{"type":"integer","enum":[1]},{"items":{"type":"string","enum":["a"]}}]}`},
		{"an example", "{type: object, default: {const: a}, properties: {example: {const: 1}}}",
			`{"type":"object","default":{"const":"a"},"properties":{"example":{"type":"integer","enum":[1]}}}`},
		{"examples", "{type: string, examples: [a, b]}", `{"type":"string","example":"a"}`},
		{"a member called const", "{type: object, properties: {const: {const: a}}, additionalProperties: false}",
			`{"type":"object","properties":{"const":{"type":"string","enum":["a"]}},"additionalProperties":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := read(t, tt.schema)
			rewrite(n, schema)
			if got := appendJSON(nil, n); string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestProse(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"a paragraph", "One\ntwo.\n", "<p>One\ntwo.</p>\n"},
		{"paragraphs", "One.\n\nTwo.\n", "<p>One.</p>\n<p>Two.</p>\n"},
		{"code", "With `raw=0` too.", "<p>With <code>raw=0</code> too.</p>\n"},
		{"markup is text", "a <b> & `<i>`", "<p>a &lt;b&gt; &amp; <code>&lt;i&gt;</code></p>\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(prose(tt.text).HTML()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCode(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"a member", `{"a": 1}`, `{<span class=k>&#34;a&#34;</span>: <span class=v>1</span>}`},
		{"texts", `["x", "y:z"]`, `[<span class=s>&#34;x&#34;</span>, <span class=s>&#34;y:z&#34;</span>]`},
		{"quotes in texts", `"a\"b"`, `<span class=s>&#34;a\&#34;b&#34;</span>`},
		{"markup in texts", `"<b>"`, `<span class=s>&#34;&lt;b&gt;&#34;</span>`},
		{"values", "[true,null,-1.5e3]",
			`[<span class=v>true</span>,<span class=v>null</span>,<span class=v>-1.5e3</span>]`},
		{"what is none", "[nope]", "[nope]"},
		{"a text without end", `"open`, `<span class=s>&#34;open</span>`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(code(tt.text).HTML()); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestKind(t *testing.T) {
	const named = "components: {schemas: {ID: {type: string}, Row: {type: object}, Stored: {}}}\nit: "
	tests := []struct{ name, schema, want string }{
		{"a type", "{type: string}", "string"},
		{"several types", "{type: [integer, string]}", "integer or string"},
		{"an array", "{type: array, items: {type: string}}", "array of string"},
		{"a constant", "{const: 0}", "0"},
		{"alternatives", "{anyOf: [{type: string}, {const: 0}]}", "string or 0"},
		{"alternatives alike", "{anyOf: [{type: string}, {type: string}]}", "string"},
		{"anything", "{}", "any"},
		{"a reference", "{$ref: '#/components/schemas/Row'}", "object"},
		{"a reference with a name of its own", "{$ref: '#/components/schemas/Stored'}", "any"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := read(t, named+tt.schema)
			if got := (node{root, root}).Get("it").kind(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
