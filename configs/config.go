package configs

import "time"

// Config holds all settings of Vitrine. Its tags describe each one:
//
//	yaml     the key in the file, below those of the sections around it
//	default  the value without any source, written as the environment gives it
//	flag     the flag that sets it; ",inverse" behind it: to the opposite
//	usage    the help text of the flag
//	check    what the value must be, see checkScalar
//	keys     the names that the entries of a map may have; without it any
//
// Where a comment does not say otherwise an empty or zero value turns the thing off.
type Config struct {
	// Where the records are: `mongodb://HOST/DATABASE`, `mongodb+srv://HOST/DATABASE`, or `bolt://PATH` for the embedded store (`bolt:///PATH` from the root).
	Store URI `yaml:"store" default:"bolt://data/vitrine.db" flag:"store" usage:"where the records are: mongodb://HOST/DATABASE or bolt://PATH" check:"required uri"`
	// Address of the public API, `HOST:PORT`. Port 0 takes a free one; the bound address is logged.
	Listen string `yaml:"listen" default:"127.0.0.1:8080" flag:"listen" usage:"address of the public API" check:"required address"`
	// The kind of database that the records are in. With `osiris`, settings, rights, labels and templates come from the database itself, wherever they are not given here (docs/osiris.md).
	Preset string `yaml:"preset" flag:"preset" usage:"kind of database: osiris" check:"oneof:osiris"`
	// The zone in which days begin and schedules run, by its IANA name. Empty is UTC.
	Timezone string `yaml:"timezone" default:"UTC" flag:"timezone" usage:"zone of days and schedules" check:"zone"`
	// Language of labels and dates where a request does not ask for another: `en` or `de`.
	Language string `yaml:"language" default:"en" flag:"language" usage:"language of labels: en or de" check:"required oneof:en,de"`
	// First year of the publications in `/api/html`.
	StartYear int `yaml:"start_year" default:"1900"`

	// The second listener, for the operator: metrics, health of the views, refresh, profiles. Keep it on an address that only operators reach.
	Admin Admin `yaml:"admin"`
	// Who is asking: API keys and sessions.
	Auth Auth `yaml:"auth"`
	// Who may see what.
	Access Access `yaml:"access"`
	// The views that answers come from.
	Views Views `yaml:"views"`
	// The jobs that build the views.
	Materialize Materialize `yaml:"materialize"`
	// The connection to a MongoDB store; without meaning for the embedded one.
	Mongo Mongo `yaml:"mongo"`
	// What one request, or one client, may ask for. What goes beyond is answered with an error that names the limit.
	Limits Limits `yaml:"limits"`
	// Answers that are kept once computed.
	Cache Cache `yaml:"cache"`
	// The memory of the process as a whole. Go's variables `GOMEMLIMIT` and `GOGC`, where set, have the last word.
	Memory Memory `yaml:"memory"`
	// How answers travel.
	HTTP HTTP `yaml:"http"`
	// The scholarly catalogue that topics come from.
	Catalog Catalog `yaml:"catalog"`
	// What marks an author as one of the institute's.
	Affiliation Affiliation `yaml:"affiliation"`
	// The research spectrum, at `/portfolio/spectrum`.
	Portfolio Portfolio `yaml:"portfolio"`
	// The public lists, at `/lists`.
	Lists Lists `yaml:"lists"`
	// The external citation index that `/api/citation-index` reads.
	Citation Citation `yaml:"citation"`
	// Names of codes, such as types and roles of projects.
	Labels Labels `yaml:"labels"`
	// Oddities of the API that can be switched off.
	Compat Compat `yaml:"compat"`
	// The log, on standard error.
	Log Log `yaml:"log"`
	// How activities are rendered.
	Rules Rules `yaml:"rules"`
	// The way down after SIGTERM.
	Shutdown Shutdown `yaml:"shutdown"`

	// origins holds the place of each value that is not a default, by dotted path;
	// entries of a map have a path of their own.
	origins map[string]Place
}

// Admin is the operator's listener.
type Admin struct {
	// Address of the operator's listener, `HOST:PORT`. Empty: there is none.
	Listen string `yaml:"listen" default:"127.0.0.1:8081" flag:"admin-listen" usage:"address of the operator's listener" check:"address"`
	// Bearer token that the listener asks for. Empty: none is asked for; a server then starts only if the listener is on the loopback, or with `open`.
	Token Secret `yaml:"token"`
	// Whether the listener may do without a token on an address that others can reach, because a network or a proxy keeps them away.
	Open bool `yaml:"open" default:"false"`
	// Names that the listener is asked for by, beside addresses, `localhost` and the name in `listen`. Needed only without a token.
	Hosts []string `yaml:"hosts"`
}

