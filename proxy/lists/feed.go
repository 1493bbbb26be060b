package lists

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	_ "embed"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"vitrine/proxy/response"
	"vitrine/rules/cite"
	"vitrine/rules/markup"
)

// feed is the model for the templates of feeds: the newest items of a list. One model serves Atom (RFC 4287), RSS
// 2.0 and JSON Feed.
type feed struct {
	ID, Title, Lang string
	Page            string // the address of the list for people
	Self            link
	Updated         time.Time
	Entries         []feedEntry
}

// feedEntry is an item of a feed. Updated is zero if the item has not changed.
type feedEntry struct {
	ID, Link, Title, HTML string
	Created, Updated      time.Time
	Authors               []cite.Person
	Keywords              []string
	Licence               string // its address
}

// urn returns an identifier that does not depend on the server's address: after a move, feed readers would report
// all items as new. It is a hash of the name in the form of a UUID of version 5, which any program may check.
func urn(name string) string {
	b := sha1.Sum([]byte("vitrine\x00" + name)) // version 5 of RFC 9562
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// newest returns a function that writes the feed of a document by a template. The feed's time is that of its newest
// item, not of its view, because feed readers report a later time as news. An empty feed has the time of its view,
// because Atom requires one.
func newest(template string) func(*document) (*response.Body, error) {
	return func(d *document) (*response.Body, error) {
		f := feed{ID: urn(d.feedID), Title: d.Title, Lang: d.Lang, Page: d.Canonical, Self: d.self}
		for _, it := range d.items {
			title := titleOf(it.brief)
			f.Entries = append(f.Entries, feedEntry{
				ID: urn(d.view + "/" + it.ID), Link: cmp.Or(it.page, it.href), Title: it.headline(title, d.Lang),
				Created: it.created, Updated: it.updated,
				HTML:    cmp.Or(strings.Map(xmlRune, it.html), markup.Escape(title)),
				Authors: it.brief.Authors, Keywords: it.brief.Keywords, Licence: it.brief.Licence,
			})
			f.Updated = slices.MaxFunc([]time.Time{f.Updated, it.created, it.updated}, time.Time.Compare)
		}
		if len(f.Entries) == 0 {
			f.Updated = d.AsOf.UTC().Truncate(time.Second)
		}
		var b bytes.Buffer
		err := feeds.ExecuteTemplate(&b, template, f)
		return bodyOf(b.Bytes()), err
	}
}

// xmlRune replaces characters that XML does not allow, even as references: control characters but tab and line
// breaks, and two noncharacters (XML 1.0: 2.2). For strings.Map.
func xmlRune(r rune) rune {
	if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0xfffe || r == 0xffff {
		return utf8.RuneError
	}
	return r
}

//go:embed feeds.tmpl
var feedTemplates string

// feeds has the templates. They are of text/template, because one of them writes JSON; so each text in them passes
// one of these functions: json, xml for the content of elements and attributes, or cdata for HTML.
var feeds = template.Must(template.New("").Funcs(template.FuncMap{
	"json": func(s string) (string, error) {
		text, err := encode(s)
		return string(text), err
	},
	"xml": func(s string) (string, error) {
		var b strings.Builder
		err := xml.EscapeText(&b, []byte(s))
		return b.String(), err
	},
	"cdata": func(s string) string {
		return "<![CDATA[" + strings.ReplaceAll(s, "]]>", "]]]]><![CDATA[>") + "]]>"
	},
}).Parse(feedTemplates))
