package configs

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"vitrine/rules/suggest"
)

// checkScalar checks a value of the setting, or one element of it. The value is not an empty text. Numbers must not
// be negative. Each word of Setting.Check names an entry in valueChecks or in injected; the text after a colon is its
// argument. setScalar checks the word "required".
//
// Example: "required oneof:en,de" accepts en and de. A word that neither table has checks nothing here; it is of
// another kind, such as "file" (CheckFiles) and "word" (Setting.word).
func (s *Setting) checkScalar(v reflect.Value, injected Checks) error {
	for word := range strings.FieldsSeq(s.Check) {
		var err error
		name, argument, _ := strings.Cut(word, ":")
		if check := valueChecks[name]; check != nil {
			err = check(v, argument)
		} else if check := injected[name]; check != nil {
			err = check(v.String())
		}
		if err != nil {
			return err
		}
	}
	if (v.CanInt() && v.Int() < 0) || (v.CanFloat() && v.Float() < 0) {
		return fmt.Errorf("may not be negative, have %v", v)
	}
	return nil
}

// valueChecks are the checks of values, by their names in settings.yaml. Each gets a value of the field's type,
// which parseScalar has set. Its error says what it wants before what it has, and the caller adds path and place. A
// check of a value that may be secret does not quote it.
var valueChecks = map[string]func(v reflect.Value, argument string) error{
	"positive": func(v reflect.Value, _ string) error {
		if v.IsZero() {
			return errors.New("may not be 0")
		}
		return nil
	},
	"share": func(v reflect.Value, _ string) error {
		if !(v.Float() <= 1) { // false for NaN, too
			return fmt.Errorf("want a share from 0 to 1, have %v", v)
		}
		return nil
	},
	"page": func(v reflect.Value, _ string) error {
		if v.Int() > 500 {
			return fmt.Errorf("may be at most 500, have %v", v)
		}
		return nil
	},
	"body": func(v reflect.Value, _ string) error { // so that the bodies of several clients fit into memory
		if most := Size(16 << 20); v.Int() > int64(most) {
			return fmt.Errorf("may be at most %v, have %v", most, v)
		}
		return nil
	},
	"day": func(v reflect.Value, _ string) error { // the longest term of a lease that instances accept
		if v.Int() > int64(24*time.Hour) {
			return fmt.Errorf("may be at most 24h, have %v", v)
		}
		return nil
	},
	"oneof": func(v reflect.Value, words string) error { return checkWord(v.String(), strings.Split(words, ",")) },
	// Example: with `groups:none,year,type` the texts none, year, type, "year,type" and "type,year" are valid.
	"groups": func(v reflect.Value, words string) error { // one word, or two that are not the first one
		all, known := strings.Split(v.String(), ","), strings.Split(words, ",")
		if len(all) > 1 {
			known = known[1:]
		}
		for i, word := range all {
			if i > 1 || slices.Contains(all[:i], word) {
				return fmt.Errorf("want one or two different words, have %q", v)
			}
			if err := checkWord(word, known); err != nil {
				return err
			}
		}
		return nil
	},
	"date": form("a day such as 2027-12-31",
		parsedBy(func(text string) (time.Time, error) { return time.Parse(time.DateOnly, text) })),
	"digest": func(v reflect.Value, _ string) error {
		if !digests.MatchString(v.String()) {
			// does not quote the value, which may be a key
			return errors.New("want 64 small hexadecimal digits, as vitrine key add prints them")
		}
		return nil
	},
	"database": func(v reflect.Value, _ string) error { return checkDatabase(v.String()) },
	"uri":      func(v reflect.Value, _ string) error { return checkURI(v.String()) },
	"address":  form("HOST:PORT such as 127.0.0.1:8080 or :8080", isAddress),
	"base":     form("a web address such as https://data.example.org without a slash at its end", isBase),
	"host":     form("a host such as data.example.org, data.example.org:8443 or localhost:*", hosts.MatchString),
	"link": form("none, or a web address or a path from the root with {id} in it",
		func(text string) bool { return text == "none" || isPlace(text, "{id}") }),
	// RFC 4632 and RFC 4291 have the notations of networks.
	"network": form("an IP address or a network such as 10.0.0.0/8", parsedBy(ParseNetwork)),
	// An origin as RFC 6454 defines it: scheme, host and port.
	"origin": form("an origin such as https://www.example.org without a path", isOrigin),
	"origins": form("an origin such as https://www.example.org without a path, or *",
		func(text string) bool { return text == "*" || isOrigin(text) }),
	"pager": form("a web address or a path from the root with {page} in it",
		func(text string) bool { return isPlace(text, "{page}") }),
	"photo": form("a web address or a path from the root with {id} in it",
		func(text string) bool { return isPlace(text, "{id}") }),
	"param": form("the name of a parameter, or its beginning and * such as utm_*",
		regexp.MustCompile(`^[^\s*&=#]+\*?$`).MatchString),
	"endpoint": func(v reflect.Value, _ string) error {
		if part := placeholder(v.String()); part != "" {
			return fmt.Errorf("want a path with an id such as /api/users/ada, or the path above for all, "+
				"have %q with the placeholder %s", v.String(), part)
		}
		return nil
	},
	"collection": form("the name of a view or collection, or date", collections.MatchString),
	"kept":       func(v reflect.Value, _ string) error { return checkKept(v.String()) },
	"media":      form("a media type such as application/json", mediaTypes.MatchString),
	"parameter": form("the names of parameters, or the word all",
		regexp.MustCompile(`^([^\s*&=#]+|\*)$`).MatchString),
	"prefix": form("a path from the root such as /media",
		func(text string) bool { return strings.HasPrefix(text, "/") }),
	"path": form("a dotted path such as catalog.topics", func(text string) bool {
		return !slices.ContainsFunc(strings.Split(text, "."),
			func(part string) bool { return part == "" || part[0] == '$' })
	}),
	"template": form("a web address with {id} in it", func(text string) bool {
		_, ok := webAddress(strings.ReplaceAll(text, "{id}", "T1"))
		return ok && strings.Contains(text, "{id}")
	}),
	// The name of a header or cookie (RFC 9110: 5.6.2, token).
	"token": form("a name without blanks and separators", httpguts.ValidHeaderFieldName),
	"web":   form("a web address such as https://www.example.org/logo.svg", isWeb),
	"zone":  form("a time zone such as UTC or Europe/Berlin", parsedBy(time.LoadLocation)),
}

