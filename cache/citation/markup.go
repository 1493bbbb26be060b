package citation

import (
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// What a profile's page has, one without publications included, and a document's.
	familiarProfile  = "#gsc_rsb_st, .gsc_rsb_std, .gsc_g_t, .gsc_a_tr, #gsc_prf_in, #gsc_a_b"
	familiarDocument = "#gsc_oci_title, .gsc_oci_title, .gsc_oci_field"
	// captcha finds what asks whether the reader is a person.
	captcha = "#gs_captcha_ccl, #gs_captcha_f, #captcha-form, #recaptcha, .g-recaptcha, form[action*=sorry]"
)

// Bounds on what is read from a page, well above what the index shows.
const (
	maxRows   = 100 // the size of a profile's page, as it is asked for
	maxYears  = 200
	maxFields = 100
	maxText   = 64 << 10
)

// atMost returns the first n elements of a selection.
func atMost(n int, s *goquery.Selection) *goquery.Selection {
	return s.Slice(0, min(n, s.Length()))
}

// text returns the text of a selection's first element as a reader sees it, up to
// maxText bytes: runs of white space are one space, and lines and blocks are apart.
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
	return tidy(b.String())
}

// breaks are the elements before which a line ends.
var breaks = [...]atom.Atom{atom.Br, atom.Div, atom.P, atom.Li, atom.Tr, atom.Td}

// tidy returns s with its white space in order, and as valid UTF-8.
func tidy(s string) string {
	return strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "")
}
