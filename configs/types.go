package configs

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// mask replaces a secret in all output.
const mask = "[set]"

// Secret is a setting that prints, logs and marshals as "[set]", or "" if empty. Reveal returns the value.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String returns "[set]", or "" for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString hides the secret in %#v.
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// MarshalText hides the secret in JSON, YAML and structured logs.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// URI is an address that may have credentials: of a store, or, after a word for its kind, of a server that is
// notified of changes. It prints, logs and marshals without them; see Reveal.
type URI string

// Reveal returns the address with its credentials.
func (u URI) Reveal() string { return string(u) }

// String returns the address with "[set]" in place of credentials: before the host, among the options of a store, and
// anywhere after the host of a web address, because webhooks have their secrets in the path.
func (u URI) String() string { return u.mask(mask + "@") }

// public returns the address without its credentials, in a form that can be parsed.
func (u URI) public() string { return u.mask("") }

func (u URI) mask(credentials string) string {
	s := string(u)
	scheme, rest, ok := strings.Cut(s, "://")
	switch {
	case !ok || scheme == "bolt":
		return s
	case strings.HasSuffix(scheme, "http"), strings.HasSuffix(scheme, "https"):
		return scheme + "://" + maskWeb(rest, credentials)
	}
	// A host contains no "@", and checkURI allows none among the options. So everything before the last one is
	// credentials, even if a "/" or "?" in them was not encoded.
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = credentials + rest[i+1:]
	}
	rest, query, _ := strings.Cut(rest, "?")
	options := slices.DeleteFunc(strings.Split(query, "&"), func(option string) bool { // secrets, and nameless ones
		name, _, _ := strings.Cut(strings.ToLower(option), "=")
		return name == "" || strings.Contains(name, "password") || name == "authmechanismproperties"
	})
	if len(options) > 0 {
		rest += "?" + strings.Join(options, "&")
	}
	return scheme + "://" + rest
}

// maskWeb masks the rest of a web address after its scheme.
func maskWeb(rest, credentials string) string {
	u, err := url.Parse("https://" + rest)
	if err != nil {
		return mask
	}
	host := u.Host
	if u.User != nil {
		host = credentials + host
	}
	if u.Path == "/" && u.RawQuery == "" && u.Fragment == "" {
		return host + "/"
	}
	if u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return host + "/" + strings.TrimSuffix(credentials, "@")
	}
	return host
}

// GoString hides credentials in %#v.
func (u URI) GoString() string { return strconv.Quote(u.String()) }

// MarshalText hides credentials in JSON, YAML and structured logs.
func (u URI) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// Size is a number of bytes, also with a unit: KB, MB, GB (powers of 1000), KiB, MiB, GiB (of 1024).
type Size int64

// String returns the size in the largest unit that gives a whole number.
func (s Size) String() string {
	units := []struct {
		size Size
		name string
	}{{1 << 30, "GiB"}, {1e9, "GB"}, {1 << 20, "MiB"}, {1e6, "MB"}, {1 << 10, "KiB"}, {1e3, "KB"}}
	for _, u := range units {
		if s != 0 && s%u.size == 0 {
			return strconv.FormatInt(int64(s/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// parseSize parses a size. It accepts a plain number as bytes, and units as Size has them, in any case.
func parseSize(text string) (Size, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64 {
		return 0, fmt.Errorf("%d bytes are too many", n)
	}
	return Size(n), nil
}
