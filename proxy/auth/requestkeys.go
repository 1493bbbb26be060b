package auth

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/lru"
)

// requestKeys are the keys of a request, from all headers and parameters. All code that decides by a key uses them,
// so that all paths accept the same spellings.
type requestKeys struct {
	header string // the first X-API-Key that is not empty
	param  string // the last parameter apikey, as in PHP
	given  bool   // the request has the parameter apikey or a list of that name, empty or not
	// others have no effect here: repeated ones, and parameters that other servers read as apikey, or that a client
	// takes for it. They count if they are wrong, and are not forwarded if they are right.
	others []string
}

// mostKeys is how many keys a request may have. Each is looked up.
const mostKeys = 8

// readKeys returns the keys of a request. Most requests have none, and take one pass over their query.
func readKeys(c *fiber.Ctx) (p requestKeys) {
	for _, line := range c.Request().Header.PeekAll(headerKey) { // of several the first may be empty
		if text := string(line); p.header == "" {
			p.header = text
		} else {
			p.others = append(p.others, text)
		}
	}
	for one := range keyPairs(c.Context().URI().QueryString()) {
		switch {
		case one.name == query.KeyParam && !one.hidden:
			if p.param != "" {
				p.others = append(p.others, p.param)
			}
			p.given, p.param = true, one.value
		case strings.HasPrefix(one.name, query.KeyParam+"[") && !one.hidden:
			p.given = true
			fallthrough
		default:
			p.others = append(p.others, one.value)
		}
	}
	return p
}

