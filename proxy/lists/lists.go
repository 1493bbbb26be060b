// Package lists plans the answers of the public lists. A request names a list or an item,
// a face, which is its format, and parameters: a listing. On a snapshot the listing is read,
// and the face writes what was read. The package knows no server: like proxy/api it makes a
// response.Plan of a request, and package response sends it.
package lists

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/label"
	"vitrine/rules/mark"
)

// Options configures the lists. The server sets Views, Filter, Access, Language, Labels
// and Now: they are those of the API.
type Options struct {
	Enabled bool // if false, there are no lists
	// BaseURL is what URLs begin with, such as https://data.institute.example. If empty, they are
	// relative, and in formats that need absolute ones they have the request's host if it is one
	// of Hosts: as a client names it, or with ":*" for its port, with any port or none.
	BaseURL string
	Hosts   []string
	// Ignored are names of parameters that trackers add to links, "*" at the end standing for more.
	Ignored []string
	Links   cite.Links // templates for the links of items; its Base does not count
	Named   []Definition
	Cite    *cite.Rules // how rows are read as bibliographic items; needed

	Views interface {
		Snapshot(view string) (*view.Snapshot, error)
	}
	Filter   filter.Options // limits of the filters of Named
	Access   *access.Policy // records of types that callers without a session may not see are in no list
	Language string         // of answers where a request asks for no other; en
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
	Links   cite.Links // instead of Options.Links, each that is not empty
}

// views are those that lists show. All but the last have a list of everything in them.
var views = []string{rules.ViewActivities, rules.ViewProjects, rules.ViewEvents, rules.ViewPersons}

// Views adds to the definitions of views what public lists need: the words of public rows,
// the indexes of what lists of activities select and count by, and their entries in BibTeX.
func Views(defs []index.Definition, mapping *cite.Rules) []index.Definition {
	for i := range defs {
		d := &defs[i]
		if !slices.Contains(views, d.Name) {
			continue
		}
		read := mapping.View(d.Name)
		if d.Name == rules.ViewActivities {
			d.Warm = append(d.Warm, mark.Public, mark.Year, mark.Type, mark.Subtype, mark.Unit, mark.In, mark.Person, mark.Project, mark.Topic)
			d.Fragments = append(d.Fragments, index.Fragment{Name: fragBibTeX, Bulky: true, Encode: bibTeXOf(read)})
		}
		d.Words = func(row bson.Raw, add func(text string, title bool)) {
			if mark.Of(row) != nil {
				read.Words(row, add)
			}
		}
	}
	return defs
}

// whole are the lists of everything in a view.
var whole = []Definition{
	{Slug: rules.ViewActivities, View: rules.ViewActivities, Facets: []string{params.Year, params.Type, params.Unit}},
	{Slug: rules.ViewProjects, View: rules.ViewProjects, Facets: []string{params.Year, params.Type, params.Unit}},
	{Slug: rules.ViewEvents, View: rules.ViewEvents},
}

// Lists plans answers by one generation of settings. It is safe for concurrent use.
type Lists struct {
	o      Options // with their defaults
	reader query.Reader
	public *filter.Filter // the rows that lists show
	lists  []*list        // those of the configuration, and then those of everything in a view
}

