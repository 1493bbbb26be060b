// Package lists plans the answers of the public lists. A request names a list or an item, a format and parameters:
// a listing. Its answer selects the rows of a snapshot and reads them into a plain document, which the format
// writes:
//
//	Request ──find──▶ listing ──on a snapshot──▶ answer ──▶ document ──▶ HTML, JSON, feeds
//	                                             └────▶ entries  ──▶ BibTeX, RIS, CSV, …
//
// The package does not depend on the server: like proxy/api it makes a response.Plan for a request, and package
// response sends it.
package lists

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/label"
	"vitrine/rules/mark"
	"vitrine/rules/styles"
	"vitrine/rules/suggest"
)

// Options configures the lists. Hosts with ":*" for their port match any port or none. New keeps the options, and
// callers must not change the maps in them afterwards.
type Options struct {
	configs.Lists
	Site configs.Site
	Cite *cite.Mapping // how to read rows as bibliographic items; required
	// Styles are the citation styles; nil: there are none.
	Styles *styles.Set
	// Rule is the rule by which the views' rows were marked, for Lists.Rule.
	Rule mark.Rule
}

// Shared is what lists share with the API. The zero value works. It has no views and no clock: plans get both by
// Request.Planning, and their Build has only the snapshots that the plan names.
type Shared struct {
	Filter   filter.Options // limits of the filters of Named
	Access   *access.Policy // lists leave out types that callers without a session may not see
	Language string         // of answers if the request has none; required
	Labels   label.Sets     // if nil, codes are shown unchanged
	Zone     *time.Location // in which days and years begin; default UTC
}

// definition is a list of the configuration or of the program.
type definition struct {
	slug string // the list's name in the URL: /lists/{slug}
	configs.NamedList
}

// builtIn returns a list of the program, which has no title. It has the default facets if none are given.
func (l *Lists) builtIn(slug, view string, facets ...string) definition {
	d := definition{slug, l.defaults}
	if d.View = view; len(facets) > 0 {
		d.Facets = facets
	}
	return d
}

// either returns the text of a language or, if there is none, of another.
func either(texts map[string]string, lang string) string {
	return cmp.Or(texts[lang], texts["en"], texts["de"])
}

// views are the views that have lists. Their order is that in which a record with an id is looked for.
var views = []string{rules.ViewActivities, rules.ViewProjects, rules.ViewEvents, rules.ViewPersons}

// Lists plans answers for one generation of settings. It is safe for concurrent use. A reload makes another one,
// and requests under way keep theirs.
//
// Except for what it reads of snapshots (values, said, endings, peopled, siteSize), which is kept for the latest of
// each view, it does not change after New.
type Lists struct {
	o        Options
	shared   Shared                    // with defaults filled in
	public   *filter.Filter            // selects the rows that lists show
	lists    []listing                 // the configured lists, then the lists of whole views
	defaults configs.NamedList         // of the program's own lists
	policy   string                    // the Content-Security-Policy of pages
	alike    map[string]*filter.Filter // see alikeOf
	values   *selection.Values
	said     selection.Tables[said]
	// endings has ids that end like formats, by kinds of subjects; see endsAlike.
	endings selection.Tables[map[string]bool]
	peopled selection.Tables[map[string]bool] // see unitsWithPeople
	// the pages of the documentation by path, made by the first request for them and then kept
	guides map[string]func() []byte

	siteSize atomic.Pointer[siteSize] // the last that was counted; nil before the first
}

