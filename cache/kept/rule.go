package kept

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Today is the name in Rule.Until for what changes with the date.
const Today = "date"

// MaxKey is the longest key of an answer, in bytes. Longer ones are refused, since keys stay in memory and in the
// store.
const MaxKey = 2 << 10

// Rule says what is kept of the other server's answers. It is immutable, and compared by its pointer. Zero settings
// mean the values named with each field.
type Rule struct {
	Name string // for people and metrics: the first path
	Auth string // who may ask: a name that package proxy/auth defines; this package does not look at it
	// Paths are prefixes of canonical paths: of whole segments, or of any text if one ends with a slash or *. A
	// segment
	// * stands for any one segment.
	Paths []string
	// Until names what an answer depends on: views, source collections, and Today.
	Until         []string
	For           time.Duration // how long an answer is fresh at most; 24 h
	Stale         time.Duration // how long after that it is sent while the other server fails; 7 days
	Revalidate    time.Duration // how long it is sent at once after it became stale, while the new one is fetched; 0
	Parameters    []string      // of the query that are part of the key; others are dropped
	AllParameters bool          // all parameters are part of the key
	Type          string        // the media type that answers must have; if empty, that of the kept answer
	Refresh       string        // when package materialize calls Keeper.Refresh (cron), not read here; empty: never
	// templates of paths to fetch although no client asked: /portfolio/person/{persons._id}
	Warm        []string
	Rate        float64 // requests a second to the other server, of each process; 10
	Connections int     // requests to it at a time, of each process; 4
	Budget      int64   // of the kept answers, in bytes; each counts as 4 KiB at least; 256 MiB
	Most        int     // the longest body that is kept, in bytes; 8 MiB

	state *ruleState     // set by Keeper.Adopt
	warm  *regexp.Regexp // of keys that Warm may name; nil if there are none
}

// notFoundFor bounds how long an answer with status 404 is fresh. An author who has just created a record misses it
// at once, whereas readers rarely notice that a record has changed.
const notFoundFor = time.Minute

// Lifetime returns how long an answer with a status is fresh, unless something that it depends on changes.
func (r *Rule) Lifetime(status int) time.Duration {
	if status == http.StatusNotFound {
		return min(r.For, notFoundFor)
	}
	return r.For
}

// Key returns the key of a request: the canonical path, encoded, and the parameters of the rule in one order. A
// repeated parameter has all its values in theirs, since servers read a list, the first or the last of them. Empty
// ones are left out, unless the rule has all parameters: their presence may count. dropped are the other parameters
// that the request had, without values.
//
// With the parameters limit and lang:
//
//	/portfolio/ä b?c, lang=de&x=1&limit=5&a=  ─▶  /portfolio/%C3%A4%20b%3Fc?limit=5&lang=de, dropped a and x
func (r *Rule) Key(path string, query url.Values) (key string, dropped []string) {
	var b strings.Builder
	encodePath(&b, path)
	names := r.Parameters
	if r.AllParameters {
		names = slices.Sorted(maps.Keys(query))
	}
	separator := byte('?')
	for _, name := range names {
		for _, value := range query[name] {
			if value == "" && !r.AllParameters {
				continue
			}
			b.WriteByte(separator)
			b.WriteString(url.QueryEscape(name))
			b.WriteByte('=')
			b.WriteString(url.QueryEscape(value))
			separator = '&'
		}
	}
	if !r.AllParameters {
		for name := range query {
			if !slices.Contains(r.Parameters, name) {
				dropped = append(dropped, name)
			}
		}
		slices.Sort(dropped)
	}
	return b.String(), dropped
}

// encodePath writes a decoded path with each segment encoded in one form. So a path that clients encode differently
// has one key.
func encodePath(to *strings.Builder, path string) {
	for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		to.WriteByte('/')
		to.WriteString(url.PathEscape(segment))
	}
}

