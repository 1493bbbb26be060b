package page

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"vitrine/proxy/lists/texts"
	"vitrine/rules/markup"
)

// Fragment returns a list as a section to include in other pages, with ids that begin with the list's. A level of
// the heading out of range counts as 2.
func Fragment(l *List) []byte {
	level := l.Heading
	// h2 fits below the title of the page around.
	if level < 1 || level > 6 {
		level = 2
	}
	return section(l, level, false)
}

// SingleFragment returns an item as an article to include in other pages.
func SingleFragment(r *Record) []byte { return article(r, false) }

// article returns an item for a page of ours, or for others. Its ids have a fixed prefix: a page has one article.
func article(r *Record, onPage bool) []byte {
	f := fragment{t: texts.In(r.Lang), id: "vl_item", seen: map[string]int{}, onPage: onPage}
	f.item(&r.Item, r.Lang)
	f.data(r.JSONLD)
	return f.html.Bytes()
}

// fragment writes HTML without templates, which would take longer than all other work on hundreds of values.
type fragment struct {
	html bytes.Buffer
	t    texts.Language
	id   string // the prefix of its ids
	// number of times an id was written; a record is in several groups if persons are groups
	seen map[string]int

	onPage bool // it is part of a page of ours, with our script
}

// titleID ends the id of a list's title, by which the section is labelled.
const titleID = "_title"

// section returns the section of a list, labelled by its title, in it or on our page around it. Its attributes
// data-* are for the script of the element, see package element.
func section(l *List, level int, onPage bool) []byte {
	f, first := &fragment{t: texts.In(l.Lang), id: listID(l), seen: map[string]int{}, onPage: onPage}, max(l.Page-1,
		0)*l.Limit+1
	// A section without a visible title is still named for screen readers.
	label := attribute("aria-labelledby", f.id+titleID)
	if l.Untitled && !onPage {
		label = attribute("aria-label", l.Title)
	}
	class := "vl-list"
	if l.Numbered {
		class += " vl-numbered"
	}
	f.write("<section", attribute("class", class), attribute("id", f.id), attribute("lang", f.t.Code()), label,
		attribute("data-count", strconv.Itoa(l.Count)), attribute("data-page", strconv.Itoa(l.Page)),
		attribute("data-pages", strconv.Itoa(l.Pages)), attribute("data-without", strings.Join(l.Without, " ")), ">\n")
	if !onPage && !l.Untitled {
		f.heading(level, "vl-title", f.id+titleID, l.Title)
	}
	ends, counted := l.Ends && l.Pages > 1 && (!onPage || l.Embed), "vl-count"
	if ends {
		counted += " vl-unseen"
	}
	f.write("<p", attribute("class", counted), ` dir="auto">`, text(f.rangeText(l, first)), "</p>\n")
	for _, note := range l.Notes {
		f.write(`<p class="vl-note" role="note" dir="auto">`, text(note), "</p>\n")
	}
	f.chart(l.Years, l.OpenAccess)
	f.jumps(l, ends)
	for i, it := range l.Items {
		// Each run of items in the same groups is a list of its own, whose numbers go on from the one before.
		if i == 0 || !slices.Equal(it.Groups, l.Items[i-1].Groups) {
			if i > 0 {
				f.write("</ol>\n")
				f.groups(level, l.Items[i-1].Groups, it.Groups)
			} else {
				f.groups(level, nil, it.Groups)
			}
			class := "vl-items"
			if l.OwnNumbers {
				class += " vl-numbers"
			}
			f.write(`<ol class="`, class, `" start="`, strconv.Itoa(first+i), "\">\n")
		}
		f.write("<li>")
		f.item(&it, l.Lang)
		f.write("</li>\n")
	}
	if len(l.Items) > 0 {
		f.write("</ol>\n")
	}
	if l.Pages > 1 && !ends {
		f.pager(l)
	}
	f.data(l.JSONLD)
	f.write("</section>\n")
	return f.html.Bytes()
}

// write writes HTML. Callers have escaped the texts in it.
func (f *fragment) write(html ...string) {
	for _, part := range html {
		f.html.WriteString(part)
	}
}

// attribute returns an attribute, or "" if its value is empty.
func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + text(value) + `"`
}

// heading writes a heading. HTML has six levels; others are for screen readers alone.
func (f *fragment) heading(level int, class, id, title string) {
	tag, beyond := "h"+strconv.Itoa(min(level, 6)), ""
	if level > 6 {
		beyond = strconv.Itoa(level)
	}
	f.write("<", tag, attribute("aria-level", beyond), attribute("class", class), attribute("id", id), ` dir="auto">`,
		text(title), "</", tag, ">\n")
}

// groupID is the prefix of what ends the id of a group's heading.
const groupID = "_g"

