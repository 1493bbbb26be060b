package explain

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/proxy/api"
	"vitrine/proxy/lists"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
	"vitrine/rules"
)

// Request asks how the answer to a request is made, and why it has a record or not.
type Request struct {
	URL  string // of a resource or a list, with or without scheme and host
	ID   string // the _id of the record in question; if empty, that of the item at the URL, or none
	User string // the user of the session that the request has; empty if it has none
	Key  string // the API key of the request; empty if it has none
}

// Explanation is the answer to a Request. Its JSON is the answer of /admin/explain, and `vitrine explain` prints
// it.
type Explanation struct {
	Status     int         `json:"status"`
	Store      string      `json:"store,omitempty"`
	URL        string      `json:"url"`              // without key
	Error      string      `json:"error,omitempty"`  // what the answer says instead of what it is for
	Record     *Membership `json:"record,omitempty"` // nil if the request names none
	View       string      `json:"view"`
	Mode       view.Mode   `json:"mode"`
	Generation uint64      `json:"generation"`
	Published  time.Time   `json:"published"`
	Selected   *Selected   `json:"selected"`             // null if the answer is not a selection of records
	Kept       *InMemory   `json:"kept,omitempty"`       // nil if the answer is an error
	Restricted string      `json:"restricted,omitempty"` // the permission that the caller lacks to see all records
	Ignored    string      `json:"ignored,omitempty"`    // parameters without effect
	// all of the explanation took, in milliseconds
	Millis float64 `json:"ms"`
	// Upstream is set for answers that are kept of the other server's, in place of most of the above.
	Upstream *Upstream `json:"upstream,omitempty"`
	// Forwarded is set for answers of the other server's that no rule keeps, in the same way.
	Forwarded *Forwarded `json:"forwarded,omitempty"`
}

// InMemory says whether the answer is in memory. Only the memory of this process counts, not that of caches in
// front.
type InMemory struct {
	Now     bool   `json:"now"`
	Why     string `json:"why"`
	Control string `json:"cache_control"` // for caches elsewhere
}

// Options connect explanations with a server under its current settings. All but Store and Records are required.
// Functions take the place of a server, so that tests need none and the packages stay apart.
type Options struct {
	Store     string // name of the store
	Views     response.Views
	Records   api.Records // the source collections; nil if they cannot be read
	Lists     *lists.Lists
	KeptBytes int // a longer answer is not kept

	// Begin waits for a turn among requests, for what is asked about an answer that fails.
	Begin func(context.Context) (context.Context, *fair.Turn, error)
	// URL appends the URL of a request without the keys in it.
	URL func(dst []byte, path string, query []byte) []byte
	// Serve runs a request as the public listener does, and calls inspect in place of sending the answer. The error
	// is what the client would see, and the response has its status.
	Serve func(context.Context, *fasthttp.Request, response.Inspect) (*fasthttp.RequestCtx, error)
	// Elsewhere explains the answer to a request if it is the other server's; otherwise it returns nil.
	Elsewhere func(*fasthttp.Request) (*Explanation, error)
}

// Explain runs a request and explains its answer. A request that would fail returns its error, unless it fails
// because lists do not show the item that it asks for. Errors for clients are of package rules.
func Explain(ctx context.Context, o Options, r Request) (e Explanation, err error) {
	began := time.Now()
	req, err := r.http()
	if err != nil {
		return e, err
	}
	// The other server comes first, as for requests: its answers never reach the handlers of this one.
	elsewhere, err := o.Elsewhere(req)
	switch {
	case err != nil:
		return e, err
	case elsewhere != nil:
		e = *elsewhere
	default:
		if e, err = o.own(ctx, r, req); err != nil {
			return e, err
		}
	}
	e.Millis = millis(time.Since(began))
	return e, nil
}

