package citation

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of a page, far above those of the index's pages.
const (
	maxTokens     = 50_000
	maxAttributes = 100 // of one tag
	maxDepth      = 512
)

// buildTree builds the tree of a page from its tags, one node for each token. html.Parse
// would repair the page as browsers do: it reopens unclosed formatting tags in each block
// and merges the attributes of all html and body tags. A hostile page of 130 kB then takes
// a gigabyte and minutes. The index closes its tags, so no repair is needed.
func buildTree(ctx context.Context, body []byte) (*html.Node, error) {
	root := &html.Node{Type: html.DocumentNode}
	open := []*html.Node{root}
	z := html.NewTokenizer(bytes.NewReader(body))
	for tokens := 0; ; tokens++ {
		if tokens%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if tokens == maxTokens {
			return nil, fmt.Errorf("more than %d tokens", maxTokens)
		}
		switch kind := z.Next(); kind {
		case html.ErrorToken: // end of input: reading from memory does not fail
			return root, nil
		case html.TextToken:
			open[len(open)-1].AppendChild(&html.Node{Type: html.TextNode, Data: string(z.Text())})
		case html.StartTagToken, html.SelfClosingTagToken:
			n, err := element(z)
			if err != nil {
				return nil, err
			}
			open[len(open)-1].AppendChild(n)
			if kind == html.SelfClosingTagToken || slices.Contains(void[:], n.DataAtom) {
				continue
			}
			if open = append(open, n); len(open) > maxDepth {
				return nil, fmt.Errorf("nested deeper than %d", maxDepth)
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			open = closeLast(open, string(name))
		}
	}
}

// element returns the tokenizer's current tag.
func element(z *html.Tokenizer) (*html.Node, error) {
	name, more := z.TagName()
	n := &html.Node{Type: html.ElementNode, Data: string(name), DataAtom: atom.Lookup(name)}
	for more {
		if len(n.Attr) == maxAttributes {
			return nil, fmt.Errorf("more than %d attributes in a tag", maxAttributes)
		}
		var key, value []byte
		key, value, more = z.TagAttr()
		n.Attr = append(n.Attr, html.Attribute{Key: string(key), Val: string(value)})
	}
	return n, nil
}

// closeLast closes the innermost open element with a name and all elements in it. It
// ignores an end tag without a start tag.
func closeLast(open []*html.Node, name string) []*html.Node {
	for i := len(open) - 1; i > 0; i-- {
		if open[i].Data == name {
			return open[:i]
		}
	}
	return open
}

// void are the elements that have no end tag.
var void = [...]atom.Atom{
	atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Source, atom.Track, atom.Wbr,
}
