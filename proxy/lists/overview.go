package lists

import (
	"cmp"
	"context"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"vitrine/cache/view"
	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/response"
	"vitrine/rules"
)

// all returns the list of everything in a view, to count in and to read from.
func (l *Lists) all(ctx context.Context, view, base string, q params.Query) (*listing, error) {
	everything := l.newList(list{view: view}, nil, view)
	ls, err := l.listing(everything, base, faces[0], q)
	if err != nil {
		return nil, err
	}
	snap, err := l.o.Views.Snapshot(view)
	if err != nil {
		return nil, err
	}
	return ls.on(snap), nil
}

// overview plans the index of lists and, with start, the start page.
func (l *Lists) overview(base string, start bool, f face, q params.Query) (response.Plan, error) {
	if others := q.Beyond(q.Only(params.Lang)); others.String() != "" {
		return response.Plan{}, rules.Wrongf("", "", "the index of lists takes lang alone, got %s", others)
	}
	path := "/lists"
	if start {
		path = "/"
	}
	if f.suffix != "" && f.suffix != ".json" {
		f = faces[0]
	}
	lang := cmp.Or(q.Text(params.Lang), l.o.Language)
	build := func(ctx context.Context, snap *view.Snapshot) (*response.Body, error) {
		o, err := l.sections(ctx, base, q.With(params.Lang, lang))
		if err != nil {
			return nil, err
		}
		o.Head = page.Head{Lang: lang, Base: base, Self: base + path, AsOf: snap.Meta().Published}
		switch {
		case f.suffix == ".json":
			return jsonBody(map[string]any{
				"sections": jsonSections(o.Sections), "element": elementFiles(base), "generation": snap.Meta().Generation, "as_of": o.AsOf.UTC(), "self": o.Self,
			}, 0)
		case start:
			return response.Bytes(page.Start(o)), nil
		}
		return response.Bytes(page.Index(o)), nil
	}
	p := response.Plan{
		View: views[0], Also: views[1:], Query: "lists\x00" + base + "\x00" + path + "\x00" + f.suffix + "\x00" + lang,
		Build: build, ContentType: f.media,
	}
	if f.suffix == "" {
		p.Headers = []response.Header{{Name: "Content-Security-Policy", Value: page.Policy}}
	}
	return p, nil
}

// sections are the lists there are: those of the configuration, of whole views, of units and
// topics.
func (l *Lists) sections(ctx context.Context, base string, q params.Query) (*page.Overview, error) {
	ours := texts.In(q.Text(params.Lang))
	named, whole := page.Section{Title: ours.T("named")}, page.Section{Title: ours.T("everything")}
	for _, d := range l.o.Named {
		ls, err := l.listing(l.named(d), base, faces[0], q)
		if err != nil {
			return nil, err
		}
		snap, err := l.o.Views.Snapshot(d.View)
		if err == nil {
			err = ls.on(snap).enter(ctx, &named)
		}
		if err != nil {
			return nil, err
		}
	}
	var activities *listing
	for _, view := range views[:3] {
		ls, err := l.all(ctx, view, base, q)
		if err == nil {
			err = ls.enter(ctx, &whole)
		}
		if err != nil {
			return nil, err
		}
		activities = cmp.Or(activities, ls)
	}
	all := []page.Section{named, whole}
	for _, kind := range []string{params.Unit, params.Topic} {
		values, err := activities.Values(ctx, kind)
		if err != nil {
			return nil, err
		}
		section := page.Section{Title: ours.T(kind + "s")}
		for _, v := range values {
			one := l.newList(list{}, nil, kind, v.Value)
			section.Lists = append(section.Lists, page.Entry{Title: v.Label, Href: base + one.path, Count: v.Count})
		}
		all = append(all, section)
	}
	return &page.Overview{Sections: slices.DeleteFunc(all, func(s page.Section) bool { return len(s.Lists) == 0 })}, nil
}

