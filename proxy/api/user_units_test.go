package api_test

import (
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"
)

func zone(t testing.TB) *time.Location {
	t.Helper()
	return time.FixedZone("UTC+2", 2*60*60)
}

// TestMidnight: in_past is right from the first moment of a day on, in the
// configured zone, for answers that are kept, too.
func TestMidnight(t *testing.T) {
	now := &clock{}
	o := proxytest.DepartmentOptions(t)
	o.Now, o.Zone = now.Now, zone(t)
	s := proxytest.Open(t, proxytest.Department(t), o)
	midnight := time.Date(2024, time.May, 6, 22, 0, 0, 0, time.UTC)
	tests := []struct {
		name, id string
		now      time.Time
		past     string // the units that are
	}{
		// Ada's second time in SOIL ends on 6 May.
		{"on the last day", "ada", midnight.Add(-12 * time.Hour), ""},
		{"a moment before midnight", "ada", midnight.Add(-time.Nanosecond), ""},
		{"midnight", "ada", midnight, "SOIL"},
		{"the day after", "ada", midnight.Add(12 * time.Hour), "SOIL"},
		{"a clock set back", "ada", midnight.Add(-time.Second), ""},
		// Cyd's ends on 5 May 23:30 UTC, which is the 6th here.
		{"a date in the zone, last day", "66c000000000000000000013", midnight.Add(-time.Nanosecond), ""},
		{"a date in the zone, midnight", "66c000000000000000000013", midnight, "SOIL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now.set(tt.now)
			for range 3 { // so that it may be kept
				body := string(s.Get("/api/user-units/" + tt.id).Body)
				var past []string
				for _, unit := range strings.Split(body, "},{") {
					if strings.Contains(unit, `"in_past":true`) {
						_, unit, _ = strings.Cut(unit, `"unit":"`)
						unit, _, _ = strings.Cut(unit, `"`)
						past = append(past, unit)
					}
				}
				if got := strings.Join(past, " "); got != tt.past {
					t.Errorf("past = %q, want %q: %s", got, tt.past, body)
				}
			}
		})
	}
}

// TestCachesForgetInTime: no cache outside is allowed to keep an answer longer than
// it holds.
func TestCachesForgetInTime(t *testing.T) {
	usual := "public, max-age=60, stale-while-revalidate=600, stale-if-error=3600"
	midnight := time.Date(2024, time.December, 31, 22, 0, 0, 0, time.UTC)
	tests := []struct {
		name, target string
		left         time.Duration
		key          string
		want         string
	}{
		{"units, long before", "/api/user-units/ada", 2 * time.Hour, "", usual},
		{"units, stale past midnight", "/api/user-units/ada", 30 * time.Minute, "", "public, max-age=60"},
		{"units, seconds before", "/api/user-units/ada", 1500 * time.Millisecond, "", "public, max-age=1"},
		{"units, behind a key", "/api/user-units/ada?apikey=Right", 10 * time.Second, "Right", "private, max-age=10"},
		{"users do not depend on the day", "/api/users/ada", time.Second, "", usual},
		{"spectrum, long before", "/portfolio/spectrum", 2 * time.Hour, "", usual},
		{"spectrum, seconds before New Year", "/portfolio/spectrum", 3 * time.Second, "", "public, max-age=3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := proxytest.DepartmentOptions(t)
			o.Now, o.Zone, o.Auth.APIKey = (&clock{now: midnight.Add(-tt.left)}).Now, zone(t), tt.key
			o.Fresh.MaxAge, o.Fresh.StaleWhileRevalidate, o.Fresh.StaleIfError = time.Minute, 10*time.Minute, time.Hour
			if got := proxytest.Open(t, proxytest.Department(t), o).Get(tt.target).Header.Get("Cache-Control"); got != tt.want {
				t.Errorf("Cache-Control = %q, want %q", got, tt.want)
			}
		})
	}
}
