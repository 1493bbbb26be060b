package upstream

import (
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// directives are those of a Cache-Control header, by their lower-case names. If a directive comes twice, the first
// counts (RFC 9111: 4.2.1). A directive without a value, such as public, has an empty one.
type directives map[string]string

// parseDirectives reads the lines of a Cache-Control header. Commas in quoted strings are no separators.
// max-age=60, no-cache="set-cookie, x" makes max-age: 60 and no-cache: set-cookie, x.
func parseDirectives(lines []string) directives {
	all := directives{}
	for rest := strings.Join(lines, ","); rest != ""; {
		var one string
		one, rest = cutUnquoted(rest)
		name, value, _ := strings.Cut(one, "=")
		if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
			value = value[1 : n-1]
		}
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := all[name]; !twice {
			all[name] = value
		}
	}
	return all
}

// cutUnquoted cuts text at its first comma outside of quoted strings.
func cutUnquoted(text string) (before, after string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ',' && !quoted:
			return strings.TrimSpace(text[:i]), text[i+1:]
		}
	}
	return strings.TrimSpace(text), ""
}

// has reports whether one of the directives is there.
func (d directives) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := d[name]; return ok })
}

// duration returns the value of a directive, and whether it is there. A malformed value counts as 0. A mistake so
// makes an answer stale, rather than fresh for longer than meant (RFC 9111: 4.2.1).
func (d directives) duration(name string) (time.Duration, bool) {
	value, ok := d[name]
	n, _ := parseSeconds(value)
	return n, ok
}

// parseSeconds reads a number of seconds (RFC 9111: 1.2.2). A number that is too large counts as 2^31.
func parseSeconds(text string) (time.Duration, bool) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return time.Duration(min(n, 1<<31)) * time.Second, true
}

// understood are the status codes that may be kept without an explicit lifetime (RFC 9110: 15.1). 206 is not among
// them, because parts are not kept.
var understood = []int{200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501}

// storable reports whether a response to a GET without credentials may be kept (RFC 9111: 3). A 206 is a part of
// an answer, and a 304 has no body. A response that sets a cookie is its first receiver's alone, whatever its
// directives say. Without a lifetime and a validator a kept answer would be asked for again in full each time.
func storable(status int, header http.Header, d directives) bool {
	switch {
	case status < 200, status == http.StatusPartialContent, status == http.StatusNotModified:
		return false
	case d.has("no-store", "private"), len(header["Set-Cookie"]) > 0, unselectable(listed(header["Vary"])):
		return false
	case d.has("must-understand") && http.StatusText(status) == "":
		return false
	case d.has("max-age", "s-maxage"), header.Get("Expires") != "":
		return true
	}
	validated := header.Get("Etag") != "" || header.Get("Last-Modified") != ""
	return validated && (d.has("public") || slices.Contains(understood, status))
}

// mostSelecting is the most headers that may select a kept response. Each is compared for each request, and kept
// with its value.
const mostSelecting = 16

// unselectable reports whether a response depends on more than its key and the headers of clients. A header that is
// not forwarded cannot have selected what the client meant by it.
func unselectable(vary []string) bool {
	return len(vary) > mostSelecting || slices.ContainsFunc(vary, func(name string) bool {
		return name == "*" || isWithheld(http.CanonicalHeaderKey(name)) && !isKeyed(name)
	})
}

// isKeyed reports whether a header is a part of the key.
func isKeyed(name string) bool {
	return slices.Contains([]string{"Host", "X-Forwarded-Host", "X-Forwarded-Proto"}, http.CanonicalHeaderKey(name))
}

// mostGuessed bounds the lifetime of responses without an explicit one. RFC 9111: 4.2.2 suggests a tenth of the
// age; a page of ten years would so be fresh for a year.
const mostGuessed = 24 * time.Hour

// lifetime returns how long a response is fresh after date (RFC 9111: 4.2.1). s-maxage precedes max-age, and both
// precede Expires, because this is a shared cache.
func lifetime(header http.Header, d directives, date time.Time) time.Duration {
	if d.has("no-cache") {
		return 0
	}
	for _, name := range []string{"s-maxage", "max-age"} {
		if life, ok := d.duration(name); ok {
			return life
		}
	}
	if lines := header["Expires"]; len(lines) > 0 {
		expires, err := http.ParseTime(lines[0])
		if err != nil {
			return 0 // such as the value 0
		}
		return expires.Sub(date)
	}
	modified, err := http.ParseTime(header.Get("Last-Modified"))
	if err != nil {
		return 0
	}
	return min(max(date.Sub(modified)/10, 0), mostGuessed)
}

// initialAge returns how old a response was when it arrived (RFC 9111: 4.2.3). If Age is malformed, or has several
// values, the response is stale.
func initialAge(header http.Header, date, requested, received time.Time) time.Duration {
	age := time.Duration(0)
	if lines := header["Age"]; len(lines) > 0 {
		var ok bool
		if age, ok = parseSeconds(lines[0]); !ok || len(lines) > 1 {
			return math.MaxInt64 / 2
		}
	}
	return max(received.Sub(date), age+received.Sub(requested), 0)
}

// listed returns the elements of a header that is a list.
func listed(lines []string) (all []string) {
	for _, line := range lines {
		for element := range strings.SplitSeq(line, ",") {
			if element = strings.TrimSpace(element); element != "" {
				all = append(all, element)
			}
		}
	}
	return all
}
