package lists

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"vitrine/cache/view"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/markup"
)

// ErrFormat is the error of a call that wants oEmbed in another format than JSON.
var ErrFormat = errors.New("lists: oEmbed is answered in JSON alone")

// The size of an embedded list in pixels, unless less is asked for.
const embeddedWidth, embeddedHeight = 720, 800

// oEmbed plans /oembed?url=…: how the page of a list or an item is embedded (oembed.com).
func (l *Lists) oEmbed(ctx context.Context, r Request) (response.Plan, error) {
	given := map[string]string{}
	for name, value := range r.Args {
		given[string(name)] = string(value)
	}
	if format := given["format"]; format != "" && format != "json" {
		return response.Plan{}, ErrFormat
	}
	width, err := size("maxwidth", given["maxwidth"], embeddedWidth)
	if err != nil {
		return response.Plan{}, err
	}
	height, err := size("maxheight", given["maxheight"], embeddedHeight)
	if err != nil {
		return response.Plan{}, err
	}
	ls, err := l.embedded(ctx, r.Base, given["url"])
	if err != nil {
		return response.Plan{}, err
	}
	build := func(ctx context.Context, snap *view.Snapshot) (*response.Body, error) {
		now := ls.on(snap)
		title, err := now.heading(ctx)
		if err != nil {
			return nil, err
		}
		address := now.url("", now.asked)
		frame := fmt.Sprintf(`<iframe data-vitrine src="%s" title="%s" width="%d" height="%d" loading="lazy" style="border:0;max-width:100%%"></iframe>`,
			markup.Escape(address), markup.Escape(title), width, height)
		text, err := json.Marshal(map[string]any{
			"version": "1.0", "type": "rich", "title": title, "html": frame, "width": width, "height": height,
			"provider_name": "Vitrine", "provider_url": r.Base + "/",
		})
		return response.Bytes(text), err
	}
	return response.Plan{
		View: ls.view, Also: ls.also(), Build: build,
		Query: fmt.Sprintf("oembed\x00%s\x00%s\x00%s\x00%d\x00%d", r.Base, ls.path, ls.asked, width, height),
	}, nil
}

// size reads how large an embedded page may be.
func size(name, value string, most int) (int, error) {
	if value == "" {
		return most, nil
	}
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil || n == 0 {
		return 0, rules.Wrongf(name, "", "want a number of pixels, got %s", query.Quoted(value))
	}
	return min(int(n), most), nil
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
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, rules.Wrongf("url", "", "its query cannot be read")
	}
	q, err := params.Parse(func(yield func([]byte, []byte) bool) {
		for name, all := range values {
			for _, value := range all {
				if !yield([]byte(name), []byte(value)) {
					return
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	about, err := l.about(ctx, parts)
	if err != nil {
		return nil, err
	}
	return l.listing(about, base, faces[0], q)
}
