package configs

import "time"

// Config holds all settings of Vitrine. settings.yaml says of each what it does, its default, and
// what it must be. Where that does not say otherwise an empty or zero value turns the thing off.
type Config struct {
	Store                              URI
	Listen, Preset, Timezone, Language string
	StartYear                          int

	// How a request shows who sends it, and who may see what.
	Admin Admin
	Auth  struct {
		APIKey, PortfolioKey Secret
		Session              Session
	}
	Access struct {
		Anonymous    []string
		Roles, Types map[string][]string
		HiddenFields []string
	}

	Views Views
	// The jobs that build the views. By default what changes often is built every few minutes,
	// the rest less often, and everything once a night.
	Materialize struct {
		Enabled   bool
		Schedule  map[string]string
		Full      string
		MaxShrink float64
		Lease     time.Duration
	}
	Mongo struct{ Batch int }

	// The bounds of one request, or one client.
	Limits struct {
		Rate           int
		FilterBytes    Size
		RequestTimeout time.Duration
	}
	Cache struct{ Budget Size } // of answers that are kept once computed
	// How answers travel: which proxies may name the client, which sites' pages may read answers,
	// and the Cache-Control header.
	HTTP struct {
		ProxyHeader    string
		TrustedProxies []string
		CORS           struct {
			Origins     []string
			Credentials bool
		}
		CacheControl struct {
			MaxAge, StaleWhileRevalidate, StaleIfError time.Duration
			Keyed                                      string
		}
	}

	Catalog     struct{ TopicsPath, File, URL string } // the scholarly catalogue that topics come from
	Affiliation struct{ Fields []string }              // what marks an author as one of the institute's
	Portfolio   struct{ Enabled bool }                 // the research spectrum
	Lists       Lists
	Citation    struct{ URL string }           // the external citation index; nothing else outside is ever contacted
	Labels      struct{ File string }          // the names of codes
	Compat      struct{ FormattedSingle bool } // switches oddities of the API off
	Log         Log
	Rules       Rules
	Shutdown    Shutdown

	// origins holds the place of each value that is not a default, by dotted path;
	// entries of a map have a path of their own.
	origins map[string]Place
}

// Admin is the operator's listener.
type Admin struct {
	Listen string
	Token  Secret
	Open   bool
	Hosts  []string
}

// Session says how a logged-in person is recognised.
type Session struct {
	JWTSecret              Secret
	PublicKey              string
	Endless                bool
	Issuer, Audience, Type string
	UnknownUsers           bool
	Cookie, UserHeader     string
	TrustedProxies         []string
}

// Views are the prepared rows that answers come from. Many databases have no deadlines,
// hence the default of Optional.
type Views struct {
	Mode, Database string
	Budget         Size
	Snapshot       string
	Optional       []string
	Poll           time.Duration
}

// Log is the log, on standard error.
type Log struct {
	Level, Format string
	Requests      bool
}

// Rules is about how activities are rendered and records are cited.
type Rules struct {
	File, CiteFile string
}

// Shutdown is the way down after SIGTERM.
type Shutdown struct {
	Delay, Grace time.Duration
}

// Lists are the public lists. They show records that Public matches, and nothing else.
type Lists struct {
	Enabled         bool
	Public, BaseURL string
	Hosts           []string
	// IgnoredParameters are names, or with "*" at their end prefixes.
	IgnoredParameters []string
	Named             map[string]*NamedList
	// Links are templates of links by kind of target: a web address, or a path from the root of
	// the page's site, with `{id}` in it.
	Links map[string]string
}

// NamedList is a list with a name of its own.
type NamedList struct {
	Title                            map[string]string // by language
	View, Filter, Group, Style, Sort string
	PageSize                         int
	Facets                           []string
	PageURL                          string
	Links                            map[string]string
}
