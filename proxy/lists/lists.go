// Package lists plans the answers of the public lists. A request names a list or an item, a
// format and parameters: a listing. Its answer selects the rows of a snapshot, reads them into
// a plain document, and the format writes the document:
//
//	Request ──find──▶ listing ──on a snapshot──▶ answer ──▶ document ──▶ HTML, JSON, feeds
//	                                                 └────▶ entries  ──▶ BibTeX, RIS, CSV, …
//
// The package knows no server: like proxy/api it makes a response.Plan of a request, and
// package response sends it.
package lists

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/label"
	"vitrine/rules/mark"
)

// Options configures the lists.
type Options struct {
	Enabled bool // if false, there are no lists
	// BaseURL is what URLs begin with, such as https://data.institute.example. If empty, they are
	// relative, and in formats that need absolute ones they have the request's host if it is one
	// of Hosts: as a client names it, or with ":*" for its port, with any port or none.
	BaseURL string
	Hosts   []string
	// Ignored are names of parameters that trackers add to links; "*" at the end matches any rest.
	Ignored []string
	Links   Links // templates for the links of items; its Base does not count
	Named   []Definition
	Cite    *cite.Mapping // how rows are read as bibliographic items; needed
}

// Shared is what lists have in common with the API.
type Shared struct {
	Views interface {
		Snapshot(view string) (*view.Snapshot, error)
	}
	Filter   filter.Options // limits of the filters of Named
	Access   *access.Policy // lists leave out types that callers without a session may not see
	Language string         // of answers if the request has none; en
	Labels   label.Sets     // if nil, codes are shown as they are
	Now      func() time.Time
}

// Definition is a list of the configuration.
type Definition struct {
	Slug     string            // its name in the URL: /lists/{slug}
	Title    map[string]string // by language; of a language without one English
	View     string            // activities, projects, persons or events
	Filter   string            // Extended JSON; empty: all
	Group    string            // none, year, type, subtype or person; none
	Style    string            // web or print; web
	Sort     string            // year, title, type or author, with - in front from the last on; -year
	PageSize int               // items of a page; 25
	Facets   []string          // year, type, subtype, unit, person, project or topic
	// PageURL is the page that shows the list, with {page} where its number is; empty: the
	// list's own.
	PageURL string
	Links   Links // each overrides that of Options.Links unless it is empty
}

// views are the views of lists. Each but the last has a list of all its rows.
var views = []string{rules.ViewActivities, rules.ViewProjects, rules.ViewEvents, rules.ViewPersons}

// Views adds to the definitions of views what public lists need: the words of public rows, the
// indexes of what lists of activities select and count by, and their entries in BibTeX.
func Views(defs []index.Definition, mapping *cite.Mapping) []index.Definition {
	for i := range defs {
		d := &defs[i]
		if !slices.Contains(views, d.Name) {
			continue
		}
		read := mapping.View(d.Name)
		if d.Name == rules.ViewActivities {
			d.Warm = append(d.Warm, mark.Public, mark.Year, mark.Type, mark.Subtype, mark.Unit, mark.In, mark.Person, mark.Project, mark.Topic)
			d.Fragments = append(d.Fragments, index.Fragment{Name: fragBibTeX, Bulky: true, Encode: appendBibTeXOf(read)})
		}
		d.Words = func(row bson.Raw, add func(text string, title bool)) {
			if mark.Of(row) != nil {
				read.Words(row, add)
			}
		}
	}
	return defs
}

// whole are the lists of whole views.
var whole = []Definition{
	{Slug: rules.ViewActivities, View: rules.ViewActivities, Facets: []string{params.Year, params.Type, params.Unit}},
	{Slug: rules.ViewProjects, View: rules.ViewProjects, Facets: []string{params.Year, params.Type, params.Unit}},
	{Slug: rules.ViewEvents, View: rules.ViewEvents},
}

// Lists plans answers by one generation of settings. It is safe for concurrent use.
type Lists struct {
	o      Options
	shared Shared         // with its defaults
	public *filter.Filter // the rows that lists show
	lists  []listing      // the configured lists, then the lists of whole views
}

// New returns Lists. Errors name the option at fault.
func New(o Options, shared Shared) (*Lists, error) {
	if !o.Enabled {
		return &Lists{}, nil
	}
	shared.Language, shared.Filter.Foreign = cmp.Or(shared.Language, "en"), false
	l := &Lists{o: o, shared: shared}
	shown := bson.D{{Key: mark.Public, Value: true}}
	if shared.Access != nil {
		shown = append(shown, shared.Access.Visible(access.Viewer{})...)
	}
	var err error
	if l.public, err = (query.Reader{Limits: shared.Filter, Now: shared.Now}).Compile(shown, ""); err != nil {
		return nil, fmt.Errorf("lists: %w", err)
	}
	limits := shared.Filter
	limits.Param, limits.HexIDs = "filter", true
	for _, d := range slices.Concat(o.Named, whole) { // configs checks all but the filter
		one := l.newListing(d)
		if one.rows.Where, err = filter.Parse([]byte(cmp.Or(d.Filter, "{}")), limits); err != nil {
			return nil, fmt.Errorf("lists.named.%s: %w", d.Slug, err)
		}
		l.lists = append(l.lists, one)
	}
	return l, nil
}

// Enabled reports whether there are lists.
func (l *Lists) Enabled() bool { return l.o.Enabled }

// Failure is the page of an error, in the language of answers.
func (l *Lists) Failure(status int, msg string) []byte {
	return page.Failure(status, page.Head{Title: http.StatusText(status), Lang: l.shared.Language, Base: l.o.BaseURL}, msg)
}

// Ignores reports whether a parameter is one that trackers add, and none of lists.
func (l *Lists) Ignores(name string) bool {
	return !params.Known(name) && slices.ContainsFunc(l.o.Ignored, func(own string) bool {
		prefix, open := strings.CutSuffix(own, "*")
		return own == name || open && strings.HasPrefix(name, prefix)
	})
}

// ErrHost is the error of a call for absolute URLs whose host is not listed. Any client can send
// any Host, and a cache may send the answer to others.
var ErrHost = errors.New("lists: the host is not on the list")

// Base returns what absolute URLs begin with for a client that names a host: the configured
// address, or else that host if it is one of Options.Hosts, or else nothing.
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
