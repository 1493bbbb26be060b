package citation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/rules"
	"vitrine/rules/lru"
)

const user = "mL1ndQvAAAAJ"

func TestRequests(t *testing.T) {
	index := newIndex(t, page(testPage(t, "profile.html")))
	client, _ := newTestClient(t, index, Options{})
	profile, err := client.Profile(t.Context(), user)
	if err != nil || *read(t, profile).TotalCitations != "1284" {
		t.Errorf("Profile: %s, %v", profile.Text, err)
	}
	index.answers(page(testPage(t, "document.html")))
	document, err := client.Document(t.Context(), user, "u5HHmVD_uO8C")
	if err != nil || read(t, document).DOI != "10.5555/kf.2024.44" {
		t.Errorf("Document: %s, %v", document.Text, err)
	}
	want := []string{
		"/citations?user=mL1ndQvAAAAJ&hl=de&cstart=0&pagesize=100&sortby=pubdate",
		"/citations?view_op=view_citation&hl=de&user=mL1ndQvAAAAJ&citation_for_view=mL1ndQvAAAAJ:u5HHmVD_uO8C",
	}
	if got := index.asked(); !slices.Equal(got, want) {
		t.Errorf("asked for %q, want %q", got, want)
	}
}

func TestIdentifiersAreChecked(t *testing.T) {
	index := newIndex(t, status(http.StatusTeapot))
	client, _ := newTestClient(t, index, Options{})
	for _, id := range []string{"", "a b", "../x", "a/b", "a:b", "a&b", "a%2f", "a@b", "ä", "a\x00",
		strings.Repeat("a", 65)} {
		t.Run(id, func(t *testing.T) {
			if _, err := client.Profile(t.Context(), id); !errors.Is(err, rules.ErrWrongCall) {
				t.Errorf("Profile(%q): %v, want a wrong call", id, err)
			}
			if _, err := client.Document(t.Context(), id, "a"); !errors.Is(err, rules.ErrWrongCall) {
				t.Errorf("Document(%q, a): %v, want a wrong call", id, err)
			}
			if _, err := client.Document(t.Context(), "a", id); !errors.Is(err, rules.ErrWrongCall) {
				t.Errorf("Document(a, %q): %v, want a wrong call", id, err)
			}
		})
	}
	if got := index.asked(); len(got) > 0 {
		t.Errorf("asked for %q", got)
	}
}

func TestFailures(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a request left the index")
	}))
	defer elsewhere.Close()
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   error
	}{
		{"refused", status(http.StatusForbidden), ErrBlocked},
		{"too many requests", status(http.StatusTooManyRequests), ErrBlocked},
		{"captcha", page(testPage(t, "captcha.html")), ErrBlocked},
		{"redirect to another host", redirect(elsewhere.URL + "/sorry"), ErrBlocked},
		{"redirect to another scheme", redirect("file:///etc/hosts"), ErrBlocked},
		{"redirect to another host by name", redirect("//localhost:1/citations"), ErrBlocked},
		{"redirects without end", redirect("/citations?again"), ErrUnavailable},
		{"redirect to nowhere", status(http.StatusFound), ErrUnavailable},
		{"server error", status(http.StatusInternalServerError), ErrUnavailable},
		{"no page", status(http.StatusNoContent), ErrUnavailable},
		{"unknown user", status(http.StatusNotFound), rules.ErrNotFound},
		{"huge", page(testPage(t, "profile.html") + strings.Repeat(" ", 1<<16)), ErrUnavailable},
		{"truncated", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100000")
			page(testPage(t, "profile.html"))(w, r)
		}, ErrUnavailable},
		{"connection lost", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ErrUnavailable},
		{"compressed garbage", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("no gzip"))
		}, ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			index := newIndex(t, tt.answer)
			client, _ := newTestClient(t, index, Options{})
			client.maxBytes = 1 << 16
			if _, err := client.Profile(t.Context(), user); !errors.Is(err, tt.want) {
				t.Errorf("Profile: %v, want %v", err, tt.want)
			}
			if got := len(index.asked()); got > 1+maxRedirects {
				t.Errorf("%d requests", got)
			}
			if _, err := client.Document(t.Context(), user, "d"); !errors.Is(err, tt.want) {
				t.Errorf("Document: %v, want %v", err, tt.want)
			}
		})
	}
}