// Auth says how a request shows who sends it.
type Auth struct {
	// Key that `/api/*` asks for, as parameter `apikey` or header `X-API-Key`. Empty: no key is needed.
	APIKey Secret `yaml:"api_key"`
	// Key that `/portfolio/*` asks for. Empty: no key is needed.
	PortfolioKey Secret `yaml:"portfolio_key"`
	// Sessions of people who are logged in elsewhere.
	Session Session `yaml:"session"`
}

// Session says how a logged-in person is recognised.
type Session struct {
	// Secret that signs session tokens (HS256), of 32 bytes or more. Empty: no such token is accepted.
	JWTSecret Secret `yaml:"jwt_secret"`
	// PEM file with the Ed25519 public key of the signer of session tokens (EdDSA). Empty: no such token is accepted.
	PublicKey string `yaml:"public_key"`
	// Whether tokens without an end (`exp`) are accepted.
	Endless bool `yaml:"endless" default:"false"`
	// Issuer (`iss`) that tokens must name. Empty: any, or none; then a token that was signed with the same key for something else may count too.
	Issuer string `yaml:"issuer"`
	// Audience (`aud`) that tokens must be for. Empty: any, or none.
	Audience string `yaml:"audience"`
	// Type (`typ` in their header) that tokens must have, such as `at+jwt`. Empty: any, or none.
	Type string `yaml:"type"`
	// Whether a user without a record in `persons` has a session, without any role. Otherwise such a user is anonymous.
	UnknownUsers bool `yaml:"unknown_users" default:"false"`
	// Cookie that carries the token. Empty: only the `Authorization` header does.
	Cookie string `yaml:"cookie" default:"vitrine_session" check:"token"`
	// Header in which a trusted proxy names the user. Empty: no header is believed.
	UserHeader string `yaml:"user_header" check:"token"`
	// Addresses or networks of the proxies whose `user_header` is believed. Empty: none.
	TrustedProxies []string `yaml:"trusted_proxies" check:"network"`
}

// Access says who may see what.
type Access struct {
	// Permissions of everybody, session or not: `projects.view`, `proposals.view`, `portfolio-spectrum`, `fields.hidden`.
	Anonymous []string `yaml:"anonymous" default:"portfolio-spectrum" check:"oneof:projects.view,proposals.view,portfolio-spectrum,fields.hidden"`
	// Permissions of a person with a role, by role.
	Roles map[string][]string `yaml:"roles" default:"admin=projects.view, proposals.view, portfolio-spectrum, fields.hidden" check:"oneof:projects.view,proposals.view,portfolio-spectrum,fields.hidden"`
	// Activity types that only some may see: by type, the roles that may. Others see such an activity only if it is their own. A type that is not listed is seen by all.
	Types map[string][]string `yaml:"types"`
	// Fields that only callers with the permission `fields.hidden` see. A path hides its field at every depth and through arrays: `mail` each `mail`, `authors.mail` that of authors; capitals do not matter, and `*` at the end of a name is any rest. Others get records without these fields, and status 400 if they name one. The default is how people are reached and what identifies them in private, under the names that OSIRIS, LDAP and others use. Empty: nothing is hidden.
	HiddenFields []string `yaml:"hidden_fields" default:"mail, mail_*, email, email_*, e_mail, telephone, phone, phone_*, mobile, fax, private_*, password, birthday, birthdate, date_of_birth, internal_id" check:"field"`
}

