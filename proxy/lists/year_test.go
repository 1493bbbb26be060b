package lists_test

import (
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
)

// TestNewYearWhileAnswering: if a year ends while an answer is made, it is that of one of the two years, and is not
// kept for the other.
func TestNewYearWhileAnswering(t *testing.T) {
	recent := append(article("recent", "Xyzzy"), bson.E{Key: "created", Value: "2024-05-05"})
	for i := range recent {
		if recent[i].Key == "year" {
			recent[i].Value = 2022 // no longer in the last three years next year
		}
	}
	next := time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)
	old := next.Add(-time.Second)
	var left atomic.Int32 // how often the clock shows the old year
	o := proxytest.ListOptions(t)
	o.Lists.Named = proxytest.Named(
		map[string]configs.NamedList{"recent": {View: rules.ViewActivities, Select: "year=last3"}})
	o.Now = func() time.Time {
		if left.Add(-1) >= 0 {
			return old
		}
		return next
	}
	const always = 1 << 30
	targets := []string{"/lists.json", "/lists", "/sitemap.xml", "/lists/recent.json",
		"/lists/activities.json?year=last3"}
	for _, target := range targets {
		open := func() *proxytest.Site {
			return proxytest.OpenViews(t, proxytest.ListStore(t, withActivities(t, recent)), o,
				proxytest.ListViews(t), 0)
		}
		answers := map[int32]string{}
		for _, now := range []int32{always, 0} {
			s := open()
			left.Store(now)
			answers[now] = string(s.Get(target).Body)
		}
		if answers[0] == answers[always] {
			t.Fatalf("%s is the same in both years", target)
		}
		for readings := range int32(8) { // of the clock in the old year, in one request
			s := open()
			left.Store(readings)
			if got := string(s.Get(target).Body); got != answers[0] && got != answers[always] {
				t.Errorf("%s, New Year after %d readings: an answer of no year", target, readings)
			}
			for _, now := range []int32{always, 0} {
				left.Store(now)
				if got := string(s.Get(target).Body); got != answers[now] {
					t.Errorf("%s, New Year after %d readings: an answer was kept for another year", target, readings)
				}
			}
		}
	}
}
