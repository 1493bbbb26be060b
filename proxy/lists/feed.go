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
	"vitrine/rules/markup"
)

// urn is an identifier that stays the same whatever address the server has.
func urn(name string) string {
	b := sha1.Sum([]byte("vitrine\x00" + name)) // version 5 of RFC 9562
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// feed reads the newest items. The feed is as new as the newest of them, not as its view:
// feed readers report a later time as news.
func (l *listing) feed(ctx context.Context) (*feeds.Feed, error) {
	title, err := l.heading(ctx)
	if err != nil {
		return nil, err
	}
	published := l.snap.Meta().Published.UTC().Truncate(time.Second)
	f := &feeds.Feed{
		Id: urn(l.path + "?" + l.asked.String()), Title: title, Link: &feeds.Link{Href: l.canonicalURL()}, Description: title,
		Author: &feeds.Author{Name: title}, // of items without one, as Atom needs
	}
	for it, err := range l.items(ctx) {
		if err != nil {
			return nil, err
		}
		html, err := l.citation(ctx, it)
		if err != nil {
			return nil, err
		}
		one := l.feedItem(it, html, published)
		for _, at := range []time.Time{one.Created, one.Updated} {
			if at.After(f.Updated) {
				f.Updated = at
			}
		}
		f.Items = append(f.Items, one)
	}
	if len(f.Items) == 0 {
		f.Updated = published
	}
	return f, nil
}

// feedItem is an item of a feed, with its citation.
func (l *listing) feedItem(it *item, html string, published time.Time) *feeds.Item {
	title := it.title()
	one := &feeds.Item{
		Id: urn(l.view + "/" + it.ID), IsPermaLink: "false", Title: title,
		Content: cmp.Or(xmlText(html), markup.Escape(title)),
		Link:    &feeds.Link{Href: cmp.Or(l.own(it), l.itemLink(it))},
	}
	one.Created, one.Updated = it.times(published)
	if len(it.Authors) > 0 {
		one.Author = &feeds.Author{Name: names(it.Authors)}
	}
	return one
}

// times returns when an item was created and when it was last changed, zero if it was not.
// It was created with its record, or else on its own day. Times in the future do not count.
func (it *item) times(published time.Time) (created, updated time.Time) {
	past := func(at time.Time) bool { return at.Year() >= 1000 && !at.After(published) }
	made := []time.Time{day(it.row.Lookup("created"))}
	if id, ok := it.row.Lookup("_id").ObjectIDOK(); ok {
		made = append(made, id.Timestamp().UTC())
	}
	made = append(made, time.Date(it.Date.Year, time.Month(max(it.Date.Month, 1)), max(it.Date.Day, 1), 0, 0, 0, 0, time.UTC))
	created = time.Unix(0, 0).UTC() // the same each time, as Atom needs one
	if i := slices.IndexFunc(made, past); i >= 0 {
		created = made[i]
	}
	if updated = day(it.row.Lookup("updated")); !past(updated) || updated.Before(created) {
		updated = time.Time{}
	}
	return created, updated
}

// day reads the day that a text begins with; zero if it begins with none.
func day(v bson.RawValue) time.Time {
	text := display.Text(v)
	at, err := time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))])
	if err != nil {
		return time.Time{}
	}
	return at
}

// xmlText replaces what XML cannot have. The encoder does so itself but in CDATA sections.
func xmlText(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r
	}, text)
}

// atomFeed is an Atom feed with both of its links.
type atomFeed struct {
	Links []feeds.AtomLink `xml:"link"` // instead of Link
	*feeds.AtomFeed
}

// FeedXml implements feeds.XmlFeed.
func (f *atomFeed) FeedXml() any { return f }

func (l *listing) atom(ctx context.Context) (*response.Body, error) {
	f, err := l.feed(ctx)
	if err != nil {
		return nil, err
	}
	doc := (&feeds.Atom{Feed: f}).AtomFeed()
	doc.Id = f.Id
	text, err := feeds.ToXML(&atomFeed{[]feeds.AtomLink{
		{Href: l.url(l.face.suffix, l.asked), Rel: "self", Type: l.face.mediaType()},
		{Href: f.Link.Href, Rel: "alternate", Type: "text/html"},
	}, doc})
	return feedBody(f, text, err)
}

// rssFeed is an RSS feed that has its own address.
type rssFeed struct {
	XMLName   xml.Name `xml:"rss"`
	Version   string   `xml:"version,attr"`
	Content   string   `xml:"xmlns:content,attr"`
	Namespace string   `xml:"xmlns:atom,attr"`
	Channel   struct {
		*feeds.RssFeed
		Self struct {
			Href string `xml:"href,attr"`
			Rel  string `xml:"rel,attr"`
			Type string `xml:"type,attr"`
		} `xml:"atom:link"`
	}
}

// FeedXml implements feeds.XmlFeed.
func (f *rssFeed) FeedXml() any { return f }

func (l *listing) rss(ctx context.Context) (*response.Body, error) {
	f, err := l.feed(ctx)
	if err != nil {
		return nil, err
	}
	doc := (&feeds.Rss{Feed: f}).RssFeed()
	doc.Language, doc.ManagingEditor = l.q.Text(params.Lang), ""
	for _, item := range doc.Items {
		item.Author = "" // has to be an address of mail
	}
	whole := rssFeed{Version: "2.0", Content: "http://purl.org/rss/1.0/modules/content/", Namespace: "http://www.w3.org/2005/Atom"}
	whole.Channel.RssFeed = doc
	whole.Channel.Self.Href, whole.Channel.Self.Rel, whole.Channel.Self.Type = l.url(l.face.suffix, l.asked), "self", l.face.mediaType()
	text, err := feeds.ToXML(&whole)
	return feedBody(f, text, err)
}

// feedJSON is a JSON feed that has its items even if there are none.
type feedJSON struct {
	*feeds.JSONFeed
	Items []*feeds.JSONItem `json:"items"`
}

func (l *listing) jsonFeed(ctx context.Context) (*response.Body, error) {
	f, err := l.feed(ctx)
	if err != nil {
		return nil, err
	}
	doc := (&feeds.JSON{Feed: f}).JSONFeed()
	doc.FeedUrl, doc.Language = l.url(l.face.suffix, l.asked), l.q.Text(params.Lang)
	return jsonBody(feedJSON{doc, append([]*feeds.JSONItem{}, doc.Items...)}, len(f.Items))
}

// feedBody returns the body of a feed.
func feedBody(f *feeds.Feed, text string, err error) (*response.Body, error) {
	if err != nil {
		return nil, fmt.Errorf("lists: write a feed: %w", err)
	}
	body := response.Bytes([]byte(text))
	body.Count = len(f.Items)
	return body, nil
}
