package openapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
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

// Page renders the description.
func (d *Description) Page() (Page, error) {
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return Page{}, fmt.Errorf("openapi: page: %w", err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		API    node
		Style  template.CSS
		Script template.JS
	}{node{d.root, d.root}, template.CSS(pageStyle), template.JS(pageScript)})
	if err != nil {
		return Page{}, fmt.Errorf("openapi: page: %w", err)
	}
	return Page{HTML: b.Bytes(), Policy: policy(pageStyle, pageScript)}, nil
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
