package configs

import (
	"time"
)

// Config holds all settings of Vitrine. settings.yaml describes the effect, default and valid values of each.
// Unless it says otherwise, an empty or zero value disables the feature. The names of fields are those of the
// settings without underscores, by which schema.go finds them.
type Config struct {
	Store                    URI
	Listen, Preset, Timezone string

	// Authentication, and who may see what.
	Admin Admin
	Auth  struct {
		APIKey, PortfolioKey Secret
		Keys                 map[string]*Key
		Session              Session
	}
	Access struct {
		Anonymous    []string
		Roles, Types map[string][]string
		HiddenFields []string
	}

	// What makes and holds the views, and how the store is read for it.
	Views       Views
	Materialize Materialize
	Mongo       struct{ Batch int }

	Limits Limits
	// The other server that answers what Vitrine does not, or does not yet.
	Upstream struct {
		URL, Host, Scheme string
		Key               Secret
		Paths, Methods    []string
		BodyBytes         Size
		Keep              []*Keep
	}
	Routes map[string]string
	// Caches in front that are told what has changed.
	Purge struct {
		Targets map[string]URI
		Tokens  map[string]string
	}

	Cache struct{ Budget Size } // for answers that are kept after they were computed
	// Transfer of answers: proxies that may name the client, sites that may read answers, caching.
	HTTP struct {
		ProxyHeader    string
		TrustedProxies []string
		CORS           CORS
		CacheControl   CacheControl
	}

	// Embedded, because these settings have no section in the file: `language`, not `resources.language`.
	Resources
	Catalog  struct{ TopicsPath, File, URL string } // the scholarly catalogue of topics
	Site     Site
	Lists    Lists
	Citation struct{ URL string }    // the external citation index, the only outside service that is ever contacted
	Compare  struct{ Shadow Shadow } // the old system with which live answers are compared
	Labels   struct{ File string }   // the names of codes
	Log      Log
	Rules    Rules
	Shutdown Shutdown

	// origins has the place of each value that is not a default, by dotted path; map entries have their own.
	origins map[string]Place
	// warned are warnings of Load; see Warnings.
	warned []string
	ended  map[string]bool // by dotted path: maps that end before their file does
	cut    bool            // the last line of the file does not end
}

// Resources are the settings of the API's resources.
type Resources struct {
	Language    string
	StartYear   int
	Affiliation struct{ Fields []string }      // the fields that mark an author as one of the institute's
	Portfolio   struct{ Enabled bool }         // the research spectrum
	Compat      struct{ FormattedSingle bool } // disables oddities of the API
}

// Materialize configures the jobs that build the views. By default frequently changing views are built every few
// minutes, others less often, and everything once a night.
type Materialize struct {
	Enabled   bool
	Schedule  map[string]string // cron specs by view
	Full      string            // the cron spec of the full run of all jobs; if empty, there is none
	MaxShrink float64           // a share, 0 to 1; if 0, there is no bound
	Lease     time.Duration
	// Without change streams.
	ReadAllEvery time.Duration // if 0, every run reads all
	ChangedField string
}

// Limits are the limits of one request, or of one client. A client is one address.
type Limits struct {
	Rate           int // requests a second; if 0, there is no limit
	FilterBytes    Size
	RequestTimeout time.Duration
}

// CORS says which sites' scripts may read answers.
type CORS struct {
	Origins     []string // "*" means all
	Credentials bool     // such requests may have cookies; not with "*"
}

// CacheControl says how long other caches may use an answer. Durations are truncated to seconds.
type CacheControl struct {
	MaxAge, StaleWhileRevalidate, StaleIfError time.Duration
	Keyed                                      string // public or private
}

// KeyedPublic reports whether shared caches may keep answers that need a key. They have to heed Vary; not all do.
func (c CacheControl) KeyedPublic() bool { return c.Keyed == "public" }

// Shadow names the server with whose answers live answers are compared. Without a URL none are. The comparison
// happens after an answer was sent, so it delays no client.
type Shadow struct {
	URL   string
	Share float64 // of the requests
}

// Admin is the operator's listener. An empty Listen means that there is no such listener. Open says that it needs
// no token although others can reach it.
type Admin struct {
	Listen string
	Token  Secret
	Open   bool
	Hosts  []string
}

// Key is a named key, known by hashes of its text, and what limits it. A key may have several hashes, so that it
// can be replaced while clients still send the old one. Empty lists do not limit: all endpoints, any origin, any
// network. Rate is in requests a second for all its clients together, 0 means no limit. Expires is the last day on
// which the key counts, as 2027-12-31; empty means that it never ends.
type Key struct {
	SHA256, Endpoints, Permissions, Origins, Networks []string
	Rate                                              int
	Expires                                           string
}

// Session configures how to recognise a logged-in person. JWTSecret and PublicKey, the name of a file, verify
// tokens; either may be empty. UserHeader names the header in which one of TrustedProxies sends the user.
type Session struct {
	JWTSecret              Secret
	PublicKey              string
	Endless                bool
	Issuer, Audience, Type string
	UnknownUsers           bool
	Cookie, UserHeader     string
	TrustedProxies         []string
}

// Keep is a rule for answers of the other server that are kept. Until has the names of views and collections after
// whose changes an answer is stale. For is how long it is fresh otherwise, Stale how long it may stand in for a
// newer one; zero durations mean what docs/configuration.md says.
type Keep struct {
	Paths, Until           []string
	For, Stale, Revalidate time.Duration
	Parameters             []string // all of them if it is EveryParameter
	Auth, Type, Refresh    string
	Warm                   []string
	Rate                   float64
	Connections            int
	Budget                 Size
}

// EveryParameter in Keep.Parameters stands for all parameters.
const EveryParameter = "*"

// Views configures the prepared rows. Many databases have no deadlines, hence the default of Optional.
type Views struct {
	Mode, Database string
	Budget         Size
	Snapshot       string
	Optional       []string
	Poll           time.Duration
}

// Log configures the log, on standard error.
type Log struct {
	Level, Format string
	Requests      bool
}

// Rules configures how activities are rendered and records are cited. An empty name means the built-in rules.
type Rules struct {
	File, CiteFile string
}

// Shutdown configures the end of the program after SIGTERM. Delay is how long the server still accepts requests, so
// that balancers notice; Grace is how long running requests may take after that.
type Shutdown struct {
	Delay, Grace time.Duration
}

// Site is the institute, as the pages of lists name it. Title is by language; Logo and URL are web addresses.
type Site struct {
	Title     map[string]string
	Logo, URL string
}

// Lists configures the public lists. They show only records that Public matches and, with Portal, those that OSIRIS's
// portal shows.
type Lists struct {
	Enabled, Portal   bool
	Public, BaseURL   string
	Hosts             []string
	IgnoredParameters []string // names or, with "*" at their end, prefixes
	Named             map[string]*NamedList
	// Links are templates by kind of target, with `{id}`: a web address, or a path from the site's root.
	Links map[string]string
	// Styles and Locales are names of files in CSL: of styles by name, and of locales by language tag.
	Styles, Locales map[string]string
	// PhotoURL is a template with `{id}` for the photos of persons who may be shown; a path is one of this server.
	PhotoURL string
	// Badges are services whose figures visitors may have loaded for records with a DOI: altmetric, dimensions.
	Badges []string
}

// NamedList is a configured list.
type NamedList struct {
	Title                            map[string]string // by language
	View, Filter, Group, Style, Sort string
	Select                           string
	PageSize                         int
	Facets                           []string
	PageURL                          string
	Links                            map[string]string
}
