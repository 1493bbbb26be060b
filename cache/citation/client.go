package citation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"vitrine/rules"
	"vitrine/rules/lru"
)

// The failures of the index, both of kind rules.ErrUnavailable. For a user or document
// that the index does not have the error is rules.ErrNotFound.
var (
	// ErrBlocked: the index refuses requests for now.
	ErrBlocked = fmt.Errorf("citation index refuses requests: %w", rules.ErrUnavailable)
	// ErrUnavailable: the index does not respond, responds too late, or sends no page.
	ErrUnavailable = fmt.Errorf("citation index: %w", rules.ErrUnavailable)
)

// errUnfamiliar: a page lacks all elements of a page of its kind.
var errUnfamiliar = errors.New("page without known markup")

// Options configures a Client.
type Options struct {
	// BaseURL is the index's address: scheme, host and an optional path before
	// "/citations". It is required.
	BaseURL string
	// Lifetime is how long an answer is fresh. If it is 0, 24 h.
	Lifetime time.Duration
	// StaleFor is how long after its Lifetime an answer may be served if the index
	// fails. If it is 0, 30 days; if it is negative, never.
	StaleFor time.Duration
	// MinInterval is the time from one request to the next. If it is 0, 2 s; if it is
	// negative, none.
	MinInterval time.Duration
	// Timeout bounds one fetch, waiting for its turn included. If it is 0, 15 s.
	Timeout time.Duration
}

const (
	// maxBytes bounds a page, uncompressed.
	maxBytes = 4 << 20
	// maxEntries is how many answers are kept.
	maxEntries = 2000
)

// Client queries the index, and nothing else outside. Close it when done.
type Client struct {
	options  Options
	base     *url.URL
	http     *http.Client
	pace     *pace
	maxBytes int64            // of a page
	now      func() time.Time // the clock

	flights singleflight.Group
	root    context.Context // ends with Close; the parent of every load
	cancel  context.CancelFunc

	mu      sync.Mutex
	loads   sync.WaitGroup            // Add guarded by mu, against Close
	entries *lru.Cache[string, entry] // guarded by mu: by user, or by user:document
}

// New returns a client. It fails if BaseURL is not valid.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("citation: base URL: %w", err)
	}
	if base.Scheme != "https" && base.Scheme != "http" || base.Host == "" ||
		base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("citation: base URL %q: want http(s)://host with at most a path", base.Redacted())
	}
	o.Lifetime = cmp.Or(o.Lifetime, 24*time.Hour)
	o.StaleFor = cmp.Or(o.StaleFor, 30*24*time.Hour)
	o.MinInterval = cmp.Or(o.MinInterval, 2*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 15*time.Second)
	c := &Client{
		options: o, base: base, maxBytes: maxBytes, now: time.Now, entries: lru.New[string, entry](maxEntries),
		pace: &pace{interval: o.MinInterval, now: time.Now, wait: wait},
	}
	c.http = &http.Client{CheckRedirect: c.redirect, Transport: newTransport(o.Timeout)}
	c.root, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// Close cancels running requests and waits for them. Later calls return kept answers or
// fail with ErrUnavailable.
func (c *Client) Close() {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.loads.Wait()
	c.http.CloseIdleConnections()
}

// Answer is what the index says of a user or a publication.
type Answer struct {
	Text  []byte        // the object of the API, as JSON
	Age   time.Duration // since it was fetched
	Stale bool          // its Lifetime is over, and the index fails
}

// Profile returns the profile of a user of the index. It is at most Lifetime old, or
// older if the index fails, and empty if the page has no known markup. Errors:
// rules.ErrWrongCall for an impossible user, rules.ErrNotFound, ErrBlocked,
// ErrUnavailable, and the context's.
func (c *Client) Profile(ctx context.Context, user string) (Answer, error) {
	if err := check("user", user); err != nil {
		return Answer{}, err
	}
	answer, err := c.get(ctx, user, "user="+user+"&hl=de&cstart=0&pagesize=100&sortby=pubdate", parseProfile)
	if errors.Is(err, errUnfamiliar) {
		return Answer{Text: []byte(`{"total_citations":null,"citations_per_year":[],"publications":[]}`)}, nil
	}
	return answer, err
}

// Document returns the details of a publication in a user's profile; doc is the link of
// the profile's publication. Age and errors are those of Profile.
func (c *Client) Document(ctx context.Context, user, doc string) (Answer, error) {
	if err := cmp.Or(check("user", user), check("doc", doc)); err != nil {
		return Answer{}, err
	}
	key := user + ":" + doc
	answer, err := c.get(ctx, key, "view_op=view_citation&hl=de&user="+user+"&citation_for_view="+key, parseDocument)
	if errors.Is(err, errUnfamiliar) {
		return Answer{Text: []byte(`{"title":"","doi":""}`)}, nil
	}
	return answer, err
}

// Knows reports whether the profile of a user is kept, however old.
func (c *Client) Knows(user string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries.Peek(user)
	return e != nil && e.text != nil
}

// maxIdentifier is the longest accepted identifier; the index's own have 12 characters.
const maxIdentifier = 64

// alphabet has the accepted characters of an identifier. None has a special meaning
// anywhere in a URL.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// check refuses impossible identifiers.
func check(param, id string) error {
	if id == "" || len(id) > maxIdentifier {
		return rules.Wrongf(param, "", "want 1 to %d characters", maxIdentifier)
	}
	if i := strings.IndexFunc(id, func(r rune) bool { return !strings.ContainsRune(alphabet, r) }); i >= 0 {
		return rules.Wrongf(param, fmt.Sprintf("offset %d", i), "want only letters, digits, - and _")
	}
	return nil
}
