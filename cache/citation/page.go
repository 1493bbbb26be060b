package citation

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

const (
	// Elements of a profile's page, which even a profile without publications has, and of a document's page.
	familiarProfile  = "#gsc_rsb_st, .gsc_rsb_std, .gsc_g_t, .gsc_a_tr, #gsc_prf_in, #gsc_a_b"
	familiarDocument = "#gsc_oci_title, .gsc_oci_title, .gsc_oci_field"
	// captcha matches forms that ask whether the reader is a person.
	captcha = "#gs_captcha_ccl, #gs_captcha_f, #captcha-form, #recaptcha, .g-recaptcha, form[action*=sorry]"
)

// Limits on the data read from a page.
const (
	maxElements = 100 // rows (the page size that Profile requests), years and fields
	maxText     = 64 << 10
)

// find returns the first maxElements elements that a selector matches.
func find(page *goquery.Document, selector string) *goquery.Selection {
	found := page.Find(selector)
	return found.Slice(0, min(maxElements, found.Length()))
}

// text returns the visible text of a selection's first element, up to maxText bytes, with white space as single
// spaces.
func text(s *goquery.Selection) string {
	if s.Length() == 0 {
		return ""
	}
	var b strings.Builder
	for n := range s.Get(0).Descendants() {
		if b.Len() >= maxText {
			break
		}
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data[:min(len(n.Data), maxText-b.Len())])
		case n.Type == html.ElementNode && slices.Contains(breaks[:], n.DataAtom):
			b.WriteByte(' ')
		}
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(b.String()), " "), "")
}

// breaks are the elements at which a browser begins a new line or cell: words on both sides are not joined.
var breaks = [...]atom.Atom{atom.Br, atom.Div, atom.P, atom.Li, atom.Tr, atom.Td}

// parsePage parses HTML. It treats valid UTF-8 as UTF-8: detection reads only the beginning, which may be ASCII.
func parsePage(body []byte, contentType string) (*goquery.Document, error) {
	if !utf8.Valid(body) {
		encoding, _, _ := charset.DetermineEncoding(body, contentType)
		decoded, err := encoding.NewDecoder().Bytes(body)
		if err != nil {
			return nil, err
		}
		body = decoded
	}
	root, err := buildTree(body)
	if err != nil {
		return nil, err
	}
	return goquery.NewDocumentFromNode(root), nil
}

// Limits of a page, far above the sizes of the index's pages.
const (
	maxTokens     = 50_000
	maxAttributes = 100 // in one tag
	maxDepth      = 512
)

// buildTree builds the tree of a page from its tags. html.Parse would repair it as browsers do, reopen unclosed tags
// in each block and merge attributes: a hostile page of 130 kB then takes a gigabyte and minutes.
func buildTree(body []byte) (*html.Node, error) {
	root := &html.Node{Type: html.DocumentNode}
	open := []*html.Node{root}
	z := html.NewTokenizer(bytes.NewReader(body))
	for range maxTokens {
		kind := z.Next()
		token := z.Token()
		switch kind {
		case html.ErrorToken: // end of input; reading from memory cannot fail
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
				return nil, fmt.Errorf("nested deeper than %d, or more than %d attributes in a tag", maxDepth,
					maxAttributes)
			}
		case html.EndTagToken: // close the innermost element of that name, and all elements in it
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

// void are the elements without content and end tag (HTML Standard, section 13.1.2).
var void = [...]atom.Atom{
	atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta,
	atom.Source, atom.Track, atom.Wbr,
}