func TestFailuresAreOfTheHouse(t *testing.T) {
	for _, err := range []error{ErrBlocked, ErrUnavailable} {
		if !errors.Is(err, rules.ErrUnavailable) {
			t.Errorf("%v is not of kind %v", err, rules.ErrUnavailable)
		}
	}
	if errors.Is(ErrBlocked, ErrUnavailable) || errors.Is(ErrUnavailable, ErrBlocked) {
		t.Error("errors.Is does not tell ErrBlocked and ErrUnavailable apart")
	}
}

func TestRedirectWithinTheIndex(t *testing.T) {
	index := newIndex(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.RawQuery, "moved") {
			http.Redirect(w, r, "/citations?moved", http.StatusFound)
			return
		}
		page(testPage(t, "profile.html"))(w, r)
	})
	client, _ := newTestClient(t, index, Options{})
	if profile, err := client.Profile(t.Context(), user); err != nil || len(read(t, profile).Publications) != 3 {
		t.Errorf("Profile: %s, %v", profile.Text, err)
	}
}

// The client keeps its distance between a request and its redirect, too.
func TestRedirectsKeepTheirDistance(t *testing.T) {
	index := newIndex(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/citations?again", http.StatusFound)
	})
	client, clock := newTestClient(t, index, Options{MinInterval: 2 * time.Second, Timeout: time.Minute})
	if _, err := client.Profile(t.Context(), user); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Profile: %v", err)
	}
	if n := len(index.asked()); len(clock.waits) != n-1 {
		t.Errorf("%d requests, waited %v", n, clock.waits)
	}
}