// New returns Lists. Errors name the invalid option. If lists are disabled, the result has only what the server
// needs of them all the same, such as Enabled, Root and Base.
func New(o Options, shared Shared) (*Lists, error) {
	if !o.Enabled {
		return &Lists{o: Options{Site: o.Site, Lists: configs.Lists{BaseURL: o.BaseURL}}}, nil
	}
	shared.Zone = cmp.Or(shared.Zone, time.UTC)
	// A list has no way around its views: a filter that memory cannot evaluate is refused at the start
	// (docs/decisions.md).
	shared.Filter.Foreign = false
	l := &Lists{o: o, shared: shared, policy: page.Policy(o.Site.Logo, false, o.Badges...), defaults: configs.NewList()}
	l.defaults.Title = nil
	l.guides = map[string]func() []byte{
		"/docs/embedding": documentation(l, "/docs/embedding",
			"How lists of publications, projects and events come onto the pages of a site: as an element, by an "+
				"include, in an iframe.", page.Guide),
		"/docs/records": documentation(l, "/docs/records",
			"Which records and fields lists are made from, what each field does, and ten records to begin with.",
			page.Records),
	}
	l.public = filter.OneOf(mark.Public, true).As(FromPublic)
	var err error
	if l.public, err = l.seen(l.public); err != nil {
		return nil, fmt.Errorf("lists: %w", err)
	}
	if l.alike, err = alikeOf(); err != nil {
		return nil, fmt.Errorf("lists: %w", err)
	}
	l.values = selection.NewValues(shared.Labels, l.public)
	limits := shared.Filter
	// The lists are parsed once, at the start, so that a wrong filter is an error of the configuration and not of a
	// request.
	limits.Param, limits.HexIDs = "filter", true
	all := []definition{}
	for _, slug := range slices.Sorted(maps.Keys(o.Named)) {
		all = append(all, definition{slug, *o.Named[slug]})
	}
	people := l.builtIn(rules.ViewPersons, rules.ViewPersons, params.Unit)
	people.Sort = params.ByAuthor
	all = append(all, l.builtIn(rules.ViewActivities, rules.ViewActivities, params.Year, params.Type, params.Unit),
		l.builtIn(rules.ViewProjects, rules.ViewProjects, params.Year, params.Type, params.Unit),
		l.builtIn(rules.ViewEvents, rules.ViewEvents), people)
	for _, d := range all {
		one := l.newListing(d)
		if known := params.Styles(o.Styles.Names()...); !slices.Contains(known, d.Style) {
			return nil, configs.Wrong("lists.named."+d.slug+".style", "want %s, have %q%s", strings.Join(known, ", "),
				d.Style, suggest.Hint(d.Style, known))
		}
		if one.rows.Where, err = filter.Parse([]byte(cmp.Or(d.Filter, "{}")), limits); err != nil {
			return nil, configs.Wrong("lists.named."+d.slug+".filter", "%v", err)
		}
		if one.rows.Fixed, err = selectorsOf(d.Select); err != nil {
			return nil, configs.Wrong("lists.named."+d.slug+".select", "%v", err)
		}
		one.usual = one.usual.With(params.IDs, one.rows.Fixed[params.IDs]...)
		l.lists = append(l.lists, one)
	}
	peopleOf(l).rows.Where = filter.OneOf(mark.Past, nil)
	return l, nil
}

// peopleOf returns the list of the institute's persons, the last one. Those who have left are not in it: institutes
// keep their records.
func peopleOf(l *Lists) *listing { return &l.lists[len(l.lists)-1] }

// FromPublic is the origin of the condition that rows are marked as public: explanations name it, see filter.As.
const FromPublic = "lists.public"

// seen returns a rule joined with the condition on what callers without a session may see. Lists have no sessions:
// their answers are shared by all callers. It returns the rule itself if there is no policy.
func (l *Lists) seen(rule *filter.Filter) (*filter.Filter, error) {
	if l.shared.Access == nil {
		return rule, nil
	}
	visible := append(bson.D{}, l.shared.Access.Visible(access.Viewer{})...)
	compiled, err := query.Reader{Limits: l.shared.Filter, Now: time.Now}.Compile(visible, "")
	if err != nil {
		return nil, err
	}
	return filter.And(rule, compiled.As(access.Types)), nil
}

// selectorsOf reads the option select of a list, which is the query string of an address with selectors alone, such
// as unit=BIO&year=last5. The order of names in the map does not count, because a Query has one spelling.
func selectorsOf(text string) (params.Query, error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, err
	}
	// Selectors need no styles.
	q, err := params.Parse(func(yield func(name, value []byte) bool) {
		for name, all := range values {
			for _, value := range all {
				if !yield([]byte(name), []byte(value)) {
					return
				}
			}
		}
	})
	if others := q.Beyond(q.Only(params.Selectors()...)); err == nil && len(others) > 0 {
		return nil, fmt.Errorf("takes %s alone, got %s", strings.Join(params.Selectors(), ", "), others)
	}
	return q, err
}

// Rule returns the rule by which records are public. Its filter is nil if it is not known.
func (l *Lists) Rule() mark.Rule { return l.o.Rule }

