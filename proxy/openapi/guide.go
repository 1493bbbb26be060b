package openapi

import (
	"slices"
	"strings"
)

// guide is the description as the page tells it: endpoints by tag, in the order
// in which they are described.
type guide struct {
	Title, Summary, Version string
	About                   prose
	Keys                    []key
	Groups                  []group
}

// key is a way to be let in.
type key struct {
	Name, Where string
	About       prose
}

// group is the endpoints of a tag.
type group struct {
	Name, Anchor string
	About        prose
	Endpoints    []endpoint
}

// endpoint is one path.
type endpoint struct {
	ID, Path, Summary string
	About             prose
	Open              bool // asks for no key
	Parameters        []parameter
	Answers           []answer
	Errors            []problem
}

// parameter is what can be asked.
type parameter struct {
	Name, In, Type string
	Required       bool
	About          prose
	Example        string
	Choices        []string // all values there are
	Flag           bool     // is given or not
}

// answer is one mode of a 200.
type answer struct {
	Name   string // of the mode; empty where there is one
	When   string // what a call has to have for it
	About  prose
	Fields []field
	Call   string // what was asked for the example
	Body   code
}

// problem is an answer of another status.
type problem struct {
	Status string
	About  prose
	Body   code
}

// guide reads the description.
func (d *Description) guide() guide {
	root := node{d.root, d.root}
	info := root.get("info")
	g := guide{
		Title: info.text("title"), Summary: info.text("summary"), Version: info.text("version"),
		About: info.prose("description"),
	}
	for name, scheme := range root.get("components").get("securitySchemes").members() {
		g.Keys = append(g.Keys, key{Name: keyName(name, scheme), Where: keyPlace(scheme), About: scheme.prose("description")})
	}
	for tag := range root.get("tags").items() {
		name := tag.text("name")
		g.Groups = append(g.Groups, group{
			Name: name, Anchor: "about-" + strings.ReplaceAll(strings.ToLower(name), " ", "-"),
			About: tag.prose("description"), Endpoints: root.endpoints(name),
		})
	}
	return g
}

func keyName(name string, scheme node) string {
	if given := scheme.text("name"); given != "" {
		return given
	}
	return "Authorization: Bearer …"
}

func keyPlace(scheme node) string {
	if in := scheme.text("in"); in != "" {
		return in
	}
	return "header"
}

// endpoints returns those of a tag.
func (n node) endpoints(tag string) []endpoint {
	var all []endpoint
	for path, item := range n.get("paths").members() {
		op := item.get("get")
		for t := range op.get("tags").items() {
			if t.Value == tag {
				all = append(all, op.endpoint(path))
			}
		}
	}
	return all
}

func (n node) endpoint(path string) endpoint {
	security := n.get("security")
	e := endpoint{
		ID: n.text("operationId"), Path: path, Summary: n.text("summary"), About: n.prose("description"),
		Open: security.Node != nil && len(security.Content) == 0,
	}
	for p := range n.get("parameters").items() {
		e.Parameters = append(e.Parameters, p.follow().parameter())
	}
	for status, response := range n.get("responses").members() {
		response = response.follow()
		switch {
		case status == "200":
			e.Answers = response.answers(path)
		case strings.HasPrefix(status, "3"):
		default:
			e.Errors = append(e.Errors, problem{Status: status, About: response.prose("description"), Body: response.firstExample()})
		}
	}
	return e
}

func (n node) parameter() parameter {
	schema := n.get("schema")
	p := parameter{
		Name: n.text("name"), In: n.text("in"), Type: schema.kind(), Required: n.text("required") == "true",
		About: n.prose("description"), Example: n.example(), Flag: n.text("allowEmptyValue") == "true",
	}
	for choice := range schema.get("enum").items() {
		p.Choices = append(p.Choices, choice.Value)
	}
	if p.Flag || p.Type == "boolean" {
		p.Type, p.Flag = "flag", true
	}
	return p
}

// example is a value to begin with, as it is entered in a form: lists with commas,
// objects in brackets.
func (n node) example() string {
	example := n.get("example")
	var parts []string
	for item := range example.items() {
		parts = append(parts, item.Value)
	}
	if len(parts) > 0 {
		return strings.Join(parts, ",")
	}
	for key, value := range example.members() {
		parts = append(parts, n.text("name")+"["+key+"]="+value.Value)
	}
	if len(parts) > 0 {
		return strings.Join(parts, "&")
	}
	return n.text("example")
}

// answers are the modes of a response, that of a plain call first.
func (n node) answers(path string) []answer {
	var all []answer
	for _, media := range n.get("content").members() {
		examples := media.get("examples")
		modes := media.get("schema").follow().get("anyOf")
		if modes.Node == nil {
			a := answer{About: n.prose("description"), Fields: media.get("schema").fields()}
			for _, example := range examples.members() {
				a.Call, a.Body = called(path, example.text("summary")), code(example.get("value").json())
				break
			}
			return append(all, a)
		}
		for mode := range modes.items() {
			example := examples.get(mode.text("x-mode"))
			all = append(all, answer{
				Name: mode.text("x-mode"), When: mode.get("x-when").when(), About: mode.follow().prose("description"), Fields: mode.fields(),
				Call: called(path, example.text("summary")), Body: code(example.get("value").json()),
			})
		}
	}
	if last := len(all) - 1; last > 0 {
		all = slices.Insert(all[:last], 0, all[last])
	}
	return all
}

func (n node) firstExample() code {
	for _, media := range n.get("content").members() {
		for _, example := range media.get("examples").members() {
			return code(example.get("value").json())
		}
	}
	return ""
}

// called is what an example was asked with; empty where that is not told.
func called(path, summary string) string {
	switch {
	case strings.HasPrefix(summary, "?"):
		return path + summary
	case strings.HasPrefix(summary, "/"):
		return summary
	}
	return ""
}

// when tells what selects a mode.
func (n node) when() string {
	var all []string
	for name, state := range n.members() {
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
