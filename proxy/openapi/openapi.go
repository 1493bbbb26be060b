package openapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html"
)

//go:embed served
var files embed.FS

// Description is the OpenAPI document in several forms. It must not be changed.
type Description struct {
	JSON   []byte // OpenAPI 3.1
	JSON30 []byte // the same as OpenAPI 3.0, for tools that do not read newer versions
	Page   []byte // the same for people: an HTML document that loads nothing else
	// the page's Content-Security-Policy: its own style and script, by hash, and requests to this server
	Policy string
}

// Load returns the description that is built into the program.
func Load() *Description {
	return &Description{
		JSON: compact("served/openapi.json"), JSON30: compact("served/openapi-3.0.json"),
		Page: file("served/docs.html"), Policy: string(file("served/policy.txt")),
	}
}

// Below returns the description of a server that clients see below a path such as /vitrine; "" means at the root.
func (d *Description) Below(root string) *Description {
	if root == "" {
		return d
	}
	quoted, _ := json.Marshal(root) // cannot fail
	inJSON := func(document []byte) []byte {
		const begin = `"servers":[{"url":`
		return bytes.Replace(document, []byte(begin+`"/"`), append([]byte(begin), quoted...), 1)
	}
	page := bytes.Replace(d.Page, []byte(`data-root=""`), []byte(`data-root="`+html.EscapeString(root)+`"`), 1)
	page = bytes.ReplaceAll(page, []byte(`href="/openapi`), []byte(`href="`+html.EscapeString(root)+`/openapi`))
	return &Description{inJSON(d.JSON), inJSON(d.JSON30), page, d.Policy}
}

func file(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Errorf("openapi: %w", err)) // every test that loads the description would find it
	}
	return content
}

// compact returns a JSON file without the white space that makes it readable.
func compact(name string) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, file(name)); err != nil {
		panic(fmt.Errorf("openapi: %s: %w", name, err))
	}
	return b.Bytes()
}
