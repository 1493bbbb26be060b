package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/urlpath"
)

// Key is a named key, of which only hashes are known. Empty fields do not limit it.
type Key struct {
	Name      string
	Sums      [][sha256.Size]byte // of its texts: two while one takes the place of the other
	Endpoints []string            // the paths that it opens, with all below
	Rights    []access.Permission // its callers have them in addition to their own; sorted
	Origins   []string            // the sites whose pages may use it
	Networks  []netip.Prefix      // where its clients are
	Rate      int                 // requests a second
	Expires   time.Time           // from when on it is no longer valid
}

// keyMark begins the text of new keys, so that a Redactor finds them wherever they are.
const keyMark = "vitkey_"

// newKeyLength is the length of the text of a new key.
const newKeyLength = len(keyMark) + 2*26 // see rand.Text

// NewKey returns the text of a new key, with 260 random bits, and its hash.
func NewKey() (text string, sum [sha256.Size]byte) {
	text = keyMark + rand.Text() + rand.Text()
	return text, sha256.Sum256([]byte(text))
}

// opens reports whether the key is for a path, as a client sends it, in every reading.
func (k *Key) opens(sent string) bool {
	if len(k.Endpoints) == 0 {
		return true
	}
	path, err := urlpath.Parse(sent)
	return err == nil && slices.ContainsFunc(k.Endpoints, func(e string) bool { return covers(e, path) })
}

// covers reports whether an endpoint of a key is a path, or above it. Formats of lists follow a dot; elsewhere a dot
// is a part of a name, such as that of a user.
func covers(endpoint string, path urlpath.Path) bool {
	endpoint = strings.TrimSuffix(endpoint, "/")
	format, found := strings.CutPrefix(path.Sent(), endpoint)
	return path.Below(endpoint) || found && strings.HasPrefix(endpoint, "/lists/") && strings.HasPrefix(format, ".")
}

// area is a part of the API with its own key.
type area struct {
	key    Secret
	closed bool // requests need this key or a named one
}

// newArea closes a part of the API if there is a key for anything in it, expired or not: an open part would give away
// more than any key.
func newArea(path, key string, named []Key) area {
	return area{NewSecret(key), key != "" || slices.ContainsFunc(named, func(k Key) bool {
		return k.opens(path) || slices.ContainsFunc(k.Endpoints,
			func(e string) bool { return strings.HasPrefix(e, path+"/") })
	})}
}

// keyring has the named keys by the hashes of their texts.
type keyring map[[sha256.Size]byte]*namedKey

// namedKey is a key in use.
type namedKey struct {
	Key
	rate *Limiter // nil if there is no limit
	uses *prometheus.CounterVec
}

// newKeyring keeps the limiters of keys that were in use before, so that a reload gives back nothing that was used.
func newKeyring(keys []Key, uses *prometheus.CounterVec, before *Authenticator) keyring {
	r, rates := keyring{}, map[string]*namedKey{}
	if before != nil {
		for _, k := range before.named {
			rates[k.Name] = k
		}
	}
	for _, k := range keys {
		named := &namedKey{k, NewLimiter("key", k.Rate, k.Rate, time.Second),
			uses.MustCurryWith(prometheus.Labels{"key": k.Name})}
		if earlier := rates[k.Name]; earlier != nil && earlier.Rate == k.Rate {
			named.rate = earlier.rate
		}
		named.uses.WithLabelValues("admitted") // so that the metric exists before the first request
		for _, sum := range k.Sums {
			r[sum] = named
		}
	}
	return r
}

// find returns the key with a text, or nil. The time that it takes depends only on the text's hash, which reveals
// nothing about the text.
func (r keyring) find(text string) *namedKey {
	return r[sha256.Sum256([]byte(text))]
}

// isSingle reports whether a text is one of the keys without a name.
func (a *Authenticator) isSingle(text string) bool { return a.api.key.Is(text) || a.folio.key.Is(text) }

// Identify finds the named key in the header of a request for a path that needs none, and fails if its limits do not
// admit the request. Screen has counted a wrong one, because the limits of a right one show that it is right.
func (a *Authenticator) Identify(c *fiber.Ctx) (found bool, err error) {
	if len(a.named) == 0 {
		return false, nil
	}
	if text := readKeys(c).header; text != "" {
		if k := a.named.find(text); k != nil {
			return true, a.use(c, k)
		}
	}
	return false, nil
}

// HasParam reports whether a request has the parameter apikey.
func (a *Authenticator) HasParam(c *fiber.Ctx) bool { return readKeys(c).given }

// use counts a request with a named key, and fails if the key's limits do not admit it. Only holders of the key learn
// of its limits.
func (a *Authenticator) use(c *fiber.Ctx, k *namedKey) error {
	c.Context().SetUserValue(keyUsed{}, k.Name)
	now, outcome, reason := a.shared.Now(), "admitted", ""
	var l Level
	switch {
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		outcome, reason = "expired", "The API key has expired."
	case !k.opens(c.Path()):
		outcome, reason = "endpoint", "The API key is not for this path."
	case a.operator:
		return nil // the operator's request has another client, and must not use up the rate
	case len(k.Networks) > 0 && !within(k.Networks, a.Addr(c)):
		outcome, reason = "network", "The API key is not for clients at this address."
	case len(k.Origins) > 0 && !slices.Contains(k.Origins, c.Get(fiber.HeaderOrigin)):
		outcome, reason =
			"origin", "The API key is for pages of certain sites, and the request comes from none of them."
	case k.rate != nil:
		if l = k.rate.Take(netip.Prefix{}, now); l.Wait > 0 { // one bucket shared by all its clients
			outcome = "rate"
		}
	}
	if !a.operator {
		k.uses.WithLabelValues(outcome).Inc()
	}
	switch {
	case l.Wait > 0:
		return k.rate.Refusal(l, "Too many requests with this API key. Retry-After says when to go on.")
	case reason != "":
		return &rules.Error{Kind: rules.ErrPermission, Reason: reason}
	}
	return nil
}

// keyUsed is the key under which a request has the name of its key.
type keyUsed struct{}

// KeyName returns the name of the key that Admit or Identify found in a request, admitted or not, or "".
func KeyName(c *fiber.Ctx) string {
	name, _ := c.Context().UserValue(keyUsed{}).(string)
	return name
}
