// Package health reports how a server is: whether it answers, whether balancers should send requests to it, and the
// state of its views and of their store. It knows no server.
package health

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/origin"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/view"
	"vitrine/proxy/response"
	"vitrine/proxy/upstream/traffic"
)

// Views are the views of a server; *view.Set implements it.
type Views interface {
	Status() []view.Status
	// Ready reports whether every view is loaded.
	Ready() bool
}

// Checker answers health checks. It is safe for concurrent use. All its fields but Store are required, and it
// keeps nothing itself: each check asks the views for their state.
type Checker struct {
	Views    Views
	Store    func() circuit.State // the state of the store behind the views; nil if it is not reported
	Optional []string             // views whose source may be empty
	Draining func() bool          // reports whether the server is about to end
	// Upstream returns whether the other server answers; nil if there is none.
	Upstream func() traffic.State
}

// Healthz answers /livez, and /healthz, the older name of the same check: the process responds. It depends on
// nothing, because a supervisor restarts a process that fails it: a store that is away is no reason to lose what is
// in memory.
func (h *Checker) Healthz(c *fiber.Ctx) error {
	return response.SendUnkept(c, []byte(`{"status":200,"count":0,"data":[]}`))
}

// Readyz reports whether balancers should send requests here: every view is loaded and the server is not draining.
// If the store cannot be reached, has no records for a view, or has lost rows of it, or the view's job is held or
// fails, the status is still 200, because rows in memory can be served, but the state is degraded and data lists
// the affected views. The other server does not change the state: perhaps only few paths need it, and no balancer
// can help. The response reports its failure with the reason.
func (h *Checker) Readyz(c *fiber.Ctx) error {
	switch {
	case h.Draining():
		return notReady(c, "Draining.")
	case !h.Views.Ready():
		return notReady(c, h.unloaded())
	}
	// Not 503: if the store fails, that would remove all instances, and the answers that they can still give.
	views, msg := h.degraded()
	if len(views) == 0 && h.Upstream == nil {
		return h.Healthz(c)
	}
	answer := readiness{Status: fiber.StatusOK, Count: len(views), Data: views, Msg: msg}
	if len(views) > 0 {
		answer.State = "degraded"
	} else {
		answer.Data = []degradedView{}
	}
	if h.Upstream != nil {
		state := h.Upstream()
		public := state.Public()
		answer.Upstream = &public
		if state.Failing && answer.State == "" {
			answer.State = "ready"
		}
		answer.Msg = strings.TrimSpace(msg + " " + state.Why())
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(answer, response.ContentType)
}

// readiness is the body of /readyz if a view is degraded or there is another server.
type readiness struct {
	Status int            `json:"status"`
	Count  int            `json:"count"`
	Data   []degradedView `json:"data"` // the views that are affected, in the order of Views.Status
	State  string         `json:"state,omitempty"`
	Msg    string         `json:"msg,omitempty"`
	// Upstream has no address, because /readyz is public.
	Upstream *traffic.Public `json:"upstream,omitempty"`
}

// degradedView is a served view that the store could not confirm, or has no records for, or that is held. It is
// public, so it has no host, path or error of the store.
type degradedView struct {
	View       string     `json:"view"`
	Generation uint64     `json:"generation"`
	Checked    *time.Time `json:"checked"`            // when the store last confirmed it
	Empty      bool       `json:"empty"`              // the last run of its job found no records
	Held       string     `json:"held,omitempty"`     // why the store's generation is not shown
	JobHeld    string     `json:"job_held,omitempty"` // why the last run of its job published nothing
	// JobFailing means that the last run of its job failed. Only the operator gets the reason, because it may name
	// hosts.
	JobFailing bool `json:"job_failing,omitempty"`
}

// foreignReason does not name the databases, because it is public. vitrine status names them.
const foreignReason = "The views database has views of another institute: each institute needs its own views database."

// degraded lists the degraded views, and says why they are. Each reason occurs once for all views that it
// concerns.
func (h *Checker) degraded() (views []degradedView, msg string) {
	var stale, stored, empty, held, foreign bool
	var jobs, failing []string // views whose jobs are held, or fail
	for _, status := range h.Views.Status() {
		health := status.Meta.Health
		none := health.SourceEmpty() && !slices.Contains(h.Optional, status.View)
		one := degradedView{View: status.View, Generation: status.Meta.Generation, Checked: instant(status.Checked),
			Empty: none}
		one.Held = text(status.Held)
		if health.Status == origin.HealthHeld {
			one.JobHeld = health.Error
			jobs = append(jobs, status.View+": "+health.Error)
		}
		if one.JobFailing = health.Status == origin.HealthError; one.JobFailing {
			failing = append(failing, status.View)
		}
		if !none && !status.Stale && one.JobHeld == "" && !one.JobFailing {
			continue
		}
		unconfirmed := status.Stale && status.Held == nil
		stale, empty, held = stale || unconfirmed, empty || none, held || status.Held != nil
		stored = stored || unconfirmed && status.Mode == view.Store
		foreign = foreign || errors.Is(status.Err, origin.ErrForeign)
		views = append(views, one)
	}
	var reasons []string
	switch {
	case stored:
		reasons = append(reasons,
			"The store could not confirm these views: those in memory are served, those in the store as far as "+
				"answers are kept.")
	case stale:
		reasons = append(reasons, "These views are served though the store could not confirm them.")
	}
	if foreign {
		reasons = append(reasons, foreignReason)
	}
	if held {
		reasons = append(reasons,
			"The store has lost rows of the views that are held: what they showed before stays,"+
				" of views in the store as far as answers are kept.")
	}
	if len(jobs) > 0 {
		reasons = append(reasons, "The last runs of these views published nothing: "+strings.Join(jobs, "; ")+".")
	}
	if len(failing) > 0 {
		reasons = append(reasons, "The jobs of these views fail: "+strings.Join(failing, ", ")+".")
	}
	if empty {
		reasons = append(reasons, "The store has no records for the views marked as empty.")
	}
	return views, strings.Join(reasons, " ")
}

// Degraded says why the server is degraded; it is empty if it is not.
func (h *Checker) Degraded() string {
	_, msg := h.degraded()
	return msg
}

// notReady sends a 503 that is not logged as a failure, because balancers poll for it.
func notReady(c *fiber.Ctx, msg string) error {
	return response.SendUnkept(c.Status(fiber.StatusServiceUnavailable),
		response.Failure(fiber.StatusServiceUnavailable, response.Unavailable, msg))
}

// unloaded names the views that are not loaded, and says why held views are not. It is part of the answer of
// /readyz, which is public, so it has no error of the store.
func (h *Checker) unloaded() string {
	// Names of views and the reasons why the store cannot give them.
	var names, reasons []string
	foreign := false
	for _, status := range h.Views.Status() {
		if !status.Loaded.IsZero() {
			continue
		}
		names = append(names, status.View)
		if status.Held != nil {
			reasons = append(reasons, " The "+status.Held.Error()+".")
		}
		if health := status.Meta.Health; health.Status == origin.HealthHeld { // nothing may ever have been published
			reasons = append(reasons, " The job of view "+status.View+" is held: "+health.Error+".")
		}
		foreign = foreign || errors.Is(status.Err, origin.ErrForeign)
	}
	if foreign {
		reasons = append(reasons, " "+foreignReason)
	}
	return "Loading " + strings.Join(names, ", ") + "." + strings.Join(reasons, "")
}

// ViewStatus is the state of a view in /admin/views and `vitrine status --json`. Times are nil in place of the
// zero time, which JSON would show as the year 1.
type ViewStatus struct {
	View       string     `json:"view"`
	Generation uint64     `json:"generation"` // 0 if never published
	Epoch      string     `json:"epoch"`
	Rows       int        `json:"rows"`
	Published  *time.Time `json:"published"`        // when the generation was committed; nil if never
	Source     string     `json:"source,omitempty"` // database that it was made from; empty if embedded
	// ServedView is nil if only the store was asked.
	*ServedView
	Job JobStatus `json:"job"`
}

// ServedView is the part of a view's state that only a server that holds the view knows. Sizes are in bytes; rows
// in mapped files do not count as memory of the process, because the system can drop them.
type ServedView struct {
	Mode     string `json:"mode"` // where its rows are: memory or store; empty before the view is loaded
	Segments int    `json:"segments"`
	RowBytes int64  `json:"row_bytes"`
	// bytes of rows and fragments in mapped files, not in the process's own memory
	MappedBytes int64      `json:"mapped_bytes"`
	IndexBytes  int64      `json:"index_bytes"`
	IndexPaths  int        `json:"index_paths"`
	Loaded      *time.Time `json:"loaded"`
	Checked     *time.Time `json:"checked"`           // when the store last answered
	Stale       bool       `json:"stale"`             // served although the store could not confirm it
	Held        string     `json:"held,omitempty"`    // why the store's generation is not shown
	Missing     int        `json:"missing,omitempty"` // rows that the store counts but that are lost or damaged
	Error       string     `json:"error,omitempty"`
}

// JobStatus is the outcome of the last run of a view's job.
type JobStatus struct {
	Status  string     `json:"status"` // ok, held, error; empty before the first run
	Error   string     `json:"error,omitempty"`
	Started *time.Time `json:"started"`
	Seconds float64    `json:"seconds"`
	Checked *time.Time `json:"checked"` // when a run last succeeded, with or without changes
	Read    *time.Time `json:"read"`    // when the last run began that read all records, not only changes
	Scanned int        `json:"scanned"` // records in its source
	Changed int        `json:"changed"`
	Removed int        `json:"removed"`
	Skipped int        `json:"skipped"`
	Skips   []JobSkip  `json:"skips,omitempty"` // the first of the skipped records
	Empty   bool       `json:"empty"`           // the run found no records at all
	// Findings are what records lack, in words.
	Findings []string `json:"findings,omitempty"`
}

// JobSkip is a record that a run skipped. The id is a text, because ids of records have several types.
type JobSkip struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// StatusOf returns the state of a view according to the store. `vitrine status` shows it without a server, so it
// has no ServedView.
func StatusOf(m origin.Meta) ViewStatus {
	h := m.Health
	v := ViewStatus{
		View: m.View, Generation: m.Generation, Epoch: m.Epoch, Rows: m.Rows, Published: instant(m.Published),
		Source: m.Source,
		Job: JobStatus{
			Status: h.Status, Error: h.Error, Started: instant(h.Started), Seconds: h.Took.Seconds(),
			Checked: instant(m.Checked), Read: instant(h.Read),
			Scanned: h.Scanned, Changed: h.Changed, Removed: h.Removed, Skipped: h.Skipped, Empty: h.SourceEmpty(),
			Findings: h.Findings,
		},
	}
	for _, skip := range h.Skips {
		v.Job.Skips = append(v.Job.Skips, JobSkip(skip))
	}
	return v
}

// ViewStatuses returns the state of all views.
func (h *Checker) ViewStatuses() []ViewStatus {
	all := h.Views.Status()
	data := make([]ViewStatus, len(all))
	for i, status := range all {
		data[i] = servedStatus(status)
	}
	return data
}

// servedStatus returns the state of a view that this process serves. Rows are those that it shows, not those of
// the store.
func servedStatus(s view.Status) ViewStatus {
	v := StatusOf(s.Meta)
	v.View, v.Rows = s.View, s.Rows
	v.ServedView = &ServedView{
		Mode: string(s.Mode), Segments: s.Segments, RowBytes: s.RowBytes, MappedBytes: s.MappedBytes,
		IndexBytes: s.IndexBytes, IndexPaths: s.IndexPaths,
		Loaded: instant(s.Loaded), Checked: instant(s.Checked), Stale: s.Stale, Held: text(s.Held),
		Missing: s.Missing, Error: text(s.Err),
	}
	return v
}

// StoreStatus is the state of the store behind the views in /admin/views.
type StoreStatus struct {
	Name    string     `json:"name"`
	Up      bool       `json:"up"`
	Circuit string     `json:"circuit"` // closed or open
	Since   *time.Time `json:"since"`   // when the circuit last changed; nil if never
	Contact *time.Time `json:"contact"` // when the store last answered
	Opened  uint64     `json:"opened"`  // how often the circuit opened
	Refused uint64     `json:"refused"` // operations that failed at once while it was open
	Error   string     `json:"error,omitempty"`
}

// StoreStatus returns the state of the store, or nil if it is not reported.
func (h *Checker) StoreStatus() *StoreStatus {
	if h.Store == nil {
		return nil
	}
	st := h.Store()
	circuit := "closed"
	if st.Open {
		circuit = "open"
	}
	return &StoreStatus{
		Name: st.Store, Up: !st.Open, Circuit: circuit, Since: instant(st.Since), Contact: instant(st.Contact),
		Opened: st.Opened, Refused: st.Refused, Error: text(st.Err),
	}
}

// instant returns nil for the zero time.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// text returns the text of an error; "" for nil.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
