package compare

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/cespare/xxhash/v2"

	"vitrine/proxy/auth"
)

// Request is what both sides are asked.
type Request struct {
	Method string // GET or HEAD
	Target string // path and query
}

// Reasons why a logged request is not asked.
var (
	ErrMethod = errors.New("other methods than GET and HEAD")
	ErrURL    = errors.New("unreadable URLs")
	ErrPath   = errors.New("other paths")
)

// mostURL is the longest URL that is asked, in bytes.
const mostURL = 64 << 10

// NewRequest returns the request for a logged URL: its path and query, whatever host it names, without parameters that
// may be secrets. Secrets are those that Reveals knows beside names such as apikey and token.
func NewRequest(method, logged string, secrets auth.Redactor) (Request, error) {
	if method != http.MethodGet && method != http.MethodHead {
		return Request{}, ErrMethod
	}
	logged, _, _ = strings.Cut(logged, "#")
	if len(logged) > mostURL || cut.MatchString(logged) {
		return Request{}, ErrURL
	}
	u, err := url.Parse(odd.ReplaceAllStringFunc(logged, url.PathEscape))
	if err != nil || u.Opaque != "" || u.Path != "" && u.Path[0] != '/' || strings.HasPrefix(logged, "//") || secrets.Path(u.Path) != u.Path {
		return Request{}, ErrURL
	}
	if u.Path == "" || path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/") && u.Path != "/" {
		return Request{}, ErrPath // clients and servers resolve . and .. differently
	}
	var kept []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if pair != "" && pair != url.QueryEscape(hidden) && !secrets.Reveals(pair) {
			kept = append(kept, pair)
		}
	}
	target := u.EscapedPath()
	if len(kept) > 0 {
		target += "?" + strings.Join(kept, "&")
	}
	return Request{method, target}, nil
}

// Request returns the request for a URL that a server at the address of s logged.
func (s *Side) Request(method, logged string, secrets auth.Redactor) (Request, error) {
	r, err := NewRequest(method, logged, secrets)
	if r.Target = s.below(r.Target); err == nil && !asked.MatchString(r.Target) {
		err = ErrPath
	}
	return r, err
}

// asked matches the paths of which a log is asked.
var asked = regexp.MustCompile(`^/(api|portfolio|lists|items|oembed)([/?]|$)`)

// hidden is what Vitrine's log has instead of a secret.
const hidden = "…"

// cut matches URLs that Vitrine's log does not have whole.
var cut = regexp.MustCompile(`[^?&]…$|^[^?]*…`)

// odd matches what a URL must have escaped, and quotes, which end words of a shell.
var odd = regexp.MustCompile(`[^!-~]|["'\\<>^` + "`" + `{|}]`)

// Hash identifies a request.
func (r Request) Hash() uint64 { return xxhash.Sum64String(r.Method + " " + r.Target) }

// Endpoint returns the endpoint of a request, as the report groups by it: its fixed parts of the path, {…} for others, and the
// suffix of a format.
func (r Request) Endpoint() string {
	p, _, _ := strings.Cut(r.Target, "?")
	parts := strings.Split(strings.Trim(p, "/"), "/")
	fixed, last := 2, len(parts)-1
	switch {
	case parts[0] == "items":
		fixed = 1
	case last > 0 && parts[1] == "search":
		fixed = 3
	}
	format := suffix.FindString(parts[last])
	for i := range parts {
		parts[i] = strings.TrimSuffix(parts[i], format)
		if i >= fixed {
			parts[i] = "{…}"
		}
	}
	return "/" + strings.Join(parts[:min(len(parts), fixed+1)], "/") + format
}

var suffix = regexp.MustCompile(`\.[a-z][a-z0-9]{0,7}(\.json)?$`)
