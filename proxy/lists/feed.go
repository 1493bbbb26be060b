package lists

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gorilla/feeds"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/response"
	"vitrine/rules/display"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
)

// urn is an identifier that stays the same whatever address the server has.
func urn(name string) string {
	b := sha1.Sum([]byte("vitrine\x00" + name)) // version 5 of RFC 9562
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// newest is the feed of the newest items. It is as new as the newest of them, not as its
// view: feed readers report a later time as news.
func (a *answer) newest() *feeds.Feed {
	published := a.Snap.Meta().Published.UTC().Truncate(time.Second)
	f := &feeds.Feed{
		Id: urn(a.path + "?" + a.asked.String()), Title: a.title, Link: &feeds.Link{Href: a.canonicalURL()}, Description: a.title,
		Author: &feeds.Author{Name: a.title}, // of items without one, as Atom needs
	}
	for _, it := range a.items {
		title := it.title()
		one := &feeds.Item{
			Id: urn(a.View + "/" + it.ID), IsPermaLink: "false", Title: title,
			Content: cmp.Or(strings.Map(xmlRune, it.html), markup.Escape(title)),
			Link:    &feeds.Link{Href: cmp.Or(a.own(it), a.itemLink(it))},
		}
		one.Created, one.Updated = it.times(published)
		f.Updated = slices.MaxFunc([]time.Time{f.Updated, one.Created, one.Updated}, time.Time.Compare)
		f.Items = append(f.Items, one)
	}
	if len(f.Items) == 0 {
		f.Updated = published
	}
	return f
}

// times returns when an item was entered, or else its own day, and when it was last changed,
// zero if it was not. Times in the future do not count.
func (it *item) times(published time.Time) (created, updated time.Time) {
	if at := mark.EnteredOf(it.Doc()); at != 0 {
		created = time.Unix(min(at, published.Unix()), 0).UTC() // records of today may have any time of it
	} else if created = time.Date(it.Date.Year, time.Month(max(it.Date.Month, 1)), max(it.Date.Day, 1), 0, 0, 0, 0, time.UTC); it.Date.Year < 1000 || created.After(published) {
		created = time.Unix(0, 0).UTC() // the same each time, as Atom needs one
	}
	if updated = day(it.Doc().Lookup("updated")); updated.After(published) || updated.Before(created) {
		updated = time.Time{}
	}
	return created, updated
}

// day reads the day that a text begins with; zero if it begins with none.
func day(v bson.RawValue) time.Time {
	text := display.Text(v)
	at, _ := time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))])
	return at
}

// xmlRune replaces what XML cannot have. The encoder does so itself but in CDATA sections.
func xmlRune(r rune) rune {
	if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0xfffe || r == 0xffff {
		return utf8.RuneError
	}
	return r
}

// self is the link of a feed to itself.
func (a *answer) self() link { return link{a.url(a.face.suffix, a.asked), "self", a.face.media} }

func atom(_ context.Context, a *answer) (*response.Body, error) {
	f := a.newest()
	doc := (&feeds.Atom{Feed: f}).AtomFeed()
	doc.Id = f.Id
	type entry struct {
		*feeds.AtomEntry
		Authors []feeds.AtomPerson `xml:"author"`
	}
	entries := make([]entry, len(doc.Entries))
	for i, e := range doc.Entries {
		e.Published = f.Items[i].Created.Format(time.RFC3339)
		entries[i].AtomEntry = e
		for _, p := range a.items[i].Authors {
			entries[i].Authors = append(entries[i].Authors, feeds.AtomPerson{Name: p.Inverted(), Uri: p.ORCIDPage()})
		}
	}
	return a.feedBody(struct {
		Links   []link  `xml:"link"`  // instead of Link: the feed's own as well
		Entries []entry `xml:"entry"` // with all authors
		*feeds.AtomFeed
	}{[]link{a.self(), {f.Link.Href, "alternate", "text/html"}}, entries, doc})
}

func rss(_ context.Context, a *answer) (*response.Body, error) {
	doc := (&feeds.Rss{Feed: a.newest()}).RssFeed()
	doc.Language, doc.ManagingEditor = a.Query.Text(params.Lang), ""
	type channel struct { // that has its own address
		*feeds.RssFeed
		Self link `xml:"atom:link"`
	}
	return a.feedBody(struct {
		XMLName xml.Name `xml:"rss"`
		Version string   `xml:"version,attr"`
		Content string   `xml:"xmlns:content,attr"`
		Atom    string   `xml:"xmlns:atom,attr"`
		Channel channel
	}{Version: "2.0", Content: "http://purl.org/rss/1.0/modules/content/", Atom: "http://www.w3.org/2005/Atom", Channel: channel{doc, a.self()}})
}

// feedBody returns the body of a feed in XML.
func (a *answer) feedBody(doc any) (*response.Body, error) {
	text, err := xml.MarshalIndent(doc, "", "  ")
	return bodyOf(append([]byte(strings.TrimSpace(xml.Header)), text...), len(a.items)), err
}

func jsonFeed(_ context.Context, a *answer) (*response.Body, error) {
	doc := (&feeds.JSON{Feed: a.newest()}).JSONFeed()
	doc.FeedUrl, doc.Language = a.self().Href, a.Query.Text(params.Lang)
	for i, item := range doc.Items {
		for _, p := range a.items[i].Authors {
			item.Authors = append(item.Authors, &feeds.JSONAuthor{Name: p.Inverted(), Url: p.ORCIDPage()})
		}
	}
	return jsonBody(struct {
		*feeds.JSONFeed
		Items []*feeds.JSONItem `json:"items"` // there even if it is empty
	}{doc, append([]*feeds.JSONItem{}, doc.Items...)}, len(a.items))
}
