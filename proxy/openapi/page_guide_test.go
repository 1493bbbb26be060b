package openapi

import (
	"slices"
	"strings"
)

// endpoint is one path, and the description of its GET.
type endpoint struct {
	node
	Path string
}

// Endpoints returns the endpoints of a tag, in the order of the description.
func (n node) Endpoints(tag string) []endpoint {
	var all []endpoint
	for path, item := range n.Get("paths").Members() {
		if op := item.Get("get"); slices.Contains(op.Get("tags").values(), tag) {
			all = append(all, endpoint{op, path})
		}
	}
	return all
}

// Anchor returns the id of a tag's section of the page.
func (n node) Anchor() string {
	return "about-" + strings.ReplaceAll(strings.ToLower(n.Text("name")), " ", "-")
}

// Open reports whether the endpoint requires no key.
func (e endpoint) Open() bool {
	security := e.Get("security")
	return security.Node != nil && len(security.Content) == 0
}

// parameter is a parameter of an endpoint.
type parameter struct {
	node
	Type    string   // as the page shows it; "flag" for every flag
	Flag    bool     // has no value
	Choices []string // all possible values
}

// Parameters returns the parameters of the endpoint.
func (e endpoint) Parameters() []parameter {
	var all []parameter
	for n := range e.Get("parameters").Items() {
		n = n.follow()
		schema := n.Get("schema")
		p := parameter{n, schema.kind(), n.Text("allowEmptyValue") == "true", schema.Get("enum").values()}
		if p.Flag || p.Type == "boolean" {
			p.Type, p.Flag = "flag", true
		}
		all = append(all, p)
	}
	return all
}

// Example is an initial value in the syntax of a form: lists with commas, objects in brackets.
func (p parameter) Example() string {
	example := p.Get("example")
	parts := example.values()
	if len(parts) > 0 {
		return strings.Join(parts, ",")
	}
	for key, value := range example.Members() {
		parts = append(parts, p.Text("name")+"["+key+"]="+value.Value)
	}
	if len(parts) > 0 {
		return strings.Join(parts, "&")
	}
	return p.Text("example")
}

// answer is one mode of a 200 response.
type answer struct {
	Name   string // of the mode; empty if there is only one
	When   string // the parameters that select the mode
	About  prose
	Fields []field // of a row, or of the object if the answer is one
	Call   string  // the request for the example; empty if not described
	Body   code    // the example
}

// Answers returns the modes of the endpoint's 200 response; that of a call without parameters comes
// first.
func (e endpoint) Answers() []answer {
	response := e.Get("responses").Get("200").follow()
	media := response.Get("content").first()
	if media.Node == nil {
		return nil
	}
	var all []answer
	for mode := range media.Get("schema").follow().Get("anyOf").Items() {
		a := e.answer(mode, media.Get("examples").Get(mode.Text("x-mode")))
		a.Name, a.When, a.About = mode.Text("x-mode"), mode.Get("x-when").when(), mode.follow().About()
		all = append(all, a)
	}
	if all == nil {
		all = []answer{e.answer(media.Get("schema"), media.Get("examples").first())}
		all[0].About = response.About()
	}
	last := len(all) - 1
	return append(all[last:], all[:last]...)
}

// answer returns an answer from its schema and example.
func (e endpoint) answer(schema, example node) answer {
	call := example.Text("summary")
	switch {
	case strings.HasPrefix(call, "?"):
		call = e.Path + call
	case !strings.HasPrefix(call, "/"):
		call = ""
	}
	return answer{Fields: schema.fields(), Call: call, Body: code(example.Get("value").json())}
}

// when returns the parameters that select a mode, as the page shows them.
func (n node) when() string {
	var all []string
	for name, state := range n.Members() {
		switch state.Value {
		case "on":
			name += "=1"
		case "filled":
			name += "=…"
		}
		all = append(all, name)
	}
	if len(all) == 0 {
		return "by default"
	}
	return strings.Join(all, " and ")
}

// problem is an answer with another status.
type problem struct {
	node
	Status string // a code, or a class of them such as 4XX
}

// Errors returns the answers that are neither 200 nor redirects.
func (e endpoint) Errors() []problem {
	var all []problem
	for status, response := range e.Get("responses").Members() {
		if status != "200" && !strings.HasPrefix(status, "3") {
			all = append(all, problem{response.follow(), status})
		}
	}
	return all
}

// Body is the first example.
func (p problem) Body() code {
	return code(p.Get("content").first().Get("examples").first().Get("value").json())
}
