package configs

// badFiles pairs each bad file with the messages of its mistakes, line by line.
var badFiles = map[string][]string{
	"addresses.bad.yml": {
		`addresses.bad.yml:1: store: want mongodb://HOST/DATABASE, mongodb+srv://HOST/DATABASE or bolt://PATH`,
		`addresses.bad.yml:2: listen: want HOST:PORT such as 127.0.0.1:8080 or :8080, have "localhost"`,
		`addresses.bad.yml:3: admin.listen: want HOST:PORT such as 127.0.0.1:8080 or :8080, have "127.0.0.1:99999"`,
		`addresses.bad.yml:4: auth.session.cookie: want a name without blanks and separators, have "a b"`,
		`addresses.bad.yml:4: auth.session.trusted_proxies: want an IP address or a network such as 10.0.0.0/8, ` +
			`have "10.0.0.0/99"`,
		`addresses.bad.yml:4: auth.session.trusted_proxies: want an IP address or a network such as 10.0.0.0/8, ` +
			`have "proxy"`,
		`addresses.bad.yml:5: http.cors.origins: want an origin such as https://www.example.org without a path, or ` +
			`*, have "www.example.org"`,
		`addresses.bad.yml:5: http.cors.origins: want an origin such as https://www.example.org without a path, or ` +
			`*, have "https://www.example.org/"`,
		`addresses.bad.yml:6: catalog.topics_path: want a dotted path such as catalog.topics, have "catalog..topics"`,
		`addresses.bad.yml:6: catalog.url: want a web address with {id} in it, have "https://openalex.org/"`,
	},
	"bounds.bad.yml": {
		`bounds.bad.yml:1: start_year: may not be negative, have -1`,
		`bounds.bad.yml:2: materialize.lease: may not be negative, have -1s`,
		`bounds.bad.yml:2: materialize.max_shrink: want a share from 0 to 1, have 1.5`,
		`bounds.bad.yml:3: views.budget: want a size such as 512MB or 64KiB, have "-5MB"`,
		`bounds.bad.yml:3: views.poll: may not be negative, have -2s`,
		`bounds.bad.yml:4: mongo.batch: may not be 0`,
		`bounds.bad.yml:5: upstream.body_bytes: may be at most 16MiB, have 17MiB`,
		`bounds.bad.yml:5: upstream.scheme: want http or https, have "ftp"`,
	},
	"contradictions.bad.yml": {
		`contradictions.bad.yml:1: listen: is the same as admin.listen`,
		`contradictions.bad.yml:3: http.cors.credentials: cannot be true while http.cors.origins has *: any site ` +
			`could act for your visitors`,
	},
	"empty-value.bad.yml": {
		`empty-value.bad.yml:1: store: may not be empty`,
		`empty-value.bad.yml:2: listen: may not be empty`,
		`empty-value.bad.yml:3: views.mode: may not be empty`,
		`empty-value.bad.yml:4: materialize.lease: may not be 0`,
	},
	"keys.bad.yml": {
		`keys.bad.yml:3: auth.keys.portal.expires: want a day such as 2027-12-31, have "2027-13-01"`,
		`keys.bad.yml:4: auth.keys.web.endpoints: want a path from the root such as /media, have "api/activities"`,
		`keys.bad.yml:4: auth.keys.web.permissions: want projects.view, proposals.view, portfolio-spectrum or ` +
			`fields.hidden, have "fields.hiden", did you mean fields.hidden?`,
		`keys.bad.yml:4: auth.keys.web.sha256: has the key of auth.keys.portal`,
		`keys.bad.yml:6: auth.keys.unit.sha256: want 64 small hexadecimal digits, as vitrine key add prints them`,
		`keys.bad.yml:7: auth.keys.unit.origins: want an origin such as https://www.example.org without a path, ` +
			`have "*"`,
		`keys.bad.yml:8: auth.keys.unit.networks: want an IP address or a network such as 10.0.0.0/8, have "proxy"`,
		`keys.bad.yml:9: auth.keys.unit.rate: may not be negative, have -1`,
		`keys.bad.yml:10: auth.keys.My key: want a name of small letters, digits and hyphens such as bio-papers, ` +
			`have "My key"`,
	},
	"keep.bad.yml": {
		`keep.bad.yml:4: upstream.keep[0].paths: want a path from the root such as /portfolio/, have "portfolio/"`,
		`keep.bad.yml:4: upstream.keep[0].paths: want a path without empty parts, . and .., have "/portfolio/../api"`,
		`keep.bad.yml:4: upstream.keep[0].paths: want a path as it is after decoding, without parameters, have "/a?b"`,
		`keep.bad.yml:4: upstream.keep[0].paths: want * at the end, or alone between two slashes, have "/a*b"`,
		`keep.bad.yml:4: upstream.keep[0].paths: want * at the end, or alone between two slashes, have "/a/**"`,
		`keep.bad.yml:5: upstream.keep[0].until: want the name of a view or collection, or date, have "act ivities"`,
		`keep.bad.yml:5: upstream.keep[0].until: want the name of a view or collection, or date, have "$x"`,
		`keep.bad.yml:6: upstream.keep[0].for: may not be 0`,
		`keep.bad.yml:7: upstream.keep[0].parameters: want a list or the word all, have a single value`,
		`keep.bad.yml:8: upstream.keep[1]: lacks paths`,
		`keep.bad.yml:10: upstream.keep[2].parametres: unknown key, did you mean upstream.keep[2].parameters?`,
		`keep.bad.yml:11: upstream.keep[2].auth: want none, api or portfolio, have "portfolo", did you mean ` +
			`portfolio?`,
		`keep.bad.yml:12: upstream.keep[2].type: want a media type such as application/json, have "json"`,
		`keep.bad.yml:13: upstream.keep[2].refresh: schedule "@every": unrecognized descriptor: @every`,
		`keep.bad.yml:14: upstream.keep[2].rate: may not be 0`,
		`keep.bad.yml:15: upstream.keep[2].connections: may not be negative, have -1`,
		`keep.bad.yml:16: upstream.keep[2].budget: may not be 0`,
		`keep.bad.yml:17: upstream.keep[3]: want keys with values, have a single value`,
		`keep.bad.yml:19: upstream.keep[4].warm: /portfolio/units is not below /media or /own`,
		`keep.bad.yml:20: upstream.keep[5].paths: /media is already in upstream.keep[4]`,
		`keep.bad.yml:21: upstream.keep[5].parameters: want a list or the word all, have keys with values`,
		`keep.bad.yml:23: upstream.keep[6].parameters: the word all stands instead of the list, not in it`,
	},
	"lists.bad.yml": {
		`lists.bad.yml:2: lists.base_url: want a web address such as https://data.example.org without a slash at ` +
			`its end, have "https://data.institute.example/"`,
		`lists.bad.yml:3: lists.links.activity: want none, or a web address or a path from the root with {id} in ` +
			`it, have "https://www.institute.example/pub/"`,
		`lists.bad.yml:3: lists.links.person: want none, or a web address or a path from the root with {id} in it, ` +
			`have "javascript:{id}"`,
		`lists.bad.yml:5: lists.named.Bio: want a name of small letters, digits and hyphens such as bio-papers, ` +
			`have "Bio"`,
		`lists.bad.yml:6: lists.named.unit: is the name of a built-in list: choose another`,
		`lists.bad.yml:8: lists.named.papers.titel: unknown key, did you mean lists.named.papers.title?`,
		`lists.bad.yml:9: lists.named.papers.title.fr: unknown key`,
		`lists.bad.yml:10: lists.named.papers.view: want activities, projects, persons or events, have "proposals"`,
		`lists.bad.yml:11: lists.named.papers.group: want none, year, type, subtype, unit, person, ` +
			`project or keyword, have "years", did you mean year?`,
		`lists.bad.yml:12: lists.named.papers.sort: want year, -year, title, -title, type, -type, author, -author, ` +
			`added or -added, have "-yaer", did you mean -year?`,
		`lists.bad.yml:13: lists.named.papers.page_size: may be at most 500, have 501`,
		`lists.bad.yml:14: lists.named.papers.facets: want year, type, subtype, unit, person, project, topic, ` +
			`keyword or oa, have "topics", did you mean topic?`,
		`lists.bad.yml:15: lists.named.papers.page_url: want a web address or a path from the root with {page} in ` +
			`it, have "https://www.institute.example/publications"`,
		`lists.bad.yml:16: lists.named.papers.links.persons: unknown key, did you mean person?`,
		`lists.bad.yml:17: lists.named.talks: want keys with values, have a list`,
		`lists.bad.yml:18: lists.named.papers: given twice, first on line 7`,
		`lists.bad.yml:19: lists.hosts: want a host such as data.example.org, data.example.org:8443 or localhost:*,` +
			` have "https://data.institute.example"`,
		`lists.bad.yml:19: lists.hosts: want a host such as data.example.org, data.example.org:8443 or localhost:*,` +
			` have "data.institute.example:*x"`,
		`lists.bad.yml:19: lists.hosts: want a host such as data.example.org, data.example.org:8443 or localhost:*,` +
			` have "*"`,
		`lists.bad.yml:20: lists.ignored_parameters: want the name of a parameter, or its beginning and * such as ` +
			`utm_*, have "*"`,
		`lists.bad.yml:20: lists.ignored_parameters: want the name of a parameter, or its beginning and * such as ` +
			`utm_*, have "a b"`,
		`lists.bad.yml:20: lists.ignored_parameters: want the name of a parameter, or its beginning and * such as ` +
			`utm_*, have "u*m"`,
	},
	"site.bad.yml": {
		`site.bad.yml:2: site.title.fr: unknown key`,
		`site.bad.yml:3: site.logo: want a web address such as https://www.example.org/logo.svg, have "/logo.svg"`,
		`site.bad.yml:4: site.url: want a web address such as https://www.example.org/logo.svg, have "https://` +
			`www.institute.example/a b"`,
	},
	"merge-key.bad.yml": {
		`merge-key.bad.yml:3: cache.<<: unknown key`,
	},
	"not-a-mapping.bad.yml": {
		`not-a-mapping.bad.yml:1: want keys with values, have a list`,
	},
	"not-yaml.bad.yml": {
		`not-yaml.bad.yml:2: not YAML: did not find expected node content`,
	},
	"others.bad.yml": {
		`others.bad.yml:2: routes./api/projects: needs upstream.url, the address of the other server`,
		`others.bad.yml:5: purge.tokens.fornt: purge.targets has no such target, did you mean front?`,
	},
	"shapes.bad.yml": {
		`shapes.bad.yml:1: listen: want a single value, have a list`,
		`shapes.bad.yml:2: auth: want keys with values, have a single value`,
		`shapes.bad.yml:4: access.anonymous: want a list, have a single value`,
		`shapes.bad.yml:5: access.roles: want keys with values, have a list`,
		`shapes.bad.yml:7: views.mode: want a single value, have keys with values`,
		`shapes.bad.yml:9: affiliation.fields: want a single value, have a list`,
	},
	"times.bad.yml": {
		`times.bad.yml:1: timezone: want a time zone such as UTC or Europe/Berlin, have "Europe/Berln"`,
		`times.bad.yml:2: views.poll: want a duration such as 30s or 2h, have "2 seconds"`,
		`times.bad.yml:4: materialize.full: schedule "30 25 * * *": end of range (25) above maximum (23): 25`,
		`times.bad.yml:6: materialize.schedule.activities: schedule "TZ=": malformed`,
		`times.bad.yml:7: materialize.schedule.events: schedule "@every 10ms": want an interval of a second or more`,
		`times.bad.yml:8: materialize.schedule.journals: schedule "0 0 31 2 *": never comes due`,
		`times.bad.yml:9: materialize.schedule.persons: schedule "hourly": expected exactly 5 fields, found 1: ` +
			`[hourly]`,
	},
	"twice.bad.yml": {
		`twice.bad.yml:3: listen: given twice, first on line 1`,
	},
	"two-documents.bad.yml": {
		`two-documents.bad.yml:2: a second document begins here; write all settings in one`,
	},
	"types.bad.yml": {
		`types.bad.yml:1: listen: want text; put it in quotes`,
		`types.bad.yml:2: start_year: want a whole number, have the text "1900"`,
		`types.bad.yml:3: views.budget: want a size such as 512MB or 64KiB, have "1.5"`,
		`types.bad.yml:4: materialize.enabled: want true or false, have the text "yes"`,
		`types.bad.yml:4: materialize.max_shrink: want a number, have ".inf"`,
		`types.bad.yml:5: limits.rate: want a whole number, have the text "fast"`,
		`types.bad.yml:5: limits.request_timeout: want a duration such as 30s or 2h, have "30"`,
	},
	"unknown-key.bad.yml": {
		`unknown-key.bad.yml:3: views.budgett: unknown key, did you mean views.budget?`,
	},
	"unknown-section.bad.yml": {
		`unknown-section.bad.yml:1: wievs: unknown key, did you mean views?`,
	},
	"unknown-view.bad.yml": {
		`unknown-view.bad.yml:3: materialize.schedule.activites: unknown key, did you mean activities?`,
	},
	"words.bad.yml": {
		`words.bad.yml:1: preset: want osiris, have "osirs", did you mean osiris?`,
		`words.bad.yml:2: language: want en or de, have "fr"`,
		`words.bad.yml:3: views.mode: want memory, store or auto, have "ram"`,
		`words.bad.yml:4: access.anonymous: want projects.view, proposals.view, portfolio-spectrum or ` +
			`fields.hidden, have "project.view", did you mean projects.view?`,
		`words.bad.yml:4: access.anonymous: may not be empty`,
		`words.bad.yml:5: log.level: want debug, info, warn or error, have "warning"`,
	},
}