// splitKey is the inverse of Key. ok is false for a text that cannot be decoded. Another text may pass although Key
// never returns it, so the caller makes the key again and compares.
func splitKey(key string) (path string, query url.Values, ok bool) {
	encoded, parameters, _ := strings.Cut(key, "?")
	path, err := url.PathUnescape(encoded)
	if err != nil {
		return "", nil, false
	}
	query, err = url.ParseQuery(parameters)
	return path, query, err == nil
}

// canonical reports whether a decoded path is read alike by every server: it has no empty or dot segment, also not
// with a parameter behind (..;x), and no control or broken character.
//
// Without this, a rule for /portfolio would hold for /portfolio/..;/admin, which some servers read as /admin
// (docs/decisions.md, Spellings).
func canonical(path string) bool {
	if path == "/" {
		return true
	}
	if !strings.HasPrefix(path, "/") || !utf8.ValidString(path) {
		return false
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		switch name, _, _ := strings.Cut(segment, ";"); name {
		case "", ".", "..":
			return false
		}
	}
	return strings.IndexFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }) < 0
}

// The values of settings that a rule leaves out.
const (
	defaultFor         = 24 * time.Hour
	defaultRate        = 10
	defaultConnections = 4
	defaultBudget      = 256 << 20
	DefaultMost        = 8 << 20 // of Rule.Most
)

// prepare sets defaults, and returns what is wrong with a rule. It copies the lists, which are the caller's. A
// negative value is an error, and does not switch a limit off.
func (r *Rule) prepare() error {
	if len(r.Paths) == 0 {
		return errors.New("a rule without paths")
	}
	if r.Name == "" {
		r.Name = r.Paths[0]
	}
	for _, path := range r.Paths {
		if whole := strings.TrimRight(path, "*/"); whole != "" && !canonical(whole) || !strings.HasPrefix(path, "/") {
			return fmt.Errorf("rule %s: path %q is not in canonical form", r.Name, path)
		}
	}
	for _, names := range [][]string{r.Until, r.Parameters} {
		if slices.Contains(names, "") {
			return fmt.Errorf("rule %s: an empty name", r.Name)
		}
	}
	for what, negative := range map[string]bool{
		"for": r.For < 0, "stale": r.Stale < 0, "revalidate": r.Revalidate < 0, "rate": r.Rate < 0,
		"connections": r.Connections < 0, "budget": r.Budget < 0, "the longest body": r.Most < 0,
	} {
		if negative {
			return fmt.Errorf("rule %s: %s is negative", r.Name, what)
		}
	}
	r.For, r.Rate = cmp.Or(r.For, defaultFor), cmp.Or(r.Rate, defaultRate)
	r.Connections, r.Most = cmp.Or(r.Connections, defaultConnections), cmp.Or(r.Most, DefaultMost)
	r.Budget = cmp.Or(r.Budget, defaultBudget)
	r.Paths, r.Until, r.Parameters = slices.Clone(r.Paths), slices.Clone(r.Until), slices.Clone(r.Parameters)
	r.Warm = slices.Clone(r.Warm)
	r.warm = warmKeys(r.Warm)
	return nil
}

// placeholder is a part of a template for warm keys. For example {persons._id} in /portfolio/person/{persons._id}.
var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// warmKeys returns an expression for all keys that templates may name, whatever the values of their placeholders. A
// value has no slash, question mark or ampersand: docs/decisions.md says which values warm paths leave out.
func warmKeys(templates []string) *regexp.Regexp {
	if len(templates) == 0 {
		return nil
	}
	patterns := make([]string, len(templates))
	for i, template := range templates {
		literals := placeholder.Split(template, -1)
		for j := range literals {
			literals[j] = regexp.QuoteMeta(literals[j])
		}
		patterns[i] = strings.Join(literals, "[^/?&]+")
	}
	return regexp.MustCompile("^(?:" + strings.Join(patterns, "|") + ")$")
}