// New returns Lists. Errors name the option at fault.
func New(o Options) (*Lists, error) {
	if !o.Enabled {
		return &Lists{}, nil
	}
	o.Language, o.Filter.Foreign = cmp.Or(o.Language, "en"), false
	l := &Lists{o: o, reader: query.Reader{Limits: o.Filter, Now: o.Now}}
	shown := bson.D{{Key: mark.Public, Value: true}}
	if o.Access != nil {
		shown = append(shown, o.Access.Visible(access.Viewer{})...)
	}
	var err error
	if l.public, err = l.reader.Compile(shown, ""); err != nil {
		return nil, fmt.Errorf("lists: %w", err)
	}
	limits := o.Filter
	limits.Param, limits.HexIDs = "filter", true
	for _, d := range slices.Concat(o.Named, whole) { // configs checks all but the filter
		one := l.newList(d)
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
	return page.Failure(status, page.Head{Title: http.StatusText(status), Lang: l.o.Language, Base: l.o.BaseURL}, msg)
}

// Drop deletes the parameters that trackers have added, and reports whether there were any. Those
// of lists stay.
func (l *Lists) Drop(args *fasthttp.Args) bool {
	var names []string
	for name := range args.All() {
		if l.ignores(string(name)) {
			names = append(names, string(name))
		}
	}
	for _, name := range names { // not while they are read
		args.Del(name)
	}
	return len(names) > 0
}

// ignores reports whether a parameter is one of Options.Ignored.
func (l *Lists) ignores(name string) bool {
	return !params.Known(name) && slices.ContainsFunc(l.o.Ignored, func(own string) bool {
		prefix, open := strings.CutSuffix(own, "*")
		return own == name || open && strings.HasPrefix(name, prefix)
	})
}

// ErrHost is the error of a call for absolute URLs by a host that they may not have. Any client
// can send any Host, and a cache may hand the answer out to others.
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

// baseOf returns what the URLs of a face begin with, where absolute ones begin with a base. They
// are relative where the face can do with that, so that it is the same for all hosts.
func (l *Lists) baseOf(f face, base string) (string, error) {
	switch {
	case !f.absolute():
		return l.o.BaseURL, nil
	case base == "":
		return "", ErrHost
	}
	return base, nil
}

// list is what a URL names: rows of a view, and how they are shown unless a request says
// otherwise. It is immutable.
type list struct {
	Definition
	path  string             // escaped, such as /lists/unit/BIO
	rows  selection.Question // without the parameters of a request
	kind  kind               // of what the list is about; empty: about no record, or an item
	usual params.Query
}

// kind is a kind of what lists are about: /lists/{name}/{id}.
type kind struct {
	name  string   // a parameter that selects the rows
	facet string   // that its lists have beside year and type
	also  []string // views beside their own that know what they are about
	paths []string // where marks have it
}

var kinds = []kind{
	{params.Unit, params.Person, []string{rules.ViewPersons}, []string{mark.Unit, mark.In}},
	{params.Person, params.Topic, []string{rules.ViewPersons}, []string{mark.Person, mark.ORCID}},
	{params.Project, params.Person, []string{rules.ViewProjects}, []string{mark.Project}},
	{params.Topic, params.Unit, nil, []string{mark.Topic}},
}

// isItem reports whether a list is about a single record.
func (l *list) isItem() bool { return l.rows.Kind == params.IDs }

// notFound is the error of a path that names nothing.
func notFound(reason string) error { return &rules.Error{Kind: rules.ErrNotFound, Reason: reason} }

// newList returns a list of all rows of a view, at /lists/{slug}.
func (l *Lists) newList(d Definition) *list {
	all := l.o.Links
	d.Links = cite.Links{
		Activity: cmp.Or(d.Links.Activity, all.Activity), Person: cmp.Or(d.Links.Person, all.Person), Project: cmp.Or(d.Links.Project, all.Project),
	}
	return &list{
		Definition: d, path: "/lists/" + d.Slug,
		rows: selection.Question{Reader: l.reader, Labels: l.o.Labels, Public: l.public, View: d.View},
		usual: params.Query{}.With(params.Facets, d.Facets...).Over(params.Query{
			params.Sort: {cmp.Or(d.Sort, "-year")}, params.Group: {cmp.Or(d.Group, params.None)},
			params.Limit: {strconv.Itoa(cmp.Or(max(d.PageSize, 0), 25))}, params.Facets: {params.Year, params.Type},
			params.Lang: {l.o.Language}, params.Style: {cmp.Or(d.Style, "web")},
		}),
	}
}

// find returns the list or the item of a path.
func (l *Lists) find(ctx context.Context, parts []string) (*list, error) {
	switch {
	case parts[0] == "items" && len(parts) == 2 && parts[1] != "":
		return l.item(ctx, parts[1])
	case parts[0] == "items":
		return nil, errNoItem
	case parts[0] != "lists":
		return nil, notFound("There is nothing at this path.")
	case len(parts) == 2:
		if i := slices.IndexFunc(l.lists, func(one *list) bool { return one.Slug == parts[1] }); i >= 0 {
			return l.lists[i], nil
		}
		names := make([]string, len(l.lists))
		for i, one := range l.lists {
			names[i] = one.Slug
		}
		return nil, notFound("There is no list of this name. /lists has all" + cmp.Or(params.DidYouMean(parts[1], names), "."))
	}
	for _, k := range kinds {
		if len(parts) == 3 && parts[1] == k.name && parts[2] != "" {
			about := l.newList(Definition{
				Slug: k.name + "/" + cite.Segment(parts[2]), View: rules.ViewActivities, Facets: []string{params.Year, params.Type, k.facet},
			})
			about.kind, about.rows.Kind, about.rows.ID = k, k.name, parts[2]
			return about, nil
		}
	}
	return nil, notFound("There is no such list. /lists has all.")
}

// errNoItem is the error of an id that no public record has.
var errNoItem = notFound("There is no such item.")

// item returns the list of the one public record of an id. It looks for the view that has
// it, which stays the same as long as the record is there.
func (l *Lists) item(ctx context.Context, id string) (*list, error) {
	for _, view := range views[:3] {
		snap, err := l.o.Views.Snapshot(view)
		if err != nil {
			return nil, err
		}
		if row, err := l.first(ctx, snap, selection.IDs("$in", []string{id})); row != nil || err != nil {
			one := l.newList(Definition{View: view})
			one.path, one.rows.Kind, one.rows.ID = "/items/"+cite.Segment(id), params.IDs, id
			return one, err
		}
	}
	return nil, errNoItem
}

// first returns the first row that lists show of those that a condition selects, nil if there
// is none. An id may look like a condition that cannot be asked: no record has such an id.
func (l *Lists) first(ctx context.Context, snap *view.Snapshot, condition bson.D) (row bson.Raw, err error) {
	where, err := l.reader.Compile(condition, "")
	if err == nil {
		row, err = snap.First(ctx, filter.And(l.public, where))
	}
	if errors.Is(err, rules.ErrWrongCall) {
		err = nil
	}
	return row, err
}
