package proxy

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/keptadmin"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
)

// Question asks why the answer to a request has the records that it has.
type Question struct {
	URL  string // of a resource or a list, with or without scheme and host
	ID   string // the _id of the record in question; if empty, that of the item at the URL, or none
	User string // the user of the session that the request has; empty if it has none
	Key  string // the API key of the request; empty if it has none
}

// Explanation is the answer to a Question.
type Explanation struct {
	Status     int            `json:"status"`
	Store      string         `json:"store,omitempty"`
	URL        string         `json:"url"`              // without key
	Error      string         `json:"error,omitempty"`  // what the answer says instead of what it is for
	Record     *Membership    `json:"record,omitempty"` // nil if the question names none
	View       string         `json:"view"`
	Mode       view.Mode      `json:"mode"`
	Generation uint64         `json:"generation"`
	Published  time.Time      `json:"published"`
	Selected   *view.Selected `json:"selected"`             // null if the answer is not a selection of records
	Kept       *KeptAnswer    `json:"kept,omitempty"`       // nil if the answer is an error
	Restricted string         `json:"restricted,omitempty"` // the permission that the caller lacks to see all records
	Ignored    string         `json:"ignored,omitempty"`    // parameters without effect
	Millis     float64        `json:"ms"`
	// Upstream is set for answers that are kept of the other server's, in place of most of the above.
	Upstream *keptadmin.Explanation `json:"upstream,omitempty"`
}

// KeptAnswer says whether the answer is in memory.
type KeptAnswer struct {
	Now     bool   `json:"now"`
	Why     string `json:"why"`
	Control string `json:"cache_control"` // for caches elsewhere
}

// Explain evaluates a request and explains its answer. A request that would fail returns its error, a problem, unless
// it fails because lists do not show the item that it asks for.
func (s *Server) Explain(ctx context.Context, q Question) (e Explanation, err error) {
	began, set := time.Now(), *s.settings.Load()
	ctx, cancel := context.WithTimeout(ctx, s.options.Limits.Request) // of all parts
	defer cancel()
	if q.User != "" {
		if _, known, err := set.users.Person(ctx, q.User); err != nil {
			return e, err
		} else if !known {
			return e, rules.Wrongf("user", "", "no person has the username %s", query.Quote(q.User))
		}
	}
	req, err := requestOf(q)
	if err != nil {
		return e, err
	}
	set.auth = set.auth.As(q.User)
	if kept, failed := explainKept(s, &set, req); failed != nil {
		return e, *failed
	} else if kept != nil {
		kept.Millis = float64(time.Since(began).Microseconds()) / 1000
		return *kept, nil
	}
	x := &response.Explanation{}
	item, err := set.lists.ItemID(ctx, s.options.Views.Snapshot, string(req.URI().PathOriginal()))
	if err != nil {
		return e, err
	}
	if q.ID = cmp.Or(q.ID, item); q.ID != "" {
		x.Trace.Record = selection.IDs(q.ID)
	}
	set.response = set.response.Explaining(x)
	inner, failed := evaluate(x.Trace.With(ctx), s, &set, req)
	if failed != nil && (failed.status != http.StatusNotFound || item == "" || x.Trace.Selected == nil) {
		if failed.status == http.StatusNotFound && s.forwarder != nil && set.upstream.Falls(string(inner.Path())) {
			failed.msg = "This path is forwarded to the other server: no rule in upstream.keep is for it, so its " +
				"answers are kept only as far as that server allows."
		}
		return e, *failed
	}
	meta := x.Trace.Snapshot.Meta()
	e = Explanation{
		Status: http.StatusOK,
		URL:    string(set.auth.AppendURL(nil, string(inner.Path()), inner.QueryArgs().QueryString())),
		View:   meta.View, Mode: view.Store, Generation: meta.Generation, Published: meta.Published,
		Selected: x.Trace.Selected,
	}
	if _, resident := x.Trace.Snapshot.Resident(); resident {
		e.Mode = view.Memory
	}
	if store := s.health.StoreStatus(); store != nil {
		e.Store = store.Name
	}
	if failed != nil {
		e.Error = failed.msg
	} else {
		header := &inner.Response.Header
		e.Restricted, e.Ignored = x.Plan.Restricted, string(header.Peek(response.HeaderIgnored))
		e.Kept = keptAnswer(x, s.options.Limits.KeptBytes, string(header.Peek(fiber.HeaderCacheControl)))
	}
	if q.ID != "" {
		m := &member{Membership: Membership{ID: q.ID}, trace: &x.Trace, records: s.options.Records,
			views: s.options.Views.Status(), rule: set.lists.Rule()}
		if err := m.explain(ctx); err != nil {
			return e, err
		}
		e.Record = &m.Membership
	}
	e.Millis = float64(time.Since(began).Microseconds()) / 1000
	return e, nil
}