// jumps writes links to the groups of the list. One that begins on another page has the address of that page, and
// the page's number for the element. A list that ends with this page has links within it alone.
func (f *fragment) jumps(l *List, ends bool) {
	jumps := l.Jumps
	if ends {
		jumps = slices.DeleteFunc(slices.Clone(jumps), func(j Jump) bool { return j.Self != "" })
	}
	if len(jumps) < 2 {
		return
	}
	f.write(`<nav class="vl-jump"`, attribute("aria-label", f.t.T("jump")+": "+l.Title), "><ul>\n")
	here := "" // a page for an iframe opens links around it
	if l.Embed {
		here = ` target="_self"`
	}
	for _, jump := range jumps {
		id, number := f.id, ""
		if jump.Self != "" {
			there := *l
			there.Self = jump.Self
			id, number = listID(&there), strconv.Itoa(jump.Page)
		}
		// The ids of groups need no escape, and page addresses are ours.
		f.write(`<li><a href="`, address(jump.Href), "#", id, groupID, "__", idOf(jump.Value), `"`, here,
			attribute("data-page", number), ` dir="auto">`, text(jump.Label), "</a></li>\n")
	}
	f.write("</ul></nav>\n")
}

// groups writes the headings of groups that the items before are not in, below a heading of a level. If the outer
// group changes, the inner heading is written, too, even if its label is the same.
func (f *fragment) groups(level int, before, groups []Group) {
	id, same := f.id+groupID, true
	for i, g := range groups {
		id += "__" + idOf(g.Value)
		if same = same && i < len(before) && before[i] == g; same {
			continue
		}
		title := g.Label
		// A reader who comes from a link does not see the page before.
		if g.Continued {
			title += f.t.T("continued")
		}
		if g.Count > 0 {
			title += " (" + f.t.Number(g.Count) + ")"
		}
		class := []string{"vl-group", "vl-group vl-inner"}[min(i, 1)]
		if g.Continued {
			class += " vl-continued"
		}
		f.heading(level+1+i, class, f.unique(id), title)
	}
}

// rangeText returns the text with the number of entries and the range on this page: "120 entries, 21–40". If
// records are in several groups, the range is one of the larger number, which follows it.
func (f *fragment) rangeText(l *List, first int) string {
	all, items, total := f.t.Entries(l.Count), len(l.Items), ""
	if l.Entries > l.Count {
		all += f.t.T("repeated")
		total = f.t.T("of") + f.t.Number(l.Entries)
	}
	switch {
	case l.Count == 0:
		return f.t.T("empty")
	case items == 0 || items >= max(l.Count, l.Entries):
		return all
	case items == 1:
		return all + ", " + f.t.Number(first) + total
	}
	return all + ", " + f.t.Number(first) + "–" + f.t.Number(first+items-1) + total
}

// unique returns an id, with a number at its end if it was written before.
func (f *fragment) unique(id string) string {
	if f.seen[id]++; f.seen[id] > 1 {
		id += "__" + strconv.Itoa(f.seen[id])
	}
	return id
}

// item writes an item in a page of a language. dir="auto" lets a citation in Arabic or Hebrew run from right to
// left.
func (f *fragment) item(it *Item, lang string) {
	// other is set only if the languages differ; then our own texts in the item need theirs.
	other, id := LangOf(it.Lang, lang), f.unique(f.id+"__"+idOf(it.ID))
	if it.Person != nil {
		f.write(`<article class="vl-item vl-person" id="`, id, `"`, attribute("data-id", it.ID), ">")
		f.card(it.Person, it.HTML, it.Units)
		f.write("</article>")
		return
	}
	f.write(`<article class="vl-item" id="`, id, `"`, attribute("lang", other), attribute("data-id", it.ID),
		attribute("data-key", it.Key),
		`><div class="vl-citation"`, attribute("lang", LangOf(it.CitationLang, cmp.Or(other, lang))),
		` dir="auto">`, it.HTML, "</div>")
	if it.COinS != "" {
		f.write(`<span class="Z3988" aria-hidden="true" title="`, it.COinS, `"></span>`)
	}
	own := "" // our texts are in the language of the list
	if other != "" {
		own = f.t.Code()
	}
	// Badges, links and folds stand outside of the citation, so that "copy citation" leaves them out.
	f.marks(it, own)
	if len(it.Links) > 0 || it.Href != "" {
		f.write(`<p class="vl-links"`, attribute("lang", own), ">")
		for _, link := range it.Links {
			f.link(link, "")
		}
		if it.Href != "" {
			f.link(Link{Href: it.Href, Label: f.t.T("details")}, ` class="vl-more"`)
		}
		f.write("</p>")
	}
	f.extras(it, own, other)
	f.write("</article>")
}

// link writes a link, or only its label if the URL is unsafe.
func (f *fragment) link(l Link, class string, attributes ...string) {
	if !markup.IsLink(l.Href) {
		f.write("<span>", text(l.Label), "</span> ")
		return
	}
	f.write("<a", class, ` href="`, address(l.Href), `"`)
	f.write(attributes...)
	f.write(attribute("type", l.Type), ">", text(l.Label), "</a> ")
}

