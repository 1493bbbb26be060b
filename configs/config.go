package configs

import "time"

// Config holds all settings of Vitrine. settings.yaml says of each what it does, its default, and
// what it must be. Where that does not say otherwise an empty or zero value turns the thing off.
type Config struct {
	Store                              URI
	Listen, Preset, Timezone, Language string
	StartYear                          int
	Admin                              Admin
	Auth                               Auth
	Access                             Access
	Views                              Views
	Materialize                        Materialize
	Mongo                              Mongo
	Limits                             Limits
	Cache                              Cache
	Memory                             Memory
	HTTP                               HTTP
	Catalog                            Catalog
	Affiliation                        Affiliation
	Portfolio                          Portfolio
	Lists                              Lists
	Citation                           Citation
	Labels                             Labels
	Compat                             Compat
	Log                                Log
	Rules                              Rules
	Shutdown                           Shutdown

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

// Auth says how a request shows who sends it.
type Auth struct {
	APIKey, PortfolioKey Secret
	Session              Session
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

// Access says who may see what.
type Access struct {
	Anonymous    []string
	Roles, Types map[string][]string
	HiddenFields []string
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

// Materialize is about the jobs that build the views. By default what changes often is
// built every few minutes, the rest less often, and everything once a night.
type Materialize struct {
	Enabled        bool
	Schedule       map[string]string
	Full           string
	Watch          bool
	MaxShrink      float64
	Workers, Batch int
	Lease          time.Duration
}

// Mongo is the connection to a MongoDB store.
type Mongo struct {
	ConnectTimeout, Timeout time.Duration
	Pool                    int
	ReadPreference          string
	Batch                   int
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

// Cache is about answers that are kept once computed.
type Cache struct {
	Budget, MaxEntry, Blocks Size
}

// Memory bounds what the process as a whole holds.
type Memory struct {
	Limit    Size
	Garbage  int
	InFlight Size
}

// HTTP is about how answers travel.
type HTTP struct {
	ProxyHeader    string
	TrustedProxies []string
	CORS           CORS
	CacheControl   CacheControl
	Compress       Compress
}

// CORS lets pages of other sites read answers in the browser.
type CORS struct {
	Origins     []string
	Credentials bool
	MaxAge      time.Duration
}

// CacheControl is the Cache-Control header of good answers.
type CacheControl struct {
	MaxAge, StaleWhileRevalidate, StaleIfError time.Duration
	Keyed                                      string
}

// Compress is about the compression of answers.
type Compress struct {
	Codings  []string
	MinBytes Size
}

// Catalog is the scholarly catalogue that topics come from.
type Catalog struct {
	TopicsPath, Collection, File, URL string
}

// Affiliation is what marks an author as one of the institute's.
type Affiliation struct {
	Fields []string
}

// Portfolio is the research spectrum.
type Portfolio struct {
	Enabled bool
}

// Citation is the external citation index. Nothing else outside is ever contacted.
type Citation struct {
	URL                                string
	Lifetime, Stale, Interval, Timeout time.Duration
}

// Labels are the names of codes.
type Labels struct {
	File string
}

// Compat switches oddities of the API off.
type Compat struct {
	FormattedSingle bool
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
	Named           map[string]*NamedList
	Links           ListLinks
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

// In returns the title in a language, or else in another one; "" if there is none.
func (t Titles) In(lang string) string {
	if lang == "de" && t.De != "" || t.En == "" {
		return t.De
	}
	return t.En
}
