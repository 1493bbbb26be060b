package purge_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/view/index"
	"vitrine/proxy/purge"
)

// cache is a target without a network, so that tests can drive its time.
type cache struct {
	mu     sync.Mutex
	status func(tags []string) int // decides about a request; nil accepts all
	got    []string                // tags of accepted requests, in order
	asked  int

	retryAfter string // the header of its responses; empty if they have none
}

func (c *cache) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	tags, status := strings.Fields(r.Header.Get("Surrogate-Key")), http.StatusOK
	if c.status != nil {
		status = c.status(tags)
	}
	if status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if status == http.StatusOK {
		c.got = append(c.got, tags...)
	}
	header := http.Header{}
	if c.retryAfter != "" {
		header.Set("Retry-After", c.retryAfter)
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: http.NoBody, Header: header}, nil
}

// taken returns the tags that were accepted since the last call.
func (c *cache) taken() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.got
	c.got = nil
	return got
}

// driven starts a Purger with a cache as its only target, after the first purge.
func driven(t *testing.T, c *cache) (*purge.Purger, *syncBuffer) {
	t.Helper()
	log := &syncBuffer{}
	p, err := purge.New(purge.Options{
		Targets: map[string]string{"front": "purge http://front/"}, Transport: c,
		Log: slog.New(slog.NewTextHandler(log, nil)), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.Changed("projects", nil)()
	c.taken()
	return p, log
}

// TestRefusedBatch: a batch that a target always refuses delays no other tag by more than its first try, and is given
// up after some tries. All answers are dropped instead.
func TestRefusedBatch(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusInternalServerError} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &cache{}
				p, log := driven(t, c)
				c.mu.Lock()
				c.status = func(tags []string) int {
					if slices.Contains(tags, "id-0bad") {
						return status
					}
					return http.StatusOK
				}
				c.mu.Unlock()
				p.Changed("projects", []index.Change{change("0bad")})()
				c.taken()
				whole := false
				for n := range 20 {
					id := fmt.Sprint("good", n)
					p.Changed("projects", []index.Change{change(id)})()
					time.Sleep(time.Minute)
					got := c.taken()
					whole = whole || slices.Contains(got, "view-projects")
					if !slices.Contains(got, "id-"+id) {
						t.Errorf("a minute after change %d: %v", n, got)
					}
				}
				if !whole {
					t.Error("a batch was given up, and its answers stay")
				}
				if s := p.Status(); len(s) != 1 || s[0].Target != "front" || s[0].Skipped != 1 || s[0].Waiting != 0 ||
					s[0].Error != "" {
					t.Errorf("status: %+v", s)
				}
				if text := log.String(); !strings.Contains(text, "purge given up") ||
					!strings.Contains(text, "target=front") {
					t.Errorf("log: %s", text)
				}
			})
		})
	}
}

// TestOverflow: what is left of a batch that failed is not lost when too much waits.
func TestOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cache{}
		p, _ := driven(t, c)
		p.Changed("activities", nil)
		asked, statuses := make(chan []string), make(chan int) // a request waits for its status
		ended := make(chan struct{})
		defer close(ended)
		c.mu.Lock()
		c.status = func(tags []string) int {
			select {
			case asked <- tags:
			case <-ended:
			}
			if status, ok := <-statuses; ok {
				return status
			}
			return http.StatusOK
		}
		c.mu.Unlock()
		var many []index.Change
		for i := range 900 {
			many = append(many, change(fmt.Sprint("a-", i)))
		}
		p.Changed("activities", many)()
		<-asked
		statuses <- http.StatusOK
		<-asked
		for i := range 9_800 {
			p.Changed("projects", []index.Change{change(fmt.Sprint("p-", i))})()
		}
		statuses <- http.StatusInternalServerError
		close(statuses)
		for tags := range asked {
			if slices.Contains(tags, "view-activities") {
				break
			}
			if slices.Contains(tags, "view-projects") {
				t.Fatalf("only %v is sent", tags)
			}
		}
	})
}

