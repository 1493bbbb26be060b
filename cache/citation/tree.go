package citation

import (
	"bytes"
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
func buildTree(body []byte) (*html.Node, error) {
	root := &html.Node{Type: html.DocumentNode}
	open := []*html.Node{root}
	z := html.NewTokenizer(bytes.NewReader(body))
	for range maxTokens {
		kind := z.Next()
		token := z.Token()
		switch kind {
		case html.ErrorToken: // end of input: reading from memory does not fail
			return root, nil
		case html.TextToken:
			open[len(open)-1].AppendChild(&html.Node{Type: html.TextNode, Data: token.Data})
		case html.StartTagToken, html.SelfClosingTagToken:
			n := &html.Node{Type: html.ElementNode, Data: token.Data, DataAtom: token.DataAtom, Attr: token.Attr}
			open[len(open)-1].AppendChild(n)
			if kind == html.StartTagToken && !slices.Contains(void[:], n.DataAtom) {
				open = append(open, n)
			}
			if len(open) > maxDepth || len(n.Attr) > maxAttributes {
				return nil, fmt.Errorf("nested deeper than %d, or more than %d attributes in a tag", maxDepth, maxAttributes)
			}
		case html.EndTagToken: // closes the innermost element of the name, and all in it
			for i := len(open) - 1; i > 0; i-- {
				if open[i].Data == token.Data {
					open = open[:i]
					break
				}
			}
		}
	}
	return nil, fmt.Errorf("more than %d tokens", maxTokens)
}

// void are the elements that have no end tag.
var void = [...]atom.Atom{
	atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Source, atom.Track, atom.Wbr,
}
