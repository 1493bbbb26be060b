package crashes

import (
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
)

// traffic sends requests of all sorts to a server whose institute is stamped.
type traffic struct {
	t         testing.TB
	server    *programtest.Server
	institute stamped
	questions []question
	kinds     []kind

	seen   sync.Map // by view: *atomic.Int64, the newest round answered
	counts []atomic.Int64
	next   atomic.Int64 // makes every filter different
}

// kind is a sort of client, and its share of the traffic.
type kind struct {
	name   string
	weight int
	visit  func(*client) error
}

// client is one of the concurrent clients.
type client struct {
	*traffic
	http *http.Client
	rng  *rand.Rand
}

func newTraffic(t testing.TB, s *programtest.Server, institute stamped) *traffic {
	f := &traffic{t: t, server: s, institute: institute, questions: institute.questions()}
	f.kinds = []kind{
		{"plain answers", 10, (*client).plain},
		{"new filters", 8, (*client).unseen},
		{"gzip answers", 4, (*client).zipped},
		{"conditional requests", 4, (*client).conditional},
		{"HEAD requests", 2, (*client).head},
		{"lists read page by page", 2, (*client).pages},
		{"streams left midway", 2, (*client).leave},
		{"bad requests", 3, (*client).bad},
		{"other pages", 2, (*client).others},
	}
	f.counts = make([]atomic.Int64, len(f.kinds))
	for _, q := range f.questions {
		f.seen.LoadOrStore(q.view, new(atomic.Int64))
	}
	return f
}

// start starts clients until ctx ends; the func it returns waits for the last of them.
func (f *traffic) start(ctx context.Context, clients int) (wait func()) {
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			transport := &http.Transport{DisableCompression: true}
			defer transport.CloseIdleConnections()
			c := &client{f, &http.Client{Transport: transport}, rand.New(rand.NewPCG(7, uint64(i)))}
			for ctx.Err() == nil && !f.t.Failed() {
				c.come()
				<-time.After(time.Duration(c.rng.IntN(15)) * time.Millisecond) // people take time to read
			}
		})
	}
	return wg.Wait
}

// come is one visit of a client of some kind.
func (c *client) come() {
	total := 0
	for _, k := range c.kinds {
		total += k.weight
	}
	at := c.rng.IntN(total)
	for i, k := range c.kinds {
		if at -= k.weight; at < 0 {
			if err := k.visit(c); err != nil {
				c.t.Errorf("%s: %v", k.name, err)
			}
			c.counts[i].Add(1)
			return
		}
	}
}

// report prints the numbers of requests.
func (f *traffic) report(rounds int, length time.Duration) {
	var all int64
	var text strings.Builder
	for i, k := range f.kinds {
		n := f.counts[i].Load()
		all += n
		fmt.Fprintf(&text, "\n  %7d %s", n, k.name)
	}
	f.t.Logf("%d visits and %d rounds of source changes in %v:%s", all, rounds, length, text.String())
}

// ask sends a request and reads the whole answer. The HTTP client checks the announced length; an
// answer without one must be a stream. No answer may be a 5xx.
func (c *client) ask(method, path string, header ...string) (*http.Response, []byte, error) {
	req, err := http.NewRequest(method, c.server.Base+path, nil)
	if err != nil {
		return nil, nil, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	req.Close = c.rng.IntN(20) == 0
	res, err := c.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return res, body, fmt.Errorf("%s: after %d bytes: %w", path, len(body), err)
	case res.StatusCode >= 500:
		return res, body, fmt.Errorf("%s: %s: %.200s", path, res.Status, body)
	case res.ContentLength < 0 && !strings.Contains(res.Header.Get("Cache-Status"), "streamed"):
		return res, body, fmt.Errorf("%s: answer without a length that is not a stream", path)
	}
	return res, body, nil
}

// any picks a question.
func (c *client) any() question { return c.questions[c.rng.IntN(len(c.questions))] }

// check checks an answer to a question, and that a view does not go back: floor is the newest round
// that any client had received when it sent the request.
func (c *client) check(q question, floor int64, body []byte) (round int, err error) {
	round, err = q.check(c.institute, body)
	if err != nil {
		return round, fmt.Errorf("%s: %w", q.path, err)
	}
	if q.view == "" {
		return round, nil
	}
	if int64(round) < floor {
		return round, fmt.Errorf("%s: answer of round %d after one of round %d", q.path, round, floor)
	}
	newest := c.newest(q.view)
	for had := newest.Load(); had < int64(round) && !newest.CompareAndSwap(had, int64(round)); had = newest.Load() {
	}
	return round, nil
}

func (c *client) newest(view string) *atomic.Int64 {
	newest, _ := c.seen.Load(view)
	return newest.(*atomic.Int64)
}

func (c *client) plain() error {
	q := c.any()
	floor := c.newest(q.view).Load()
	res, body, err := c.ask(http.MethodGet, q.path)
	if err == nil && res.StatusCode != http.StatusOK {
		err = errors.New(res.Status)
	}
	if err == nil {
		_, err = c.check(q, floor, body)
	}
	return err
}