// Enabled reports whether there are lists.
func (l *Lists) Enabled() bool { return l.o.Enabled }

// Languages returns the languages of lists, the default first.
func (l *Lists) Languages() []string {
	return append([]string{l.shared.Language}, label.Languages()...)
}

// Institute returns the name of the institute in English, or else "".
func (l *Lists) Institute() string { return either(l.o.Site.Title, "en") }

// Root returns the path of Options.BaseURL, below which clients see the server, also if there are no lists; or "".
// It has no slash at its end, like the option.
func (l *Lists) Root() string {
	base, err := url.Parse(l.o.BaseURL)
	if err != nil {
		return ""
	}
	return base.EscapedPath()
}

// Guide returns the page of the documentation at one of GuidePaths.
func (l *Lists) Guide(path string) []byte { return l.guides[path]() }

// GuidePaths returns the paths of the pages of the documentation.
func GuidePaths() []string { return []string{"/docs/embedding", "/docs/records"} }

// documentation returns a function that makes a page of the documentation in its first call, and then returns it.
func documentation(l *Lists, path, description string, of func(page.Head) []byte) func() []byte {
	return sync.OnceValue(func() []byte {
		head := l.head("", "en")
		head.Self, head.Description = l.o.BaseURL+path, description
		return of(head)
	})
}

// Policy returns the Content-Security-Policy of pages.
func (l *Lists) Policy() string { return l.policy }

// Failure returns the page for an error in a language, or else in that of answers.
func (l *Lists) Failure(lang string, status int, msg string) []byte {
	return page.Failure(status, l.head(http.StatusText(status), cmp.Or(lang, l.shared.Language)), msg)
}

// head returns a head with what all pages have in common. Its texts are in a language, and the institute's name in
// that or another one.
func (l *Lists) head(title, lang string) page.Head {
	s := l.o.Site
	return page.Head{Title: title, Lang: lang, Base: l.o.BaseURL,
		Site: page.Site{Title: either(s.Title, lang), Logo: s.Logo, URL: s.URL}}
}

// translate adds to a head the links to its page in each language, for readers and, at a canonical address, for
// search engines. They name the language, because without it the preference of the browser decides.
func translate(h *page.Head, path, canonical string, q params.Query) {
	entries := q.Merge().Entries()
	for _, lang := range label.Languages() {
		h.Languages = append(h.Languages,
			page.Link{Href: address(path, q.With(params.Lang, lang)), Label: texts.In(lang).T("language"),
				Type: lang})
		h.Alternates = append(h.Alternates,
			page.Link{Href: address(canonical, entries.With(params.Lang, lang)), Type: lang})
	}
	h.Alternates = append(h.Alternates,
		page.Link{Href: address(canonical, entries.With(params.Lang)), Type: "x-default"})
}

// Ignores reports whether lists ignore a parameter in every format: it is one of Options.IgnoredParameters, and not
// of lists. These are the parameters that trackers add to links. A name that ends in "*" stands for all with that
// beginning, such as utm_*.
func (l *Lists) Ignores(name string) bool {
	return !params.Known(name) && slices.ContainsFunc(l.o.IgnoredParameters, func(own string) bool {
		prefix, open := strings.CutSuffix(own, "*")
		return own == name || open && strings.HasPrefix(name, prefix)
	})
}

// ErrHost is the error for a request that needs absolute URLs, from a host that is not listed. Any client can send
// any Host, and a cache may send the answer to others, who would follow its links to a foreign site.
var ErrHost = errors.New("lists: the host is not in the list of hosts")

// Base returns the beginning of absolute URLs: the configured one, or that of a host in Options.Hosts, or "". Hosts
// count only without a configured one. Names are compared without regard to case, and the result has small letters.
func (l *Lists) Base(scheme, host string) string {
	listed := func(own string) bool {
		name, anyPort := strings.CutSuffix(own, ":*")
		if len(host) < len(name) || !strings.EqualFold(host[:len(name)], name) {
			return false
		}
		port, given := strings.CutPrefix(host[len(name):], ":")
		_, err := strconv.ParseUint(port, 10, 16)
		return len(host) == len(name) || anyPort && given && err == nil
	}
	if l.o.BaseURL == "" && slices.ContainsFunc(l.o.Hosts, listed) {
		return scheme + "://" + strings.ToLower(host)
	}
	return l.o.BaseURL
}
