package api_test

import (
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/units"
)

func zone(t testing.TB) *time.Location {
	t.Helper()
	return time.FixedZone("UTC+2", 2*60*60)
}

// TestMidnight: in_past is right from the first moment of a day on, in the configured zone, also in
// cached answers.
func TestMidnight(t *testing.T) {
	now := proxytest.NewClock(proxytest.Published)
	o := departmentOptions(t)
	o.Now, o.Zone = now.Now, zone(t)
	s := proxytest.Open(t, department(t), o)
	midnight := time.Date(2024, time.May, 6, 22, 0, 0, 0, time.UTC)
	tests := []struct {
		name, id string
		now      time.Time
		past     string // the units whose in_past is true
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
			now.Set(tt.now)
			for range 3 { // the later answers may come from the cache
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

// TestCachesForgetInTime: external caches must not keep an answer longer than it is valid.
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
			o := departmentOptions(t)
			o.Now, o.Zone, o.Auth.APIKey = proxytest.NewClock(midnight.Add(-tt.left)).Now, zone(t), tt.key
			o.Fresh.MaxAge, o.Fresh.StaleWhileRevalidate, o.Fresh.StaleIfError =
				time.Minute, 10*time.Minute, time.Hour
			if got := proxytest.Open(t, department(t), o).Get(tt.target).Header.Get("Cache-Control"); got != tt.want {
				t.Errorf("Cache-Control = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestPersonsOfTheNextGeneration: answers show from the next generation on that a person's record
// changed, disappeared or appeared, also where they were cached.
func TestPersonsOfTheNextGeneration(t *testing.T) {
	s := proxytest.Open(t, department(t), departmentOptions(t))
	names := units.NewNames(ofDepartment(t, "groups"))
	const path = "66c000000000000000000011" // Ada
	publish := func(username, first string, in ...string) {
		t.Helper()
		oid, err := bson.ObjectIDFromHex(path)
		if err != nil {
			t.Fatal(err)
		}
		memberships := bson.A{}
		for _, unit := range in {
			memberships = append(memberships, bson.D{{Key: "unit", Value: unit}})
		}
		person, err := bson.Marshal(bson.D{{Key: "_id", Value: oid}, {Key: "username", Value: username},
			{Key: "first", Value: first}, {Key: "units", Value: memberships}})
		if err != nil {
			t.Fatal(err)
		}
		row, err := names.Row(person)
		if err != nil {
			t.Fatal(err)
		}
		s.Refresh(rules.ViewPersons, person)
		s.Refresh(rules.ViewUserUnits, row)
	}
	shows := func(when, id string, want ...string) {
		t.Helper()
		for _, path := range []string{"/api/users/", "/api/user-units/", "/api/users/", "/api/user-units/"} {
			// twice: the second answer may come from the cache
			res := s.Get(path + id)
			if len(want) == 0 && res.StatusCode == 404 {
				continue
			}
			for _, text := range append(want, `"status":200`) {
				if !strings.Contains(string(res.Body), text) {
					t.Errorf("%s: %s%s = %s, want %s", when, path, id, res.Body, text)
				}
			}
		}
	}
	shows("at first", "ada", "Ada")
	shows("at first", path, "Ada")
	shows("at first", "ida")
	publish("ada", "Adah", "LAB")
	shows("after a change", "ada", "Adah", `"LAB"`)
	publish("ida", "Ida", "LAB", "SOIL")
	shows("under another name", "ada")
	shows("under another name", "ida", "Ida", `"LAB"`, `"SOIL"`)
	shows("under another name", path, "Ida", `"LAB"`, `"SOIL"`)
	publish("ada", "Ada", "SOIL")
	shows("as before", "ida")
	shows("as before", "ada", "Ada", `"SOIL"`)
}
