package lists

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vitrine/cache/view"
	"vitrine/proxy/lists/element"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/fold"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// overview plans the index of lists or, at /, the start page.
func (l *Lists) overview(path string, f format, q params.Query) (response.Plan, error) {
	takes := []string{params.Lang, params.Words, params.Limit}
	if path == "/" {
		takes = takes[:1]
	}
	if others := q.Beyond(q.Only(takes...)); len(others) > 0 {
		return response.Plan{}, rules.Wrongf("", "", "the index of lists accepts only %s, got %s", strings.Join(takes, ", "), others)
	}
	headers := l.pageHeaders()
	if f.suffix == ".json" {
		headers = nil
	} else {
		f = formats[0]
	}
	base, lang := l.o.BaseURL, cmp.Or(q.Text(params.Lang), l.shared.Language)
	q = q.With(params.Lang, lang).Beyond(params.Query{params.Lang: {l.shared.Language}})
	build := func(ctx context.Context, snap *view.Snapshot) (*response.Body, error) {
		sections, err := l.sections(ctx, base, lang, q)
		head := l.head("", lang)
		head.Self, head.AsOf = address(base+path, q), snap.Meta().Published
		l.translate(&head, base+path, base+path, q)
		switch {
		case err != nil:
			return nil, err
		case f.suffix == ".json":
			var files []map[string]string // the files of the element, with hashed paths
			for _, name := range []string{"list.js", "list.css"} {
				f := element.Current(name)
				files = append(files, map[string]string{"href": base + f.Path, "integrity": f.Integrity})
			}
			return jsonBody(map[string]any{
				"sections": sections, "element": files, "generation": snap.Meta().Generation, "as_of": head.AsOf.UTC(), "self": head.Self,
			})
		case path == "/":
			return response.Bytes(page.Start(head, sections, fields())), nil
		}
		return response.Bytes(page.Index(head, q.Text(params.Words), sections)), nil
	}
	key := []string{"lists", path, f.suffix, lang, q.String()}
	var caching response.Caching
	if slices.ContainsFunc(l.lists, func(one listing) bool { return one.rows.Fixed.Rolls() }) {
		caching, key = response.InYear(l.shared.Now()), append(key, strconv.Itoa(l.shared.Now().Year()))
	}
	return response.Plan{
		View: views[0], Also: views[1:], Build: build, ContentType: f.media + f.coding, Headers: headers, Query: strings.Join(key, "\x00"), Caching: caching,
	}, nil
}

func fields() (all []page.Field) {
	for _, f := range params.Fields() {
		all = append(all, page.Field(f))
	}
	return all
}

// sections returns the lists by name: those configured, of whole views, and about the subjects of public activities.
// The words of the query filter them by name, and its limit bounds each section.
func (l *Lists) sections(ctx context.Context, base, lang string, q params.Query) (all []page.Section, err error) {
	all = []page.Section{} // not nil, so that JSON has an empty list
	terms, limit := fold.Terms(q.Text(params.Words)), q.Number(params.Limit)
	add := func(title, kind, key string, e page.ListEntry) {
		for _, term := range terms {
			if !strings.Contains(" "+key, " "+term) {
				return
			}
		}
		if title = texts.In(lang).T(title); len(all) == 0 || all[len(all)-1].Title != title {
			all = append(all, page.Section{Title: title, Kind: kind})
		}
		if last := &all[len(all)-1]; limit == 0 || len(last.Lists) < limit {
			last.Lists = append(last.Lists, e)
		}
	}
	var activities *answer
	for i, one := range l.lists {
		snap, err := l.shared.Views.Snapshot(one.def.View)
		if err != nil {
			return nil, err
		}
		one.rows.Query, one.rows.Year = params.Query{params.Lang: {lang}}.Over(one.usual), l.shared.Now().Year()
		a, err := one.on(ctx, snap)
		if err != nil {
			return nil, err
		}
		title := "named"
		if i >= len(l.o.Named) {
			title = "everything"
		}
		add(title, "", fold.Key(a.title), page.ListEntry{Title: a.title, Href: base + a.path, Count: a.count})
		if one.def.Slug == rules.ViewActivities {
			activities = a
		}
	}
	for _, s := range subjects {
		names, err := activities.rows.Names(ctx, s.name)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			key := n.SortKey
			if len(terms) > 0 {
				key += fold.Key(n.Value)
			}
			if segment(n.Value) != "" {
				e := page.ListEntry{Title: n.Label, Href: base + listPath(s.name, n.Value), ID: n.Value, Count: n.Count, Letter: letter(n.SortKey)}
				add(s.name+"s", s.name, key, e)
			}
		}
	}
	return all, nil
}

