package lists

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	_ "embed"
	"encoding/xml"
	"fmt"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/response"
	"vitrine/rules/cite"
	"vitrine/rules/display"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
)

// feed is the newest items of a list.
type feed struct {
	ID, Title, Lang string
	Page            string // the address of the list for people
	Self            link
	Updated         time.Time
	Entries         []feedEntry
}

// feedEntry is an item of a feed. Its Updated is nil for an item that was not changed.
type feedEntry struct {
	ID      string       `json:"id"`
	Link    string       `json:"url,omitempty"`
	Title   string       `json:"title,omitempty"`
	HTML    string       `json:"content_html,omitempty"`
	Created *time.Time   `json:"date_published"`
	Updated *time.Time   `json:"date_modified,omitempty"`
	People  []feedPerson `json:"authors,omitempty"`

	Authors []cite.Person `json:"-"`
}

// feedPerson is an author in a JSON feed.
type feedPerson struct {
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
}

// urn is an identifier that stays the same whatever address the server has.
func urn(name string) string {
	b := sha1.Sum([]byte("vitrine\x00" + name)) // version 5 of RFC 9562
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// newest is the feed of a document. It is as new as the newest of its items, not as its
// view: feed readers report a later time as news.
func (d *document) newest() feed {
	f := feed{ID: urn(d.feedID), Title: d.Title, Lang: d.Lang, Page: d.Canonical, Self: d.self}
	for _, it := range d.items {
		e := feedEntry{
			ID: urn(d.view + "/" + it.ID), Link: cmp.Or(it.page, it.href), Title: it.title(), Created: &it.created, Authors: it.Authors,
			HTML: cmp.Or(strings.Map(xmlRune, it.html), markup.Escape(it.title())),
		}
		if !it.updated.IsZero() {
			e.Updated = &it.updated
		}
		for _, at := range []time.Time{it.created, it.updated} {
			if at.After(f.Updated) {
				f.Updated = at
			}
		}
		f.Entries = append(f.Entries, e)
	}
	if len(f.Entries) == 0 {
		f.Updated = d.AsOf.UTC().Truncate(time.Second)
	}
	return f
}

// times returns when an item was entered, or else its own day, and when it was last changed,
// zero if it was not. Times after the publication of the view do not count.
func times(it *item, row bson.Raw, published time.Time) (created, updated time.Time) {
	if at := mark.EnteredOf(row); at != 0 {
		created = time.Unix(min(at, published.Unix()), 0).UTC() // records of today may have any time of it
	} else if created = time.Date(it.Date.Year, time.Month(max(it.Date.Month, 1)), max(it.Date.Day, 1), 0, 0, 0, 0, time.UTC); it.Date.Year < 1000 || created.After(published) {
		created = time.Unix(0, 0).UTC() // the same each time, as Atom needs one
	}
	text := display.Text(row.Lookup("updated"))
	updated, _ = time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))])
	if updated.After(published) || updated.Before(created) {
		updated = time.Time{}
	}
	return created, updated
}

// xmlRune replaces what XML cannot have.
func xmlRune(r rune) rune {
	if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0xfffe || r == 0xffff {
		return utf8.RuneError
	}
	return r
}

//go:embed feeds.tmpl
var feedTemplates string

// feeds are the templates of feeds in XML, by the suffix of the format.
var feeds = template.Must(template.New("").Funcs(template.FuncMap{
	"text": func(s string) (string, error) {
		var b strings.Builder
		err := xml.EscapeText(&b, []byte(s))
		return b.String(), err
	},
	"cdata": func(s string) string {
		return "<![CDATA[" + strings.ReplaceAll(s, "]]>", "]]]]><![CDATA[>") + "]]>"
	},
}).Parse(feedTemplates))

// xmlFeed is a feed in Atom or RSS.
func xmlFeed(d *document) (*response.Body, error) {
	var b bytes.Buffer
	err := feeds.ExecuteTemplate(&b, d.suffix, d.newest())
	return bodyOf(b.Bytes(), len(d.items)), err
}

func jsonFeed(d *document) (*response.Body, error) {
	f := d.newest()
	author := feedPerson{Name: f.Title}
	for i := range f.Entries {
		for _, p := range f.Entries[i].Authors {
			f.Entries[i].People = append(f.Entries[i].People, feedPerson{p.Inverted(), p.ORCIDPage()})
		}
	}
	return jsonBody(struct {
		Version     string       `json:"version"`
		Title       string       `json:"title"`
		Language    string       `json:"language"`
		HomePage    string       `json:"home_page_url,omitempty"`
		URL         string       `json:"feed_url"`
		Description string       `json:"description"`
		Author      feedPerson   `json:"author"` // of the first version of the format
		Authors     []feedPerson `json:"authors"`
		Items       []feedEntry  `json:"items"`
	}{"https://jsonfeed.org/version/1.1", f.Title, f.Lang, f.Page, f.Self.Href, f.Title, author, []feedPerson{author}, append([]feedEntry{}, f.Entries...)}, len(d.items))
}
