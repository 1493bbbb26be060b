package proxytest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/valyala/fasthttp"

	"vitrine/proxy/openapi"
)

// A checker compares answers of the API with its description. A test passes an answer with the request that it
// answers:
//
// 	path ──▶ operation ──▶ response for the status ──▶ schema of the mode ──▶ nil, or why the body is invalid
//
// The description also says which mode a request has (x-when; see package openapi), so that a row of one mode cannot
// pass as a row of another.

// location is the name under which the schemas know their document.
const location = "https://vitrine.invalid/openapi.json"

// CheckedAnswer is an answer of the API, and the request that it answers.
type CheckedAnswer struct {
	Method string // GET if empty
	Target string // path and query, as sent
	Status int
	Header http.Header // if nil, headers are not checked
	Body   []byte      // decoded
}

// Checker has one description. It is safe for concurrent use.
type Checker struct {
	document *openapi3.T // with its references resolved

	mu       sync.Mutex // guards compiler
	compiler *jsonschema.Compiler
}

// NewChecker reads a description.
func NewChecker(document []byte) (*Checker, error) {
	c := &Checker{compiler: jsonschema.NewCompiler()}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := c.compiler.AddResource(location, parsed); err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	if c.document, err = openapi3.NewLoader().LoadFromData(document); err != nil {
		return nil, fmt.Errorf("description: %w", err)
	}
	return c, nil
}

// Paths returns the described paths, sorted.
func (c *Checker) Paths() []string { return c.document.Paths.Keys() }

// Check returns nil if an answer is as described, and the reason otherwise.
func (c *Checker) Check(a CheckedAnswer) error {
	if err := c.check(a); err != nil {
		return fmt.Errorf("%.200s: status %d: %w", a.Target, a.Status, err)
	}
	return nil
}

// check is Check without the request in its error. An answer to an unknown path or method must refuse the request.
// Any other answer must have a described status, and the body, headers and media type of its Response.
func (c *Checker) check(a CheckedAnswer) error {
	if a.Method == http.MethodOptions && a.Status == http.StatusNoContent {
		return nil // the answer to a preflight request, for any path
	}
	requested, text, _ := strings.Cut(a.Target, "?")
	query := ReadQuery(text)
	item := c.document.Paths.Value(c.Template(requested))
	if reading := a.Method == "" || a.Method == http.MethodGet || a.Method == http.MethodHead; item == nil ||
		!reading {
		if a.Status < 400 || a.Status > 499 {
			return errors.New("nothing is described for this path and method")
		}
		if strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			return nil // the page for a browser near the path of a list
		}
		return c.valid("#/components/schemas/Refused", a.Body)
	}
	found := item.Get.Responses.Status(a.Status)
	if found == nil {
		return errors.New("the status is not described")
	}
	response := found.Value
	when, empty := response.Extensions["x-empty-when"]
	empty = empty && query.Meets(when)
	bodiless := a.Method == http.MethodHead || len(response.Content) == 0
	if (empty || bodiless) && len(a.Body) > 0 {
		return fmt.Errorf("a body of %d bytes is not described", len(a.Body))
	}
	if empty {
		return nil
	}
	if err := checkHeaders(response, a.Header); err != nil || bodiless {
		return err
	}
	if media := response.Content["application/json"]; media != nil &&
		strings.HasPrefix(cmp.Or(a.Header.Get("Content-Type"), "application/json"), "application/json") {
		return c.documents(media.Schema, query, a.Body)
	}
	return checkMediaType(response, a.Header)
}

// variables are the parts of a described path that a request fills in.
var variables = regexp.MustCompile(`\{[a-z]+\}`)

// Template returns the described path that matches a path, or "".
func (c *Checker) Template(requested string) string {
	if requested != "/" {
		requested = strings.TrimSuffix(requested, "/")
	}
	for _, template := range c.document.Paths.InMatchingOrder() {
		if matches, _ := path.Match(variables.ReplaceAllString(template, "?*"), requested); matches {
			return template
		}
	}
	return ""
}

// checkMediaType checks that an answer that is not JSON has a described type.
func checkMediaType(response *openapi3.Response, header http.Header) error {
	if header == nil {
		return nil
	}
	given, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("content type: %w", err)
	}
	if response.Content[given] == nil {
		return fmt.Errorf("the content type %s is not described", given)
	}
	return nil
}

