package citation

import (
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// Elements of a profile's page, even without publications, and of a document's.
	familiarProfile  = "#gsc_rsb_st, .gsc_rsb_std, .gsc_g_t, .gsc_a_tr, #gsc_prf_in, #gsc_a_b"
	familiarDocument = "#gsc_oci_title, .gsc_oci_title, .gsc_oci_field"
	// captcha matches forms that ask whether the reader is a person.
	captcha = "#gs_captcha_ccl, #gs_captcha_f, #captcha-form, #recaptcha, .g-recaptcha, form[action*=sorry]"
)

// Bounds on what is read from a page.
const (
	maxElements = 100 // rows, which is the page size that Profile requests, years and fields
	maxText     = 64 << 10
)

// find returns the first elements of a page that a selector matches.
func find(page *goquery.Document, selector string) *goquery.Selection {
	found := page.Find(selector)
	return found.Slice(0, min(maxElements, found.Length()))
}

// text returns the visible text of a selection's first element, up to maxText bytes. A
// run of white space becomes one space, and a space separates lines and blocks.
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

// breaks are the elements that begin a new line.
var breaks = [...]atom.Atom{atom.Br, atom.Div, atom.P, atom.Li, atom.Tr, atom.Td}