// explainKept explains the answer to a question's request if it is kept by rule; otherwise it returns nil. It asks
// neither the other server nor the store. For a request that its door does not admit it also has the error: every
// call of a portal has a key, but the operator asks about the answer.
func explainKept(s *Server, set *settings, req *fasthttp.Request) (e *Explanation, failed *problem) {
	if s.forwarder == nil || s.options.Upstream.Keeper == nil {
		return nil, nil
	}
	_, failed = evaluateIn(s, set, req, func(app *fiber.App) {
		app.Use(func(c *fiber.Ctx) error {
			k, refused := s.forwarder.Kept(c)
			if k == nil {
				return nil
			}
			e = &Explanation{
				Status: fiber.StatusOK, Ignored: k.Ignored,
				URL:      string(set.auth.AppendURL(nil, c.Path(), c.Context().URI().QueryString())),
				Upstream: keptadmin.Explain(s.options.Upstream.Keeper, k.Rule, k.Key, set.response.KeptCodings),
			}
			e.Upstream.Callers = keptadmin.Callers(k.Door, k.Entry)
			if refused != nil {
				reason, _ := problemAt(s, c.Path(), refused)
				e.Error = reason.msg
			}
			return nil
		})
	})
	return e, failed
}

// evaluate evaluates a request as the public listener does, without its limits, log and metrics. It makes an app for
// each, because questions are rare.
func evaluate(ctx context.Context, s *Server, set *settings,
	req *fasthttp.Request) (inner *fasthttp.RequestCtx, failed *problem) {
	return evaluateIn(s, set, req, func(app *fiber.App) {
		app.Use(func(c *fiber.Ctx) error {
			c.SetUserContext(ctx)
			return c.Next()
		})
		s.resources(app, set)
	})
}

// evaluateIn is evaluate with other routes, which install adds.
func evaluateIn(
	s *Server, set *settings, req *fasthttp.Request, install func(*fiber.App),
) (inner *fasthttp.RequestCtx, failed *problem) {
	inner = &fasthttp.RequestCtx{}
	inner.Init(req, nil, quiet{s.log})
	inner.SetUserValue(settingsKey{}, set)
	app := s.newApp()
	app.Use(func(c *fiber.Ctx) error {
		err := checkLength(c)
		if err == nil {
			err = guarded(c, nil)
		}
		if err != nil {
			p, _ := problemAt(s, c.Path(), err)
			failed = &p
		}
		return s.fail(c, err)
	})
	install(app)
	plainPath(app.Handler())(inner)
	return inner, failed
}

// requestOf returns the request of a question.
func requestOf(q Question) (*fasthttp.Request, error) {
	u, err := url.Parse(q.URL)
	if err != nil || q.URL == "" || !slices.Contains([]string{"", "http", "https"}, u.Scheme) ||
		!strings.HasPrefix(u.RequestURI(), "/") {
		return nil, rules.Wrongf("url", "", "want a path such as /api/activities?…, or the URL of a server")
	}
	req := &fasthttp.Request{}
	req.SetRequestURI(u.RequestURI())
	req.Header.SetHost(cmp.Or(u.Host, "localhost"))
	if q.Key != "" {
		req.Header.Set("X-API-Key", q.Key)
	}
	return req, nil
}

