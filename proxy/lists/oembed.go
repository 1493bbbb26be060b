package lists

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/markup"
)

// ErrFormat is the error of a call that wants oEmbed in another format than JSON.
var ErrFormat = errors.New("lists: oEmbed is answered in JSON alone")

// oEmbed plans /oembed?url=…: how the page of a list or an item is embedded (oembed.com).
func (l *Lists) oEmbed(ctx context.Context, r Request) (response.Plan, error) {
	given := map[string]string{}
	for name, value := range r.Args {
		given[string(name)] = string(value)
	}
	if format := given["format"]; format != "" && format != "json" {
		return response.Plan{}, ErrFormat
	}
	size := map[string]int{"maxwidth": 720, "maxheight": 800} // in pixels, unless less is asked for
	for _, name := range []string{"maxwidth", "maxheight"} {
		if value := given[name]; value != "" {
			n, err := strconv.ParseUint(value, 10, 31)
			if err != nil || n == 0 {
				return response.Plan{}, rules.Wrongf(name, "", "want a number of pixels, got %s", query.Quoted(value))
			}
			size[name] = min(int(n), size[name])
		}
	}
	ls, err := l.embedded(ctx, r.Base, given["url"])
	if err != nil {
		return response.Plan{}, err
	}
	width, height := size["maxwidth"], size["maxheight"]
	return ls.plan(func(_ context.Context, a *answer) (*response.Body, error) {
		frame := fmt.Sprintf(`<iframe data-vitrine src="%s" title="%s" width="%d" height="%d" loading="lazy" style="border:0;max-width:100%%"></iframe>`,
			markup.Escape(a.url("", a.asked)), markup.Escape(a.title), width, height)
		text, err := json.Marshal(map[string]any{
			"version": "1.0", "type": "rich", "title": a.title, "html": frame, "width": width, "height": height,
			"provider_name": "Vitrine", "provider_url": r.Base + "/",
		})
		return response.Bytes(text), err
	}, "oembed", strconv.Itoa(width), strconv.Itoa(height)), nil
}

// embedded returns the list or item of an address of this server.
func (l *Lists) embedded(ctx context.Context, base, address string) (*listing, error) {
	path, ours := strings.CutPrefix(address, base)
	u, err := url.Parse(path) // a rest that begins with two slashes has a host
	if err != nil || !ours && strings.Contains(address, "://") || !strings.HasPrefix(path, "/") || u.Host != "" {
		return nil, notFound("url is no address of a list here.")
	}
	parts, _, err := partsOf(u.EscapedPath())
	if err != nil {
		return nil, err
	}
	var args fasthttp.Args // as the server reads those of its requests
	args.Parse(u.RawQuery)
	q, err := params.Parse(args.All())
	if err != nil {
		return nil, err
	}
	return l.ask(ctx, base, parts, faces[0], q)
}
