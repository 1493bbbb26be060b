package configs

// removal is the beginning of the reason for refusing a setting in replacements.
const removal = "this setting was removed: "

// replacements says what replaces each removed setting of earlier versions.
var replacements = map[string]string{
	"views.index_budget":    "indexes may take a quarter of the rows' bytes",
	"views.snapshot_every":  "a view's snapshot file is written once a minute at most",
	"materialize.watch":     "changes are watched where the store announces them",
	"materialize.workers":   "as many records are rendered at once as there are processors, or as GOMAXPROCS says",
	"materialize.batch":     "500 rows are written at a time",
	"mongo.connect_timeout": "write serverSelectionTimeoutMS and connectTimeoutMS into the address of the store",
	"mongo.timeout":         "write timeoutMS into the address of the store",
	"mongo.pool":            "write maxPoolSize into the address of the store",
	"mongo.read_preference": "write readPreference into the address of the store",
	"limits.burst":          "a client may send as many requests at once as limits.rate",
	"limits.concurrency":    "10,000 connections are served, or as many as the process may have files open",
	"limits.client_connections": "a client may have 1,000 connections; proxies in http.trusted_proxies have no " +
		"such limit",
	"limits.key_failures":     "a client may send 30 wrong keys a minute",
	"limits.url_bytes":        "a URL may have 64 KiB",
	"limits.body_bytes":       "a body may have 16 KiB",
	"limits.filter_depth":     "a filter may nest 64 levels",
	"limits.filter_nodes":     "a filter may have 10,000 conditions",
	"limits.regex_bytes":      "a regular expression may have 4 KiB",
	"limits.regex_timeout":    "the expressions of a request may backtrack for 200 ms",
	"limits.waiting":          "1,000 answers may wait to be computed",
	"limits.read_timeout":     "a request must arrive within 10 s",
	"limits.write_timeout":    "a client may take nothing of its answer for 20 s",
	"limits.send_timeout":     "an answer must be sent within an hour",
	"limits.idle_timeout":     "a connection may be idle for a minute",
	"cache.max_entry":         "answers of up to 16 MiB are kept, and at most half of cache.budget",
	"cache.blocks":            "a large answer is kept in cache.budget, compressed, if it takes 16 MiB at most",
	"memory.limit":            "set GOMEMLIMIT; without it nine tenths of the container's or service's limit count",
	"memory.garbage":          "set GOGC",
	"memory.in_flight":        "answers being made or sent may take an eighth of the memory, at most 128 MiB",
	"http.cors.max_age":       "browsers may remember the permission for 10 minutes",
	"http.compress.codings":   "zstd, br and gzip are on offer, and clients choose by Accept-Encoding",
	"http.compress.min_bytes": "answers of 1 KiB and more are compressed",
	"catalog.collection": "topics are in the collection catalog_topics, which may be a view of MongoDB, or " +
		"in catalog.file",
	"lists.links.activity": "set VITRINE_LISTS_LINKS=activity=…",
	"lists.links.person":   "set VITRINE_LISTS_LINKS=person=…",
	"lists.links.project":  "set VITRINE_LISTS_LINKS=project=…",
	"citation.lifetime":    "an answer is fresh for 24 hours",
	"citation.stale":       "an answer may stand in for 30 days while the index fails",
	"citation.interval":    "requests to the index are 2 s apart",
	"citation.timeout":     "a page of the index may take 15 s",
}