// pager writes the links to other pages. With the script, the element loads the page in data-page instead of
// following the link.
func (f *fragment) pager(l *List) {
	f.write(`<nav class="vl-pager"`, attribute("aria-label", f.t.T("pages")+": "+l.Title), ">")
	// Without a target, a click on the pager would replace the page around the iframe.
	here := "" // a page for an iframe opens links around it
	if l.Embed {
		here = ` target="_self"`
	}
	to := func(name, rel string, page int) {
		if href := l.Turns[name]; href != "" {
			f.link(Link{Href: href, Label: f.t.T(name)}, ` class="vl-`+name+`"`, rel, here, ` data-page="`,
				strconv.Itoa(page), `"`)
		}
	}
	to("first", "", 1)
	to("prev", ` rel="prev"`, l.Page-1)
	f.write(`<span class="vl-here" dir="auto">`, text(f.t.Page(l.Page, l.Pages)), "</span> ")
	to("next", ` rel="next"`, l.Page+1)
	to("last", "", l.Pages)
	f.write("</nav>\n")
}

// data writes a block of linked data, unless it is empty, and escapes "<", which could end the block. In JSON a "<"
// is only in strings, where the escape means the same.
func (f *fragment) data(json []byte) {
	if len(json) > 0 {
		f.write(`<script type="application/ld+json">`, strings.ReplaceAll(string(json), "<", `\u003c`), "</script>\n")
	}
}

// The index folds sections with more lists than mostOpen; the start page links to it beyond mostAtStart.
const mostOpen, mostAtStart = 50, 12

// overview returns sections, and for those with more than most lists a link to the index or, without one, folds.
func (d *pageData) overview(sections []Section, most int, index string) []byte {
	f := fragment{t: d.Language}
	for _, s := range sections {
		if len(s.Lists) == 0 {
			continue
		}
		f.write("<section", attribute("id", s.anchor()), ">\n")
		if s.Title != "" {
			f.heading(2, "", "", s.Title)
		}
		switch {
		// Lists of the configuration are never folded: their editor decides how many there are.
		case s.Kind == "" || len(s.Lists) <= most:
			f.lists(s.Lists)
		case index != "":
			f.write("<p>")
			f.link(Link{Href: index + "#" + s.anchor(),
				Label: f.t.T("show-all") + " (" + f.t.Number(len(s.Lists)) + ")"}, "")
			f.write("</p>\n")
		default:
			// The lists are sorted by name, so those of one letter follow each other.
			for from, to := 0, 0; from < len(s.Lists); from = to {
				for to = from + 1; to < len(s.Lists) && s.Lists[to].Letter == s.Lists[from].Letter; to++ {
				}
				f.write("<details", d.open(), "><summary>", text(s.Lists[from].Letter), ` <span class="vl-n">`,
					f.t.Number(to-from), "</span></summary>\n")
				f.lists(s.Lists[from:to])
				f.write("</details>\n")
			}
		}
		f.write("</section>\n")
	}
	return f.html.Bytes()
}

// anchor returns the id of a section that has a kind.
func (s *Section) anchor() string {
	if s.Kind == "" {
		return ""
	}
	return "vl_" + idOf(s.Kind) + "s"
}

// open returns the attribute that opens folded lists in the results of a search.
func (d *pageData) open() string {
	if d.Q == "" {
		return ""
	}
	return " open"
}

// lists writes links to lists with their numbers of entries.
func (f *fragment) lists(all []ListEntry) {
	f.write("<ul class=\"vl-lists\">\n")
	for _, e := range all {
		f.write(`<li dir="auto">`)
		f.link(Link{Href: e.Href, Label: e.Title}, "")
		f.write(`<span class="vl-n">`, f.t.Number(e.Count), "</span></li>\n")
	}
	f.write("</ul>\n")
}

// menus returns the facets of a list as menus, of which the browser keeps one open at a time. Search engines do not
// follow their links: the combinations of filters are without number.
func menus(l *List) []byte {
	f := fragment{t: texts.In(l.Lang)}
	for _, facet := range l.Facets {
		if len(facet.Values) == 0 {
			continue
		}
		f.write(`<details name="vl-filters"><summary>`, text(f.t.T(facet.Name)),
			"</summary>\n<ul class=\"vl-chips\">\n")
		for _, v := range facet.Values {
			tag := "span"
			if f.write("<li>"); markup.IsLink(v.Href) {
				tag = "a"
				f.write(`<a href="`, address(v.Href), `" rel="nofollow"`)
			} else {
				f.write("<span")
			}
			if v.Active {
				f.write(` aria-current="true"`)
			}
			f.write(">", text(v.Label), ` <span class="vl-n">`, f.t.Number(v.Count), "</span></", tag, "></li>\n")
		}
		f.write("</ul></details>\n")
	}
	return f.html.Bytes()
}
