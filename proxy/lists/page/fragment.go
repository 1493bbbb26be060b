package page

import "strconv"

// Fragment returns a list as a section to include in other pages. Its ids begin with the
// list's, so that several fragments can be in one page.
func Fragment(l *List) []byte {
	f := newFragment(l)
	f.open()
	f.title()
	f.list()
	return append(f.dst, "</section>\n"...)
}

// body returns what Page shows below the title: a list without one.
func body(l *List) []byte {
	page := *l
	page.Heading = 1
	f := newFragment(&page)
	f.open()
	f.list()
	return append(f.dst, "</section>\n"...)
}

// SingleFragment returns an item as an article to include in other pages.
func SingleFragment(r *Record) []byte {
	f := fragment{t: languageOf(r.Lang), id: "vl_item"}
	f.item(&r.Item, r.Lang)
	if len(r.JSONLD) > 0 {
		f.dst = appendData(f.dst, r.JSONLD)
	}
	return f.dst
}

// fragment is a fragment being written.
type fragment struct {
	dst []byte
	l   *List
	n   int // items of the list that are shown
	t   language
	id  string // what its ids begin with
}

// itemSize is about the bytes of an item.
const itemSize = 1400

func newFragment(l *List) *fragment {
	n := 0
	for _, g := range l.Groups {
		n += len(g.Items)
	}
	return &fragment{dst: make([]byte, 0, 1024+n*itemSize+len(l.JSONLD)), l: l, n: n, t: languageOf(l.Lang), id: listID(l)}
}

// attribute appends an attribute, unless its value is empty.
func (f *fragment) attribute(name, value string) {
	if value != "" {
		f.dst = append(append(append(f.dst, ' '), name...), `="`...)
		f.dst = append(appendText(f.dst, value), '"')
	}
}

// href appends the attribute.
func (f *fragment) href(url string) {
	f.dst = append(appendURL(append(f.dst, ` href="`...), url), '"')
}

// open begins the list, which has its title as its name.
func (f *fragment) open() {
	f.dst = append(f.dst, `<section class="vl-list"`...)
	f.attribute("id", f.id)
	f.attribute("lang", f.t.code())
	f.attribute("aria-labelledby", f.id+titleID)
	f.attribute("data-count", strconv.Itoa(f.l.Count))
	f.attribute("data-page", strconv.Itoa(f.l.Page))
	f.attribute("data-pages", strconv.Itoa(f.l.Pages))
	f.dst = append(f.dst, ">\n"...)
}

// titleID ends the id of a list's title.
const titleID = "_title"

// heading appends a heading some levels below that of the list.
func (f *fragment) heading(below int, class, id, text string) {
	level := f.l.Heading
	if level < 1 || level > 6 {
		level = 2
	}
	tag := "h" + strconv.Itoa(min(level+below, 6))
	f.dst = append(append(f.dst, '<'), tag...)
	f.attribute("class", class)
	f.attribute("id", id)
	f.dst = appendText(append(f.dst, ` dir="auto">`...), text)
	f.dst = append(append(append(f.dst, "</"...), tag...), ">\n"...)
}

func (f *fragment) title() { f.heading(0, "vl-title", f.id+titleID, f.l.Title) }

// list appends what is below the title.
func (f *fragment) list() {
	number := max(f.l.Page-1, 0)*f.l.Limit + 1
	f.dst = append(f.dst, `<p class="vl-count" dir="auto">`...)
	f.dst = append(appendText(f.dst, f.t.shown(f.l, f.n)), "</p>\n"...)
	for i := range f.l.Groups {
		g := &f.l.Groups[i]
		if g.Title != "" {
			f.heading(1, "vl-group", "", g.Title)
		}
		f.dst = append(f.dst, `<ol class="vl-items" start="`...)
		f.dst = append(strconv.AppendInt(f.dst, int64(number), 10), "\">\n"...)
		for j := range g.Items {
			f.dst = append(f.dst, "<li>"...)
			f.item(&g.Items[j], f.l.Lang)
			f.dst = append(f.dst, "</li>\n"...)
		}
		f.dst = append(f.dst, "</ol>\n"...)
		number += len(g.Items)
	}
	f.pager()
	if len(f.l.JSONLD) > 0 {
		f.dst = appendData(f.dst, f.l.JSONLD)
	}
}

// item appends a record.
func (f *fragment) item(it *Item, lang string) {
	f.dst = append(append(f.dst, `<article class="vl-item" id="`...), f.id...)
	f.dst = append(appendID(append(f.dst, "__"...), it.ID), '"')
	other := langOf(it, lang)
	f.attribute("lang", other)
	f.attribute("data-id", it.ID)
	f.attribute("data-key", it.Key)
	f.dst = append(append(f.dst, `><div class="vl-citation" dir="auto">`...), it.HTML...)
	f.dst = append(f.dst, "</div>"...)
	if it.COinS != "" {
		f.dst = append(append(f.dst, `<span class="Z3988" aria-hidden="true" title="`...), it.COinS...)
		f.dst = append(f.dst, `"></span>`...)
	}
	if len(it.Links) > 0 || it.Href != "" {
		f.dst = append(f.dst, `<p class="vl-links"`...)
		if other != "" {
			f.attribute("lang", f.t.code()) // our own texts
		}
		f.dst = append(f.dst, '>')
		for i := range it.Links {
			f.link("", it.Links[i], "", 0)
		}
		if it.Href != "" {
			f.link("vl-more", Link{Href: it.Href, Label: f.t.text("details")}, "", 0)
		}
		f.dst = append(f.dst, "</p>"...)
	}
	f.dst = append(f.dst, "</article>"...)
}

// link appends a link, or its label where the address is none for a link. page is the page
// of the list that it leads to, or 0.
func (f *fragment) link(class string, l Link, rel string, page int) {
	if !linkable(l.Href) {
		f.dst = append(appendText(append(f.dst, "<span>"...), l.Label), "</span> "...)
		return
	}
	f.dst = append(f.dst, "<a"...)
	f.attribute("class", class)
	f.href(l.Href)
	f.attribute("rel", rel)
	f.attribute("type", l.Type)
	if page > 0 {
		f.attribute("data-page", strconv.Itoa(page))
	}
	f.dst = append(appendText(append(f.dst, '>'), l.Label), "</a> "...)
}

// pager appends links to other pages of the list.
func (f *fragment) pager() {
	l := f.l
	if l.Pages < 2 {
		return
	}
	f.dst = append(f.dst, `<nav class="vl-pager"`...)
	f.attribute("aria-label", f.t.text("pages")+": "+l.Title)
	f.dst = append(f.dst, '>')
	to := func(name, href, rel string, page int) {
		if href != "" {
			f.link("vl-"+name, Link{Href: href, Label: f.t.text(name)}, rel, page)
		}
	}
	to("first", l.First, "", 1)
	to("prev", l.Prev, "prev", l.Page-1)
	f.dst = appendText(append(f.dst, `<span class="vl-here" dir="auto">`...), f.t.page(l.Page, l.Pages))
	f.dst = append(f.dst, "</span> "...)
	to("next", l.Next, "next", l.Page+1)
	to("last", l.Last, "", l.Pages)
	f.dst = append(f.dst, "</nav>\n"...)
}

// appendData appends a block of linked data.
func appendData(dst, json []byte) []byte {
	dst = appendJSON(append(dst, `<script type="application/ld+json">`...), json)
	return append(dst, "</script>\n"...)
}
