package api_test

import (
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/auth"
	"vitrine/rules"
	"vitrine/rules/access"
)

// TestNewYear: at New Year the set of recent activities changes at once.
func TestNewYear(t *testing.T) {
	now := proxytest.NewClock(proxytest.Published)
	o := departmentOptions(t)
	o.Now, o.Zone = now.Now, zone(t)
	s := proxytest.Open(t, department(t), o)
	newYear := time.Date(2024, time.December, 31, 22, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		now  time.Time
		want string // recent activities of each topic, by their last digit
	}{
		{"spring", proxytest.Published, "2 | 5 2"},
		{"the last moment of 2024", newYear.Add(-time.Nanosecond), "2 | 5 2"},
		{"New Year", newYear, " | 5"},
		{"a year before", newYear.AddDate(-1, 0, -1), "2 1 | 5 2"},
		{"ten years later", newYear.AddDate(10, 0, 0), " | "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now.Set(tt.now)
			for range 3 { // the later answers may come from the cache
				var topics []string
				for _, row := range s.Get("/portfolio/spectrum").Envelope(t).Rows(t) {
					var ids []string
					recent, given := row["activities"].([]any)
					if given && len(recent) == 0 {
						t.Error("activities must be present, and empty")
					}
					for _, a := range recent {
						id := a.(map[string]any)["id"].(string)
						ids = append(ids, id[len(id)-1:])
					}
					topics = append(topics, strings.Join(ids, " "))
				}
				if got := strings.Join(topics, " | "); got != tt.want {
					t.Errorf("recent = %q, want %q", got, tt.want)
				}
			}
		})
	}
}

func TestSpectrumPages(t *testing.T) {
	s := proxytest.Open(t, department(t), departmentOptions(t))
	tests := []struct {
		query, ids string
		paged      bool
	}{
		{"", "T1 T2", false},
		{"?limit=0", "T1 T2", false},
		{"?limit=-1&offset=1", "T1 T2", false},
		{"?offset=1", "T1 T2", false},
		{"?limit=1", "T1", true},
		{"?limit=1&offset=-3", "T1", true},
		{"?limit=5&offset=1", "T2", true},
		{"?limit=5&offset=2", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			e := s.Get("/portfolio/spectrum" + tt.query).Envelope(t)
			if *e.Count != 2 || e.IDs(t) != tt.ids || (e.Limit != nil) != tt.paged || (e.Offset != nil) != tt.paged {
				t.Errorf("envelope = %+v, ids %q, want %q", e, e.IDs(t), tt.ids)
			}
		})
	}
}

func TestSpectrumWithout(t *testing.T) {
	activities := ofDepartment(t, "activities")
	tests := []struct {
		name string
		rows []bson.Raw
		off  bool
		want int
	}{
		{"a catalogue", summary(t, nil, activities), false, 404},
		{"topics", summary(t, ofDepartment(t, "catalogue"), nil), false, 200},
		{"topics and a catalogue", summary(t, nil, nil), false, 200},
		{"a summary", nil, false, 200},
		{"the feature", summary(t, ofDepartment(t, "catalogue"), activities), true, 200},
		{"the feature and a catalogue", summary(t, nil, activities), true, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := proxytest.NewStore()
			store.Publish(rules.ViewSpectrum, tt.rows...)
			o := departmentOptions(t)
			o.Portfolio.Enabled = !tt.off
			e := proxytest.Open(t, store, o).Get("/portfolio/spectrum").Envelope(t)
			switch {
			case e.Status != tt.want || *e.Count != 0:
				t.Errorf("envelope = %+v, want status %d", e, tt.want)
			case tt.want == 404 && (e.Error != "DataNotFound" || e.Msg != "OpenAlex topics data not found"):
				t.Errorf("error %q, msg %q", e.Error, e.Msg)
			case tt.want == 200 && string(e.Data) != "[]":
				t.Errorf("data = %s", e.Data)
			}
		})
	}
}

