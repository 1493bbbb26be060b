package purge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
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
	"vitrine/configs"
	"vitrine/rules"
)

// Options configures a Purger. The zero Options make no Purger.
type Options struct {
	Targets map[string]string // by name: a kind and an address, such as "varnish http://127.0.0.1:6081/"
	Tokens  map[string]string // by name of a target: its token, or the secret that signs webhooks
	Log     *slog.Logger
	Metrics prometheus.Registerer // may be nil
	// Transport sends the requests. If nil, http.DefaultTransport does.
	Transport http.RoundTripper
}

// Purger sends tags to targets. Its methods are safe for concurrent use. From a change to a target:
//
//	Changed ──▶ queue of each target ──▶ batches that fit a request ──▶ send
//	                 ▲                                               │
//	                 └── all views, if too many wait ◀── retries ◀── failed
//
// A purge may be sent twice, or for more answers than have changed: a cache that has lost its copy only asks
// again, while one that keeps an old copy shows it until it expires.
type Purger struct {
	targets []*target
	seen    sync.Map // by view: whether it was shown before
	client  *http.Client
	log     *slog.Logger
	// ends serve and repeat, and with them the requests that run
	end     context.CancelFunc
	running sync.WaitGroup
	repeats *queue // tags to send a second time, see changeLog
	changeLog
}

// Bounds of the tags that wait for a target that fails: new ones, and those of failed batches. With more, all views
// wait instead.
const mostQueued, mostRetries = mostWaiting / 2, mostWaiting / 2

// mostWaiting bounds the tags that wait for one target, so that a target which is away for days takes no more than
// some megabytes.
const mostWaiting = 10_000

// Times of requests: how long one may take, and the shortest and longest pause after a failure.
const (
	patience          = 10 * time.Second
	shortest, longest = time.Second, time.Minute
)

// New starts a Purger, or returns nil without targets. Close it when done. Errors name the target.
func New(o Options) (*Purger, error) {
	if len(o.Targets) == 0 {
		return nil, nil
	}
	p := &Purger{log: o.Log, repeats: newQueue(), changeLog: changeLog{start: time.Now()}, client: &http.Client{
		Timeout: patience, Transport: o.Transport,
		// Another server must not get the token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for _, name := range slices.Sorted(maps.Keys(o.Targets)) {
		if err := CheckTarget(o.Targets[name]); err != nil {
			return nil, configs.Wrong("purge.targets."+name, "%v", err)
		}
		word, at, _ := strings.Cut(o.Targets[name], " ")
		t := &target{
			name: name, url: strings.TrimSpace(at), token: strings.TrimSpace(o.Tokens[name]),
			kind: kinds[word], queue: newQueue(), pauses: newPauses(),
		}
		var err error
		if t.kind.needsToken && t.token == "" {
			return nil, configs.Wrong("purge.targets."+name, "needs a file with its token, purge.tokens.%s", name)
		}
		if t.secret, err = secretOf(t.token); err != nil {
			return nil, configs.Wrong("purge.tokens."+name, "%v", err)
		}
		p.targets = append(p.targets, t)
	}
	// A token without a target is a name that is misspelt, and its target would send none.
	for name := range o.Tokens {
		if o.Targets[name] == "" {
			return nil, configs.Wrong("purge.tokens."+name, "there is no such target")
		}
	}
	// Only now goroutines start: an error above leaves nothing behind.
	ctx, cancel := context.WithCancel(context.Background())
	p.end = cancel
	add := promauto.With(o.Metrics)
	requests := add.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_purge_requests_total",
		Help: "Number of requests to targets of purges by outcome."}, []string{"target", "outcome"})
	skips := add.NewCounterVec(prometheus.CounterOpts{
		Name: "vitrine_purge_skipped_total",
		Help: "Number of batches of tags given up by target, because the target refuses them.",
	}, []string{"target"})
	for _, t := range p.targets {
		t.measure(add, requests, skips)
		p.running.Go(func() { p.serve(ctx, t) })
	}
	p.running.Go(func() { p.repeat(ctx) })
	return p, nil
}

// CheckTarget returns what is wrong with the text of a target, which it does not quote: it may contain a secret.
func CheckTarget(text string) error {
	word, at, _ := strings.Cut(text, " ")
	address, err := url.Parse(strings.TrimSpace(at))
	if kinds[word].request == nil || err != nil || address.Host == "" ||
		address.Scheme != "http" && address.Scheme != "https" {
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

// Changed prepares to send the changes of a view; nil changes mean that the whole view may have changed, as it may
// have before the program started. The returned function sends them to every target, without waiting.
func (p *Purger) Changed(view string, changes []index.Change) (send func()) {
	if _, again := p.seen.LoadOrStore(view, true); !again {
		changes = nil
	}
	return p.sending(tagsOf(view, changes))
}

// KeptChanged prepares to send that the kept answers of paths have changed; nil means that all may have. The returned
// function sends them to every target, without waiting.
func (p *Purger) KeptChanged(paths []string) (send func()) {
	p.seen.Store(keptView, true)
	if paths == nil || len(paths) > mostChanges {
		return p.sending([]string{"view-" + keptView})
	}
	tags := make([]string, len(paths))
	for i, path := range paths {
		tags[i] = Tag(keptView, path)
	}
	return p.sending(tags)
}

// sending returns a function that sends tags to every target. The repeats are for responses that are on their way
// to a cache now, see changeLog.
func (p *Purger) sending(tags []string) func() {
	return func() {
		if p.changed(tags, time.Now()) {
			p.repeats.add(tags, p.whole)
		}
		p.add(tags)
	}
}

// add makes tags wait for every target.
func (p *Purger) add(tags []string) {
	for _, t := range p.targets {
		t.queue.add(tags, p.whole)
	}
}

// whole returns the tags of all answers. Only views that were shown have answers somewhere.
func (p *Purger) whole() (tags []string) {
	p.seen.Range(func(view, _ any) bool {
		tags = append(tags, "view-"+view.(string))
		return true
	})
	return tags
}

// send sends one batch of tags. An error is a *rules.RetryError if the target has answered, so that its Retry-
// After counts.
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
	refused := &refusedError{t.name + " answered " + res.Status, res.StatusCode}
	return &rules.RetryError{Err: refused, After: time.Duration(min(max(seconds, 0), 1<<30)) * time.Second}
}
