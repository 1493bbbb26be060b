package auth_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/auth"
	"vitrine/proxy/proxytest"
)

// guessing returns options with keys of all kinds, and how many wrong ones a client may send.
func guessing(t *testing.T, failures int) *proxytest.Site {
	t.Helper()
	o := proxytest.ListOptions(t)
	o.Auth.APIKey, o.Auth.PortfolioKey, o.Limits.KeyFailures = "single", "folio", failures
	o.Auth.Client = auth.ClientOptions{Header: "X-Forwarded-For",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/32")}}
	o.Auth.Keys = []auth.Key{
		key("all"), limited(key("one"), func(k *auth.Key) { k.Endpoints = []string{"/lists/activities"} }),
		limited(key("late"), func(k *auth.Key) { k.Expires = proxytest.Published }),
	}
	return openLists(t, o)
}

// TestListsAnswerKeysAlike: on paths that need no key, a right key as a parameter is answered like a wrong one.
func TestListsAnswerKeysAlike(t *testing.T) {
	s := guessing(t, 0)
	for _, path := range []string{
		"/lists/activities.json", "/lists/projects.json", "/lists/activities", "/lists/activities.bib",
		"/lists/none", "/lists", "/lists.json", "/items/x", "/oembed",
		"/oembed?url=http://localhost/lists/activities",
		"/sitemap.xml", "/", "/docs", "/docs/embedding", "/docs/records",
		"/openapi.json", "/robots.txt", "/favicon.ico",
		"/healthz", "/livez", "/readyz", "/none", "/api", "/api/none",
	} {
		for _, form := range []string{"apikey=%s", "%%61pikey=%s", "apikey[]=%s", "APIKEY=%s", "apikey=&apikey=%s",
			"apikey=%s&apikey="} {
			sep := "?"
			if strings.Contains(path, "?") {
				sep = "&"
			}
			var first string // errors quote the key; other answers do not
			for _, text := range []string{"wrong", "single", "folio", "all-text", "one-text", "late-text"} {
				res := s.Get(path + sep + fmt.Sprintf(form, text))
				body := string(res.Body)
				if res.StatusCode >= 400 {
					body = strings.ReplaceAll(body, text, "KEY")
				}
				got := fmt.Sprint(res.StatusCode, " ", res.Header["Cache-Control"], res.Header["Vary"], body)
				if first == "" {
					first = got
				} else if got != first {
					t.Errorf("%s?%s with %s:\n%.300s\nwith a wrong key:\n%.300s", path, form, text, got, first)
				}
			}
		}
	}
	if res := s.Get("/lists/activities.json?apikey=all-text"); res.StatusCode != 400 ||
		!strings.Contains(string(res.Body), "X-API-Key") {
		t.Errorf("a key on a list: %d %s", res.StatusCode, res.Body)
	}
}

// TestGuessesCountEverywhere: a wrong key counts on each path and in each place, and a right one is never refused
// because of it.
func TestGuessesCountEverywhere(t *testing.T) {
	s, clients := guessing(t, 3), 0
	for _, path := range []string{
		"/lists/activities.json?", "/lists/none?", "/oembed?", "/oembed?url=http://localhost/lists/activities&",
		"/sitemap.xml?", "/items/x?", "/?", "/docs?", "/docs/embedding?", "/docs/records?",
		"/openapi.json?", "/robots.txt?",
		"/favicon.ico?", "/healthz?", "/readyz?", "/none?", "/api/none?", "/api/html?", "/portfolio/spectrum?",
		"/api/citation-index?",
	} {
		for _, place := range []string{
			"apikey=%s", "%%61pikey=%s", "%%41PIKEY=%s", "APIKEY=%s", "apikey[]=%s", "+apikey=%s",
			"apikey=single&apikey=%s", "apikey=%s&apikey=single", "a=1;apikey=%s",
			"X-API-Key: %s", "x-api-key: \r\nX-Api-Key: %s", "X-API-Key: single\r\nX-API-Key: %s",
			"X-API-Key: %s\r\nX-API-Key: all-text",
		} {
			clients++
			guess := func(text string) int {
				header, value, isHeader := strings.Cut(place, ": ")
				req := httptest.NewRequest(http.MethodGet, path, nil)
				if !isHeader {
					req = httptest.NewRequest(http.MethodGet, path+fmt.Sprintf(place, text), nil)
				} else {
					for line := range strings.SplitSeq(header+": "+value, "\r\n") {
						name, value, _ := strings.Cut(line, ": ")
						req.Header.Add(name, strings.Replace(value, "%s", text, 1))
					}
				}
				req.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.%d.%d", clients/256, clients%256))
				return s.Exchange(req).StatusCode
			}
			before := s.Metric("vitrine_wrong_keys_total")
			for n, text := range []string{"a", "b", "c", "d", "e"} {
				beside := strings.Contains(place, "single") &&
					strings.Index(place, "%s") > strings.Index(place, "single")
				if strings.HasPrefix(place, "apikey=") {
					beside = strings.HasSuffix(place, "single") // the last parameter counts, and the first header
				}
				beside = beside && !strings.HasPrefix(path, "/portfolio") // for which that key is not right
				if got := guess(text); (got == 429) != (n >= 3 && !beside) {
					t.Errorf("%s with %q, guess %d: %d", path, place, n+1, got)
				}
			}
			if got := s.Metric("vitrine_wrong_keys_total") - before; got != 5 {
				t.Errorf("%s with %q: %d wrong keys counted, want 5", path, place, got)
			}
			if strings.Count(place, "=")+strings.Count(place, ":") > 1 || strings.HasPrefix(place, "apikey[") {
				continue // a place where no key has an effect
			}
			if got := guess("all-text"); got == 429 {
				t.Errorf("%s with %q: a right key is refused", path, place)
			}
		}
	}
}

// TestGuessesBesideKeyOfOtherArea: a key for one part of the API allows no guesses at those of another one.
func TestGuessesBesideKeyOfOtherArea(t *testing.T) {
	s := guessing(t, 3)
	var got []int
	for _, text := range []string{"a", "b", "c", "d", "e"} {
		got = append(got, s.Get("/portfolio/spectrum?apikey="+text, "X-API-Key", "single").StatusCode)
	}
	if !slices.Equal(got, []int{403, 403, 403, 429, 429}) {
		t.Errorf("guesses: %d", got)
	}
	if got := s.Get("/api/html?apikey=f", "X-API-Key", "single").StatusCode; got != 200 {
		t.Errorf("a right key with a stale one beside it: %d", got)
	}
}

// TestRepeatedWrongKey: where no key is needed, a client that sends the same wrong key again guesses nothing; where
// one is needed, each request counts. A request with many keys is refused.
func TestRepeatedWrongKey(t *testing.T) {
	s := guessing(t, 3)
	for range 20 {
		if got := s.Get("/lists/activities.json", "X-API-Key", "stale").StatusCode; got != 200 {
			t.Fatalf("a list with a stale key: %d", got)
		}
	}
	var got []int
	for range 4 {
		got = append(got, s.Get("/api/html", "X-API-Key", "stale").StatusCode)
	}
	if !slices.Equal(got, []int{403, 403, 429, 429}) {
		t.Errorf("the API with a stale key: %d", got)
	}
	if got := s.Get("/lists/activities.json?"+strings.Repeat("apikey=x&", 20), "X-API-Key",
		"all-text").StatusCode; got != 400 && got != 429 {
		t.Errorf("one key many times: %d", got)
	}
	s = guessing(t, 0)
	var many []string
	for n := range 20 {
		many = append(many, fmt.Sprint("apikey=", n))
	}
	if res := s.Get("/api/html?"+strings.Join(many, "&")+"&apikey=single", "X-API-Key",
		"single"); res.StatusCode != 400 || !strings.Contains(string(res.Body), "too many keys") {
		t.Errorf("many keys: %d %s", res.StatusCode, res.Body)
	}
	o := proxytest.ListOptions(t)
	o.Limits.KeyFailures = 3
	open := openLists(t, o)
	for n := range 10 {
		if got := open.Get("/api/html?apikey=" + fmt.Sprint(n)).StatusCode; got != 200 {
			t.Errorf("without any key configured, request %d: %d", n, got)
		}
	}
}

// TestKeysOfRecords: an endpoint with an id opens that record, and not one whose id begins alike.
func TestKeysOfRecords(t *testing.T) {
	o := proxytest.Options(t)
	o.Auth.Keys = []auth.Key{{Name: "ada", Sums: [][sha256.Size]byte{sha256.Sum256([]byte("ada-text"))},
		Endpoints: []string{"/api/users/ada", "/api/events"}}}
	s := proxytest.Open(t, proxytest.Institute(t), o)
	for path, want := range map[string]int{
		"/api/users/ada": 200, "/api/users/%61da": 200, "/api/users/ada/": 200, "/api/users/bob": 403,
		"/api/users/ada.b": 403, "/api/users/adam": 403, "/api/events": 200, "/api/html": 403,
	} {
		if got := s.Get(path, "X-API-Key", "ada-text").StatusCode; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

// TestKeyOnCitationIndex: the citation index checks no key, but the limits of a named one hold.
func TestKeyOnCitationIndex(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Auth.APIKey = "single"
	o.Auth.Keys = []auth.Key{
		limited(key("slow"), func(k *auth.Key) { k.Rate = 1 }), limited(key("html"),
			func(k *auth.Key) { k.Endpoints = []string{"/api/html"} }),
	}
	s := openLists(t, o)
	for _, tt := range []struct {
		key  string
		want int
	}{{"", 200}, {"wrong", 200}, {"single", 200}, {"slow-text", 200}, {"slow-text", 429}, {"html-text", 403}} {
		if got := s.Get("/api/citation-index", "X-API-Key", tt.key); got.StatusCode != tt.want {
			t.Errorf("%q: %d, want %d: %s", tt.key, got.StatusCode, tt.want, got.Body)
		}
	}
}
