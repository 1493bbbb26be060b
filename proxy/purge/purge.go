package purge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vitrine/cache/view/index"
	"vitrine/rules"
)

// Options configures a Purger.
type Options struct {
	Targets map[string]string // by name: a kind and an address, such as "varnish http://127.0.0.1:6081/"
	Tokens  map[string]string // by name of a target: its token, or the secret that signs webhooks
	Log     *slog.Logger
	Metrics prometheus.Registerer // may be nil
}

// Purger sends tags to targets. Its methods are safe for concurrent use.
type Purger struct {
	targets []*target
	seen    sync.Map // by view: whether it was shown before
	client  *http.Client
	log     *slog.Logger
	end     context.CancelFunc
	running sync.WaitGroup
}

// target is a cache, or another receiver of changes, and its queue.
type target struct {
	name, url, token string
	secret           []byte // that signs webhooks
	kind             kind
	more             chan struct{}      // of capacity one: signals that tags wait
	sent, failed     prometheus.Counter // requests

	mu      sync.Mutex      // guards waiting
	waiting map[string]bool // tags
}

// mostWaiting bounds the tags that wait for a target that fails. With more, all views wait instead.
const mostWaiting = 10_000

// Times of requests: how long one may take, and the shortest and longest pause after a failure.
const (
	patience       = 10 * time.Second
	shortest, most = time.Second, time.Minute
)

// New starts a Purger, or returns nil without targets. Close it when done. Errors name the target.
func New(o Options) (*Purger, error) {
	if len(o.Targets) == 0 {
		return nil, nil
	}
	p := &Purger{log: o.Log, client: &http.Client{
		Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // which a token must not follow
	}}
	for _, name := range slices.Sorted(maps.Keys(o.Targets)) {
		if err := CheckTarget(o.Targets[name]); err != nil {
			return nil, fmt.Errorf("purge.targets: %s: %w", name, err)
		}
		word, at, _ := strings.Cut(o.Targets[name], " ")
		t := &target{
			name: name, url: strings.TrimSpace(at), token: strings.TrimSpace(o.Tokens[name]), kind: kinds[word], more: make(chan struct{}, 1), waiting: map[string]bool{},
		}
		var err error
		if t.kind.needsToken && t.token == "" {
			return nil, fmt.Errorf("purge.tokens: %s needs a file with its token", name)
		}
		if t.secret, err = secretOf(t.token); err != nil {
			return nil, fmt.Errorf("purge.tokens: %s: %w", name, err)
		}
		p.targets = append(p.targets, t)
	}
	for name := range o.Tokens {
		if o.Targets[name] == "" {
			return nil, fmt.Errorf("purge.tokens: there is no target %s", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.end = cancel
	add := promauto.With(o.Metrics)
	requests := add.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_purge_requests_total", Help: "Number of requests to targets of purges by outcome."}, []string{"target", "outcome"})
	for _, t := range p.targets {
		t.measure(add, requests)
		p.running.Go(func() { p.serve(ctx, t) })
	}
	return p, nil
}

// CheckTarget returns what is wrong with the text of a target, which it does not quote: it may contain a secret.
func CheckTarget(text string) error {
	word, at, _ := strings.Cut(text, " ")
	address, err := url.Parse(strings.TrimSpace(at))
	if kinds[word].request == nil || err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return fmt.Errorf("want one of %s and a web address", strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	return nil
}

// Close ends running requests. Waiting tags are lost: after the next start New sends whole views.
func (p *Purger) Close() {
	p.end()
	p.running.Wait()
	p.client.CloseIdleConnections()
}

// Changed prepares to send the changes of a view; nil changes mean that the whole view may have changed, as it may have
// before the program started. The returned function sends them to every target, without waiting.
func (p *Purger) Changed(view string, changes []index.Change) (send func()) {
	if _, again := p.seen.LoadOrStore(view, true); !again {
		changes = nil
	}
	tags := tagsOf(view, changes)
	return func() {
		for _, t := range p.targets {
			p.add(t, tags)
		}
	}
}

// add makes tags wait for a target.
func (p *Purger) add(t *target, tags []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tag := range tags {
		t.waiting[tag] = true
	}
	if len(t.waiting) > mostWaiting {
		clear(t.waiting)
		p.seen.Range(func(view, _ any) bool {
			t.waiting["view-"+view.(string)] = true
			return true
		})
	}
	select {
	case t.more <- struct{}{}:
	default: // it is signalled already
	}
}

// take removes the waiting tags and returns them, sorted.
func (t *target) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	tags := slices.Sorted(maps.Keys(t.waiting))
	clear(t.waiting)
	return tags
}

// serve sends the tags that wait for a target in batches, and failed ones again, until ctx ends.
func (p *Purger) serve(ctx context.Context, t *target) {
	pause := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.more:
		}
		tags := t.take()
		for len(tags) > 0 {
			n := t.kind.batch(tags)
			if err := p.send(ctx, t, tags[:n]); err != nil {
				t.failed.Inc()
				pause = min(max(2*pause, shortest, asked(err)), most)
				if ctx.Err() == nil {
					p.log.Warn("purge failed", "target", t.name, "tags", len(tags), "again_in", pause, "error", err)
				}
				break
			}
			t.sent.Inc()
			pause, tags = 0, tags[n:]
		}
		if len(tags) == 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause + rand.N(pause/2)):
			p.add(t, tags)
		}
	}
}

// send sends one batch of tags.
func (p *Purger) send(ctx context.Context, t *target, tags []string) error {
	req, err := t.kind.request(t, tags)
	if err != nil {
		return err
	}
	res, err := p.client.Do(req.WithContext(ctx))
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		return failed.Err // without the address, which may contain a secret
	}
	if err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be reused
	_ = res.Body.Close()
	if res.StatusCode < 300 {
		return nil
	}
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After")) // 0 for a date
	return &rules.RetryError{Err: fmt.Errorf("%s answered %s", t.name, res.Status), After: time.Duration(min(max(seconds, 0), 1<<30)) * time.Second}
}

// asked returns how long a target wants no requests, as Cloudflare does after many.
func asked(err error) time.Duration {
	if retry, ok := errors.AsType[*rules.RetryError](err); ok {
		return retry.After
	}
	return 0
}

// measure registers what is measured of a target.
func (t *target) measure(add promauto.Factory, requests *prometheus.CounterVec) {
	t.sent, t.failed = requests.WithLabelValues(t.name, "sent"), requests.WithLabelValues(t.name, "failed")
	add.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vitrine_purge_waiting_tags", Help: "Number of tags that wait to be sent to a target.", ConstLabels: prometheus.Labels{"target": t.name},
	}, func() float64 {
		t.mu.Lock()
		defer t.mu.Unlock()
		return float64(len(t.waiting))
	})
}
