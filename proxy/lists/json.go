package lists

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
)

// jsonList is a list, or a single item as a list of one.
type jsonList struct {
	Title string `json:"title"`
	Count int    `json:"count"`
	Page  int    `json:"page"`
	Pages int    `json:"pages"`
	Limit int    `json:"limit"`

	Items      []jsonItem        `json:"items"`
	Facets     jsonFacets        `json:"facets"`
	Generation uint64            `json:"generation"`
	AsOf       time.Time         `json:"as_of"`
	Self       string            `json:"self"`
	Links      map[string]string `json:"links"`
}

type jsonItem struct {
	ID      string            `json:"id"`
	HTML    string            `json:"html"`
	Title   string            `json:"title"`
	Authors []jsonAuthor      `json:"authors"`
	Year    json.RawMessage   `json:"year"` // null: none
	Type    string            `json:"type"`
	Subtype string            `json:"subtype"`
	Group   string            `json:"group,omitempty"`
	Links   map[string]string `json:"links"`
	Key     string            `json:"cite_key"`
}

type jsonAuthor struct {
	Name  string `json:"name"`
	ID    string `json:"id,omitempty"`
	ORCID string `json:"orcid,omitempty"`
}

// jsonFacets are an object whose members are in the order of the facets.
type jsonFacets []selection.Facet

// MarshalJSON implements json.Marshaler.
func (f jsonFacets) MarshalJSON() ([]byte, error) {
	var members [][]byte
	for _, one := range f {
		values, err := encoded(append([]selection.Value{}, one.Values...))
		if err != nil {
			return nil, err
		}
		members = append(members, append([]byte(`"`+one.Name+`":`), values...))
	}
	return append(append([]byte{'{'}, bytes.Join(members, []byte{','})...), '}'), nil
}

// jsonOf returns an item for programs.
func (l *listing) jsonOf(ctx context.Context, it *item) (jsonItem, error) {
	html, err := l.citation(ctx, it)
	one := jsonItem{
		ID: it.ID, HTML: html, Title: it.Text(), Authors: []jsonAuthor{}, Year: json.RawMessage(yearOf(it)), Type: it.Type, Subtype: it.Subtype,
		Group: it.group, Links: map[string]string{}, Key: it.Key,
	}
	if len(one.Year) == 0 {
		one.Year = nil
	}
	for _, p := range it.Authors {
		one.Authors = append(one.Authors, jsonAuthor{p.Inverted(), p.User, p.ORCID})
	}
	for _, link := range append(outside(it), page.Link{Href: l.own(it), Label: "page"}) {
		if link.Href != "" {
			one.Links[strings.ToLower(link.Label)] = link.Href
		}
	}
	return one, err
}

// json is a list or an item for programs.
func (l *listing) json(ctx context.Context) (*response.Body, error) {
	meta := l.snap.Meta()
	doc := jsonList{
		Page: l.q.Number(params.Page), Limit: l.q.Number(params.Limit), Items: []jsonItem{},
		Generation: meta.Generation, AsOf: meta.Published.UTC(), Self: l.url(l.face.suffix, l.asked), Links: map[string]string{},
	}
	var err error
	if doc.Title, err = l.heading(ctx); err == nil {
		doc.Count, doc.Pages, err = l.pages(ctx)
	}
	if err == nil {
		doc.Facets, err = l.Facets(ctx, false)
	}
	if err != nil {
		return nil, err
	}
	for it, err := range l.items(ctx) {
		if err != nil {
			return nil, err
		}
		one, err := l.jsonOf(ctx, it)
		if err != nil {
			return nil, err
		}
		doc.Items = append(doc.Items, one)
	}
	first, prev, next, last := l.pager(doc.Pages, l.numbered(l.face.suffix))
	for rel, href := range map[string]string{"first": first, "prev": prev, "next": next, "last": last, "page": l.canonicalURL()} {
		if href != "" {
			doc.Links[rel] = href
		}
	}
	for _, f := range faces {
		if f.label != "" && f.suffix != l.face.suffix {
			doc.Links[strings.TrimPrefix(f.suffix, ".")] = l.export(f)
		}
	}
	body, err := jsonBody(doc, doc.Count)
	if err == nil {
		body.Links = "<" + doc.Links["page"] + `>; rel="canonical"`
	}
	return body, err
}

// encoded returns a value as JSON. HTML stays unescaped, since the answer is no script.
func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("lists: write JSON: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// jsonBody returns the body of a JSON document.
func jsonBody(doc any, count int) (*response.Body, error) {
	text, err := encoded(doc)
	if err != nil {
		return nil, err
	}
	body := response.Bytes(text)
	body.Count = count
	return body, nil
}
