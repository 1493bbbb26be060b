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

	"github.com/PuerkitoBio/goquery"

	"vitrine/rules"
)

const (
	maxRedirects = 3
	// A longer Retry-After is cut, so that a mistake of the index does not end queries for weeks.
	maxRetryAfter = 24 * time.Hour
)

// redirect follows redirects within the index, in turn. One elsewhere, to consent, log-in or captcha, is a refusal.
// Each redirect is a request, and waits for a turn of its own as a known user's.
func (c *Client) redirect(r *http.Request, via []*http.Request) error {
	from := via[0].URL
	switch {
	case !strings.EqualFold(r.URL.Host, from.Host) || r.URL.User != nil ||
		r.URL.Scheme != from.Scheme && r.URL.Scheme != "https":
		return fmt.Errorf("%w: redirected to %s", ErrBlocked, r.URL.Host)
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: more than %d redirects", ErrUnavailable, maxRedirects)
	}
	return c.turn(r.Context(), true)
}

// request fetches and parses the page for a query string, whose parts check has accepted.
func (c *Client) request(ctx context.Context, query string) (*goquery.Document, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.options.Origin+"/citations?"+query, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	r.Header.Set("User-Agent", "Mozilla/5.0 (compatible; Vitrine)")
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Accept-Language", "de")
	response, err := c.http.Do(r)
	if err != nil {
		if errors.Is(err, rules.ErrUnavailable) { // the error comes from redirect
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer response.Body.Close()
	switch status := response.StatusCode; status {
	case http.StatusOK:
		return c.read(response)
	case http.StatusForbidden, http.StatusTooManyRequests:
		return nil, &rules.RetryError{Err: fmt.Errorf("%w: status %d", ErrBlocked, status),
			After: retryAfter(response.Header)}
	case http.StatusNotFound, http.StatusGone:
		return nil, fmt.Errorf("citation index: %w: status %d", rules.ErrNotFound, status)
	default:
		return nil, fmt.Errorf("%w: status %d", ErrUnavailable, status)
	}
}

// retryAfter returns the Retry-After header, or 0 if it is not a number of seconds. RFC 9110, section 10.2.3,
// allows a date too; then the client's own pause counts.
func retryAfter(h http.Header) time.Duration {
	seconds, _ := strconv.ParseUint(h.Get("Retry-After"), 10, 31) // 0 if the header is a date
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}

// read reads a page of at most maxBytes. A captcha beside known markup is no refusal: the page has the data, too.
func (c *Client) read(response *http.Response) (*goquery.Document, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, c.maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%w: read page: %w", ErrUnavailable, err)
	}
	if int64(len(body)) > c.maxBytes {
		return nil, fmt.Errorf("%w: page larger than %d bytes", ErrUnavailable, c.maxBytes)
	}
	page, err := parsePage(body, response.Header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("%w: parse page: %w", ErrUnavailable, err)
	}
	if page.Find(captcha).Length() > 0 && page.Find(familiarProfile+", "+familiarDocument).Length() == 0 {
		return nil, fmt.Errorf("%w: captcha", ErrBlocked)
	}
	return page, nil
}