// TestRetryAfter: a target that says how long to wait is left alone so long.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cache{retryAfter: "20"}
		p, log := driven(t, c)
		c.mu.Lock()
		c.status, c.asked = func([]string) int { return http.StatusTooManyRequests }, 0
		c.mu.Unlock()
		p.Changed("projects", []index.Change{change("1")})()
		time.Sleep(19 * time.Second)
		synctest.Wait()
		c.mu.Lock()
		if c.asked != 1 {
			t.Errorf("%d requests in 19 s", c.asked)
		}
		c.mu.Unlock()
		if text := log.String(); !strings.Contains(text, "again_in=20s") {
			t.Error(text)
		}
	})
}

// TestAwayTarget: a target that is away for hours, or refuses Vitrine as a whole, gets everything when it is back:
// nothing was given up, and it got few requests meanwhile.
func TestAwayTarget(t *testing.T) {
	for _, status := range []int{0, http.StatusForbidden, http.StatusServiceUnavailable, http.StatusBadRequest} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &cache{}
				p, _ := driven(t, c)
				c.mu.Lock()
				c.status, c.asked = func([]string) int { return status }, 0
				c.mu.Unlock()
				var want []string
				for n := range 30 {
					id := fmt.Sprint("p", n)
					want = append(want, "id-"+id)
					p.Changed("projects", []index.Change{change(id)})()
					time.Sleep(6 * time.Minute)
				}
				c.mu.Lock()
				if perMinute := float64(c.asked) / 180; perMinute > 31 {
					t.Errorf("%.1f requests a minute", perMinute)
				}
				c.status = nil
				c.mu.Unlock()
				time.Sleep(3 * time.Minute)
				got := c.taken()
				for _, tag := range want {
					if !slices.Contains(got, tag) {
						t.Errorf("%s was lost", tag)
					}
				}
				if s := p.Status()[0]; s.Skipped != 0 || s.Waiting != 0 {
					t.Errorf("status: %+v", s)
				}
			})
		})
	}
}

// TestSentAgain: if a response was under way when something changed that concerns it, the purge is sent again once it
// has ended, and had time to arrive. The purge names no more than that response.
func TestSentAgain(t *testing.T) {
	const list, item, other = "view-projects any-projects", "view-projects id-7 view-persons any-persons",
		"view-activities any-activities"
	synctest.Test(t, func(t *testing.T) {
		c := &cache{}
		p, _ := driven(t, c)
		later := func(what string, want ...string) {
			t.Helper()
			time.Sleep(time.Minute)
			got := c.taken()
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		time.Sleep(time.Minute)
		c.taken()

		since := p.Begin()
		p.Changed("projects", []index.Change{change("1")})()
		later("the change", "any-projects", "id-1")
		p.Ended(since, item)
		p.Ended(since, other)
		later("responses that it does not concern")
		p.Ended(since, list)
		later("a response under way", "any-projects")
		p.Ended(p.Begin(), list)
		later("a response after the change")

		p.Ended(p.Begin(), list) // its last bytes may be slower than the purge
		p.Changed("projects", []index.Change{change("2")})()
		if got := c.taken(); !slices.Equal(got, []string{"any-projects", "id-2"}) {
			t.Errorf("at once: %v", got)
		}
		later("a response that has just ended", "any-projects", "id-2")

		since = p.Begin()
		p.Changed("projects", nil)()
		for n := range 100 {
			p.Changed("projects", []index.Change{change(fmt.Sprint(n))})()
		}
		time.Sleep(time.Minute)
		c.taken()
		p.Ended(since, other)
		later("a response from before all remembered changes", "any-activities")
		p.Ended(p.Begin(), list)
		later("a response after them")
	})
}

// TestNoPurger: servers without targets have a nil Purger.
func TestNoPurger(t *testing.T) {
	var p *purge.Purger
	if p.Begin() != 0 || p.Status() != nil {
		t.Error("a nil Purger has state")
	}
}
