package csl

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of what is read. The longest style of the official repository has about 250 kB, 5,000 elements and 20
// levels.
const (
	maxSource    = 1 << 20
	maxElements  = 50_000
	maxDepth     = 100
	maxAttribute = 4096
)

// namespace is the XML namespace of styles and locales.
const namespace = "http://purl.org/net/xbiblio/csl"

// A node is an XML element with the line that it begins in.
type node struct {
	name  string
	line  int
	attrs map[string]string
	kids  []*node
	text  string
	raw   []byte // becomes text at the end of the element
}

// errorf returns a *SyntaxError at the line of n.
func (n *node) errorf(format string, args ...any) error {
	return &SyntaxError{Line: n.line, Reason: fmt.Sprintf(format, args...)}
}

// child returns the first child with a name, or nil.
func (n *node) child(name string) *node {
	for _, kid := range n.kids {
		if kid.name == name {
			return kid
		}
	}
	return nil
}

// readXML reads a document with the given root element. It accepts no document type and no entities beyond the five
// of XML, so that a document means what it says.
func readXML(src []byte, root string) (*node, error) {
	if len(src) > maxSource {
		return nil, &SyntaxError{Line: 1, Reason: fmt.Sprintf("the file is longer than %d bytes", maxSource)}
	}
	r := &xmlReader{dec: xml.NewDecoder(bytes.NewReader(src))}
	r.dec.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		return nil, &SyntaxError{Line: 1, Reason: fmt.Sprintf("the encoding is %q: save the file as UTF-8", charset)}
	}
	for {
		token, err := r.dec.Token()
		line, _ := r.dec.InputPos()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = r.add(token, line)
		}
		if err != nil {
			return nil, syntaxError(err, line)
		}
	}
	if r.root == nil {
		return nil, &SyntaxError{Line: 1, Reason: "the file has no element <" + root + ">"}
	}
	if r.root.name != root {
		return nil, r.root.errorf("the document is a <%s>, not a <%s>", r.root.name, root)
	}
	return r.root, nil
}

// syntaxError returns an error of the XML decoder as a SyntaxError.
func syntaxError(err error, line int) error {
	var own *SyntaxError
	if errors.As(err, &own) {
		return own
	}
	var foreign *xml.SyntaxError
	if errors.As(err, &foreign) {
		return &SyntaxError{Line: foreign.Line, Reason: foreign.Msg}
	}
	return &SyntaxError{Line: line, Reason: strings.TrimPrefix(err.Error(), "xml: ")}
}

// An xmlReader builds the tree of a document.
type xmlReader struct {
	dec   *xml.Decoder
	root  *node
	stack []*node
	count int
}

// add adds a token to the tree.
func (r *xmlReader) add(token xml.Token, line int) error {
	switch t := token.(type) {
	case xml.StartElement:
		return r.start(&t, line)
	case xml.EndElement:
		n := r.stack[len(r.stack)-1]
		n.text, n.raw = string(n.raw), nil
		r.stack = r.stack[:len(r.stack)-1]
	case xml.CharData:
		if len(r.stack) > 0 {
			n := r.stack[len(r.stack)-1]
			n.raw = append(n.raw, t...)
		}
	case xml.Directive:
		return &SyntaxError{Line: line, Reason: "a document type is not allowed"}
	}
	return nil
}

// start adds an element to the tree.
func (r *xmlReader) start(t *xml.StartElement, line int) error {
	n := &node{name: t.Name.Local, line: line, attrs: make(map[string]string, len(t.Attr))}
	if r.count++; r.count > maxElements {
		return n.errorf("more than %d elements", maxElements)
	}
	if len(r.stack) >= maxDepth {
		return n.errorf("more than %d levels of elements", maxDepth)
	}
	if t.Name.Space != namespace {
		return n.errorf("<%s> is not in the namespace %s", n.name, namespace)
	}
	for _, a := range t.Attr {
		switch {
		case a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns":
			continue
		case len(a.Value) > maxAttribute:
			return n.errorf("attribute %q is longer than %d bytes", a.Name.Local, maxAttribute)
		case a.Name.Space == "http://www.w3.org/XML/1998/namespace" || a.Name.Space == "xml":
			a.Name.Local = "xml:" + a.Name.Local
		}
		if _, twice := n.attrs[a.Name.Local]; twice {
			return n.errorf("attribute %q occurs twice", a.Name.Local)
		}
		n.attrs[a.Name.Local] = a.Value
	}
	if len(r.stack) == 0 {
		if r.root != nil {
			return n.errorf("a second element after the end of <%s>", r.root.name)
		}
		r.root = n
	} else {
		parent := r.stack[len(r.stack)-1]
		parent.kids = append(parent.kids, n)
	}
	r.stack = append(r.stack, n)
	return nil
}