// enter adds the list to a section.
func (l *listing) enter(ctx context.Context, into *page.Section) error {
	title, err := l.heading(ctx)
	if err != nil {
		return err
	}
	count, _, err := l.Size(ctx)
	into.Lists = append(into.Lists, page.Entry{Title: title, Href: l.base + l.path, Count: count})
	return err
}

// jsonSections are the sections of an overview for programs.
func jsonSections(all []page.Section) (sections []map[string]any) {
	for _, s := range all {
		var lists []map[string]any
		for _, e := range s.Lists {
			lists = append(lists, map[string]any{"title": e.Title, "href": e.Href, "count": e.Count})
		}
		sections = append(sections, map[string]any{"title": s.Title, "lists": lists})
	}
	return sections
}

// elementFiles are the script and the style of the element, under paths that never change.
func elementFiles(base string) (files []map[string]string) {
	for _, f := range []element.File{element.Script(), element.Style()} {
		files = append(files, map[string]string{"href": base + f.Path, "integrity": f.Integrity})
	}
	return files
}

// mostURLs is how many addresses a sitemap may have (sitemaps.org).
const mostURLs = 50_000

// sitemap plans /sitemap.xml: the lists and items there are or, where those are more than a
// sitemap may have, an index of its parts, which are /sitemap.xml?part=1 and so on.
func (l *Lists) sitemap(r Request) (response.Plan, error) {
	number := 0
	for name, value := range r.Args {
		n, err := strconv.ParseUint(string(value), 10, 31)
		if string(name) != "part" || err != nil || n == 0 || strconv.FormatUint(n, 10) != string(value) {
			return response.Plan{}, rules.Wrongf("part", "", "a sitemap takes the number of a part and nothing else")
		}
		number = int(n)
	}
	build := func(ctx context.Context, _ *view.Snapshot) (*response.Body, error) {
		return l.sitemapBody(ctx, r.Base, number)
	}
	return response.Plan{
		View: views[0], Also: views[1:], Query: "sitemap\x00" + r.Base + "\x00" + strconv.Itoa(number), Build: build, ContentType: "application/xml; charset=utf-8",
	}, nil
}

// sitemapBody is a part of the sitemap. Of part 0 it is the whole, or the index of parts.
func (l *Lists) sitemapBody(ctx context.Context, base string, number int) (*response.Body, error) {
	o, err := l.sections(ctx, base, params.Query{}.With(params.Lang, l.o.Language))
	if err != nil {
		return nil, err
	}
	addresses := []string{base + "/", base + "/lists"}
	for _, s := range o.Sections {
		for _, e := range s.Lists {
			addresses = append(addresses, e.Href)
		}
	}
	for _, view := range views[:3] {
		ls, err := l.all(ctx, view, base, params.Query{})
		if err != nil {
			return nil, err
		}
		selected, err := ls.Selected(ctx, "")
		if err != nil {
			return nil, err
		}
		for row, err := range selected.Only("_id").Rows(ctx, 0, 0) {
			if err != nil {
				return nil, err
			}
			if own := ls.links.ItemPage(selection.IDText(row.Doc())); !strings.HasSuffix(own, "/") {
				addresses = append(addresses, own)
			}
		}
	}
	outer, inner := "urlset", "url"
	parts := (len(addresses) + mostURLs - 1) / mostURLs
	switch {
	case number > parts:
		return nil, notFound("The sitemap has no such part.")
	case number > 0:
		addresses = addresses[(number-1)*mostURLs : min(number*mostURLs, len(addresses))]
	case parts > 1:
		outer, inner, addresses = "sitemapindex", "sitemap", nil
		for n := range parts {
			addresses = append(addresses, base+"/sitemap.xml?part="+strconv.Itoa(n+1))
		}
	}
	var b strings.Builder
	b.WriteString(xml.Header + "<" + outer + ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, address := range addresses {
		b.WriteString("<" + inner + "><loc>")
		_ = xml.EscapeText(&b, []byte(address)) // to memory
		b.WriteString("</loc></" + inner + ">\n")
	}
	b.WriteString("</" + outer + ">\n")
	return response.Bytes([]byte(b.String())), nil
}