// own explains an answer of this server.
func (o Options) own(ctx context.Context, r Request, req *fasthttp.Request) (e Explanation, err error) {
	// Find out which record is in question.
	item, err := o.Lists.ItemID(ctx, o.Views.Snapshot, string(req.URI().PathOriginal()))
	if err != nil {
		return e, err
	}
	a := &asked{id: cmp.Or(r.ID, item)}
	if a.id != "" {
		a.record = selection.IDs(a.id)
	}
	// Run the request up to its answer.
	inner, failed := o.Serve(ctx, req, a.inspect)
	if failed != nil {
		if inner.Response.StatusCode() != http.StatusNotFound || item == "" {
			return e, failed
		}
		if err := o.withoutItem(ctx, a, item); err != nil {
			return e, err
		}
	}
	// Put the answer into words.
	meta, header := a.snapshot.Meta(), &inner.Response.Header
	e = Explanation{
		Status: http.StatusOK, Store: o.Store,
		URL:  string(o.URL(nil, string(inner.Path()), inner.QueryArgs().QueryString())),
		View: meta.View, Mode: view.Store, Generation: meta.Generation, Published: meta.Published,
		Selected: a.selected,
	}
	if _, resident := a.snapshot.Resident(); resident {
		e.Mode = view.Memory
	}
	if failed != nil {
		e.Error = failed.Error()
	} else {
		e.Restricted, e.Ignored = a.answer.Plan.Restricted, string(header.Peek(response.HeaderIgnored))
		e.Kept = a.inMemory(o.KeptBytes, string(header.Peek(fiber.HeaderCacheControl)))
	}
	// Say why it has the record or not, which may need the source.
	if a.id != "" {
		e.Record, err = o.membership(ctx, a)
	}
	return e, err
}

// withoutItem asks about an item that lists do not show, as the plan of its answer has looked for it. Without it
// the question why an item is missing would get the 404 of its page for an answer.
func (o Options) withoutItem(ctx context.Context, a *asked, item string) error {
	ctx, turn, err := o.Begin(ctx)
	if err != nil {
		return err
	}
	defer turn.End()
	views, where := o.Lists.WhereItem(item)
	for _, name := range views {
		s, err := o.Views.Snapshot(name)
		if err == nil {
			err = a.find(ctx, s)
		}
		if err != nil {
			return err
		}
		if a.row != nil {
			break
		}
	}
	found, err := a.snapshot.Select(ctx, where)
	if err != nil {
		return err
	}
	return a.ask(ctx, response.Selected{On: a.snapshot, Filter: where, Count: found.Count()})
}

// http returns the request that is explained. The server decides about the path: http only refuses what is no
// address.
func (r Request) http() (*fasthttp.Request, error) {
	u, err := url.Parse(r.URL)
	// The scheme and the host only say whose address was copied; the request goes to this server in any case.
	known := []string{"", "http", "https"}
	if err != nil || r.URL == "" || !slices.Contains(known, u.Scheme) || !strings.HasPrefix(u.RequestURI(), "/") {
		return nil, rules.Wrongf("url", "", "want a path such as /api/activities?…, or the URL of a server")
	}
	req := &fasthttp.Request{}
	req.SetRequestURI(u.RequestURI())
	req.Header.SetHost(cmp.Or(u.Host, "localhost"))
	if r.Key != "" {
		req.Header.Set("X-API-Key", r.Key)
	}
	return req, nil
}

// inMemory says whether the answer is in memory, and why. An answer of more than most bytes is not kept.
func (a *asked) inMemory(most int, control string) *InMemory {
	m, kept := &InMemory{Control: control}, a.answer.Kept
	switch {
	// An entry without an ETag only remembers that the answer is too large.
	case kept != nil && kept.ETag != "":
		m.Now, m.Why = true, fmt.Sprintf("an earlier request made it: %d bytes", len(kept.Body))
	case kept != nil && kept.TooLarge, a.answer.Bytes > most:
		m.Why = fmt.Sprintf("it has more than %d bytes: it is made for each request, "+
			"unless it is small enough once compressed", most)
	case a.answer.Plan.Once:
		m.Why = "it depends on a record that no view has"
	default:
		m.Why = "no request has made it at this generation, or it was evicted; the next request makes it"
	}
	return m
}

// millis returns a time in milliseconds, as explanations give it.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