// Views are the prepared rows that answers come from. Many databases have no deadlines,
// hence the default of Optional.
type Views struct {
	// Where rows are when they are asked for: `memory`, `store` (they stay in MongoDB, and only answers are kept here) or `auto` (in memory the views that `budget` has room for, the others in the store).
	Mode string `yaml:"mode" default:"memory" flag:"views-mode" usage:"where filters run: memory, store or auto" check:"required oneof:memory,store,auto"`
	// MongoDB database for the side collections. Empty: the store's own.
	Database string `yaml:"database" check:"database"`
	// Bytes of rows, over all views, that `auto` holds in memory; a view that does not fit, or grows out of it, stays in the store. 0: no limit.
	Budget Size `yaml:"budget" default:"0"`
	// Memory that path indexes may take; beyond it filters on rare paths are evaluated row by row.
	IndexBudget Size `yaml:"index_budget" default:"256MiB" check:"positive"`
	// Folder for snapshot files: what each view in memory holds, so that this process can start and serve while the store is away. It is made if it is not there, and its files are for the owner alone, as they hold the records; one that others may write to is refused. Empty: none are written or read.
	Snapshot string `yaml:"snapshot"`
	// Least time from one writing of a view's snapshot file to the next.
	SnapshotEvery time.Duration `yaml:"snapshot_every" default:"1m" check:"positive"`
	// Views whose source may be empty. Where the job of any other view finds no records, as with a mistyped path or database, the log warns of it and `/readyz` says `degraded`.
	Optional []string `yaml:"optional" default:"deadlines" check:"oneof:activities,persons,projects,proposals,journals,events,deadlines,user_units,spectrum"`
	// How often a front end looks for news in the store. It hears at once of what its own process builds.
	Poll time.Duration `yaml:"poll" default:"2s" check:"positive"`
}

// Materialize is about the jobs that build the views. By default what changes often is
// built every few minutes, the rest less often, and everything once a night.
type Materialize struct {
	// Whether this process builds views at all. Off: a front end only (`--no-materialize`).
	Enabled bool `yaml:"enabled" default:"true" flag:"no-materialize,inverse" usage:"front end only: build no views"`
	// When each view is built, as a cron spec of five fields or `@every DURATION`, `@hourly`, `@daily` …; a leading `CRON_TZ=ZONE` overrides `timezone`. Each job also runs once at start, when the views there are have been loaded. Empty: not by schedule.
	Schedule map[string]string `yaml:"schedule" default:"activities=@every 2m, deadlines=@every 15m, events=@every 15m, journals=@every 15m, persons=@every 5m, projects=@every 5m, proposals=@every 5m, spectrum=@every 10m, user_units=@every 5m" check:"cron" keys:"activities,persons,projects,proposals,journals,events,deadlines,user_units,spectrum"`
	// When all views are rebuilt from scratch, as a cron spec; repairs whatever drifted.
	Full string `yaml:"full" default:"30 3 * * *" check:"cron"`
	// Whether changes are built at once where the store can announce them (MongoDB change streams).
	Watch bool `yaml:"watch" default:"true"`
	// Largest share, from 0 to 1, that a view's rows, or the records of a collection that they are made from, may shrink by with one run or within a day. A run that finds more gone publishes nothing until forced. 0: no such guard.
	MaxShrink float64 `yaml:"max_shrink" default:"0.2" check:"share"`
	// Records rendered side by side. 0: as many as there are processors.
	Workers int `yaml:"workers" default:"0"`
	// Rows written to the store at a time.
	Batch int `yaml:"batch" default:"500" check:"positive"`
	// How long the right to build is held without a sign of life before another process takes over.
	Lease time.Duration `yaml:"lease" default:"30s" check:"positive"`
}

// Mongo is the connection to a MongoDB store.
type Mongo struct {
	// Longest wait for a connection, and for a server to be found.
	ConnectTimeout time.Duration `yaml:"connect_timeout" default:"10s" check:"positive"`
	// Longest time for one operation, its retry included.
	Timeout time.Duration `yaml:"timeout" default:"30s" check:"positive"`
	// Most connections at a time.
	Pool int `yaml:"pool" default:"50" check:"positive"`
	// Members that source records are read from: `primary`, `primaryPreferred`, `secondary`, `secondaryPreferred` or `nearest`.
	ReadPreference string `yaml:"read_preference" default:"primary" check:"required oneof:primary,primaryPreferred,secondary,secondaryPreferred,nearest"`
	// Statements sent in one write.
	Batch int `yaml:"batch" default:"1000" check:"positive"`
}

