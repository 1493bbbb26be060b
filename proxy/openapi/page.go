package openapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"

	"go.yaml.in/yaml/v3"
)

//go:embed page/page.tmpl
var pageTemplate string

//go:embed page/style.css
var pageStyle string

//go:embed page/script.js
var pageScript string

// Page is the description for people: one document that fetches nothing.
type Page struct {
	HTML []byte
	// Policy is the Content-Security-Policy it is to be sent with. It lets in the
	// page's own style and script, by their hashes, and calls of the API beside it.
	Policy string
}

// newPage renders a description.
func newPage(root *yaml.Node) Page {
	var b bytes.Buffer
	err := template.Must(template.New("page").Parse(pageTemplate)).Execute(&b, struct {
		API    node
		Style  template.CSS
		Script template.JS
	}{node{root, root}, template.CSS(pageStyle), template.JS(pageScript)})
	if err != nil {
		panic(fmt.Errorf("openapi: page: %w", err))
	}
	return Page{HTML: b.Bytes(), Policy: policy(pageStyle, pageScript)}
}

// policy returns the Content-Security-Policy of a page with that style and script.
func policy(style, script string) string {
	return "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" +
		"; style-src " + hash(style) + "; script-src " + hash(script)
}

// hash names an inline element's content in a policy.
func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
