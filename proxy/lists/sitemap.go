package lists

import (
	"context"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"vitrine/cache/view"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
	"vitrine/rules"
)

// mostURLs is how many addresses a sitemap may have (sitemaps.org).
const mostURLs = 50_000

// sitemap plans /sitemap.xml: the lists and items there are or, where those are more than a
// sitemap may have, an index of its parts, which are /sitemap.xml?part=1 and so on.
func (l *Lists) sitemap(r Request) (response.Plan, error) {
	number := 0 // the whole, or the index
	for name, value := range r.Args {
		n, err := strconv.ParseUint(string(value), 10, 31)
		if string(name) != "part" || err != nil || n == 0 || strconv.FormatUint(n, 10) != string(value) {
			return response.Plan{}, rules.Wrongf("part", "", "a sitemap takes the number of a part and nothing else")
		}
		number = int(n)
	}
	build := func(ctx context.Context, _ *view.Snapshot) (*response.Body, error) {
		addresses, err := l.addresses(ctx, r.Base)
		if err != nil {
			return nil, err
		}
		parts := slices.Collect(slices.Chunk(addresses, mostURLs))
		switch {
		case number > len(parts):
			return nil, notFound("The sitemap has no such part.")
		case number > 0:
			addresses = parts[number-1]
		case len(parts) > 1:
			addresses = nil
			for n := range parts {
				addresses = append(addresses, r.Base+"/sitemap.xml?part="+strconv.Itoa(n+1))
			}
			return sitemapOf("sitemapindex", "sitemap", addresses), nil
		}
		return sitemapOf("urlset", "url", addresses), nil
	}
	return response.Plan{
		View: views[0], Also: views[1:], Query: "sitemap\x00" + r.Base + "\x00" + strconv.Itoa(number), Build: build, ContentType: "application/xml; charset=utf-8",
	}, nil
}

// addresses are those of all pages.
func (l *Lists) addresses(ctx context.Context, base string) ([]string, error) {
	sections, err := l.sections(ctx, base, l.o.Language)
	if err != nil {
		return nil, err
	}
	addresses := []string{base + "/", base + "/lists"}
	for _, s := range sections {
		for _, e := range s.Lists {
			addresses = append(addresses, e.Href)
		}
	}
	for _, whole := range l.whole {
		a, err := l.now(ctx, whole, base, nil)
		if err != nil {
			return nil, err
		}
		selected, err := a.Selected(ctx, "")
		if err != nil {
			return nil, err
		}
		for row, err := range selected.Only("_id").Rows(ctx, 0, 0) {
			if err != nil {
				return nil, err
			}
			if own := a.links.ItemPage(selection.IDText(row.Doc())); !strings.HasSuffix(own, "/") {
				addresses = append(addresses, own)
			}
		}
	}
	return addresses, nil
}

// sitemapOf writes a sitemap, or an index of sitemaps.
func sitemapOf(outer, inner string, addresses []string) *response.Body {
	var b strings.Builder
	b.WriteString(xml.Header + "<" + outer + ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, address := range addresses {
		b.WriteString("<" + inner + "><loc>")
		_ = xml.EscapeText(&b, []byte(address)) // to memory
		b.WriteString("</loc></" + inner + ">\n")
	}
	b.WriteString("</" + outer + ">\n")
	return response.Bytes([]byte(b.String()))
}
