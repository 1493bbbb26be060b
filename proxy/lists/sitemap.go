package lists

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

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
	year := r.year(l.shared.Zone)
	build := func(ctx context.Context, s response.Snapshots) (*response.Body, error) {
		all, err := l.places(ctx, s, r.Base, year)
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
	caching, of := l.rolling(year)
	return response.Plan{
		View: views[0], Also: views[1:], Query: "sitemap\x00" + r.Base + "\x00" + strconv.Itoa(number) + "\x00" + of, Build: build,
		ContentType: "application/xml; charset=utf-8", Caching: caching,
	}, nil
}

// place is a page in a sitemap. If it is unknown when the page changed, changed is zero.
type place struct {
	address string
	changed time.Time
}

// places returns all pages. A list changed when the last of its records did, the index when the last of all did.
func (l *Lists) places(ctx context.Context, s response.Snapshots, base string, year int) (all []place, err error) {
	sections, err := l.sections(ctx, s, base, l.shared.Language, year, nil)
	if err != nil {
		return nil, err
	}
	changed, items := map[[2]string]time.Time{}, []place{} // changed is by the kind of a subject and its id
	zone := l.shared.Zone
	for i, one := range l.lists {
		snap, err := s.Of(one.def.View)
		if err != nil {
			return nil, err
		}
		one.rows.Year = year
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
