package auth

import (
	"bytes"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"vitrine/rules/urlpath"
)

// leastSecret is the length of the shortest text, in bytes, that is taken for a key wherever it stands. A shorter one
// may be an ordinary word, and is taken for a key only where keys are.
const leastSecret = 12

// isWithheld reports whether a text where a key stands is one of this server, and none of the other one.
func (e Entry) isWithheld(key string) bool {
	return key != "" && e.by.isOwn(key) && !e.by.isUpstreamKey(key)
}

// reveals reports whether a text anywhere in a request is, or contains, a secret of this server.
func (e Entry) reveals(text string) bool {
	if len(text) < leastSecret {
		return false
	}
	if e.isWithheld(text) || e.by.sessions.signedWithin(text) {
		return true
	}
	for _, secret := range e.by.Redactor {
		if len(secret.text) >= leastSecret && strings.Contains(text, secret.text) &&
			!e.by.isUpstreamKey(secret.text) {
			return true
		}
	}
	for from := 0; ; { // named keys are known by their hashes alone
		n := strings.Index(text[from:], keyMark)
		if n < 0 {
			return false
		}
		from += n
		if e.isWithheld(text[from:min(from+newKeyLength, len(text))]) {
			return true
		}
		from += len(keyMark)
	}
}

// Query returns the query of a request to forward, without keys for this server. All other parameters stay as they
// are.
func (e Entry) Query(q []byte) []byte {
	var kept []byte // nil until a parameter is left out
	for from := 0; from < len(q); {
		to := endOf(q, from, '&')
		switch drops := e.dropsParam(q[from:to]); {
		case drops && kept == nil:
			kept = append(make([]byte, 0, len(q)), bytes.TrimSuffix(q[:from], []byte("&"))...)
		case !drops && len(kept) > 0:
			kept = append(append(kept, '&'), q[from:to]...)
		case !drops && kept != nil:
			kept = append(kept, q[from:to]...)
		}
		from = to + 1
	}
	if kept == nil {
		return q
	}
	return kept
}

// dropsParam reports whether a parameter, encoded, must not be forwarded.
func (e Entry) dropsParam(param []byte) bool {
	for one := range keyPairs(param) {
		if e.keyed || e.isWithheld(one.value) || e.reveals(one.value) {
			return true
		}
	}
	if len(param) < leastSecret {
		return false
	}
	args := fasthttp.AcquireArgs()
	defer fasthttp.ReleaseArgs(args)
	args.ParseBytes(param)
	for name, value := range args.All() {
		if e.reveals(string(name)) || e.reveals(string(value)) {
			return true
		}
	}
	return false
}

// BodyReveals reports whether a body contains a secret of this server, as it is or in a form. A body is not changed
// as a query is: it may be signed, or have any format.
func (e Entry) BodyReveals(body []byte) bool {
	if len(body) == 0 {
		return false
	}
	if e.reveals(string(body)) {
		return true
	}
	form := Entry{by: e.by} // the other server may have a parameter of that name in its forms
	for from := 0; from < len(body); {
		to := endOf(body, from, '&')
		if form.dropsParam(body[from:to]) {
			return true
		}
		from = to + 1
	}
	return false
}

// PathReveals reports whether a path contains a secret of this server, as some server reads it.
func (e Entry) PathReveals(path urlpath.Path) bool {
	return slices.ContainsFunc(path.Readings(), e.pathReveals)
}

func (e Entry) pathReveals(reading string) bool {
	if len(reading) < leastSecret {
		return false
	}
	parts := strings.FieldsFunc(reading, func(r rune) bool { return strings.ContainsRune("/;,=", r) })
	return slices.ContainsFunc(parts, e.reveals)
}

// Withhold deletes from the headers of a request to forward what is for this server alone: keys, sessions, and the
// user and the client that a proxy in front names.
func (e Entry) Withhold(h http.Header) {
	for _, name := range []string{e.by.options.Session.UserHeader, e.by.options.Client.Header} {
		h.Del(name)
	}
	for name, lines := range h {
		var drops func(line string) bool
		switch name {
		case textproto.CanonicalMIMEHeaderKey(headerKey):
			drops = func(line string) bool { return e.keyed || e.isWithheld(line) || e.reveals(line) }
		case "Authorization":
			drops = func(line string) bool { return e.withholdsAuthorization(line) }
		case "Cookie":
			lines, drops = e.foreignCookies(lines), func(line string) bool { return line == "" }
		case "Referer":
			lines, drops = e.foreignReferer(lines), e.reveals
		default:
			drops = e.reveals
		}
		if lines = slices.DeleteFunc(slices.Clone(lines), drops); len(lines) == 0 {
			delete(h, name)
			continue
		}
		h[name] = lines
	}
}

// withholdsAuthorization reports whether an Authorization header is for this server: where this server decides who
// may ask, any bearer token, because it would be read here; elsewhere one that this server's key verifies, even if it
// has expired. The other server may have tokens and passwords of its own.
func (e Entry) withholdsAuthorization(line string) bool {
	scheme, token, _ := strings.Cut(line, " ")
	token = strings.TrimSpace(token)
	if strings.EqualFold(scheme, "Bearer") && (e.own && len(e.by.sessions.keys) > 0 || e.isWithheld(token)) {
		return true
	}
	return e.reveals(token) || e.reveals(line)
}

// foreignCookies returns lines of cookies without those of this server.
func (e Entry) foreignCookies(lines []string) (all []string) {
	for _, line := range lines {
		var kept []string
		for cookie := range strings.SplitSeq(line, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(cookie), "=")
			own := e.by.sessions.Cookie != "" && strings.TrimSpace(name) == e.by.sessions.Cookie
			// A cookie may have no name, or another server's separators.
			if own || e.isWithheld(strings.Trim(value, `"`)) || e.reveals(cookie) {
				continue
			}
			kept = append(kept, cookie)
		}
		all = append(all, strings.TrimSpace(strings.Join(kept, ";")))
	}
	return all
}

// foreignReferer returns addresses without keys of this server.
func (e Entry) foreignReferer(lines []string) (all []string) {
	elsewhere := Entry{by: e.by} // perhaps of a page of the other server
	for _, line := range lines {
		if before, q, found := strings.Cut(line, "?"); found {
			q, fragment, _ := strings.Cut(q, "#") // which no browser sends
			if kept := elsewhere.Query([]byte(q)); len(kept) < len(q) || e.reveals(fragment) {
				line = strings.TrimSuffix(before+"?"+string(kept), "?")
			}
		}
		before, _, _ := strings.Cut(line, "?")
		if plain, err := url.PathUnescape(before); err == nil {
			before = plain
		}
		if !e.pathReveals(before) {
			all = append(all, line)
		}
	}
	return all
}
