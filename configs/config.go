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
		Enabled        bool
		Schedule       map[string]string
		Full           string
		Watch          bool
		MaxShrink      float64
		Workers, Batch int
		Lease          time.Duration
	}
	// The connection to a MongoDB store.
	Mongo struct {
		ConnectTimeout, Timeout time.Duration
		Pool                    int
		ReadPreference          string
		Batch                   int
	}

	Limits Limits
	// Answers that are kept once computed.
	Cache struct {
		Budget, MaxEntry, Blocks Size
	}
	// What the process as a whole holds.
	Memory struct {
		Limit    Size
		Garbage  int
		InFlight Size
	}
	// How answers travel: which proxies may say who asks, which sites' pages may read answers,
	// the Cache-Control header of good ones, and their compression.
	HTTP struct {
		ProxyHeader    string
		TrustedProxies []string
		CORS           struct {
			Origins     []string
			Credentials bool
			MaxAge      time.Duration
		}
		CacheControl struct {
			MaxAge, StaleWhileRevalidate, StaleIfError time.Duration
			Keyed                                      string
		}
		Compress struct {
			Codings  []string
			MinBytes Size
		}
	}

	Catalog     struct{ TopicsPath, Collection, File, URL string } // the scholarly catalogue that topics come from
	Affiliation struct{ Fields []string }                          // what marks an author as one of the institute's
	Portfolio   struct{ Enabled bool }                             // the research spectrum
	Lists       Lists
	Citation    Citation
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
	Mode, Database      string
	Budget, IndexBudget Size
	Snapshot            string
	SnapshotEvery       time.Duration
	Optional            []string
	Poll                time.Duration
}

// Limits are the bounds of one request, or one client.
type Limits struct {
	Rate, Burst, Concurrency, ClientConnections, KeyFailures int
	URLBytes, BodyBytes, FilterBytes                         Size
	FilterDepth, FilterNodes                                 int
	RegexBytes                                               Size
	RegexTimeout, RequestTimeout                             time.Duration
	Waiting                                                  int
	ReadTimeout, WriteTimeout, SendTimeout, IdleTimeout      time.Duration
}

// Citation is the external citation index. Nothing else outside is ever contacted.
type Citation struct {
	URL                                string
	Lifetime, Stale, Interval, Timeout time.Duration
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
	Links             ListLinks
}

// ListLinks are templates of links: a web address, or a path from the root of the page's site, with `{id}` in it.
type ListLinks struct {
	Activity, Person, Project string
}

// NamedList is a list with a name of its own.
type NamedList struct {
	Title                            Titles
	View, Filter, Group, Style, Sort string
	PageSize                         int
	Facets                           []string
	PageURL                          string
	Links                            ListLinks
}

// Titles is a title by language.
type Titles struct {
	En, De string
}
