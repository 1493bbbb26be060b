package openapitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// location is the name under which the schemas know their document.
const location = "https://vitrine.invalid/openapi.json"

// Answer is an answer of the API and what it was asked.
type Answer struct {
	Method string // GET where empty
	Target string // path and query, as sent
	Status int
	Header http.Header // if nil, headers are not looked at
	Body   []byte      // decoded
}

// Checker knows one description. It is safe for concurrent use.
type Checker struct {
	document object
	paths    map[string]object

	mu       sync.Mutex // guards the rest
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by pointer
}

// object is a JSON object of the description.
type object = map[string]any

// New reads a description.
func New(document []byte) (*Checker, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	root, ok := parsed.(object)
	if !ok {
		return nil, errors.New("description: is no object")
	}
	c := &Checker{
		document: root, paths: map[string]object{},
		compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{},
	}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := c.compiler.AddResource(location, parsed); err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	for path, item := range members(root["paths"]) {
		c.paths[path] = members(item)
	}
	return c, nil
}

// members returns an object's members; none of what is no object.
func members(v any) object {
	o, _ := v.(object)
	return o
}

// Paths returns the described paths, sorted.
func (c *Checker) Paths() []string {
	var all []string
	for path := range c.paths {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

// Template returns the described path that a path is one of, "" if there is none.
func (c *Checker) Template(path string) string {
	_, template := c.operation(path)
	return template
}

// Check returns why an answer is not as described, or nil.
func (c *Checker) Check(a Answer) error {
	if err := c.check(a); err != nil {
		return fmt.Errorf("%.200s: status %d: %w", a.Target, a.Status, err)
	}
	return nil
}

// CheckAnyMode returns why a body is not the answer of any mode of a described
// path, or nil: for answers whose request is not known.
func (c *Checker) CheckAnyMode(template string, status int, body []byte) error {
	code, response := c.response(members(c.paths[template]["get"]), status)
	if response == nil {
		return fmt.Errorf("%s: status %d is not described", template, status)
	}
	at := c.resolve(pointer("paths", template, "get", "responses", code)) + pointer("content", "application/json", "schema")
	if err := c.valid(at, body); err != nil {
		return fmt.Errorf("%s: status %d: %w", template, status, err)
	}
	return nil
}

func (c *Checker) check(a Answer) error {
	if a.Method == http.MethodOptions && a.Status == http.StatusNoContent {
		return nil // the answer to a browser's question, whatever the path
	}
	path, query, _ := strings.Cut(a.Target, "?")
	at := pointer("components", "schemas", "Refused")
	operation, template := c.operation(path)
	if reading := a.Method == "" || a.Method == http.MethodGet || a.Method == http.MethodHead; operation == nil || !reading {
		if a.Status < 400 || a.Status > 499 {
			return errors.New("nothing is described for this path and method")
		}
		return c.valid(at, a.Body)
	}
	code, response := c.response(operation, a.Status)
	if response == nil {
		return errors.New("the status is not described")
	}
	content := members(response["content"])
	nothing := emptyBody(response, readQuery(query))
	if (nothing || a.Method == http.MethodHead || len(content) == 0) && len(a.Body) > 0 {
		return fmt.Errorf("a body of %d bytes is not described", len(a.Body))
	}
	if nothing {
		return nil
	}
	if err := c.headers(response, a.Header); err != nil || len(a.Body) == 0 && (a.Method == http.MethodHead || len(content) == 0) {
		return err
	}
	media := content["application/json"]
	if media == nil {
		return mediaType(content, a.Header)
	}
	at = c.resolve(c.resolve(pointer("paths", template, "get", "responses", code)) + pointer("content", "application/json", "schema"))
	return c.documents(at, c.at(at), readQuery(query), a.Body)
}

// mediaType checks that the answer is of a described type, where it is not JSON.
func mediaType(content object, header http.Header) error {
	if header == nil {
		return nil
	}
	given, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("content type: %w", err)
	}
	if content[given] == nil {
		return fmt.Errorf("the content type %s is not described", given)
	}
	return nil
}

// emptyBody reports whether the request is one that is answered with nothing.
func emptyBody(response object, q query) bool {
	when := members(response["x-empty-when"])
	return when != nil && q.meets(when)
}

// operation finds what is described for a path, and its template.
func (c *Checker) operation(path string) (operation object, template string) {
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	if item, ok := c.paths[path]; ok {
		return members(item["get"]), path
	}
	for template, item := range c.paths {
		if matches(template, path) {
			return members(item["get"]), template
		}
	}
	return nil, ""
}

// matches reports whether a path is one of a template.
func matches(template, path string) bool {
	want, have := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i, part := range want {
		variable := strings.HasPrefix(part, "{")
		if !variable && part != have[i] || variable && have[i] == "" {
			return false
		}
	}
	return true
}

// response finds what is described for a status, by itself or by its class, and
// under which code.
func (c *Checker) response(operation object, status int) (code string, response object) {
	all := members(operation["responses"])
	for _, code := range []string{strconv.Itoa(status), strconv.Itoa(status/100) + "XX"} {
		if found := members(all[code]); found != nil {
			return code, c.follow(found)
		}
	}
	return "", nil
}

// follow returns what an object's $ref refers to, or the object itself.
func (c *Checker) follow(o object) object {
	for {
		ref, ok := o["$ref"].(string)
		if !ok {
			return o
		}
		o = c.at(strings.TrimPrefix(ref, "#"))
	}
}

// resolve returns the pointer to what stands at a pointer, past a $ref.
func (c *Checker) resolve(at string) string {
	if ref, ok := c.at(at)["$ref"].(string); ok {
		return c.resolve(strings.TrimPrefix(ref, "#"))
	}
	return at
}

// at returns the object at a pointer, nil if there is none.
func (c *Checker) at(pointer string) object {
	here := any(c.document)
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		here = members(here)[unescape.Replace(part)]
	}
	return members(here)
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// pointer is a JSON pointer to the named parts.
func pointer(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		b.WriteByte('/')
		b.WriteString(escape.Replace(part))
	}
	return b.String()
}

