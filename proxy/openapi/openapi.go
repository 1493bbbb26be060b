package openapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed served
var files embed.FS

// Description is the OpenAPI document in its forms. It must not be changed.
type Description struct {
	JSON   []byte // OpenAPI 3.1
	JSON30 []byte // the same in the terms of 3.0, for tools that read nothing newer
	Page   Page
}

// Page is the description for people: one document that fetches nothing.
type Page struct {
	HTML []byte
	// Policy is the Content-Security-Policy it is to be sent with. It lets in the
	// page's own style and script, by their hashes, and calls of the API beside it.
	Policy string
}

// Load returns the description that is built into the program.
func Load() *Description {
	return &Description{
		JSON: compact("served/openapi.json"), JSON30: compact("served/openapi-3.0.json"),
		Page: Page{HTML: file("served/docs.html"), Policy: string(file("served/policy.txt"))},
	}
}

// file returns a file of the program.
func file(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Errorf("openapi: %w", err)) // every test that loads the description finds it
	}
	return content
}

// compact returns a file of JSON without the blanks that make it readable.
func compact(name string) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, file(name)); err != nil {
		panic(fmt.Errorf("openapi: %s: %w", name, err))
	}
	return b.Bytes()
}
