package citation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html/charset"

	"vitrine/rules"
)

const (
	userAgent     = "Mozilla/5.0 (compatible; Vitrine)"
	maxRedirects  = 3
	maxRetryAfter = 24 * time.Hour
)

// newTransport returns a transport that takes no proxy from the environment.
func newTransport(timeout time.Duration) *http.Transport {
	return &http.Transport{
		TLSHandshakeTimeout:    timeout,
		MaxResponseHeaderBytes: 64 << 10,
		MaxConnsPerHost:        2,
		IdleConnTimeout:        time.Minute,
		ForceAttemptHTTP2:      true,
	}
}

// redirect follows redirects within the index only. A redirect elsewhere asks for
// consent, a log-in or a captcha, so it is a refusal.
func (c *Client) redirect(r *http.Request, via []*http.Request) error {
	same := strings.EqualFold(r.URL.Host, c.base.Host) && r.URL.User == nil &&
		(r.URL.Scheme == c.base.Scheme || r.URL.Scheme == "https")
	switch {
	case !same:
		return fmt.Errorf("%w: redirected to %s", ErrBlocked, r.URL.Host)
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: more than %d redirects", ErrUnavailable, maxRedirects)
	}
	// A redirect is one more request at the index's pace. Without a turn for it the
	// query has failed, not merely been postponed: hence no errUnasked.
	if err := c.pace.turn(r.Context(), true); err != nil {
		return fmt.Errorf("%w: redirected: %s", ErrUnavailable, err)
	}
	return nil
}

// page fetches and parses the page for a query string. It does not escape the query: its
// parts have passed check. known says that the index has answered for this user before.
func (c *Client) page(ctx context.Context, query string, known bool) (*goquery.Document, error) {
	if err := c.pace.turn(ctx, known); err != nil {
		return nil, err
	}
	page, after, err := c.request(ctx, query)
	c.pace.observe(errors.Is(err, ErrBlocked), after)
	return page, err
}

// request is page without its pace; after is the response's Retry-After.
func (c *Client) request(ctx context.Context, query string) (page *goquery.Document, after time.Duration, err error) {
	u := *c.base
	u.Path, u.RawPath, u.RawQuery = strings.TrimSuffix(u.Path, "/")+"/citations", "", query
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Accept-Language", "de")

	answer, err := c.http.Do(r)
	if err != nil {
		if errors.Is(err, rules.ErrUnavailable) { // from redirect
			return nil, 0, err
		}
		return nil, 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
		page, err = c.read(answer)
		return page, 0, err
	case http.StatusForbidden, http.StatusTooManyRequests:
		err = ErrBlocked
	case http.StatusNotFound, http.StatusGone:
		err = fmt.Errorf("citation index: %w", rules.ErrNotFound)
	default:
		err = ErrUnavailable
	}
	return nil, retryAfter(answer.Header), fmt.Errorf("%w: status %d", err, answer.StatusCode)
}

// retryAfter returns the Retry-After header, 0 if it is no number of seconds.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// read parses a page of bounded size.
func (c *Client) read(answer *http.Response) (*goquery.Document, error) {
	body, err := io.ReadAll(io.LimitReader(answer.Body, c.maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%w: read page: %w", ErrUnavailable, err)
	}
	if int64(len(body)) > c.maxBytes {
		return nil, fmt.Errorf("%w: page larger than %d bytes", ErrUnavailable, c.maxBytes)
	}
	page, err := parsePage(answer.Request.Context(), body, answer.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	if page.Find(captcha).Length() > 0 && page.Find(familiarProfile+", "+familiarDocument).Length() == 0 {
		return nil, fmt.Errorf("%w: captcha", ErrBlocked)
	}
	return page, nil
}

// parsePage parses HTML. It treats valid UTF-8 as UTF-8: detection reads the beginning
// only, which may be ASCII.
func parsePage(ctx context.Context, body []byte, contentType string) (*goquery.Document, error) {
	if !utf8.Valid(body) {
		encoding, _, _ := charset.DetermineEncoding(body, contentType)
		decoded, err := encoding.NewDecoder().Bytes(body)
		if err != nil {
			return nil, fmt.Errorf("%w: decode page: %w", ErrUnavailable, err)
		}
		body = decoded
	}
	root, err := buildTree(ctx, body)
	if err != nil {
		return nil, fmt.Errorf("%w: parse page: %w", ErrUnavailable, err)
	}
	return goquery.NewDocumentFromNode(root), nil
}