// headers checks that what is always sent was sent.
func (c *Checker) headers(response object, header http.Header) error {
	if header == nil {
		return nil
	}
	for name, described := range members(response["headers"]) {
		if required, _ := c.follow(members(described))["required"].(bool); required && header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	return nil
}

// documents validates a body, which in one mode is two documents, each in its own
// (API.md: projects, 7).
func (c *Checker) documents(at string, schema object, q query, body []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	for i := 1; ; i++ {
		var document json.RawMessage
		if err := decoder.Decode(&document); err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
		branch, mode := pick(schema, q)
		if err := c.valid(at+branch, document); err != nil {
			return err
		}
		next, more := mode["x-followed-by"].(string)
		if !more || !decoder.More() { // with the switch for one document there is no second
			break
		}
		q = q.without(next)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("something stands after the end")
	}
	return nil
}

// pick returns the branch of a schema that a request's mode has.
func pick(schema object, q query) (branch string, mode object) {
	modes, ok := schema["anyOf"].([]any)
	if !ok {
		return "", schema
	}
	for i, m := range modes {
		mode = members(m)
		if when := members(mode["x-when"]); when == nil || q.meets(when) {
			return pointer("anyOf", strconv.Itoa(i)), mode
		}
	}
	return "", schema
}

// valid validates a document against the schema at a pointer.
func (c *Checker) valid(at string, body []byte) error {
	schema, err := c.schema(at)
	if err != nil {
		return err
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	return schema.Validate(document)
}

// schema compiles the schema at a pointer once.
func (c *Checker) schema(at string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.schemas[at]; ok {
		return s, nil
	}
	s, err := c.compiler.Compile(location + "#" + (&url.URL{Fragment: at}).EscapedFragment())
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", at, err)
	}
	c.schemas[at] = s
	return s, nil
}
