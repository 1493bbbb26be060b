package lists

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules/cite"
)

// Plan returns the plan for the answer to a request. It decides everything that does not depend on rows: the
// format, the language and the parameters. Only an id that may end like a format is looked up now, see findTarget.
//
// Errors are *rules.Error for a wrong path or parameter, ErrHost and ErrFormat.
func (l *Lists) Plan(ctx context.Context, r Request) (p response.Plan, err error) {
	switch {
	case r.Path.err != nil:
		return p, r.Path.err
	case r.Path.parts[0] == "oembed":
		return l.oEmbed(ctx, r)
	case r.Path.parts[0] == "sitemap.xml":
		return l.sitemap(r)
	}
	to, err := l.findTarget(ctx, r.Planning.Guess, r.Path)
	if err != nil {
		return p, err
	}
	// A suffix wins over Accept: it is in the address that people copy. Without one, caches must know that the
	// answer depends on the header.
	negotiates := to.format.suffix == ""
	if negotiates {
		to.format = negotiate(r.Accept)
	}
	args := r.Args
	var strange []string
	if to.format.suffix == "" && !r.Path.IsPage() { // the server could not know that it is a page
		args, strange = params.WithoutStrange(args)
	}
	q, err := params.Parse(args, l.o.Styles.Names()...)
	if err != nil {
		return p, err
	}
	headers := "Accept"
	// Only a page takes the language of the browser: a fragment has that of the page that includes it.
	if negotiates && q.Text(params.Lang) == "" {
		headers = "Accept, Accept-Language"
		if to.format.suffix == "" && r.Language != "" {
			q = q.With(params.Lang, r.Language)
		}
	}
	p, err = l.plan(ctx, r, to, q)
	if negotiates {
		p.Negotiated = headers
	}
	p.Ignored = query.IgnoredWith(strange, params.Near)
	return p, err
}

// plan plans the answer for a target: an index of lists for /lists and /, or else a listing.
func (l *Lists) plan(ctx context.Context, r Request, to target, q params.Query) (response.Plan, error) {
	if name := to.parts[0]; len(to.parts) == 1 && (name == "lists" || name == "") {
		return l.overview(r, "/"+name, to.format, q)
	}
	ls, err := l.listing(ctx, r, to, q)
	if err != nil {
		return response.Plan{}, err
	}
	p := ls.plan(to.format.build(), "list", to.format.suffix)
	p.ContentType, p.Headers = to.format.media+to.format.coding, ls.headers()
	return p, nil
}

// plan plans a body of the listing. The key distinguishes it from other bodies: together with the snapshots it
// determines every byte. It has the canonical query and not the address, so that all spellings of a request share
// one answer.
func (l *listing) plan(write build, key ...string) response.Plan {
	// Answers by a shorter id are kept apart, because the others need not look for the longer ones.
	key = append(key, l.links.Base, l.path, l.asked.String(), l.lists.o.Cite.Fingerprint)
	key = append(key, strings.Join(l.to.longer, "\x00"))
	if l.lists.o.Styles.Named(l.rows.Query.Text(params.Style)) != nil {
		key = append(key, l.lists.o.Styles.Fingerprint()) // a reload may change the style
	}
	// Years such as last5 end with the calendar year. The key names the year, so that an answer of the old one is
	// not found in the new one, and the period says when to plan anew.
	var in response.Period
	if l.rows.Query.Rolls() || l.rows.Fixed.Rolls() {
		key, in = append(key, strconv.Itoa(l.rows.Year)), response.InYear(l.rows.Year, l.lists.shared.Zone)
	}
	build := func(ctx context.Context, s response.Snapshots) (*response.Body, error) {
		a, err := l.on(ctx, s, true)
		if err != nil {
			return nil, err
		}
		b, err := write(ctx, a)
		if err == nil {
			b.Ignored = query.IgnoredValues(a.unknown)
			b.Selected = response.Selected{On: a.snap, Count: a.count, Rows: response.Documents(a.rows.Entries)}
			b.Selected.Filter, b.Selected.Searches = a.rows.Filter()
		}
		return b, err
	}
	return response.Plan{
		View: l.def.View, Also: l.about.also, About: l.subjects(), Query: strings.Join(key, "\x00"), Build: build,
		Caching: response.Caching{Period: in},
	}
}

// subjects returns the subjects whose records can alter the listing: that of all its rows, and those with the
// longer ids to which its path would lead. After a change of other records, caches keep the answer. It is nil for a
// list that any row of its view can alter.
func (l *listing) subjects() (all []response.Subject) {
	kind := l.about.name
	if l.isItem() {
		kind = "id"
	}
	if kind == "" {
		return nil
	}
	for _, id := range append([]string{l.rows.ID}, l.to.longer...) {
		all = append(all, response.Subject{Kind: kind, ID: id})
	}
	return all
}

// build returns what writes the body of a listing in the format. It is a method and not a field of formats, because
// the builds refer to formats: Go refuses such a circle of initial values.
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

// pageHeaders returns the headers of pages in which HTML is shown by itself. A fragment has none: the policy of the
// page around it counts.
func pageHeaders(policy string) []response.Header {
	return []response.Header{{Name: "Content-Security-Policy", Value: policy}}
}

// notInNames matches the characters that are left out of file names. What stays needs no quoting in a header on any
// system.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9]`)

// headers returns the headers of the format. Search engines are to show the page and not its files. A file is named
// by what the path names: /lists/unit/BIO.bib is unit-BIO.bib.
func (l *listing) headers() (all []response.Header) {
	if l.format.suffix == "" && (l.ofPersons() || l.isOfPerson()) {
		return pageHeaders(page.Policy(l.lists.o.Site.Logo, true, l.lists.o.Badges...))
	}
	if l.format.suffix == "" {
		return pageHeaders(l.lists.policy)
	}
	if l.format.suffix != ".json" {
		all = append(all, response.Header{Name: "X-Robots-Tag", Value: "noindex"})
	}
	if l.format.suffix != ".html" {
		name := strings.Trim(notInNames.ReplaceAllString(strings.SplitN(l.path, "/", 3)[2], "-"), "-")
		all = append(all,
			response.Header{Name: "Content-Disposition", Value: `inline; filename="` + name + l.format.suffix + `"`})
	}
	return all
}
