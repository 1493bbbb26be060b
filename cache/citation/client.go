package citation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/PuerkitoBio/goquery"

	"vitrine/rules"
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
	// Backoff is how long the client waits before it repeats a failed query, and after
	// a refusal before any query. Each further failure doubles it, up to 64 times. If
	// it is 0, 1 min.
	Backoff time.Duration
	// MaxBytes bounds a page, uncompressed. If it is 0, 4 MiB.
	MaxBytes int64
	// MaxEntries is how many profiles, and how many documents, are kept. If it is 0,
	// 1000.
	MaxEntries int
	// Now is the clock. If it is nil, time.Now.
	Now func() time.Time
	// Wait returns after a while, or with the context's error if that ends first. If
	// it is nil, a timer is used.
	Wait func(context.Context, time.Duration) error
}

// withDefaults returns the options with every zero replaced.
func (o Options) withDefaults() Options {
	o.Lifetime = cmp.Or(o.Lifetime, 24*time.Hour)
	o.StaleFor = cmp.Or(o.StaleFor, 30*24*time.Hour)
	o.MinInterval = cmp.Or(o.MinInterval, 2*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 15*time.Second)
	o.Backoff = cmp.Or(o.Backoff, time.Minute)
	o.MaxBytes = cmp.Or(o.MaxBytes, 4<<20)
	o.MaxEntries = cmp.Or(o.MaxEntries, 1000)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	return o
}

// Client queries the index, and nothing else outside. Close it when done.
type Client struct {
	base      *url.URL
	http      *http.Client
	pace      *pace
	maxBytes  int64 // of a page
	profiles  *store[Profile]
	documents *store[Document]
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
	o = o.withDefaults()
	c := &Client{
		base:      base,
		pace:      &pace{interval: o.MinInterval, backoff: o.Backoff, now: o.Now, wait: o.Wait},
		maxBytes:  o.MaxBytes,
		profiles:  newStore[Profile](o),
		documents: newStore[Document](o),
	}
	c.http = &http.Client{CheckRedirect: c.redirect, Transport: newTransport(o.Timeout)}
	return c, nil
}

// Close cancels running requests and waits for them. Later calls return kept answers or
// fail with ErrUnavailable.
func (c *Client) Close() {
	c.profiles.close()
	c.documents.close()
	c.http.CloseIdleConnections()
}

// Profile returns the profile of a user of the index. It is at most Lifetime old, or
// older if the index fails, and empty if the page has no known markup. Errors:
// rules.ErrWrongCall for an impossible user, rules.ErrNotFound, ErrBlocked,
// ErrUnavailable, and the context's.
func (c *Client) Profile(ctx context.Context, user string) (Profile, error) {
	if err := check("user", user); err != nil {
		return Profile{}, err
	}
	profile, err := ask(ctx, c, c.profiles, user, "user="+user+"&hl=de&cstart=0&pagesize=100&sortby=pubdate", parseProfile)
	if errors.Is(err, errUnfamiliar) {
		return Profile{Publications: []Publication{}}, nil
	}
	return profile, err
}

// Document returns the details of a publication in a user's profile; doc is the Link of
// a Publication. Age and errors are those of Profile.
func (c *Client) Document(ctx context.Context, user, doc string) (Document, error) {
	if err := cmp.Or(check("user", user), check("doc", doc)); err != nil {
		return Document{}, err
	}
	key := user + ":" + doc
	document, err := ask(ctx, c, c.documents, key, "view_op=view_citation&hl=de&user="+user+"&citation_for_view="+key, parseDocument)
	if errors.Is(err, errUnfamiliar) {
		return Document{}, nil
	}
	return document, err
}

// ask returns the kept answer for a key, which begins with a user, or parses the page for
// a query string.
func ask[V any](ctx context.Context, c *Client, s *store[V], key, query string, parse func(context.Context, *goquery.Document) (V, error)) (V, error) {
	return s.get(ctx, key, func(ctx context.Context) (answer V, err error) {
		user, _, _ := strings.Cut(key, ":")
		page, err := c.page(ctx, query, c.Knows(user))
		if err != nil {
			return answer, err
		}
		return parse(ctx, page)
	})
}

// Knows reports whether an answer about a user is kept, however old.
func (c *Client) Knows(user string) bool {
	_, _, known := c.profiles.age(user)
	return known
}

// Age returns the age of a kept answer, and whether it is stale because the index fails.
// Without doc it is the answer for a profile.
func (c *Client) Age(user, doc string) (age time.Duration, stale bool) {
	if doc == "" {
		age, stale, _ = c.profiles.age(user)
	} else {
		age, stale, _ = c.documents.age(user + ":" + doc)
	}
	return age, stale
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
