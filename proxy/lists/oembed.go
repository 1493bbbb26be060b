package lists

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/markup"
)

// ErrFormat is the error for an oEmbed request for another format than JSON.
var ErrFormat = errors.New("lists: oEmbed is available only as JSON")

// oEmbed plans /oembed?url=…: how to embed the page of a list or an item (oembed.com). A CMS asks for it when an
// editor pastes the address of a page. The answer is an iframe, since a CMS removes scripts of other sites.
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
	ls, err := l.embed(ctx, r, given["url"])
	if err != nil {
		return response.Plan{}, err
	}
	// A URL without a host would be one of the other site.
	ls.links.Base = r.Base // another site shows the answer
	// Both are part of the key, since the answer contains them.
	width, height := size["maxwidth"], size["maxheight"]
	return ls.plan(func(_ context.Context, a *answer) (*response.Body, error) {
		frame := fmt.Sprintf(`<iframe data-vitrine src="%s" title="%s" width="%d" height="%d" loading="lazy" `+
			`style="border:0;max-width:100%%"></iframe>`,
			markup.Escape(a.url("", a.asked.Merge().With(params.Embed, "1"))), markup.Escape(a.title), width, height)
		text, err := json.Marshal(map[string]any{
			"version": "1.0", "type": "rich", "title": a.title, "html": frame, "width": width, "height": height,
			"provider_name": cmp.Or(either(a.lists.o.Site.Title, a.query.Text(params.Lang)), "Vitrine"),
			"provider_url":  r.Base + "/",
		})
		return response.Bytes(text), err
	}, "oembed", strconv.Itoa(width), strconv.Itoa(height)), nil
}

// embed returns the listing of the page at an address on this server. The address may be a path or begin with the
// request's base; any other host is 404. Its parameters are read like those of the page itself.
func (l *Lists) embed(ctx context.Context, r Request, address string) (*listing, error) {
	path, ours := strings.CutPrefix(address, r.Base)
	u, err := url.Parse(path) // a path that begins with two slashes would have a host
	if err != nil || !ours && strings.Contains(address, "://") || !strings.HasPrefix(path, "/") || u.Host != "" {
		return nil, notFound("url is no address of a list here.")
	}
	to, err := l.findTarget(ctx, r.Planning.Guess, SplitPath(u.EscapedPath()))
	if err != nil {
		return nil, err
	}
	to.format = formats[0]
	q, err := params.Parse(func(yield func(name, value []byte) bool) {
		for pair := range strings.SplitSeq(u.RawQuery, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if name = unescape(name); pair == "" || l.Ignores(name) || params.Strange(name) { // as on the page itself
				continue
			}
			if !yield([]byte(name), []byte(unescape(value))) {
				return
			}
		}
	}, l.o.Styles.Names()...)
	if err != nil {
		return nil, err
	}
	return l.listing(ctx, r, to, q)
}

// unescape decodes a name or a value of a query. A text with a broken escape stays unchanged.
func unescape(s string) string {
	if text, err := url.QueryUnescape(s); err == nil {
		return text
	}
	return s
}
