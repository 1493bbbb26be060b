package citation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"vitrine/rules"
	"vitrine/rules/flight"
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

// Options configures a Client. Origin, Lifetime and Timeout are needed.
type Options struct {
	Origin      string        // scheme and host of the index
	Lifetime    time.Duration // how long an answer is fresh
	StaleFor    time.Duration // how long after that an answer may be served if the index fails
	MinInterval time.Duration // from one request to the next
	Timeout     time.Duration // of one page, waiting for its turn included
}

// maxEntries is how many answers are kept, and how many failures.
const maxEntries = 2000

// Client queries the index, and nothing else outside. Close it when done.
type Client struct {
	options  Options
	http     *http.Client
	maxBytes int64 // of a page, uncompressed
	now      func() time.Time
	sleep    func(time.Duration)
	flights  flight.Group[Answer] // by key, which is a user or user:document
	root     context.Context      // ends with Close; the parent of every request
	cancel   context.CancelFunc

	mu       sync.Mutex // guards the rest
	answers  *lru.Cache[string, entry]
	failures *lru.Cache[string, failure]
	next     time.Time // of the earliest next request
	refused  time.Time // until then no request is sent
	refusals int       // in a row
}

// New returns a client.
func New(o Options) *Client {
	c := &Client{
		options: o, maxBytes: 4 << 20, now: time.Now, sleep: time.Sleep,
		answers: lru.New[string, entry](maxEntries), failures: lru.New[string, failure](maxEntries),
	}
	c.http = &http.Client{CheckRedirect: c.redirect, Transport: &http.Transport{ // without a proxy
		TLSHandshakeTimeout: o.Timeout, MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
	}}
	c.root, c.cancel = context.WithCancel(context.Background())
	return c
}

// Close cancels running requests. Later calls return kept answers or fail with
// ErrUnavailable.
func (c *Client) Close() {
	c.cancel()
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
	return c.answers.Peek(user) != nil
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