// TestSpectrumAccess: the portfolio has its own key; callers without the permission get an empty
// list.
func TestSpectrumAccess(t *testing.T) {
	secret := []byte("session secret")
	rights := func(o access.Options) *access.Policy {
		r := access.New(o)
		return r
	}
	head := rights(access.Options{Roles: map[string][]access.Permission{"head": {access.PortfolioSpectrum}}})
	anonymous := rights(access.Options{Anonymous: []access.Permission{access.PortfolioSpectrum}})
	bearer := func(user string) []string {
		return []string{"Authorization", "Bearer " + proxytest.Token(t, user, secret)}
	}
	tests := []struct {
		name           string
		rights         *access.Policy
		api, portfolio string // the configured keys
		query          string
		headers        []string
		status, rows   int
	}{
		{"no keys", anonymous, "", "", "", nil, 200, 2},
		{"the API's key is not required", anonymous, "Api", "", "", nil, 200, 2},
		{"no key", anonymous, "Api", "Portfolio", "", nil, 403, 0},
		{"the API's key", anonymous, "Api", "Portfolio", "?apikey=Api", nil, 403, 0},
		{"the API's key as header", anonymous, "Api", "Portfolio", "", []string{"X-API-Key", "Api"}, 403, 0},
		{"the key", anonymous, "Api", "Portfolio", "?apikey=Portfolio", nil, 200, 2},
		{"the key as header", anonymous, "Api", "Portfolio", "", []string{"X-API-Key", "Portfolio"}, 200, 2},
		{"a right header and a wrong parameter", anonymous, "", "Portfolio", "?apikey=x",
			[]string{"X-API-Key", "Portfolio"}, 200, 2},
		{"keys are case-sensitive", anonymous, "", "Portfolio", "?apikey=portfolio", nil, 403, 0},
		{"session instead of a key", anonymous, "", "Portfolio", "", bearer("bob"), 200, 2},
		{"no session, no permission", head, "", "", "", nil, 200, 0},
		{"the key is no permission", head, "", "Portfolio", "?apikey=Portfolio", nil, 200, 0},
		{"session without permission", head, "", "", "", bearer("bob"), 200, 0},
		{"session of an unknown user", head, "", "", "", bearer("stranger"), 200, 0},
		{"session with permission", head, "", "", "", bearer("ada"), 200, 2},
		{"session with permission and a wrong key", head, "", "Portfolio", "?apikey=x", bearer("ada"), 403, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := departmentOptions(t)
			o.Access, o.Auth.APIKey, o.Auth.PortfolioKey = tt.rights, tt.api, tt.portfolio
			o.Auth.Session = auth.SessionOptions{Secret: secret}
			o.Fresh.MaxAge = time.Minute
			s := proxytest.Open(t, department(t), o)
			for range 2 { // callers with other rights must not get the cached answer
				if tt.headers != nil && tt.headers[0] == "Authorization" {
					s.Get("/portfolio/spectrum", bearer("ada")...)
				}
				res := s.Get("/portfolio/spectrum"+tt.query, tt.headers...)
				e := res.Envelope(t)
				if e.Status != tt.status || *e.Count != tt.rows {
					t.Fatalf("status %d, count %d, want %d, %d: %s", e.Status, *e.Count, tt.status, tt.rows, res.Body)
				}
				if tt.status != 200 {
					if e.Error != "PermissionDenied" {
						t.Errorf("error = %q", e.Error)
					}
					continue
				}
				control, vary := res.Header.Get("Cache-Control"), res.Header.Get("Vary")
				private := tt.portfolio != "" || len(tt.headers) > 0 && tt.headers[0] == "Authorization"
				if strings.Contains(control, "private") != private {
					t.Errorf("Cache-Control = %q", control)
				}
				if tt.portfolio != "" &&
					(!strings.Contains(vary, "X-API-Key") || strings.Contains(control, "public")) {
					t.Errorf("Vary = %q, Cache-Control = %q behind a key", vary, control)
				}
			}
		})
	}
}

// TestKeysOfRecords: the endpoints of records require the API's key.
func TestKeysOfRecords(t *testing.T) {
	o := departmentOptions(t)
	o.Auth.APIKey, o.Auth.PortfolioKey = "Api", "Portfolio"
	s := proxytest.Open(t, department(t), o)
	for _, target := range []string{
		"/api/users/ada?", "/api/users/unknown?", "/api/user-units/ada?", "/api/events?", "/api/conferences?",
		"/api/deadlines?", "/api/levenshtein?title=Word&", "/api/levenshtein?",
	} {
		for _, wrong := range []string{"", "apikey=Portfolio", "apikey=api"} {
			if e := s.Get(target + wrong).Envelope(t); e.Status != 403 || e.Error != "PermissionDenied" {
				t.Errorf("%s: %+v", target+wrong, e)
			}
		}
		if got := s.Get(target, "X-API-Key", "Api").StatusCode; got == 403 {
			t.Errorf("%s with the key as header: %d", target, got)
		}
		if got := s.Get(target + "apikey=Api").StatusCode; got == 403 {
			t.Errorf("%s with the key: %d", target, got)
		}
	}
}
