package compare

import (
	"cmp"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/cespare/xxhash/v2"

	"vitrine/proxy/auth"
)

// Request is a request to both sides.
type Request struct {
	Method string // GET or HEAD
	Target string // path and query
}

// NotAsked is the reason why a line of a log is not sent. The report counts the reasons.
type NotAsked string

func (reason NotAsked) Error() string { return string(reason) }

// Reasons why a logged request is not sent.
const (
	ErrMethod NotAsked = "other methods than GET and HEAD"
	ErrURL    NotAsked = "unreadable URLs"
	ErrPath   NotAsked = "other paths"
)

// mostURL is the longest URL that is sent, in bytes.
const mostURL = 64 << 10

// Request returns the request for a URL that a server at the address of the old side logged: its path and query,
// whatever host it names, without parameters that may be secrets: the keys of the sides, and what names such as
// apikey and token have.
func (c *Comparison) Request(method, logged string) (r Request, err error) {
	var secrets auth.Redactor
	for _, s := range []*Side{c.old, c.new} {
		keys := s.keys.Load()
		secrets = append(secrets, auth.NewSecret(keys.API), auth.NewSecret(keys.Portfolio))
	}
	if method != http.MethodGet && method != http.MethodHead {
		return r, ErrMethod
	}
	logged, _, _ = strings.Cut(logged, "#")
	if len(logged) > mostURL || cut.MatchString(logged) {
		return r, ErrURL
	}
	u, err := url.Parse(odd.ReplaceAllStringFunc(logged, url.PathEscape))
	if err != nil || u.Opaque != "" || u.Path != "" && u.Path[0] != '/' || strings.HasPrefix(logged, "//") ||
		secrets.Path(u.Path) != u.Path {
		return r, ErrURL
	}
	target := c.old.below(u.EscapedPath())
	if path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") || !asked.MatchString(target) && !c.keeps(target) {
		return r, ErrPath // clients and servers resolve . and .. differently
	}
	separator := "?"
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if pair != "" && pair != url.QueryEscape(hidden) && !secrets.Reveals(pair) {
			target += separator + pair
			separator = "&"
		}
	}
	return Request{method, target}, nil
}

// keeps reports whether the new side keeps the answers to an encoded path.
func (c *Comparison) keeps(target string) bool {
	decoded, err := url.PathUnescape(target)
	return err == nil && c.Kept != nil && c.Kept(decoded)
}

// asked matches the paths of logged requests that are sent.
var asked = regexp.MustCompile(`^/(api|portfolio|lists|items|oembed)(/|$)`)

// hidden replaces secrets in Vitrine's log.
const hidden = "…"

// cut matches URLs that Vitrine's log has shortened.
var cut = regexp.MustCompile(`[^?&]…$|^[^?]*…`)

// odd matches characters that must be escaped in a URL, and quotes, which end words in a shell.
var odd = regexp.MustCompile(`[^!-~]|["'\\<>^` + "`" + `{|}]`)

// Hash identifies a request.
func (r Request) Hash() uint64 { return xxhash.Sum64String(r.Method + " " + r.Target) }

// Endpoint returns the endpoint of a request, as the report groups by it: its fixed parts of the path, {…} for
// others, and the suffix of a format.
func (r Request) Endpoint() string {
	part := place.FindStringSubmatch(r.Target) // matches everything
	if part[2] != "" {
		part[2] = "/{…}"
	}
	return cmp.Or(part[1]+part[2]+part[3], "/")
}

// place matches a target's fixed parts, others, and suffix.
var place = regexp.MustCompile(
	`^(/items|/api/search/[^/?]*?|/[^/?]+/[^/?]+?|/[^/?]*?)(/[^?]+?)?(\.[a-z][a-z0-9]{0,7}(?:\.json)?)?/?(?:\?|$)`)
