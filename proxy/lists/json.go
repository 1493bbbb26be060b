package lists

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
	"vitrine/rules/cite"
	"vitrine/rules/ejson"
	"vitrine/rules/identifier"
)

// jsonList is a list, or a single item as a list of one, so that a program reads both in the same way. The order of
// the fields is that of the answer.
type jsonList struct {
	Title      string            `json:"title"`
	Count      int               `json:"count"`
	Page       int               `json:"page"`
	Pages      int               `json:"pages"`
	Limit      int               `json:"limit"`
	Items      []jsonItem        `json:"items"`
	Missing    []string          `json:"missing,omitempty"`
	Facets     jsonFacets        `json:"facets"`
	Chart      []page.YearCount  `json:"chart,omitempty"`
	Person     *jsonSubject      `json:"person,omitempty"`
	Generation uint64            `json:"generation"`
	AsOf       time.Time         `json:"as_of"`
	Self       string            `json:"self"`
	Links      map[string]string `json:"links"`
}

// jsonItem is an entry of a list. Fields without omitempty are always there, and empty if the record has nothing:
// programs need not tell a missing field from an empty one.
type jsonItem struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
	// the citation as plain text; only by a citation style
	Text    string        `json:"text,omitempty"`
	Title   string        `json:"title"`
	Authors []page.Author `json:"authors"`
	// a number or null
	Year    json.RawMessage   `json:"year"`
	Type    string            `json:"type"`
	Subtype string            `json:"subtype"`
	Group   string            `json:"group,omitempty"` // label of the first of Groups
	Groups  []page.Group      `json:"groups,omitempty"`
	Links   map[string]string `json:"links"`
	Key     string            `json:"cite_key"`

	Venue    string `json:"venue"`
	Volume   string `json:"volume"`
	Issue    string `json:"issue"`
	Pages    string `json:"pages"`
	Number   string `json:"number,omitempty"`
	Status   string `json:"status,omitempty"`
	Date     string `json:"date"`
	DOI      string `json:"doi"`
	Abstract string `json:"abstract"`
	// true, false or null: null if the record does not say
	OA json.RawMessage `json:"oa"`
	page.Extras
	*jsonPerson

	Keywords []string       `json:"keywords,omitempty"`
	Funder   string         `json:"funder,omitempty"`
	Grant    string         `json:"grant,omitempty"`
	Projects []cite.Project `json:"projects,omitempty"`
	Notices  []page.Notice  `json:"notices,omitempty"`
}

// jsonPerson has the members that only persons have.
type jsonPerson struct {
	AcademicTitle string        `json:"academic_title"`
	Photo         string        `json:"photo"`
	Position      string        `json:"position"`
	Contact       jsonContact   `json:"contact"`
	Profiles      []jsonProfile `json:"profiles"`
}

// jsonContact says how to reach a person. A member is empty if it is not public.
type jsonContact struct {
	Mail  string `json:"mail"`
	Phone string `json:"phone"`
	Room  string `json:"room"`
}

// jsonProfile is a link to a person on another site.
type jsonProfile struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// personJSON returns the members that only persons have. It returns nil for other items.
func (it *item) personJSON() *jsonPerson {
	p := it.person
	if p == nil {
		return nil
	}
	all := &jsonPerson{
		AcademicTitle: p.AcademicTitle, Photo: p.Photo, Position: p.Position,
		Contact: jsonContact{p.Mail, p.Phone, p.Room}, Profiles: []jsonProfile{},
	}
	for _, l := range p.Profiles {
		all.Profiles = append(all.Profiles, jsonProfile{l.Label, l.Href})
	}
	return all
}

// jsonSubject is the person that a list is about.
type jsonSubject struct {
	ID   string `json:"id"` // the username
	Name string `json:"name"`
	*jsonPerson
	Units []page.Unit `json:"units"`
}

// subjectOf returns the person of a list, or nil if it is about none.
func subjectOf(it *item) *jsonSubject {
	if it == nil {
		return nil
	}
	return &jsonSubject{it.User, titleOf(&it.Item), it.personJSON(), append([]page.Unit{}, it.extras.Units...)}
}