// all returns the different keys of a request.
func (p requestKeys) all() (texts []string) {
	for _, text := range append([]string{p.header, p.param}, p.others...) {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// none reports whether there are no keys.
func (p requestKeys) none() bool { return p.header == "" && !p.given && len(p.others) == 0 }

// keyPair is a parameter with a key.
type keyPair struct {
	name, value string // decoded
	from, to    int    // in the query, without separators
	hidden      bool   // it follows a semicolon, which separates parameters only for some servers
}

// keyPairs returns the parameters of a query that this server or another one reads as apikey. PHP skips blanks before
// a name, ends it at a zero byte, and reads the rest after a bracket as the place in a list.
func keyPairs(q []byte) iter.Seq[keyPair] {
	return func(yield func(keyPair) bool) {
		for from := 0; from < len(q); {
			to := endOf(q, from, '&')
			if namesKey(q[from:to]) {
				if !yield(decoded(q, from, to, false)) {
					return
				}
				from = to + 1
				continue
			}
			for at := endOf(q[:to], from, ';') + 1; at < to; {
				end := endOf(q[:to], at, ';')
				if namesKey(q[at:end]) && !yield(decoded(q, at, end, true)) {
					return
				}
				at = end + 1
			}
			from = to + 1
		}
	}
}

// endOf returns where the part of a text that begins at from ends.
func endOf(text []byte, from int, separator byte) int {
	if n := bytes.IndexByte(text[from:], separator); n >= 0 {
		return from + n
	}
	return len(text)
}

func decoded(q []byte, from, to int, hidden bool) (p keyPair) {
	args := fasthttp.AcquireArgs()
	defer fasthttp.ReleaseArgs(args)
	args.ParseBytes(q[from:to]) // as all parameters of this server
	for name, value := range args.All() {
		p.name, p.value = string(name), string(value)
	}
	p.from, p.to, p.hidden = from, to, hidden
	return p
}

// namesKey reports whether a parameter, encoded, has a name that some server reads as apikey, in any case. It does
// not allocate, since it is called for each parameter of each request.
func namesKey(text []byte) bool {
	matched := 0
	for i := 0; i < len(text); i++ {
		b := text[i]
		switch {
		case b == '=':
			return matched == len(query.KeyParam)
		case b == '+':
			b = ' '
		case b == '%' && i+2 < len(text):
			if high, low := unhex(text[i+1]), unhex(text[i+2]); high >= 0 && low >= 0 {
				b, i = byte(high<<4|low), i+2
			}
		}
		switch {
		case matched == len(query.KeyParam):
			return b == '[' || b == 0
		case matched == 0 && b == ' ':
		case b|0x20 == query.KeyParam[matched]:
			matched++
		default:
			return false
		}
	}
	return matched == len(query.KeyParam)
}

// unhex returns the value of a hexadecimal digit, or -1.
func unhex(b byte) int {
	switch {
	case '0' <= b && b <= '9':
		return int(b - '0')
	case 'a' <= b|0x20 && b|0x20 <= 'f':
		return int(b|0x20-'a') + 10
	}
	return -1
}

// isOwn reports whether a text is a key of this server.
func (a *Authenticator) isOwn(text string) bool { return a.isSingle(text) || a.named.find(text) != nil }

// Screen counts the wrong keys of a request, also on paths that need no key, and fails if its client has sent too
// many. So a guess costs the same on every path. A client may send the same wrong key many times where no key is
// needed, such as that of another server. Such a key counts once.
func (a *Authenticator) Screen(c *fiber.Ctx) error {
	if !a.keyed {
		return nil
	}
	p := readKeys(c)
	if p.none() {
		return nil
	}
	texts := p.all()
	if len(texts) > mostKeys {
		return &rules.Error{Kind: rules.ErrWrongCall, Reason: "The request has too many keys."}
	}
	right := a.admits(p)
	for _, text := range texts {
		if a.isOwn(text) || a.isUpstreamKey(text) {
			continue
		}
		guess := guess{a.Client(c), sha256.Sum256([]byte(text))}
		if a.shared.Guesses.repeated(guess) {
			continue
		}
		a.shared.WrongKeys.Inc()
		l := a.shared.Guesses.take(guess.client, a.shared.Now())
		c.Context().SetUserValue(guessCounted{}, l)
		switch {
		case l.Wait == 0:
			a.shared.Guesses.remember(guess)
		case !right: // a client with a right key may send a stale one, too
			return a.shared.Guesses.refuse(c, l)
		}
	}
	return nil
}

// admits reports whether the key that is looked at first is one of this server. A wrong one beside it is looked at
// only if that key is for another part of the API, and then countRefused refuses it.
func (a *Authenticator) admits(p requestKeys) bool {
	return a.isOwn(cmp.Or(p.header, p.param))
}

// guessCounted is the key under which a request has the Level of its client if Screen has counted a wrong key in it.
type guessCounted struct{}

// countRefused counts a wrong key for which a request is refused, unless Screen has counted it: there each repetition
// counts.
func (a *Authenticator) countRefused(c *fiber.Ctx) error {
	if l, counted := c.Context().UserValue(guessCounted{}).(Level); counted {
		return a.shared.Guesses.refuse(c, l)
	}
	return a.CountWrongKey(a.shared.Guesses, c)
}

// Guesses limits wrong keys by client, and remembers the last ones.
type Guesses struct {
	limiter *Limiter

	mu   sync.Mutex
	last *lru.Cache[guess, struct{}] // guarded by mu
}

// NewGuesses returns Guesses of wrong keys per minute and client, or nil for 0.
func NewGuesses(failures int) *Guesses {
	if failures <= 0 {
		return nil
	}
	return &Guesses{
		limiter: NewLimiter("wrong-keys", failures, failures, time.Minute),
		last:    lru.New[guess, struct{}](mostGuesses),
	}
}

// mostGuesses is how many wrong keys are remembered, in about 3 MB.
const mostGuesses = 1 << 14

// guess is a wrong key of a client.
type guess struct {
	client netip.Prefix
	sum    [sha256.Size]byte
}

// take takes a token, if there are any.
func (g *Guesses) take(client netip.Prefix, now time.Time) (l Level) {
	if g != nil {
		l = g.limiter.Take(client, now)
	}
	return l
}

// refuse returns the refusal of a wrong key if its client has sent too many.
func (g *Guesses) refuse(c *fiber.Ctx, l Level) error {
	if l.Wait == 0 {
		return nil
	}
	c.Context().SetConnectionClose()
	return g.limiter.Refusal(l, "Too many wrong keys. Retry-After says when the next may come.")
}

func (g *Guesses) repeated(one guess) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last.Get(one) != nil
}

func (g *Guesses) remember(one guess) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last.Put(one, struct{}{})
}
