package lists

import (
	"time"

	"vitrine/cache/view"
	"vitrine/rules/access"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/label"
)

// Options configures the lists. The server sets Views, Filter, Access, Language, Labels
// and Now: they are those of the API.
type Options struct {
	Enabled bool // if false, there are no lists
	// BaseURL is what absolute URLs begin with, such as https://data.institute.example. If
	// empty, it is the request's own.
	BaseURL string
	Links   cite.Links // templates for the links of items; its Base does not count
	Named   []Definition
	Cite    *cite.Rules // how rows are read as bibliographic items; needed

	Views interface {
		Snapshot(view string) (*view.Snapshot, error)
	}
	Filter   filter.Options // limits of the filters of Named
	Access   *access.Rules  // records of types that callers without a session may not see are in no list
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
