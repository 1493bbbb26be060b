package upstream

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// keyParam is the parameter with the key of the other server, beside the header.
const keyParam = "apikey"

// query returns the query to send. Below /portfolio it has the key of the other server, too: OSIRIS reads a header
// only below /api. Elsewhere a URL has no key, since servers log URLs.
func (r *request) query(u *url.URL) string {
	if r.secret == "" || !strings.HasPrefix(r.target, "/portfolio/") {
		return u.RawQuery
	}
	return strings.TrimPrefix(u.RawQuery+"&"+keyParam+"="+url.QueryEscape(r.secret), "&")
}

// hideSecret deletes the key of the other server from the headers of its response, such as a redirect that repeats
// the query: neither the client nor another host may learn it. An address loses the parameter; a header that shows
// the key in any other way goes as a whole.
func (r *request) hideSecret(header http.Header) {
	if r.secret == "" {
		return
	}
	reveals := func(text string) bool {
		plain, err := url.QueryUnescape(text)
		return strings.Contains(text, r.secret) || err == nil && strings.Contains(plain, r.secret)
	}
	for name, lines := range header {
		for i, line := range lines {
			if reveals(line) {
				lines[i] = withoutParam(line)
			}
		}
		if lines = slices.DeleteFunc(lines, reveals); len(lines) == 0 {
			delete(header, name)
			continue
		}
		header[name] = lines
	}
}

// leastSecret is the length from which a key is looked for in bodies: a shorter one may be any word of them.
const leastSecret = 8

// shows reports whether a body has the key of the other server, such as a link to the requested page itself.
func (r *request) shows(body []byte) bool {
	if len(r.secret) < leastSecret {
		return false
	}
	for _, form := range []string{r.secret, url.QueryEscape(r.secret), url.PathEscape(r.secret)} {
		if bytes.Contains(body, []byte(form)) {
			return true
		}
	}
	return false
}

// withoutParam returns an address without the parameter with the key.
func withoutParam(address string) string {
	before, rest, found := strings.Cut(address, "?")
	if !found {
		return address
	}
	q, fragment, marked := strings.Cut(rest, "#")
	pairs := slices.DeleteFunc(strings.Split(q, "&"), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return name == keyParam
	})
	address = strings.TrimSuffix(before+"?"+strings.Join(pairs, "&"), "?")
	if marked {
		address += "#" + fragment
	}
	return address
}