// Limits are the bounds of one request, or one client.
type Limits struct {
	// Requests per second and client address. 0: no limit.
	Rate int `yaml:"rate" default:"0"`
	// Requests a client may send at once before `rate` counts. 0: as many as `rate`.
	Burst int `yaml:"burst" default:"0"`
	// Connections served at a time, fewer where the process may not have as many files open. At the limit idle ones make room. 0: no limit of its own.
	Concurrency int `yaml:"concurrency" default:"10000"`
	// Connections of one client address at a time; proxies that are trusted have no such limit. 0: no limit.
	ClientConnections int `yaml:"client_connections" default:"1000"`
	// Wrong keys a minute and client address; then each further one is 429 and ends its connection. A right key always passes. 0: no limit.
	KeyFailures int `yaml:"key_failures" default:"30"`
	// Longest URL, with its query string.
	URLBytes Size `yaml:"url_bytes" default:"64KiB" check:"positive"`
	// Largest request body. No call has one that means anything.
	BodyBytes Size `yaml:"body_bytes" default:"16KiB" check:"positive"`
	// Longest filter, in bytes of JSON. 0: no limit.
	FilterBytes Size `yaml:"filter_bytes" default:"32KiB"`
	// Deepest nesting of a filter. 0: no limit.
	FilterDepth int `yaml:"filter_depth" default:"64"`
	// Most operators and values in a filter. 0: no limit.
	FilterNodes int `yaml:"filter_nodes" default:"10000"`
	// Longest regular expression in a filter. 0: no limit.
	RegexBytes Size `yaml:"regex_bytes" default:"4KiB"`
	// Processor time that the backtracking expressions of one request may take together, however many records there are. 0: no limit.
	RegexTimeout time.Duration `yaml:"regex_timeout" default:"200ms"`
	// Longest time to compute an answer. 0: no limit.
	RequestTimeout time.Duration `yaml:"request_timeout" default:"10s"`
	// Answers that may wait to be computed; one more is refused at once, so that what waits does not wait for ever.
	Waiting int `yaml:"waiting" default:"1000" check:"positive"`
	// Longest time to receive a request. 0: no limit.
	ReadTimeout time.Duration `yaml:"read_timeout" default:"10s"`
	// Longest time in which a client takes nothing of its answer, and a quarter of it while `memory.in_flight` is short: a long answer may take long, as long as it gets on. 0: no limit.
	WriteTimeout time.Duration `yaml:"write_timeout" default:"20s"`
	// Longest time to send an answer, exports included. 0: no limit.
	SendTimeout time.Duration `yaml:"send_timeout" default:"1h"`
	// Longest silence on a connection that is kept open. 0: as `read_timeout`.
	IdleTimeout time.Duration `yaml:"idle_timeout" default:"1m"`
}

// Cache is about answers that are kept once computed.
type Cache struct {
	// Memory for computed answers. 0: none is kept.
	Budget Size `yaml:"budget" default:"96MiB"`
	// Largest answer that is kept. 0: any that `budget` has room for.
	MaxEntry Size `yaml:"max_entry" default:"16MiB"`
	// Memory for stretches of large lists, compressed once for all lists that have them: about a sixth of a view's bytes keep all of it. 0: none is kept.
	Blocks Size `yaml:"blocks" default:"96MiB"`
}

// Memory bounds what the process as a whole holds.
type Memory struct {
	// Memory that the collector works to stay within, at the price of processor time; a mapped store does not count. 0: nine tenths of the container's limit, if it has one.
	Limit Size `yaml:"limit" default:"0"`
	// Percent by which memory may grow before the collector runs, never by more than 2 GiB: less is smaller, more is faster. 0: Go's own, 100, and no bound in bytes.
	Garbage int `yaml:"garbage" default:"50"`
	// Memory for answers that are being made or sent, beside those that are kept; never more than an eighth of the memory there is. Beyond it answers are sent in pieces as they are made, or refused with 503. 0: no limit.
	InFlight Size `yaml:"in_flight" default:"128MiB"`
}

// HTTP is about how answers travel.
type HTTP struct {
	// Header in which a trusted proxy passes on the client's address, such as `X-Forwarded-For`. Empty: the connection's address counts.
	ProxyHeader string `yaml:"proxy_header" check:"token"`
	// Addresses or networks of the proxies whose `proxy_header` is believed. Empty: none.
	TrustedProxies []string `yaml:"trusted_proxies" check:"network"`
	// Pages of other sites that may read answers in the browser.
	CORS CORS `yaml:"cors"`
	// How long browsers and caches on the way may keep an answer. Answers to a session are always `private`.
	CacheControl CacheControl `yaml:"cache_control"`
	// Compression of answers, for clients that accept it.
	Compress Compress `yaml:"compress"`
}

// CORS lets pages of other sites read answers in the browser.
type CORS struct {
	// Sites that may, as `https://HOST[:PORT]`; `*` is all of them. Empty: none, but all where neither a key nor a session is configured. Lists are open to all in any case.
	Origins []string `yaml:"origins" check:"origins"`
	// Whether the cookies that such pages send along count as a session; not together with `*`.
	Credentials bool `yaml:"credentials" default:"false"`
	// How long a browser may remember the permission.
	MaxAge time.Duration `yaml:"max_age" default:"10m"`
}

