package kept

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"vitrine/cache/origin"
)

// verdict says what becomes of an answer. With neither keep nor broken, the answer may be right, and is of a kind
// that is not kept.
type verdict struct {
	keep   bool
	reason string // why the answer is not kept, for people
	broken bool   // the other server fails, whether or not an answer is kept
	answer Answer // that was judged
}

// failure returns why an answer with a status is a failure of the other server, or "" if it is none. An answer of
// status 200 that is not broken is none, even if it cannot be kept. kept is the answer that it would replace, or
// nil.
func (v verdict) failure(status int, kept *Entry) string {
	if v.broken || !v.keep && kept != nil && status != http.StatusOK {
		return v.reason
	}
	return ""
}

// judge decides whether an answer may be kept under a rule, and returns it in the form in which it is. kept is the
// answer that it would replace, or nil. Marks and times are the caller's.
//
// An answer of status 200 may be an error page, a login or half a document. Such an answer is broken, and does not
// replace a good one. The reasons are for people, in the log and in Cache-Status.
func judge(a Answer, rule *Rule, key string, kept *Entry) (origin.Response, verdict) {
	header, headerSize := keepHeader(a.Header)
	r := origin.Response{
		Key: key, Status: a.Status, Header: header, Body: a.Body, Size: len(a.Body),
		ETag: validator(a.Header.Get("ETag")), Modified: validator(a.Header.Get("Last-Modified")),
	}
	media := mediaType(a.Header.Get("Content-Type"))
	if isJSON(media) && a.Status == http.StatusOK {
		status, err := envelopeStatus(a.Body)
		if err != nil {
			return r, verdict{reason: "the body is no whole JSON", broken: true}
		}
		r.Status = status
	}
	switch r.Status {
	case http.StatusOK, http.StatusNotFound, http.StatusGone:
	case http.StatusMovedPermanently, http.StatusPermanentRedirect:
		if a.Header.Get("Location") == "" {
			return r, verdict{reason: "a redirect without Location", broken: true}
		}
		// A record that has moved is still one of its kind. What leads elsewhere may lead to a login.
		if kept != nil && kept.Status == http.StatusOK && !rule.covers(key, a.Header.Get("Location")) {
			return r, verdict{reason: leadsAway, broken: true}
		}
	case http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect:
		if !rule.covers(key, a.Header.Get("Location")) { // most likely to a login
			return r, verdict{reason: "status " + strconv.Itoa(r.Status) + ", " + leadsAway, broken: true}
		}
		return r, verdict{reason: "status " + strconv.Itoa(r.Status)}
	default:
		return r, verdict{reason: "status " + strconv.Itoa(r.Status), broken: r.Status >= 500}
	}
	// "Moved" and "not found" may come without a body, and then without a type. An empty 200 does not: it is what a
	// program sends that ends early.
	bare := media == "" && len(a.Body) == 0 && r.Status != http.StatusOK
	if want := wantedType(rule, kept, r.Status); want != "" && media != want && !bare {
		return r, verdict{reason: fmt.Sprintf("media type %q instead of %s", media, want), broken: true}
	}
	if coding := a.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return r, verdict{reason: "a body with content coding"}
	}
	mostBody := min(rule.Most, origin.MaxResponse-2*mostHeader) // the document has room for the header, too
	if len(a.Body) > mostBody || headerSize > mostHeader || cost(&r) > rule.Budget {
		return r, verdict{reason: "the answer is too long to be kept"}
	}
	if r.Body == nil {
		r.Body = []byte{} // nil says that the body is not here
	}
	r.Digest = digest(&r)
	return r, verdict{keep: true}
}

const leadsAway = "a redirect away from the paths of the rule"

// wantedType returns the media type that an answer must have, or "". A page that says "moved" is no answer itself, so
// its type matters only where it would replace one; a kept page that says "moved" or "not found" sets no type.
// Neither does a kept one in HTML: it may be an error page that came first, and would keep out all good answers.
func wantedType(rule *Rule, kept *Entry, status int) string {
	replaces := kept != nil && kept.Status == http.StatusOK
	moved := status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect
	if rule.Type != "" && (replaces || !moved) {
		return mediaType(rule.Type)
	}
	if !replaces {
		return ""
	}
	if media := mediaType(kept.Field("Content-Type")); media != "text/html" {
		return media
	}
	return ""
}