// jsonFacets is encoded as an object whose members are in the order of the facets. A map would be sorted by name.
type jsonFacets []selection.Facet

// MarshalJSON implements json.Marshaler.
func (f jsonFacets) MarshalJSON() ([]byte, error) {
	all := []byte("{")
	for _, one := range f {
		values, err := encode(one.Values)
		if err != nil {
			return nil, err
		}
		all = append(ejson.AppendKey(all, one.Name), values...)
	}
	return append(all, '}'), nil
}

// jsonDocument writes a document as JSON. An address that does not exist has no member in links.
func jsonDocument(d *document) (*response.Body, error) {
	doc := jsonList{
		Title: d.Title, Count: d.Count, Page: d.Page, Pages: d.Pages, Limit: d.Limit, Items: []jsonItem{},
		Missing: d.missing,
		Facets:  d.facets, Chart: d.Years, Person: subjectOf(d.person),
		Generation: d.generation, AsOf: d.AsOf.UTC(), Self: d.self.Href,
		Links: d.Turns,
	}
	for _, it := range d.items {
		// The order of members is that of their names, because links is a map.
		links := map[string]string{}
		for name, href := range map[string]string{
			"doi": identifier.DOIAddress(it.DOI), "url": it.URL, "pdf": it.PDF, "license": it.Licence,
			"page": it.page,
		} {
			if name == "page" && it.person != nil { // their page is their list
				href = it.href
			}
			if href != "" {
				links[name] = href
			}
		}
		group := ""
		if len(it.groups) > 0 {
			group = it.groups[0].Label
		}
		doc.Items = append(doc.Items, jsonItem{
			ID: it.ID, HTML: it.html, Text: it.text, Title: it.Text, Authors: it.authors,
			Year: json.RawMessage(cmp.Or(it.year, "null")),
			Type: it.Type, Subtype: it.Subtype, Group: group, Groups: it.groups, Links: links, Key: it.Key,
			Venue: cmp.Or(it.Container, it.Event), Volume: it.Volume, Issue: it.Issue, Pages: it.Pages,
			Number: cmp.Or(it.Number, it.EID), Status: it.Status, Date: it.Date.String(), DOI: it.DOI,
			Abstract: it.Abstract, OA: json.RawMessage(cmp.Or(it.OA, "null")), Extras: it.extras,
			Keywords: it.Keywords, Funder: it.Funder, Grant: it.Grant, Projects: it.Projects,
			Notices: it.shownNotices, jsonPerson: it.personJSON(),
		})
	}
	doc.Links["page"] = d.Canonical
	maps.Copy(doc.Links, d.files)
	for _, l := range d.Related {
		doc.Links["people"] = l.Href
	}
	return jsonBody(doc, link{d.Canonical, "canonical", ""})
}

// encode returns a value as JSON without escapes for HTML, because answers are not in scripts.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// jsonBody returns a value as a body in JSON, with links for its header.
func jsonBody(doc any, links ...link) (*response.Body, error) {
	text, err := encode(doc)
	return bodyOf(text, links...), err
}

// link is a link of an answer, in its header or, in a feed, as an element.
type link struct {
	Href string `xml:"href,attr"`
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"` // empty if the type is unknown
}

// bodyOf returns a body of text with links for its header, in the form of RFC 8288.
func bodyOf(text []byte, links ...link) *response.Body {
	var header []string
	for _, l := range links {
		value := "<" + targets.Replace(l.Href) + `>; rel="` + l.Rel + `"`
		if l.Type != "" {
			value += `; type="` + l.Type + `"`
		}
		header = append(header, value)
	}
	body := response.Bytes(text)
	body.Links = strings.Join(header, ", ")
	return body
}

// targets escapes the characters in an address that would end a link or a header. Addresses come from records, too,
// so a line break could otherwise begin another header.
var targets = strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", `"`, "%22", "\r", "", "\n", "")