// A failure that lasts for a known time reports how long.
func TestRetryAfter(t *testing.T) {
	index := newIndex(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	client, _ := newTestClient(t, index, Options{})
	for i, want := range []time.Duration{time.Minute, 10 * time.Minute} {
		_, err := client.Profile(t.Context(), fmt.Sprint("user", i))
		var known interface{ RetryAfter() time.Duration }
		if !errors.As(err, &known) || known.RetryAfter() != want {
			t.Errorf("query %d: %v, want a retry in %v", i, err, want)
		}
	}
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	if transport := New(Options{}).http.Transport.(*http.Transport); transport.Proxy != nil {
		t.Error("the transport uses a proxy")
	}
}

func TestChangedMarkup(t *testing.T) {
	index := newIndex(t, page(testPage(t, "changed.html")))
	client, _ := newTestClient(t, index, Options{})
	for range 2 {
		profile, err := client.Profile(t.Context(), user)
		if want := `{"total_citations":null,"citations_per_year":[],"publications":[]}`; err != nil ||
			string(profile.Text) != want {
			t.Errorf("Profile: %s, %v, want an empty one", profile.Text, err)
		}
		document, err := client.Document(t.Context(), user, "d")
		if err != nil || string(document.Text) != `{"title":"","doi":""}` {
			t.Errorf("Document: %s, %v, want an empty one", document.Text, err)
		}
	}
	if got := len(index.asked()); got != 2 {
		t.Errorf("%d requests, want 2: the client repeats no request for such a page at once", got)
	}
}

func TestLifetime(t *testing.T) {
	index := newIndex(t, page(testPage(t, "profile.html")))
	client, clock := newTestClient(t, index, Options{Lifetime: time.Hour})
	for step, want := range []int{1, 1, 2} {
		if _, err := client.Profile(t.Context(), user); err != nil {
			t.Fatal(err)
		}
		if got := len(index.asked()); got != want {
			t.Errorf("step %d: %d requests, want %d", step, got, want)
		}
		clock.forward(40 * time.Minute)
	}
}

// While the index fails, the last good answer is served until StaleFor has passed.
func TestStale(t *testing.T) {
	tests := []struct {
		name   string
		answer http.HandlerFunc
	}{
		{"server error", status(http.StatusBadGateway)},
		{"blocked", status(http.StatusTooManyRequests)},
		{"captcha", page(testPage(t, "captcha.html"))},
		{"changed markup", page(testPage(t, "changed.html"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			index := newIndex(t, page(testPage(t, "profile.html")))
			client, clock := newTestClient(t, index, Options{Lifetime: time.Hour, StaleFor: 2 * time.Hour})
			total := func() string {
				t.Helper()
				profile, err := client.Profile(t.Context(), user)
				if err != nil || read(t, profile).TotalCitations == nil {
					return fmt.Sprint("none: ", err)
				}
				return *read(t, profile).TotalCitations
			}
			total()
			index.answers(tt.answer)
			for range 2 {
				clock.forward(80 * time.Minute)
				if got := total(); got != "1284" {
					t.Errorf("while stale: %s, want 1284", got)
				}
			}
			clock.forward(80 * time.Minute)
			if got := total(); !strings.HasPrefix(got, "none") {
				t.Errorf("after StaleFor: %s, want none", got)
			}
			index.answers(page(strings.Replace(testPage(t, "profile.html"), "1284", "1300", 1)))
			clock.forward(80 * time.Minute)
			if got := total(); got != "1300" {
				t.Errorf("after recovery: %s, want 1300", got)
			}
		})
	}
}

func TestVanishedUserIsNotServedStale(t *testing.T) {
	index := newIndex(t, page(testPage(t, "profile.html")))
	client, clock := newTestClient(t, index, Options{Lifetime: time.Hour})
	if _, err := client.Profile(t.Context(), user); err != nil {
		t.Fatal(err)
	}
	index.answers(status(http.StatusNotFound))
	clock.forward(2 * time.Hour)
	for range 2 {
		if _, err := client.Profile(t.Context(), user); !errors.Is(err, rules.ErrNotFound) {
			t.Errorf("Profile: %v, want %v", err, rules.ErrNotFound)
		}
	}
}

// A failed query is not repeated for a minute, then two, then four.
func TestBackoff(t *testing.T) {
	index := newIndex(t, status(http.StatusInternalServerError))
	client, clock := newTestClient(t, index, Options{})
	var asked []int
	for range 9 {
		if _, err := client.Profile(t.Context(), user); !errors.Is(err, ErrUnavailable) {
			t.Fatalf("Profile: %v, want %v", err, ErrUnavailable)
		}
		asked = append(asked, len(index.asked()))
		clock.forward(time.Minute)
	}
	if want := []int{1, 2, 2, 3, 3, 3, 3, 4, 4}; !slices.Equal(asked, want) {
		t.Errorf("requests after each minute: %v, want %v", asked, want)
	}
}

// A refusal pauses all queries, for as long as the index asks.
func TestRefusalStopsAllQuestions(t *testing.T) {
	index := newIndex(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	client, clock := newTestClient(t, index, Options{})
	for minute := range 10 {
		if _, err := client.Profile(t.Context(), fmt.Sprint("user", minute)); !errors.Is(err, ErrBlocked) {
			t.Errorf("minute %d: %v, want %v", minute, err, ErrBlocked)
		}
		clock.forward(time.Minute)
	}
	if got := len(index.asked()); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
	index.answers(page(testPage(t, "profile.html")))
	if _, err := client.Profile(t.Context(), "user3"); err != nil {
		t.Errorf("after ten minutes: %v; a query that was not sent must not count as failed", err)
	}
}

// TestRefusalsInARow: pauses grow from a minute to an hour while the index refuses, also if a request fails in
// between, which says nothing of the index's mind. A page ends the row.
func TestRefusalsInARow(t *testing.T) {
	index := newIndex(t, status(http.StatusTooManyRequests))
	client, clock := newTestClient(t, index, Options{})
	asked := 0
	refused := func() (pause time.Duration) {
		t.Helper()
		if _, err := client.Profile(t.Context(), fmt.Sprint("user", asked)); !errors.Is(err, ErrBlocked) {
			t.Fatalf("Profile: %v", err)
		}
		asked++
		var known interface{ RetryAfter() time.Duration }
		if _, err := client.Profile(t.Context(), "another"); !errors.As(err, &known) {
			t.Fatalf("while the index refuses: %v", err)
		}
		clock.forward(known.RetryAfter())
		return known.RetryAfter()
	}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if got := refused(); got != want*time.Minute {
			t.Errorf("pause of %v, want %v", got, want*time.Minute)
		}
		if want == 4 || want == 32 {
			index.answers(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
			if _, err := client.Profile(t.Context(), fmt.Sprint("lost", asked)); !errors.Is(err, ErrUnavailable) {
				t.Errorf("a lost connection: %v", err)
			}
			index.answers(status(http.StatusTooManyRequests))
		}
	}
	index.answers(page(testPage(t, "profile.html")))
	if _, err := client.Profile(t.Context(), user); err != nil {
		t.Error(err)
	}
	index.answers(status(http.StatusTooManyRequests))
	if got := refused(); got != time.Minute {
		t.Errorf("after a page: pause of %v", got)
	}
}

// TestRedirectDuringAPause: a redirect that is not followed, because the index has refused another request meanwhile,
// is no refusal of its own.
func TestRedirectDuringAPause(t *testing.T) {
	index := newIndex(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/citations?again", http.StatusFound)
	})
	client, clock := newTestClient(t, index, Options{MinInterval: time.Second, Timeout: time.Minute})
	client.sleep = func(ctx context.Context, d time.Duration) error {
		client.keep("other", nil, ErrBlocked)
		return clock.sleep(ctx, d)
	}
	if _, err := client.Profile(t.Context(), user); !errors.Is(err, ErrBlocked) {
		t.Errorf("Profile: %v, want %v", err, ErrBlocked)
	}
	if pause := client.refusing.NextBackOff(); pause != 2*time.Minute || client.failures.Peek(user) != nil {
		t.Errorf("the next pause is %v, want that after one refusal; failure %v", pause, client.failures.Peek(user))
	}
}

func TestPace(t *testing.T) {
	index := newIndex(t, page(testPage(t, "profile.html")))
	client, clock := newTestClient(t, index, Options{MinInterval: 2 * time.Second, Timeout: time.Minute})
	for i := range 3 {
		if _, err := client.Profile(t.Context(), fmt.Sprint("user", i)); err != nil {
			t.Fatal(err)
		}
	}
	clock.forward(500 * time.Millisecond)
	if _, err := client.Profile(t.Context(), "user3"); err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{2 * time.Second, 2 * time.Second, 1500 * time.Millisecond}
	if !slices.Equal(clock.waits, want) {
		t.Errorf("waited %v, want %v", clock.waits, want)
	}
}

// If the index refuses a request, a caller that waits for its turn sends none.
func TestRefusalWhileWaiting(t *testing.T) {
	index := newIndex(t, page(testPage(t, "profile.html")))
	client, clock := newTestClient(t, index, Options{MinInterval: time.Second, Timeout: time.Minute})
	if _, err := client.Profile(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	client.sleep = func(ctx context.Context, d time.Duration) error {
		client.keep("other", nil, ErrBlocked)
		return clock.sleep(ctx, d)
	}
	if _, err := client.Profile(t.Context(), "second"); !errors.Is(err, ErrBlocked) {
		t.Errorf("Profile: %v, want %v", err, ErrBlocked)
	}
	if got := len(index.asked()); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}

func TestTooManyQuestions(t *testing.T) {
	index := newIndex(t, page(testPage(t, "profile.html")))
	client, clock := newTestClient(t, index, Options{MinInterval: time.Hour, Timeout: time.Minute})
	if _, err := client.Profile(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Profile(t.Context(), "second"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a turn beyond the timeout: %v, want %v", err, ErrUnavailable)
	}
	clock.forward(time.Hour)
	if _, err := client.Profile(t.Context(), "second"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// TestMadeUpUsers: queries for made-up users never block those for a known one.
func TestMadeUpUsers(t *testing.T) {
	index := newIndex(t, page(testPage(t, "profile.html")))
	client, clock := newTestClient(t, index, Options{MinInterval: 10 * time.Second, Timeout: time.Minute})
	if _, err := client.Profile(t.Context(), "real"); err != nil {
		t.Fatal(err)
	}
	clock.forward(24 * time.Hour) // the default of Lifetime
	client.sleep = func(context.Context, time.Duration) error { return nil }
	var refused error
	for i := 0; refused == nil; i++ {
		_, refused = client.Profile(t.Context(), fmt.Sprint("madeup", i))
	}
	asked := len(index.asked())
	if _, err := client.Profile(t.Context(), "real"); err != nil || len(index.asked()) != asked+1 {
		t.Errorf("a known user after %v: %v, %d requests, want %d", refused, err, len(index.asked()), asked+1)
	}
}

func TestEntriesAreBounded(t *testing.T) {
	index := newIndex(t, page(testPage(t, "profile.html")))
	client, _ := newTestClient(t, index, Options{})
	client.answers, client.failures = lru.New[string, entry](2), lru.New[string, failure](2)
	ask := func(user string) int {
		t.Helper()
		_, _ = client.Profile(t.Context(), user)
		return len(index.asked())
	}
	ask("a")
	ask("b")
	ask("a")
	ask("c") // the client drops b
	if got := ask("a"); got != 3 {
		t.Errorf("a was dropped: %d requests, want 3", got)
	}
	if got := ask("b"); got != 4 { // the client drops c
		t.Errorf("b was not dropped: %d requests, want 4", got)
	}
	index.answers(status(http.StatusNotFound))
	for i := range 5 {
		ask(fmt.Sprint("unknown", i))
	}
	if got := ask("b"); got != 9 {
		t.Errorf("failures pushed out an answer: %d requests, want 9", got)
	}
	if got := client.answers.Len() + client.failures.Len(); got != 4 {
		t.Errorf("%d entries, want 4", got)
	}
}
