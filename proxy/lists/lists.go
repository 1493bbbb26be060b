// Package lists plans the answers of the public lists. A request names a list or an item,
// a face, which is its format, and parameters: a listing. On a snapshot the listing is read,
// and the face writes what was read. The package knows no server: like proxy/api it makes a
// response.Plan of a request, and package response sends it.
package lists

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
)

// views are those that lists show. All but the last have a list of everything in them.
var views = []string{rules.ViewActivities, rules.ViewProjects, rules.ViewEvents, rules.ViewPersons}

// Lists plans answers by one generation of settings. It is safe for concurrent use.
type Lists struct {
	o      Options // with their defaults
	reader query.Reader
	public *filter.Filter // the rows that lists show
	whole  []*list        // of everything in a view
	named  []*list        // of the configuration
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
	for _, view := range views[:3] {
		d := Definition{Slug: view, View: view, Facets: []string{params.Year, params.Type, params.Unit}}
		if view == rules.ViewEvents {
			d.Facets = d.Facets[:2]
		}
		l.whole = append(l.whole, l.newList(d, "/lists/"+view, filter.All()))
	}
	for _, d := range o.Named {
		where := filter.All()
		if d.Filter != "" { // configs checks the rest
			limits := o.Filter
			limits.Param, limits.HexIDs = "filter", true
			if where, err = filter.Parse([]byte(d.Filter), limits); err != nil {
				return nil, fmt.Errorf("lists.named.%s: %w", d.Slug, err)
			}
		}
		l.named = append(l.named, l.newList(d, "/lists/"+d.Slug, where))
	}
	return l, nil
}

// Enabled reports whether there are lists.
func (l *Lists) Enabled() bool { return l.o.Enabled }

// Failure is the page of an error, in the language of answers. Its links begin with a base
// as Lists.Base returns it; empty: with the path alone.
func (l *Lists) Failure(base string, status int, msg string) []byte {
	return page.Failure(status, page.Head{Title: http.StatusText(status), Lang: l.o.Language, Base: base}, msg)
}

// hosts matches the Host headers that are accepted: a name, or an address in brackets, and a
// port.
var hosts = regexp.MustCompile(`^(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]{1,255})(?::[0-9]{1,5})?$`)

// Base returns what the URLs of an answer begin with: the configured address, or else that
// of the request. The answer repeats the Host header, so one that names no host is refused.
func (l *Lists) Base(scheme, host string) (string, error) {
	switch {
	case l.o.BaseURL != "":
		return l.o.BaseURL, nil
	case !hosts.MatchString(host):
		return "", &rules.Error{Kind: rules.ErrWrongCall, Where: "Host", Reason: "is no name or address of a host"}
	}
	return scheme + "://" + strings.ToLower(host), nil
}
