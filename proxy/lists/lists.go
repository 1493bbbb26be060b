package lists

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
)

// Lists plans answers by one generation of settings. It is safe for concurrent use.
type Lists struct {
	o      Options // with their defaults
	reader query.Reader
	cite   map[string]*cite.Rules    // by view
	public *filter.Filter            // the rows that lists show
	where  map[string]*filter.Filter // of the lists of the configuration, by slug
}

// New returns Lists. Errors name the option at fault.
func New(o Options) (*Lists, error) {
	if !o.Enabled {
		return &Lists{}, nil
	}
	if o.Cite == nil {
		return nil, errors.New("lists: Options.Cite is missing")
	}
	o.Zone, o.Language = cmp.Or(o.Zone, time.UTC), cmp.Or(o.Language, "en")
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Filter.Foreign = false
	l := &Lists{o: o, reader: query.Reader{Limits: o.Filter, Now: o.Now}, cite: map[string]*cite.Rules{}}
	for _, view := range views {
		l.cite[view] = o.Cite.View(view)
	}
	shown := bson.D{{Key: mark.Public, Value: true}}
	if o.Access != nil {
		shown = append(shown, o.Access.Visible(access.Viewer{})...)
	}
	var err error
	if l.public, err = l.reader.Compile(shown, ""); err != nil {
		return nil, fmt.Errorf("lists: %w", err)
	}
	l.where = map[string]*filter.Filter{}
	for _, d := range o.Named {
		if l.where[d.Slug], err = l.filterOf(d); err != nil {
			return nil, fmt.Errorf("lists.named.%s: %w", d.Slug, err)
		}
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

// views are those that lists show.
var views = []string{rules.ViewActivities, rules.ViewProjects, rules.ViewEvents, rules.ViewPersons}

// filterOf reads the filter of a list of the configuration. Package configs checks the rest.
func (l *Lists) filterOf(d Definition) (*filter.Filter, error) {
	if d.Filter == "" {
		return filter.All(), nil
	}
	o := l.o.Filter
	o.Param, o.HexIDs = "filter", true
	return filter.Parse([]byte(d.Filter), o)
}
