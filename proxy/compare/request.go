package compare

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Request is a request to both sides.
type Request struct {
	Method string // GET or HEAD
	Target string // path and query
}

// NotAsked is the reason why a line of a log is not sent. The report counts the reasons. It is an error, so that
// reading a log yields either a request or the reason why there is none.
type NotAsked string

func (reason NotAsked) Error() string { return string(reason) }

// Reasons why a logged request is not sent.
const (
	ErrMethod NotAsked = "other methods than GET and HEAD"
	ErrURL    NotAsked = "unreadable URLs"
	ErrPath   NotAsked = "other paths"
	ErrOwn    NotAsked = "sort and q, which OSIRIS does not read"
)

// mostURL is the longest URL that is sent, in bytes. Servers refuse longer ones, and a log may have anything.
const mostURL = 64 << 10

// asked matches the paths of logged requests that are sent.
var asked = regexp.MustCompile(`^/(api|portfolio|lists|items|oembed)([/.]|$)`)

// hidden replaces secrets in Vitrine's log.
const hidden = "…"

// cut matches URLs that Vitrine's log has shortened.
var cut = regexp.MustCompile(`[^?&]…$|^[^?]*…`)

// odd matches characters that must be escaped in a URL, and quotes, which end words in a shell.
var odd = regexp.MustCompile(`[^!-~]|["'\\<>^` + "`" + `{|}]`)

// Hash identifies a request. 64 bits: a log of a million requests has two of the same hash with a probability of
// about 3 in 100 million, and then one of them is not asked.
func (r Request) Hash() uint64 { return xxhash.Sum64String(r.Method + " " + r.Target) }

// Endpoint returns the endpoint of a request, as the report groups by it: its fixed parts of the path, {…} for
// others, and the suffix of a format. /api/users/64a0?x=1 and /api/users/64a1 are both /api/users/{…};
// /lists/unit/X.bib is /lists/unit/{…}.bib.
func (r Request) Endpoint() string {
	part := place.FindStringSubmatch("/" + strings.TrimPrefix(r.Target, "/")) // matches every path
	if part[2] != "" {
		part[2] = "/{…}"
	}
	return cmp.Or(part[1]+part[2]+part[3], "/")
}

// place matches a target's fixed parts, others, and suffix.
var place = regexp.MustCompile(
	`^(/items|/api/search/[^/?]*?|/[^/?]+/[^/?]+?|/[^/?]*?)(/[^?]+?)?(\.[a-z][a-z0-9]{0,7}(?:\.json)?)?/?(?:\?|$)`)

// parameters returns the parameters of a request.
func (r Request) parameters() url.Values {
	_, query, _ := strings.Cut(r.Target, "?")
	values, _ := url.ParseQuery(query) // those that can be read
	return values
}

// parameter returns the value of a parameter, or "".
func (r Request) parameter(name string) string { return r.parameters().Get(name) }

// own reports whether a request has a parameter that Vitrine alone reads. Its answer differs on purpose, and so may
// each of its rows.
func (r Request) own() bool {
	if endpoint := r.Endpoint(); endpoint != "/api/activities" && !strings.HasPrefix(endpoint, "/api/search/") {
		return false
	}
	for name, values := range r.parameters() {
		name, _, _ = strings.Cut(name, "[")
		if (name == "sort" || name == "q") && strings.Join(values, "") != "" {
			return true
		}
	}
	return false
}

// offset returns the offset that the new side reads: 0 for what is none, and where it reads none.
func (r Request) offset() int {
	offset, _ := strconv.Atoi(r.parameter("offset")) // 0 for what is none
	if r.Endpoint() == "/api/html" {
		return 0
	}
	return max(offset, 0)
}

// with returns a target with a parameter set, or without it if the value is empty.
func (r Request) with(name, value string) Request {
	path, query, _ := strings.Cut(r.Target, "?")
	kept := slices.DeleteFunc(strings.Split(query, "&"), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		key, err := url.QueryUnescape(key)
		return pair == "" || err == nil && key == name
	})
	if value != "" {
		kept = append(kept, name+"="+url.QueryEscape(value))
	}
	if r.Target = path; len(kept) > 0 {
		r.Target += "?" + strings.Join(kept, "&")
	}
	return r
}
