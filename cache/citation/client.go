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

	"golang.org/x/time/rate"

	"vitrine/rules"
	"vitrine/rules/backoff"
	"vitrine/rules/flight"
	"vitrine/rules/lru"
)

// The failures of the index; both are of kind rules.ErrUnavailable. An unknown user or document is rules.ErrNotFound.
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
	MinInterval time.Duration // the least time between two requests
	Timeout     time.Duration // for one page, including the wait for its turn
}

// maxEntries is the most answers, and the most failures, that a client keeps.
const maxEntries = 2000

// Client queries the index, and nothing else outside. Close it when done.
type Client struct {
	options  Options
	http     *http.Client
	maxBytes int64 // bytes of an uncompressed page
	now      func() time.Time
	sleep    func(context.Context, time.Duration) error // fails when the context ends
	flights  flight.Group[string, Answer]               // by key: user or user:document
	root     context.Context                            // the parent of every request's context; Close cancels it
	cancel   context.CancelFunc
	pace     *rate.Limiter  // one request in Options.MinInterval
	running  sync.WaitGroup // of the flights; a flight begins under mu, and not after Close

	mu       sync.Mutex // guards the rest
	answers  *lru.Cache[string, entry]
	failures *lru.Cache[string, failure]
	refused  time.Time            // no request is sent before this time
	refusing *backoff.Exponential // pauses after refusals in a row; nil if the index does not refuse
}

// New returns a client. It sends nothing before the first query.
func New(o Options) *Client {
	c := &Client{
		options: o, maxBytes: 4 << 20, now: time.Now, sleep: backoff.Sleep,
		pace:    rate.NewLimiter(rate.Every(o.MinInterval), 1),
		answers: lru.New[string, entry](maxEntries), failures: lru.New[string, failure](maxEntries),
	}
	c.http = &http.Client{CheckRedirect: c.redirect, Transport: &http.Transport{
		// The transport has no Proxy: it always connects to the index directly.
		TLSHandshakeTimeout: o.Timeout, MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: time.Minute,
		ForceAttemptHTTP2: true,
	}}
	c.root, c.cancel = context.WithCancel(context.Background())
	return c
}

// Close cancels running requests and those that wait for their turn, and waits for their end. Later calls return kept
// answers or fail with ErrUnavailable.
func (c *Client) Close() {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.running.Wait()
	c.http.CloseIdleConnections()
}

// Answer is the index's data about a user or a publication.
type Answer struct {
	Text  []byte        // the object of the API, as JSON
	Age   time.Duration // time since the answer was fetched
	Stale bool          // the answer is older than Lifetime, and the index fails
}

// Profile returns the profile of a user of the index, at most Lifetime old, or older if the index fails, and empty if
// the page has no known markup. Errors: rules.ErrWrongCall, rules.ErrNotFound, ErrBlocked, ErrUnavailable, the
// context's. The empty profile is not kept: the page counts as a failure, and is requested again after its pause.
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

// Document returns a publication in a user's profile, whose link is doc. Age and errors are those of Profile. An
// unfamiliar page gives an empty title and DOI.
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

// Knows reports whether the profile of a user is kept, however old. Queries for known users may wait longer for
// their turn, see Client.turn.
func (c *Client) Knows(user string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers.Peek(user) != nil
}

// maxIdentifier is the longest accepted identifier; the index's own have 12 characters.
const maxIdentifier = 64

// alphabet has the characters of an identifier, none of which has a special meaning in a URL. It is that of
// base64url (RFC 4648, section 5).
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// check returns rules.ErrWrongCall, with the parameter and the offset, unless an identifier may become part of a
// URL.
func check(param, id string) error {
	if id == "" || len(id) > maxIdentifier {
		return rules.Wrongf(param, "", "want 1 to %d characters", maxIdentifier)
	}
	if i := strings.IndexFunc(id, func(r rune) bool { return !strings.ContainsRune(alphabet, r) }); i >= 0 {
		return rules.Wrongf(param, fmt.Sprintf("offset %d", i), "want only letters, digits, - and _")
	}
	return nil
}
