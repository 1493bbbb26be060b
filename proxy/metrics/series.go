package metrics

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
)

// Series are the histograms of a route's answers with one class of status. A handler may keep them for as long as
// it likes.
type Series struct {
	Seconds prometheus.Observer // until the connection has the answer
	Bytes   prometheus.Observer // of the body
}

// seriesKey identifies a series. Routes are few and fixed, and so are rules, which only a new configuration changes.
type seriesKey struct {
	path     string
	rule     string // name of the rule by which the answer is kept, in place of the route
	endpoint string // label, in place of the route
	class    int
}

// byName is the key of the user value that replaces the route in the counts of a request: the name of the rule by
// which its answer is kept, or a pointer to an endpoint.
type byName struct{}

// kept is the prefix of the endpoints of rules.
const kept = "kept "

// ByRule has a request counted under the rule by which its answer is kept, in place of its route.
func ByRule(c *fiber.Ctx, rule string) { c.Context().SetUserValue(byName{}, rule) }

// ByEndpoint has a request counted under an endpoint in place of its route. Endpoints must be few.
func ByEndpoint(c *fiber.Ctx, endpoint *string) { c.Context().SetUserValue(byName{}, endpoint) }

// SeriesOf returns the series of an answer. It keeps them, because looking up labels costs more than counting. A
// path without a route gets the label "other". That bounds the number of series: clients cannot make new ones by
// asking for paths.
func (m *Metrics) SeriesOf(c *fiber.Ctx) Series {
	// It is safe to keep the route's path, which is not in Fiber's buffers.
	key := seriesKey{path: c.Route().Path, class: c.Response().StatusCode() / 100}
	switch name := c.Context().UserValue(byName{}).(type) {
	case string:
		key.path, key.rule = "", name
	case *string:
		key.path, key.endpoint = "", *name
	}
	// Nearly every request finds its series, so readers do not wait for each other.
	m.mu.RLock()
	found, ok := m.series[key]
	m.mu.RUnlock()
	if !ok {
		endpoint, class := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(key.path, "/"), "api/"),
			"other"), strconv.Itoa(key.class)+"xx"
		switch {
		case key.rule != "":
			endpoint = kept + key.rule
		case key.endpoint != "":
			endpoint = key.endpoint
		}
		// Two requests may both get here: they make the same series.
		found = Series{m.requests.WithLabelValues(endpoint, class), m.bytes.WithLabelValues(endpoint, class)}
		m.mu.Lock()
		m.series[key] = found
		m.mu.Unlock()
	}
	return found
}

// RequestsByEndpoint returns the number of requests of clients by endpoint.
func (m *Metrics) RequestsByEndpoint() map[string]uint64 {
	all := map[string]uint64{}
	only := prometheus.NewRegistry() // only a registry reads the values of metrics
	only.MustRegister(m.requests)
	found, _ := only.Gather()
	for _, f := range found {
		for _, series := range f.GetMetric() {
			for _, label := range series.GetLabel() {
				if label.GetName() == "endpoint" {
					all[label.GetValue()] += series.GetHistogram().GetSampleCount()
				}
			}
		}
	}
	return all
}
