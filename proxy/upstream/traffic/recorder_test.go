package traffic_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/proxy/upstream/traffic"
)

// TestOneRequest: a request whose answer begins and then breaks off is one request that took until it began, and one
// that was never sent took no time at all.
func TestOneRequest(t *testing.T) {
	metrics := prometheus.NewRegistry()
	r := traffic.New(metrics, time.Now)
	path := r.Open("/portal/unit/BIO")
	r.Answered(path, time.Second)
	r.Failed(path, traffic.Failure{Reason: traffic.Broken}, 0)
	r.Failed(path, traffic.Failure{Reason: traffic.Refused}, 0)
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var count uint64
	var sum float64
	for _, family := range families {
		if family.GetName() == "vitrine_upstream_seconds" {
			for _, m := range family.GetMetric() {
				count += m.GetHistogram().GetSampleCount()
				sum += m.GetHistogram().GetSampleSum()
			}
		}
	}
	if count != 1 || sum != 1 {
		t.Errorf("%d requests in %v s, want 1 in 1 s", count, sum)
	}
	if s := r.State(); !s.Failing || s.Failures != 2 {
		t.Errorf("%+v", s)
	}
}
