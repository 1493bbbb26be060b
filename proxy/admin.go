package proxy

import (
	"errors"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/gofiber/fiber/v2/middleware/pprof"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/rules"
)

// newAdmin builds the operator's app: /metrics, /admin/views, POST
// /admin/refresh and pprof, behind the token where there is one.
func (s *Server) newAdmin(o AdminOptions) *fiber.App {
	app := s.newApp(ClientOptions{})
	app.Use(func(c *fiber.Ctx) error {
		if err := guarded(c); err != nil {
			return s.fail(c, err)
		}
		return nil
	})
	if token := newSecret(o.Token); token.set {
		app.Use(bearer(token))
	}
	app.Use(pprof.New())
	app.Get("/metrics", adaptor.HTTPHandler(promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{})))
	app.Get("/admin/views", s.adminViews)
	app.Post("/admin/refresh", refresh(o))
	return app
}

// bearer lets in who brings the token.
func bearer(token secret) fiber.Handler {
	p := problem{fiber.StatusForbidden, permissionDenied, "The operator's token is needed: Authorization: Bearer …"}
	return func(c *fiber.Ctx) error {
		scheme, given, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
		if strings.EqualFold(scheme, "Bearer") && token.is(strings.TrimSpace(given)) {
			return c.Next()
		}
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
		c.Set(fiber.HeaderContentType, contentType)
		return c.Status(p.status).Send(failure(p.status, p.name, p.msg))
	}
}

// refresh runs ?view=NAME, or every job; ?full=1 builds it anew. 200 when it is
// done, 202 when it goes on.
func refresh(o AdminOptions) fiber.Handler {
	return func(c *fiber.Ctx) error {
		p := readParams(c.Context().QueryArgs())
		name, err := p.text("view")
		if err != nil {
			return err
		}
		full, err := p.flag("full")
		if err != nil {
			return err
		}
		if o.Refresh == nil {
			return fiber.NewError(fiber.StatusNotFound)
		}
		done, err := o.Refresh(c.UserContext(), name, full)
		switch {
		case errors.Is(err, origin.ErrNotFound):
			return rules.Wrongf("view", "", "there is no view %s", quoted(name))
		case err != nil:
			return err
		}
		status := fiber.StatusAccepted
		if done.Done {
			status = fiber.StatusOK
		}
		return c.Status(status).JSON(struct {
			Status int `json:"status"`
			Refreshed
		}{status, done})
	}
}

// viewStatus is a view as /admin/views shows it.
type viewStatus struct {
	View       string     `json:"view"`
	Generation uint64     `json:"generation"`
	Epoch      string     `json:"epoch"`
	Rows       int        `json:"rows"`
	Segments   int        `json:"segments"`
	RowBytes   int64      `json:"row_bytes"`
	IndexBytes int64      `json:"index_bytes"`
	IndexPaths int        `json:"index_paths"`
	Published  *time.Time `json:"published"`
	Loaded     *time.Time `json:"loaded"`
	Checked    *time.Time `json:"checked"`
	Error      string     `json:"error,omitempty"`
	Job        jobStatus  `json:"job"`
}

// jobStatus is how the last run of a view's job went.
type jobStatus struct {
	Status  string     `json:"status"`
	Error   string     `json:"error,omitempty"`
	Started *time.Time `json:"started"`
	Seconds float64    `json:"seconds"`
	Scanned int        `json:"scanned"`
	Changed int        `json:"changed"`
	Removed int        `json:"removed"`
	Skipped int        `json:"skipped"`
}

func (s *Server) adminViews(c *fiber.Ctx) error {
	all := s.views.Status()
	data := make([]viewStatus, len(all))
	for i, status := range all {
		data[i] = show(status)
	}
	return c.JSON(struct {
		Status int          `json:"status"`
		Count  int          `json:"count"`
		Data   []viewStatus `json:"data"`
	}{fiber.StatusOK, len(data), data})
}

func show(s view.Status) viewStatus {
	h := s.Meta.Health
	v := viewStatus{
		View: s.View, Generation: s.Meta.Generation, Epoch: s.Meta.Epoch,
		Rows: s.Rows, Segments: s.Segments, RowBytes: s.RowBytes, IndexBytes: s.IndexBytes, IndexPaths: s.IndexPaths,
		Published: instant(s.Meta.Published), Loaded: instant(s.Loaded), Checked: instant(s.Checked),
		Job: jobStatus{Status: h.Status, Error: h.Error, Started: instant(h.Started), Seconds: h.Took.Seconds(),
			Scanned: h.Scanned, Changed: h.Changed, Removed: h.Removed, Skipped: h.Skipped},
	}
	if s.Err != nil {
		v.Error = s.Err.Error()
	}
	return v
}

// instant is nil for a time that never was.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