// letter returns the letter under which the index lists a name with a sort key.
func letter(key string) string {
	first, _ := utf8.DecodeRuneInString(key)
	if !unicode.IsLetter(first) {
		return "#"
	}
	return string(unicode.ToUpper(first))
}

// mostURLs is the most addresses in a sitemap (sitemaps.org).
const mostURLs = 50_000

// sitemap plans /sitemap.xml: all lists and items or, beyond mostURLs, an index of its parts (?part=1).
func (l *Lists) sitemap(r Request) (response.Plan, error) {
	number := 0 // 0 means the whole, or the index
	for name, value := range r.Args {
		n, err := strconv.ParseUint(string(value), 10, 31)
		if string(name) != "part" || err != nil || n == 0 || strconv.FormatUint(n, 10) != string(value) {
			return response.Plan{}, rules.Wrongf("part", "", "a sitemap accepts only the number of a part")
		}
		number = int(n)
	}
	if r.Base == "" {
		return response.Plan{}, ErrHost
	}
	build := func(ctx context.Context, _ *view.Snapshot) (*response.Body, error) {
		all, err := l.places(ctx, r.Base)
		parts := slices.Collect(slices.Chunk(all, mostURLs))
		switch {
		case err != nil:
			return nil, err
		case number > len(parts):
			return nil, notFound("The sitemap has no such part.")
		case number > 0:
			all = parts[number-1]
		case len(parts) > 1:
			all = nil
			for n, part := range parts {
				last := slices.MaxFunc(part, func(a, b place) int { return a.changed.Compare(b.changed) })
				all = append(all, place{r.Base + "/sitemap.xml?part=" + strconv.Itoa(n+1), last.changed})
			}
			return sitemapOf("sitemapindex", "sitemap", all), nil
		}
		return sitemapOf("urlset", "url", all), nil
	}
	return response.Plan{
		View: views[0], Also: views[1:], Query: "sitemap\x00" + r.Base + "\x00" + strconv.Itoa(number), Build: build, ContentType: "application/xml; charset=utf-8",
	}, nil
}

// place is a page in a sitemap. If it is unknown when the page changed, changed is zero.
type place struct {
	address string
	changed time.Time
}

// places returns all pages. A list changed when the last of its records did, the index when the last of all did.
func (l *Lists) places(ctx context.Context, base string) (all []place, err error) {
	sections, err := l.sections(ctx, base, l.shared.Language, nil)
	if err != nil {
		return nil, err
	}
	changed, items := map[[2]string]time.Time{}, []place{} // changed is by the kind of a subject and its id
	zone := l.shared.Now().Location()
	for i, one := range l.lists {
		snap, err := l.shared.Views.Snapshot(one.def.View)
		if err != nil {
			return nil, err
		}
		one.rows.Year = l.shared.Now().Year()
		shown, err := snap.Select(ctx, filter.And(l.public, one.rows.Own()))
		if err != nil {
			return nil, err
		}
		for row, err := range shown.Only("_id", mark.Field, "updated").Rows(ctx, 0, 0) {
			if err != nil {
				return nil, err
			}
			created, at := times(&item{}, row.Doc(), snap.Meta().Published.In(zone))
			if at.IsZero() && created.Unix() > 0 {
				at = created
			}
			about, whole := [][2]string{{}, {"", base + one.path}}, i >= len(l.o.Named)
			for _, s := range subjects {
				if !whole || one.def.View != rules.ViewActivities {
					break // the lists about subjects have activities alone
				}
				for one := range mark.Entries(mark.Of(row.Doc()), s.name+"s") {
					about = append(about, [2]string{s.name, raw.StringField(one, "id")})
				}
			}
			for _, list := range about {
				if at.After(changed[list]) {
					changed[list] = at
				}
			}
			if own := (Links{Base: base}).ItemPage(selection.IDText(row.Doc())); whole && !strings.HasSuffix(own, "/") {
				items = append(items, place{own, at.In(zone)})
			}
		}
	}
	all = []place{{base + "/", changed[[2]string{}].In(zone)}, {base + "/lists", changed[[2]string{}].In(zone)}}
	for _, s := range sections {
		for _, e := range s.Lists {
			all = append(all, place{e.Href, changed[[2]string{s.Kind, cmp.Or(e.ID, e.Href)}].In(zone)})
		}
	}
	return append(all, items...), nil
}