// keptAnswer says whether an answer is in memory, and why. An answer of more than most bytes is not kept.
func keptAnswer(x *response.Explanation, most int, control string) *KeptAnswer {
	k, a := &KeptAnswer{Control: control}, x.Kept
	switch {
	case a != nil && a.ETag != "":
		k.Now, k.Why = true, fmt.Sprintf("an earlier request made it: %d bytes", len(a.Body))
	case a != nil && a.TooLarge, x.Bytes > most:
		k.Why = fmt.Sprintf(
			"it has more than %d bytes: it is made for each request, unless it is small enough once compressed", most)
	case x.Plan.Once:
		k.Why = "it depends on a record that no view has"
	default:
		k.Why = "no request has made it at this generation, or it was evicted; the next request makes it"
	}
	return k
}

// queryRows answers GET /admin/query?view=NAME&filter=FILTER&offset=N&limit=N with the rows of a view, one JSON
// document a line, or with &count=1 with their number. A POST has the filter in its body.
func queryRows(s *Server, c *fiber.Ctx) error {
	p, set := query.Read(c.Context().QueryArgs().All()), s.settingsOf(c)
	name, text, counts, offset, limit := p.Text("view"), p.Text("filter"), p.Flag("count"), p.Natural(
		"offset"), p.Natural("limit")
	if body := c.Body(); len(body) > 0 {
		text = string(body)
	}
	if !slices.ContainsFunc(s.options.Views.Status(), func(st view.Status) bool { return st.View == name }) {
		p.Fail(rules.Wrongf("view", "", "there is no view %s", query.Quote(name)))
	}
	f := p.Checked(filter.Parse([]byte(cmp.Or(text, "{}")),
		filter.Options{Param: "filter", HexIDs: true, Foreign: true}))
	if err := p.Err(); err != nil {
		return err
	}
	build := func(ctx context.Context, s response.Snapshots) (*response.Body, error) {
		sel, err := s.Own().Select(ctx, f)
		if err != nil {
			return nil, err
		}
		if counts {
			return response.Bytes([]byte(strconv.Itoa(sel.Count()) + "\n")), nil
		}
		rows := func(ctx context.Context) iter.Seq2[index.Row, error] { return sel.Rows(ctx, offset, limit) }
		return response.Join(response.Envelope{}, rows, AppendRow), nil
	}
	key := fmt.Sprint("query\x00", offset, limit, counts, f.Key())
	return set.response.Serve(c, response.Audience{Personal: true}, func(*response.Planning) (response.Plan, error) {
		return response.Plan{View: name, Query: key, Build: build, ContentType: "application/x-ndjson",
			Caching: response.Caching{Personal: true, Whole: true}}, nil
	})
}

// AppendRow appends a row as a line of relaxed Extended JSON, without the reserved fields.
func AppendRow(dst []byte, row index.Row) []byte {
	return append(ejson.AppendDocument(dst, display.Strip(row.Doc())), '\n')
}

// explain answers GET /admin/explain?url=URL&id=ID&user=NAME with an Explanation, or with the error of the request. A
// POST has the URL in its body. The request has the X-API-Key of this one.
func explain(s *Server, c *fiber.Ctx) error {
	p := query.Read(c.Context().QueryArgs().All())
	q := Question{URL: p.Text("url"), ID: p.Text("id"), User: p.Text("user"), Key: strings.Clone(c.Get("X-API-Key"))}
	if body := c.Body(); len(body) > 0 {
		q.URL = string(body)
	}
	if err := p.Complete(); err != nil {
		return err
	}
	e, err := s.Explain(c.UserContext(), q)
	if err != nil {
		return err
	}
	return c.JSON(e)
}
