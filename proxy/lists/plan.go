package lists

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/cite"
)

// Plan returns the plan for the answer to a request.
func (l *Lists) Plan(ctx context.Context, r Request) (p response.Plan, err error) {
	parts, f, err := partsOf(r.Path)
	switch {
	case err != nil:
		return p, err
	case parts[0] == "oembed":
		return l.oEmbed(ctx, r)
	case parts[0] == "sitemap.xml":
		return l.sitemap(r)
	}
	q, err := params.Parse(r.Args)
	if err != nil {
		return p, err
	}
	if f.suffix != "" {
		p, err = l.plan(ctx, r, parts, f, q)
		if parts[0] != "items" || !errors.Is(err, rules.ErrNotFound) {
			return p, err
		}
		parts[len(parts)-1] += f.suffix // the suffix may belong to the id
	}
	headers := "Accept"
	f = negotiate(r.Accept)
	if q.Text(params.Lang) == "" {
		headers = "Accept, Accept-Language"
		if f.suffix == "" && r.Language != "" {
			q = q.With(params.Lang, r.Language)
		}
	}
	p, err = l.plan(ctx, r, parts, f, q)
	p.Negotiated = headers
	return p, err
}

// partsOf returns the decoded parts of a path, at least one, and its format. It ignores a slash at the end.
func partsOf(path string) (parts []string, f format, err error) {
	path, f = split(strings.TrimPrefix(strings.TrimSuffix(path, "/"), "/"))
	parts = strings.Split(path, "/")
	for i, part := range parts {
		if parts[i], err = url.PathUnescape(part); err != nil || !utf8.ValidString(parts[i]) {
			return nil, f, notFound("The path cannot be read.")
		}
	}
	return parts, f, nil
}

// ItemID returns the id of the item whose page is at a path, or "".
func ItemID(path string) string {
	if parts, _, err := partsOf(path); err == nil && len(parts) == 2 && parts[0] == "items" {
		return parts[1]
	}
	return ""
}

func (l *Lists) plan(ctx context.Context, r Request, parts []string, f format, q params.Query) (response.Plan, error) {
	if name := parts[0]; len(parts) == 1 && (name == "lists" || name == "") {
		return l.overview(r, "/"+name, f, q)
	}
	ls, err := l.listing(ctx, r, parts, f, q)
	if err != nil {
		return response.Plan{}, err
	}
	p := ls.plan(f.build(), "list", f.suffix)
	p.ContentType, p.Headers = f.media+f.coding, ls.headers()
	return p, nil
}

// plan plans a body of the listing. The key distinguishes it from other bodies.
func (l *listing) plan(write build, key ...string) response.Plan {
	key = append(key, l.links.Base, l.path, l.asked.String(), l.lists.o.Cite.Fingerprint)
	var in response.Period
	if l.rows.Query.Rolls() || l.rows.Fixed.Rolls() {
		key, in = append(key, strconv.Itoa(l.rows.Year)), response.InYear(l.rows.Year, l.lists.shared.Zone)
	}
	build := func(ctx context.Context, s response.Snapshots) (*response.Body, error) {
		a, err := l.on(ctx, s, true)
		if err != nil {
			return nil, err
		}
		return write(ctx, a)
	}
	return response.Plan{
		View: l.def.View, Also: l.about.also, About: l.subject(), Query: strings.Join(key, "\x00"), Build: build,
		Caching: response.Caching{Period: in},
	}
}

// subject returns what all rows of the listing have in common.
func (l *listing) subject() response.Subject {
	switch {
	case l.isItem():
		return response.Subject{Kind: "id", ID: l.rows.ID}
	case l.about.name != "":
		return response.Subject{Kind: l.about.name, ID: l.rows.ID}
	}
	return response.Subject{}
}

func (f format) build() build {
	switch f.suffix {
	case ".json":
		return buildPage(jsonDocument)
	case ".html":
		return buildPage(html(page.Fragment, page.SingleFragment))
	case ".bib":
		return bibTeX
	case ".ris":
		return citations("", "\r\n", "", cite.AppendRIS)
	case ".csl.json":
		return citations("[", ",\n", "]\n", cite.AppendCSL)
	case ".csv":
		return csvTable
	case ".jsonld":
		return jsonLD
	case ".atom":
		return buildPage(newest("atom"))
	case ".rss":
		return buildPage(newest("rss"))
	case ".feed.json":
		return buildPage(newest("json"))
	}
	return buildPage(html(page.Page, page.Single))
}

func (l *Lists) pageHeaders() []response.Header {
	return []response.Header{{Name: "Content-Security-Policy", Value: l.policy}}
}

// notInNames matches the characters that are left out of file names.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9]`)

func (l *listing) headers() (all []response.Header) {
	if l.format.suffix == "" {
		return l.lists.pageHeaders()
	}
	if l.format.suffix != ".json" {
		all = append(all, response.Header{Name: "X-Robots-Tag", Value: "noindex"})
	}
	if l.format.suffix != ".html" {
		name := strings.Trim(notInNames.ReplaceAllString(strings.SplitN(l.path, "/", 3)[2], "-"), "-")
		all = append(all, response.Header{Name: "Content-Disposition", Value: `inline; filename="` + name + l.format.suffix + `"`})
	}
	return all
}