// CacheControl is the Cache-Control header of good answers.
type CacheControl struct {
	// How long an answer is fresh (`max-age`). 0: asked for again each time, which an ETag makes cheap.
	MaxAge time.Duration `yaml:"max_age" default:"1m"`
	// How long a stale answer may be used while a new one is fetched (`stale-while-revalidate`).
	StaleWhileRevalidate time.Duration `yaml:"stale_while_revalidate" default:"10m"`
	// How long a stale answer may be used while the service fails (`stale-if-error`).
	StaleIfError time.Duration `yaml:"stale_if_error" default:"24h"`
	// Who may keep answers that need a key: `private`, the caller's own cache alone; `public`, caches on the way too, which must heed `Vary` then.
	Keyed string `yaml:"keyed" default:"private" check:"oneof:private,public"`
}

// Compress is about the compression of answers.
type Compress struct {
	// Codings on offer, best first: `zstd`, `br`, `gzip`. Empty: none.
	Codings []string `yaml:"codings" default:"zstd, br, gzip" check:"oneof:zstd,br,gzip"`
	// Smallest answer that is compressed.
	MinBytes Size `yaml:"min_bytes" default:"1KiB"`
}

// Catalog is the scholarly catalogue that topics come from.
type Catalog struct {
	// Path of the topic assignments in an activity.
	TopicsPath string `yaml:"topics_path" default:"catalog.topics" check:"required path"`
	// Collection with the catalogue's topics.
	Collection string `yaml:"collection" default:"catalog_topics" check:"collection"`
	// JSON file with the catalogue's topics, instead of the collection.
	File string `yaml:"file"`
	// Public address of a topic; `{id}` stands for its ID.
	URL string `yaml:"url" default:"https://openalex.org/{id}" check:"template"`
}

// Affiliation is what marks an author as one of the institute's.
type Affiliation struct {
	// Fields of an author, any of which marks it if true, 1 or "1".
	Fields []string `yaml:"fields" default:"affiliated, aoi" check:"path"`
}

// Portfolio is the research spectrum.
type Portfolio struct {
	// Whether there is one. Off: its list is empty.
	Enabled bool `yaml:"enabled" default:"true"`
}

// Citation is the external citation index. Nothing else outside is ever contacted.
type Citation struct {
	// Address of the index, `https://HOST`. Empty: there is none.
	URL string `yaml:"url" default:"https://scholar.google.com" check:"origin"`
	// How long an answer is fresh.
	Lifetime time.Duration `yaml:"lifetime" default:"24h" check:"positive"`
	// How long after that an answer may stand in while the index fails or blocks.
	Stale time.Duration `yaml:"stale" default:"720h"`
	// Least time from one request to the index to the next.
	Interval time.Duration `yaml:"interval" default:"2s"`
	// Longest time for one page.
	Timeout time.Duration `yaml:"timeout" default:"15s" check:"positive"`
}

// Labels are the names of codes.
type Labels struct {
	// File with labels of the site's own, laid over the built-in ones. Empty: only those.
	File string `yaml:"file"`
}

// Compat switches oddities of the API off.
type Compat struct {
	// Whether `formatted` on projects answers one JSON document; off, it writes two, one after the other, as documented.
	FormattedSingle bool `yaml:"formatted_single" default:"false"`
}

// Log is the log, on standard error.
type Log struct {
	// Least severe entries that are written: `debug`, `info`, `warn` or `error`.
	Level string `yaml:"level" default:"info" flag:"log-level" usage:"debug, info, warn or error" check:"required oneof:debug,info,warn,error"`
	// How entries are written: `text` or `json`.
	Format string `yaml:"format" default:"text" flag:"log-format" usage:"text or json" check:"required oneof:text,json"`
	// Whether each request is logged.
	Requests bool `yaml:"requests" default:"true"`
}

// Rules is about how activities are rendered and records are cited.
type Rules struct {
	// File with the rendering rules. Empty: the built-in ones.
	File string `yaml:"file"`
	// File with the mapping rules, by which public lists read records as citations. Empty: the built-in ones.
	CiteFile string `yaml:"cite_file"`
}

// Shutdown is the way down after SIGTERM.
type Shutdown struct {
	// How long `/readyz` says 503 while requests are still taken, so that a balancer can turn away first.
	Delay time.Duration `yaml:"delay" default:"1s"`
	// Longest wait for answers under way after that. 0: no limit.
	Grace time.Duration `yaml:"grace" default:"10s"`
}