// placeholder returns the part of a path that stands for any id in descriptions, or "". It finds the notations of
// documents and routers, ID, {id}, <id>, :id and *, because an operator copies such a path from them. A key with it
// as an endpoint would open nothing.
func placeholder(path string) string {
	for part := range strings.SplitSeq(path, "/") {
		if part == "ID" || strings.ContainsAny(part, "{}<>*") || strings.HasPrefix(part, ":") {
			return part
		}
	}
	return ""
}

// form returns a check for a text; want describes the text to people.
func form(want string, matches func(string) bool) func(reflect.Value, string) error {
	return func(v reflect.Value, _ string) error {
		if !matches(v.String()) {
			return fmt.Errorf("want %s, have %q", want, v.String())
		}
		return nil
	}
}

// slugs matches the names of lists and keys. builtIn are names that a list may not have: those of built-in lists and
// of folders below /lists.
var (
	slugs   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	builtIn = []string{"activities", "projects", "persons", "events", "unit", "person", "project", "topic", "list"}
)

// digests matches SHA-256 sums.
var digests = regexp.MustCompile(`^[0-9a-f]{64}$`)

// checkSlug checks the name of an entry at a path. The name of a list becomes a part of a URL (/lists/NAME), so it
// has no characters that are escaped there. The names of built-in lists would hide one of an operator's.
func checkSlug(path, name string) error {
	switch {
	case !slugs.MatchString(name):
		return fmt.Errorf("want a name of small letters, digits and hyphens such as bio-papers, have %q", name)
	case path == "lists.named" && slices.Contains(builtIn, name):
		return errors.New("is the name of a built-in list: choose another")
	}
	return nil
}