// mediaType returns the media type in a Content-Type without parameters, in small letters. For example
// application/json for "Application/JSON; charset=utf-8". A broken Content-Type gives what is before its semicolon.
func mediaType(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && media == "" {
		media, _, _ = strings.Cut(contentType, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	return media
}

// isJSON reports whether a media type is JSON, or has the suffix +json (RFC 6839).
func isJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// envelopeStatus returns the status that a JSON body reports: the numeric field status of an object at its top, as
// a number or a text, if it is one of HTTP; otherwise 200. It fails unless the body is one JSON value.
//
// For example:
//
//	{"status": 404, "message": "…"}     404
//	{"status": "404"}                   404
//	{"status": "published"}             200
//	[1, 2]                              200
//	{"data": [1,                        an error: the body was cut
func envelopeStatus(body []byte) (int, error) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		if !json.Valid(body) {
			return 0, fmt.Errorf("body of %d bytes is no JSON", len(body))
		}
		return http.StatusOK, nil
	}
	var top map[string]json.RawMessage // not a struct, whose fields would match in any case of letters
	if err := json.Unmarshal(body, &top); err != nil {
		return 0, err
	}
	text := strings.Trim(string(top["status"]), `"`)
	number, err := strconv.ParseFloat(text, 64)
	if err == nil && number >= 100 && number < 600 && number == float64(int(number)) {
		return int(number), nil
	}
	return http.StatusOK, nil
}

// keptFields are the fields of a header that are kept, beside those for CORS: what a client needs to read the body.
// Fields about a person, a connection, caches, or the other server itself are left out by not being here.
var keptFields = []string{
	"Content-Disposition", "Content-Language", "Content-Security-Policy", "Content-Type",
	"Cross-Origin-Embedder-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "Deprecation",
	"Link",
	"Location", "Permissions-Policy", "Referrer-Policy", "Sunset", "Timing-Allow-Origin", "X-Content-Type-Options",
	"X-Frame-Options", "X-Robots-Tag",
}

// mostHeader is the most that a header may have to be kept, in bytes. judge leaves room for two of them beside the
// longest body.
const mostHeader = 16 << 10

// keepHeader returns the fields of a header that are kept, in the order of their names, and their bytes. It leaves
// out values with line breaks, which would begin another field for the client.
func keepHeader(h http.Header) (kept []origin.ResponseField, size int) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if !strings.HasPrefix(name, "Access-Control-") && !slices.Contains(keptFields, name) {
			continue
		}
		for _, value := range h[name] {
			if !strings.ContainsAny(value, "\r\n\x00") {
				kept = append(kept, origin.ResponseField{Name: name, Value: value})
				size += len(name) + len(value)
			}
		}
	}
	return kept, size
}

// validator returns the value of ETag or Last-Modified if a later request may have it. Other values would break the
// request's header. Without a validator the next request gets the whole answer.
func validator(value string) string {
	if len(value) > 256 || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		return ""
	}
	return value
}

// digest returns the SHA-256 of status, header and body, each with its length, so that different answers never hash
// the same bytes. It is over what a client gets. Times and validators are not in it: an answer that was merely
// confirmed has the same.
func digest(r *origin.Response) string {
	sum := sha256.New()
	number := func(n int) { _ = binary.Write(sum, binary.BigEndian, uint64(n)) } // a hash never fails
	text := func(s string) {
		number(len(s))
		_, _ = sum.Write([]byte(s))
	}
	number(r.Status)
	number(len(r.Header))
	for _, field := range r.Header {
		text(field.Name)
		text(field.Value)
	}
	number(len(r.Body))
	_, _ = sum.Write(r.Body)
	return hex.EncodeToString(sum.Sum(nil))
}