// sitemapOf writes a sitemap, or an index of sitemaps.
func sitemapOf(outer, inner string, places []place) *response.Body {
	b := bytes.NewBufferString(xml.Header + "<" + outer + ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, p := range places {
		fmt.Fprintf(b, "<%s><loc>%s</loc>", inner, markup.Escape(p.address))
		if !p.changed.IsZero() {
			fmt.Fprintf(b, "<lastmod>%s</lastmod>", p.changed.Format(time.DateOnly))
		}
		fmt.Fprintf(b, "</%s>\n", inner)
	}
	fmt.Fprintf(b, "</%s>\n", outer)
	return response.Bytes(b.Bytes())
}

// Robots returns robots.txt. It refuses nothing: search engines load lists for the pages of other sites.
func Robots(base string) []byte {
	text := "User-agent: *\nDisallow:\n"
	if base != "" {
		text += "\nSitemap: " + base + "/sitemap.xml\n"
	}
	return []byte(text)
}

// ErrFormat is the error for an oEmbed request for another format than JSON.
var ErrFormat = errors.New("lists: oEmbed is available only as JSON")

// oEmbed plans /oembed?url=…: how to embed the page of a list or an item (oembed.com).
func (l *Lists) oEmbed(ctx context.Context, r Request) (response.Plan, error) {
	given := map[string]string{}
	for name, value := range r.Args {
		given[string(name)] = string(value)
	}
	if format := given["format"]; format != "" && format != "json" {
		return response.Plan{}, ErrFormat
	}
	size := map[string]int{"maxwidth": 720, "maxheight": 800} // in pixels, unless the request asks for less
	for _, name := range []string{"maxwidth", "maxheight"} {
		if value := given[name]; value != "" {
			n, err := strconv.ParseUint(value, 10, 31)
			if err != nil || n == 0 {
				return response.Plan{}, rules.Wrongf(name, "", "want a number of pixels, got %s", query.Quote(value))
			}
			size[name] = min(int(n), size[name])
		}
	}
	if r.Base == "" {
		return response.Plan{}, ErrHost
	}
	ls, err := l.embed(ctx, r.Base, given["url"])
	if err != nil {
		return response.Plan{}, err
	}
	ls.links.Base = r.Base // another site shows the answer
	width, height := size["maxwidth"], size["maxheight"]
	return ls.plan(func(_ context.Context, a *answer) (*response.Body, error) {
		frame := fmt.Sprintf(`<iframe data-vitrine src="%s" title="%s" width="%d" height="%d" loading="lazy" style="border:0;max-width:100%%"></iframe>`,
			markup.Escape(a.url("", a.asked.Merged().With(params.Embed, "1"))), markup.Escape(a.title), width, height)
		text, err := json.Marshal(map[string]any{
			"version": "1.0", "type": "rich", "title": a.title, "html": frame, "width": width, "height": height,
			"provider_name": cmp.Or(a.lists.o.Site.Title[a.query.Text(params.Lang)], "Vitrine"), "provider_url": r.Base + "/",
		})
		return response.Bytes(text), err
	}, "oembed", strconv.Itoa(width), strconv.Itoa(height)), nil
}

func (l *Lists) embed(ctx context.Context, base, address string) (*listing, error) {
	path, ours := strings.CutPrefix(address, base)
	u, err := url.Parse(path) // a path that begins with two slashes would have a host
	if err != nil || !ours && strings.Contains(address, "://") || !strings.HasPrefix(path, "/") || u.Host != "" {
		return nil, notFound("url is no address of a list here.")
	}
	parts, _, err := partsOf(u.EscapedPath())
	if err != nil {
		return nil, err
	}
	q, err := params.Parse(func(yield func(name, value []byte) bool) {
		for pair := range strings.SplitSeq(u.RawQuery, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if name = unescape(name); pair != "" && !l.Ignores(name) && !yield([]byte(name), []byte(unescape(value))) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return l.listing(ctx, base, parts, formats[0], q)
}

// unescape decodes a name or a value of a query. A text with a broken escape stays unchanged.
func unescape(s string) string {
	if text, err := url.QueryUnescape(s); err == nil {
		return text
	}
	return s
}