// hosts matches the values of a Host header, and any port as ":*".
var hosts = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(:([0-9]{1,5}|\*))?$`)

// isAddress accepts HOST:PORT as net.Listen does, with a port as a number. An empty host means every interface.
func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	return err == nil
}

// parsedBy reports whether a parser accepts a text.
func parsedBy[T any](parse func(string) (T, error)) func(string) bool {
	return func(text string) bool { _, err := parse(text); return err == nil }
}

// ParseNetwork parses a network, or an address as a network of one; IPv4 in IPv6 form becomes IPv4. The address of
// a client comes unmapped, too, so "::ffff:10.0.0.1" and "10.0.0.1" mean the same client. It is exported so that
// the server reads the texts as the check has done.
func ParseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

// isOrigin accepts exactly what a browser sends as Origin: no path, and no slash at the end.
func isOrigin(text string) bool {
	u, ok := webAddress(text)
	return ok && text == u.Scheme+"://"+u.Host
}

// isBase accepts an address to which paths can be appended.
func isBase(text string) bool {
	u, ok := webAddress(text)
	return ok && text == u.Scheme+"://"+u.Host+u.EscapedPath() && !strings.HasSuffix(text, "/")
}

// isWeb accepts an address without characters that would have to be escaped in it.
func isWeb(text string) bool {
	u, ok := webAddress(text)
	return ok && text == u.String()
}

// isPlace accepts the template of a link in a page: a web address, or a path from the root of the page's site.
func isPlace(text, variable string) bool {
	filled := strings.ReplaceAll(text, variable, "1")
	if strings.HasPrefix(filled, "/") && !strings.HasPrefix(filled, "//") {
		filled = "https://host" + filled
	}
	_, ok := webAddress(filled)
	return ok && strings.Contains(text, variable) && !strings.ContainsAny(filled, " \"<>\\^`{|}")
}

// webAddress parses the address of a page. ok is false for any other text, and for an address with a user: such
// settings are shown, most of them to all callers. Only http and https are accepted: links of these settings appear
// in pages, where javascript: would be a script.
func webAddress(text string) (u *url.URL, ok bool) {
	u, err := url.Parse(text)
	return u, err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// checkDatabase refuses what MongoDB refuses in the name of a database, on Windows and elsewhere, so that a store
// can be moved (MongoDB's manual: Limits and Thresholds, Naming Restrictions).
func checkDatabase(name string) error {
	if i := strings.IndexAny(name, "/\\. \"$*<>:|?\x00"); i >= 0 {
		return fmt.Errorf("the name of a database may not contain %q, have %q", name[i], name)
	}
	return nil
}

// checkWord refuses a text that is none of some words, and suggests the nearest. An empty list of words does not
// occur.
func checkWord(text string, words []string) error {
	if slices.Contains(words, text) {
		return nil
	}
	last := len(words) - 1
	want := words[last]
	if last > 0 {
		want = strings.Join(words[:last], ", ") + " or " + want
	}
	return fmt.Errorf("want %s, have %q%s", want, text, suggest.Hint(text, words))
}

// checkURI knows lists of hosts, unlike url.Parse. Its errors quote no part that might be secret.
//
// The driver parses the address again when the store is opened. This check comes first, so that no mistake depends
// on what the driver quotes of the address.
func checkURI(text string) error {
	scheme, rest, ok := strings.Cut(text, "://")
	switch {
	case ok && scheme == "bolt" && rest != "":
		return nil
	case ok && scheme == "bolt":
		return errors.New("names no file; want bolt://PATH")
	case !ok || (scheme != "mongodb" && scheme != "mongodb+srv"):
		return errors.New("want mongodb://HOST/DATABASE, mongodb+srv://HOST/DATABASE or bolt://PATH")
	}
	rest, query, _ := strings.Cut(rest, "?")
	if strings.Contains(query, "@") {
		return errors.New("write @ among the options, and ? in a password, percent-encoded")
	}
	hosts, database, _ := strings.Cut(rest[strings.LastIndexByte(rest, '@')+1:], "/")
	switch {
	case hosts == "":
		return errors.New("names no host; want " + scheme + "://HOST/DATABASE")
	case database == "":
		return errors.New("names no database; want " + scheme + "://HOST/DATABASE")
	}
	return checkDatabase(database)
}

// Checks are the parsers of packages that use a setting, by their names in settings.yaml: "cron", "field", "filter",
// "locale", "route", "style", "target" and "warm". A "path" is one that a server has a route for; see
// Config.wrongEndpoints. An "unkept" path is one that it answers itself, unless routes moves it; see
// Config.wrongRules.
type Checks map[string]func(text string) error