func checkHeaders(response *openapi3.Response, header http.Header) error {
	for name, described := range response.Headers {
		if header != nil && described.Value.Required && header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	return nil
}

// documents validates a body of one document or, in one mode, two with a schema each (openapi.json: GET
// /api/projects).
func (c *Checker) documents(schema *openapi3.SchemaRef, q query, body []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	for i := 1; ; i++ {
		var document json.RawMessage
		if err := decoder.Decode(&document); err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
		at, next := branch(schema, q)
		if err := c.valid(at, document); err != nil {
			return err
		}
		if next == "" || !decoder.More() { // with formatted_single there is no second document
			break
		}
		q = q.Without(next)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("something stands after the end")
	}
	return nil
}

// branch returns a reference to the branch of a schema for a request's mode. If another document follows, it also
// returns the parameter without which that document is the whole answer.
func branch(schema *openapi3.SchemaRef, q query) (at, next string) {
	for i, mode := range schema.Value.AnyOf {
		keywords := mode.Extensions
		if mode.Ref == "" {
			keywords = mode.Value.Extensions
		}
		if when, ok := keywords["x-when"]; !ok || q.Meets(when) {
			next, _ = keywords["x-followed-by"].(string)
			return schema.Ref + "/anyOf/" + strconv.Itoa(i), next
		}
	}
	return schema.Ref, ""
}

// valid validates a document against the schema at a reference. The compiler caches compiled schemas.
func (c *Checker) valid(ref string, body []byte) error {
	c.mu.Lock()
	schema, err := c.compiler.Compile(location + ref)
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("schema %s: %w", ref, err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	return schema.Validate(document)
}

// query is a query string as the API reads it: values by the name before brackets (name=a, name[]=a, name[0]=a).
type query map[string][]string

// ReadQuery parses the text after the question mark.
func ReadQuery(text string) query {
	q := query{}
	var args fasthttp.Args
	args.Parse(text)
	for key, value := range args.All() {
		name, _, _ := strings.Cut(string(key), "[")
		q[name] = append(q[name], string(value))
	}
	return q
}

// Without returns the query without a parameter.
func (q query) Without(name string) query {
	rest := maps.Clone(q)
	delete(rest, name)
	return rest
}

// Meets reports whether every parameter is in the state that x-when requires.
func (q query) Meets(when any) bool {
	states, _ := when.(map[string]any)
	for name, state := range states {
		values := q[name]
		filled := slices.ContainsFunc(values, func(v string) bool { return strings.Trim(v, ", \t\n") != "" })
		met := map[any]bool{
			"present": len(values) > 0, "filled": filled, "empty": !filled,
			"on": len(values) > 0 && !slices.Contains(off, strings.ToLower(values[len(values)-1])),
		}
		if !met[state] {
			return false
		}
	}
	return true
}

// off are the values of a flag that disable it.
var off = []string{"0", "false", "no", "off"}

// Description checks the answers in tests against the API's description.
var Description = sync.OnceValues(func() (*Checker, error) {
	return NewChecker(openapi.Load().JSON)
})

// checked has the hashes of valid answers, so that an answer that comes a thousand times is checked once.
var checked sync.Map

// described fails a test if an answer is not as described. It sees every answer that a test reads through a Site.
func described(t testing.TB, req *http.Request, res Response) {
	t.Helper()
	const most = 1 << 20 // longer answers are those of large stores, whose rows are all alike
	if len(res.Body) > most || res.Header.Get("Content-Encoding") != "" {
		return
	}
	target := req.RequestURI
	hash := xxhash.New()
	_, _ = hash.WriteString(req.Method + target + "\x00" + res.Status) // never fails
	_, _ = hash.Write(res.Body)
	if _, known := checked.LoadOrStore(hash.Sum64(), true); known {
		return
	}
	c, err := Description()
	if err != nil {
		t.Fatal(err)
	}
	err = c.Check(CheckedAnswer{Method: req.Method, Target: target, Status: res.StatusCode, Header: res.Header,
		Body: res.Body})
	if err != nil {
		t.Errorf("not as described: %v\n%.2000s", err, res.Body)
	}
}