// unseen sends a new filter, which selects all of a year or more.
func (c *client) unseen() error {
	filters := []string{
		`{"$or":[{"year":{"$gte":%d}},{"absent":%d}]}`,
		`{"title":{"$regex":"ACTIVITY","$options":"i"},"year":{"$gte":%d},"absent":{"$ne":%d}}`,
		`{"year":{"$in":[%d,%d]}}`,
		`{"authors":{"$elemMatch":{"affiliated":true,"user":{"$ne":"absent"}}},"year":{"$gt":%d},` +
			`"absent":{"$nin":[%d]}}`,
	}
	filter := fmt.Sprintf(filters[c.rng.IntN(len(filters))], time.Now().Year()-c.rng.IntN(5), c.next.Add(1))
	path := "/api/activities?columns[]=title&columns[]=year&json=" + url.QueryEscape(filter)
	if c.rng.IntN(3) == 0 {
		path = "/api/search/activities?json=" + url.QueryEscape(filter)
	}
	_, body, err := c.ask(http.MethodGet, path)
	if err != nil {
		return err
	}
	var e programtest.Envelope
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	if e.Status != http.StatusOK || e.Count != len(e.Data) {
		return fmt.Errorf("%s: status %d, count %d, %d rows", filter, e.Status, e.Count, len(e.Data))
	}
	if _, err := roundOf(body); err != nil {
		return fmt.Errorf("%s: %w", filter, err)
	}
	return nil
}

func (c *client) zipped() error {
	q := c.any()
	floor := c.newest(q.view).Load()
	res, body, err := c.ask(http.MethodGet, q.path, "Accept-Encoding", "gzip")
	if err != nil {
		return err
	}
	if res.Header.Get("Content-Encoding") == "gzip" {
		zipped, err := gzip.NewReader(strings.NewReader(string(body)))
		if err != nil {
			return fmt.Errorf("%s: %w", q.path, err)
		}
		if body, err = io.ReadAll(zipped); err != nil {
			return fmt.Errorf("%s: %w", q.path, err)
		}
	}
	_, err = c.check(q, floor, body)
	return err
}

// conditional sends the tag that it has: the answer must be 304, or different bytes with another
// tag.
func (c *client) conditional() error {
	q := c.any()
	first, _, err := c.ask(http.MethodGet, q.path)
	if err != nil {
		return err
	}
	tag := first.Header.Get("ETag")
	if tag == "" {
		return fmt.Errorf("%s: no ETag", q.path)
	}
	again, body, err := c.ask(http.MethodGet, q.path, "If-None-Match", tag)
	switch {
	case err != nil:
		return err
	case again.StatusCode == http.StatusNotModified && len(body) == 0 && again.Header.Get("ETag") == tag:
		return nil
	case again.StatusCode == http.StatusOK && again.Header.Get("ETag") != tag:
		_, err := c.check(q, 0, body)
		return err
	}
	return fmt.Errorf("%s: %s with %d bytes, tag %s after %s", q.path, again.Status, len(body),
		again.Header.Get("ETag"), tag)
}

func (c *client) head() error {
	q := c.any()
	res, body, err := c.ask(http.MethodHead, q.path)
	if err == nil && (res.StatusCode != http.StatusOK || len(body) > 0) {
		err = fmt.Errorf("%s: %s, %d bytes", q.path, res.Status, len(body))
	}
	return err
}

// pages reads a list page by page. Pages of one round must make the whole list; if the view changed
// meanwhile, they need not.
func (c *client) pages() error {
	const size = 40
	seen := map[any]bool{}
	first, count := 0, 0
	for offset := 0; ; offset += size {
		path := fmt.Sprintf("/api/activities?columns[]=title&limit=%d&offset=%d", size, offset)
		_, body, err := c.ask(http.MethodGet, path)
		if err != nil {
			return err
		}
		var e programtest.Envelope
		if err := json.Unmarshal(body, &e); err != nil {
			return err
		}
		if len(e.Data) == 0 {
			if e.Count == count && len(seen) != count {
				return fmt.Errorf("round %d: %d rows on all pages, count %d", first, len(seen), count)
			}
			return nil
		}
		round, err := roundOf(body)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if offset == 0 {
			first, count = round, e.Count
		}
		if round != first || e.Count != count {
			return nil
		}
		for _, row := range e.Data {
			if seen[row["id"]] {
				return fmt.Errorf("round %d: %v is on two pages", round, row["id"])
			}
			seen[row["id"]] = true
		}
	}
}

// leave hangs up in the middle of a stream.
func (c *client) leave() error {
	req, err := http.NewRequest(http.MethodGet, c.server.Base+"/api/activities?full=1", nil)
	if err != nil {
		return err
	}
	if c.rng.IntN(2) == 0 {
		req.Header.Set("Accept-Encoding", "zstd, gzip")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, res.Body, c.rng.Int64N(20_000))
	return res.Body.Close() // before the end: the connection is closed, too
}

// bad sends requests that the server must refuse.
func (c *client) bad() error {
	calls := append(strings.Fields(programtest.WrongCalls), "/api/activities?json=%7B%22$where%22%3A1%7D",
		"/api/activities?filter[%24x]=1",
		"/api/activities?json="+strings.Repeat("%5B", 3000), "/%00", "/api/users/"+strings.Repeat("x", 5000))
	path := calls[c.rng.IntN(len(calls))]
	res, body, err := c.ask(http.MethodGet, path)
	if err != nil {
		return err
	}
	var e programtest.Envelope
	if err := json.Unmarshal(body, &e); err != nil || res.StatusCode < 400 || e.Status != res.StatusCode {
		return fmt.Errorf("%.100s: %s: %.200s", path, res.Status, body)
	}
	return nil
}

// others requests pages other than records.
func (c *client) others() error {
	paths := []string{"/healthz", "/readyz", "/docs", "/openapi.json", "/openapi-3.0.json"}
	path := paths[c.rng.IntN(len(paths))]
	res, _, err := c.ask(http.MethodGet, path)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, res.Status)
	}
	return err
}
