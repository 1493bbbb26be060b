package lists

import (
	"context"
	"crypto/sha1"
	"fmt"
	"strings"
	"time"

	"github.com/gorilla/feeds"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/response"
	"vitrine/rules/display"
)

// urn is an identifier that stays the same whatever address the server has.
func urn(name string) string {
	b := sha1.Sum([]byte("vitrine\x00" + name)) // version 5 of RFC 9562
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// feed reads the newest items.
func (l *listing) feed(ctx context.Context) (*feeds.Feed, error) {
	title, err := l.heading(ctx)
	if err != nil {
		return nil, err
	}
	f := &feeds.Feed{
		Id: urn(l.path + "?" + l.asked.String()), Title: title, Link: &feeds.Link{Href: l.canonicalURL()}, Description: title,
		Author:  &feeds.Author{Name: title}, // of items without one, as Atom needs
		Updated: l.snap.Meta().Published.UTC().Truncate(time.Second),
	}
	for it, err := range l.items(ctx) {
		if err != nil {
			return nil, err
		}
		one := &feeds.Item{
			Id: urn(l.view + "/" + it.ID), IsPermaLink: "false", Title: it.Text(), Content: l.citation(it), Created: it.known(f.Updated),
			Link: &feeds.Link{Href: l.own(it)},
		}
		if one.Link.Href == "" {
			one.Link.Href = l.itemLink(it)
		}
		if len(it.Authors) > 0 {
			one.Author = &feeds.Author{Name: names(it.Authors)}
		}
		f.Items = append(f.Items, one)
	}
	return f, nil
}

// known is when an item came to be known: the day of its record, or else its own.
func (it *item) known(otherwise time.Time) time.Time {
	day, _, _ := strings.Cut(display.Text(it.row.Lookup("created")), "T")
	if at, err := time.Parse(time.DateOnly, day); err == nil {
		return at
	}
	if it.Date.Year < 1 || it.Date.Year > 9999 {
		return otherwise
	}
	return time.Date(it.Date.Year, time.Month(max(it.Date.Month, 1)), max(it.Date.Day, 1), 0, 0, 0, 0, time.UTC)
}

func (l *listing) atom(ctx context.Context) (*response.Body, error) {
	f, err := l.feed(ctx)
	if err != nil {
		return nil, err
	}
	doc := (&feeds.Atom{Feed: f}).AtomFeed()
	doc.Id = f.Id
	text, err := feeds.ToXML(doc)
	return written(f, text, err)
}

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
	text, err := feeds.ToXML(doc)
	return written(f, text, err)
}

func (l *listing) jsonFeed(ctx context.Context) (*response.Body, error) {
	f, err := l.feed(ctx)
	if err != nil {
		return nil, err
	}
	doc := (&feeds.JSON{Feed: f}).JSONFeed()
	doc.FeedUrl, doc.Language = l.url(l.face.suffix, l.asked), l.q.Text(params.Lang)
	text, err := doc.ToJSON()
	return written(f, text, err)
}

// written is the body of a feed.
func written(f *feeds.Feed, text string, err error) (*response.Body, error) {
	if err != nil {
		return nil, fmt.Errorf("lists: write a feed: %w", err)
	}
	body := response.Bytes([]byte(text))
	body.Count = len(f.Items)
	return body, nil
}
