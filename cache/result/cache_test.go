package result_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"vitrine/cache/result"
	"vitrine/rules"
	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func open(t testing.TB, o result.Options) *result.Cache {
	t.Helper()
	c, err := result.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// counted returns a loader of body that counts its runs.
func counted(body string, runs *atomic.Int32) result.Loader {
	return func(context.Context) (*result.Answer, error) {
		runs.Add(1)
		return result.NewAnswer([]byte(body), "application/json"), nil
	}
}

// kept checks that the first get loads and the next two hit.
func kept(t *testing.T, get func() result.Outcome) {
	t.Helper()
	for _, want := range []result.Outcome{result.Loaded, result.Hit, result.Hit} {
		if got := get(); got != want {
			t.Fatalf("outcome = %s, want %s", got, want)
		}
	}
}

func TestGetKeepsWhatItLoaded(t *testing.T) {
	c := open(t, result.Options{Budget: 1 << 20})
	var runs atomic.Int32
	key := result.Key{View: "activities", Epoch: "e", Generation: 1, Query: "q"}
	get := func() result.Outcome {
		a, outcome, err := c.Get(t.Context(), key, counted("body", &runs))
		if err != nil {
			t.Fatal(err)
		}
		if string(a.Body) != "body" {
			t.Fatalf("body = %q", a.Body)
		}
		return outcome
	}
	kept(t, get)
	s := c.Stats()
	if s.Hits != 2 || s.Loads != 1 || runs.Load() != 1 || s.Bytes <= 0 || s.Budget != 1<<20 {
		t.Errorf("stats = %+v after %d runs", s, runs.Load())
	}
}

// asker returns a function that requests an answer of a size and generation from a cache.
func asker(t *testing.T, c *result.Cache) func(query string, size int, generation uint64) result.Outcome {
	return func(query string, size int, generation uint64) result.Outcome {
		key := result.Key{View: "v", Generation: generation, Query: query}
		if a := c.Lookup(key); a != nil {
			if len(a.Body) != size {
				t.Fatalf("%s: %d bytes, want %d", query, len(a.Body), size)
			}
			return result.Hit
		}
		_, outcome, err := c.Get(t.Context(), key, func(context.Context) (*result.Answer, error) {
			return result.NewAnswer(make([]byte, size), "application/json"), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return outcome
	}
}

// TestLargeAnswerIsKept: the cache keeps large answers from the first request on, however many
// small ones there are, even if a garbage collection follows each load.
func TestLargeAnswerIsKept(t *testing.T) {
	c := open(t, result.Options{Budget: 8 << 20, LargeBudget: 8 << 20})
	ask := asker(t, c)
	for i := range 5000 {
		ask(strconv.Itoa(i), 8<<10, 0)
	}
	for i := range 6 {
		for range 2 {
			ask("large", 3<<20, 0)
			runtime.GC()
		}
		ask("popular", 2<<20, 0)
		if i > 0 && (ask("large", 3<<20, 0) != result.Hit || ask("popular", 2<<20, 0) != result.Hit) {
			t.Errorf("the cache loads large answers again: %+v", c.Stats())
		}
		ask("rare "+strconv.Itoa(i), 2<<20, 0)
		ask(strconv.Itoa(i), 8<<10, 0)
	}
	if s := c.Stats(); s.Loads > 5000+2+6+6 {
		t.Errorf("%d loads", s.Loads)
	}
}

// TestLargeBudget: large answers stay within their budget and replace each other, the least
// recently used first. A newer generation of an answer replaces the older one.
func TestLargeBudget(t *testing.T) {
	const large, budget = 600 << 10, 2 << 20 // three of them exceed the budget
	c := open(t, result.Options{Budget: 1 << 20, LargeBudget: budget})
	ask := asker(t, c)
	for _, step := range []struct {
		query      string
		size       int
		generation uint64
		want       result.Outcome
		evicted    uint64
	}{
		{"a", large, 1, result.Loaded, 0},
		{"b", large, 1, result.Loaded, 0},
		{"c", large, 1, result.Loaded, 0},
		{"a", large, 1, result.Hit, 0},
		{"d", large, 1, result.Loaded, 1},
		{"a", large, 1, result.Hit, 1},
		{"b", large, 1, result.Loaded, 2},
		{"too large", budget, 1, result.Loaded, 2},
		{"too large", budget, 1, result.Loaded, 2},
		{"a", large, 2, result.Loaded, 2}, // replaces its first generation
		{"b", large, 1, result.Hit, 2},
		{"a", large, 1, result.Loaded, 2}, // not kept: the second generation stays
		{"a", large, 2, result.Hit, 2},
		{"a", 10, 3, result.Loaded, 2}, // small from now on
		{"a", 10, 3, result.Hit, 2},
		{"a", large, 4, result.Loaded, 2}, // and large again
		{"a", large, 4, result.Hit, 2},
	} {
		if got := ask(step.query, step.size, step.generation); got != step.want {
			t.Errorf("%v: %s", step, got)
		}
		if s := c.Stats(); s.Evicted != step.evicted || s.Bytes > 3*(large+2048) || s.Budget != budget+1<<20 {
			t.Errorf("%v: %+v", step, s)
		}
	}
	if s := c.Stats(); s.Rejected != 2 || s.Bytes < 3*large {
		t.Errorf("%+v", s)
	}
}

func TestEveryPartOfTheKeyCounts(t *testing.T) {
	c := open(t, result.Options{Budget: 1 << 20})
	base := result.Key{View: "v", Epoch: "e", Generation: 1, Query: "q"}
	keys := map[string]result.Key{"base": base}
	for name, change := range map[string]func(*result.Key){
		"view":       func(k *result.Key) { k.View = "w" },
		"epoch":      func(k *result.Key) { k.Epoch = "f" },
		"generation": func(k *result.Key) { k.Generation = 2 },
		"published":  func(k *result.Key) { k.Published = 2 },
		"query":      func(k *result.Key) { k.Query = "r" },
		"boundaries": func(k *result.Key) { k.View, k.Epoch = "ve", "" },
	} {
		k := base
		change(&k)
		keys[name] = k
	}
	for round := range 3 {
		for name, key := range keys {
			a, _, err := c.Get(t.Context(), key, func(context.Context) (*result.Answer, error) {
				return result.NewAnswer([]byte(name), "text/plain"), nil
			})
			if err != nil || string(a.Body) != name {
				t.Errorf("round %d: key %s holds %v, %v", round, name, a, err)
			}
		}
	}
}

// TestNewerTakesThePlace: the cache keeps only the newest generation of an answer, even if a
// request for an older one comes later.
func TestNewerTakesThePlace(t *testing.T) {
	c := open(t, result.Options{Budget: 1 << 20})
	get := func(generation uint64) result.Outcome {
		key := result.Key{View: "v", Epoch: "e", Generation: generation, Query: "q"}
		a, outcome, err := c.Get(t.Context(), key, func(context.Context) (*result.Answer, error) {
			return result.NewAnswer(bytes.Repeat([]byte{byte(generation)}, 4096), "text/plain"), nil
		})
		if err != nil || a.Body[0] != byte(generation) {
			t.Fatalf("generation %d: %v, %v", generation, a, err)
		}
		return outcome
	}
	kept(t, func() result.Outcome { return get(1) })
	held := c.Stats().Bytes
	for generation := uint64(2); generation < 10; generation++ {
		kept(t, func() result.Outcome { return get(generation) })
	}
	if got := get(3); got != result.Loaded {
		t.Errorf("outcome for an older generation: %s", got)
	}
	if got := get(9); got != result.Hit {
		t.Errorf("outcome for the newest generation after a late request: %s", got)
	}
	if got := c.Stats().Bytes; got != held {
		t.Errorf("%d bytes in the cache, %d with one generation", got, held)
	}
}

// TestPrepare: a prepared answer enters the cache on publication, not before.
func TestPrepare(t *testing.T) {
	c := open(t, result.Options{Budget: 1 << 20})
	var runs atomic.Int32
	body := strings.Repeat("lorem ipsum ", 1000)
	for _, coding := range []result.Coding{result.Identity, result.Gzip} {
		key := result.Key{View: "v", Generation: 1, Query: "q", Coding: coding}
		kept(t, func() result.Outcome {
			_, outcome, err := c.Get(t.Context(), key, counted(body, &runs))
			if err != nil {
				t.Fatal(err)
			}
			return outcome
		})
		next := key
		next.Generation = 2
		keep, err := c.Prepare(t.Context(), next, counted("the next "+body, &runs))
		if err != nil {
			t.Fatal(err)
		}
		if c.Lookup(key) == nil {
			t.Errorf("%q: the generation shown lost its answer", coding)
		}
		keep()
		a := c.Lookup(next)
		if a == nil || decode(t, a.Coding, a.Body) != "the next "+body || a.Coding != coding {
			t.Errorf("%q: the cache lacks the prepared answer: %v", coding, a)
		}
	}
	broken := errors.New("broken")
	_, err := c.Prepare(t.Context(), result.Key{},
		func(context.Context) (*result.Answer, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestCompressedLater: a compressed answer, of any size, replaces the entry which says that the
// plain one is too large, and the other way round.
func TestCompressedLater(t *testing.T) {
	c := open(t, result.Options{Budget: 1 << 20, LargeBudget: 8 << 20})
	key := result.Key{Query: "q", Coding: result.Gzip}
	tooLarge := func(context.Context) (*result.Answer, error) { return &result.Answer{TooLarge: true}, nil }
	for _, size := range []int{10, result.LargeBytes + 1} {
		key.Generation++
		if a, outcome, err := c.Get(t.Context(), key, tooLarge); err != nil || outcome != result.Loaded ||
			!a.TooLarge {
			t.Fatalf("%d: %v, %s, %v", size, a, outcome, err)
		}
		keep, err := c.Prepare(t.Context(), key, func(context.Context) (*result.Answer, error) {
			return &result.Answer{Body: make([]byte, size), ETag: `"e"`, Coding: result.Gzip, TooLarge: true}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		keep()
		if a := c.Lookup(key); a == nil || len(a.Body) != size {
			t.Errorf("%d: %v is kept", size, a)
		}
	}
}

func TestOneFlightPerKey(t *testing.T) {
	c := open(t, result.Options{})
	const callers = 20
	var runs atomic.Int32
	started, release := make(chan struct{}), make(chan struct{})
	load := func(context.Context) (*result.Answer, error) {
		if runs.Add(1) == 1 {
			close(started)
		}
		<-release
		return result.NewAnswer([]byte("x"), "text/plain"), nil
	}
	var joined, wg sync.WaitGroup
	outcomes := make(chan result.Outcome, callers)
	get := func() {
		defer wg.Done()
		joined.Done()
		_, outcome, err := c.Get(t.Context(), result.Key{Query: "q"}, load)
		if err != nil {
			t.Error(err)
		}
		outcomes <- outcome
	}
	joined.Add(callers)
	wg.Add(callers)
	go get()
	<-started
	for range callers - 1 {
		go get()
	}
	joined.Wait()
	close(release)
	wg.Wait()
	close(outcomes)
	seen := map[result.Outcome]int{}
	for o := range outcomes {
		seen[o]++
	}
	// A caller that comes after the flight has ended starts its own.
	if seen[result.Loaded] != int(runs.Load()) || seen[result.Loaded]+seen[result.Shared] != callers {
		t.Errorf("outcomes = %v, runs = %d", seen, runs.Load())
	}
	if s := c.Stats(); s.Shared != uint64(seen[result.Shared]) || s.Loads != uint64(runs.Load()) {
		t.Errorf("stats = %+v, outcomes = %v", s, seen)
	}
}

func TestLoadOutlivesTheCallerWhoStartedIt(t *testing.T) {
	c := open(t, result.Options{})
	started, release := make(chan struct{}), make(chan struct{})
	load := func(ctx context.Context) (*result.Answer, error) {
		close(started)
		<-release
		return result.NewAnswer([]byte("x"), "text/plain"), ctx.Err()
	}
	first, hangUp := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, _, err := c.Get(first, result.Key{Query: "q"}, load)
		gone <- err
	}()
	<-started
	hangUp()
	if err := <-gone; !errors.Is(err, rules.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("first caller's error = %v", err)
	}
	second := make(chan error)
	go func() {
		_, _, err := c.Get(t.Context(), result.Key{Query: "q"}, func(context.Context) (*result.Answer, error) {
			return result.NewAnswer([]byte("x"), "text/plain"), nil
		})
		second <- err
	}()
	close(release)
	if err := <-second; err != nil {
		t.Errorf("second caller's error = %v", err)
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	c := open(t, result.Options{Budget: 1 << 20})
	boom := errors.New("boom")
	for range 2 {
		_, _, err := c.Get(t.Context(), result.Key{},
			func(context.Context) (*result.Answer, error) { return nil, boom })
		if !errors.Is(err, boom) {
			t.Errorf("error = %v, want %v", err, boom)
		}
	}
	if s := c.Stats(); s.Loads != 2 || s.Errors != 2 {
		t.Errorf("stats = %+v", s)
	}
}

func TestPanicIsAnError(t *testing.T) {
	c := open(t, result.Options{})
	_, _, err := c.Get(t.Context(), result.Key{}, func(context.Context) (*result.Answer, error) { panic("boom") })
	if err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("error = %v", err)
	}
}

func TestDeadlineIsTheCachesOwn(t *testing.T) {
	c := open(t, result.Options{Timeout: time.Millisecond})
	_, _, err := c.Get(t.Context(), result.Key{}, func(ctx context.Context) (*result.Answer, error) {
		<-ctx.Done()
		return nil, fmt.Errorf("select: %w", ctx.Err())
	})
	if !errors.Is(err, rules.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v", err)
	}
}

func TestClosed(t *testing.T) {
	c, err := result.New(result.Options{Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	var runs atomic.Int32
	if _, _, err := c.Get(t.Context(), result.Key{}, counted("x", &runs)); !errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("error = %v", err)
	}
	if runs.Load() != 0 {
		t.Error("a closed cache ran a loader")
	}
}

func TestNegativeBudgetKeepsNothing(t *testing.T) {
	c := open(t, result.Options{Budget: -1})
	var runs atomic.Int32
	for range 3 {
		if _, _, err := c.Get(t.Context(), result.Key{}, counted("x", &runs)); err != nil {
			t.Fatal(err)
		}
	}
	if runs.Load() != 3 {
		t.Errorf("runs = %d, want 3", runs.Load())
	}
}

func decode(t *testing.T, c result.Coding, body []byte) string {
	t.Helper()
	var r io.Reader
	var err error
	switch c {
	case result.Gzip:
		r, err = gzip.NewReader(bytes.NewReader(body))
	case result.Zstd:
		var d *zstd.Decoder
		d, err = zstd.NewReader(bytes.NewReader(body))
		if err == nil {
			defer d.Close()
		}
		r = d
	case result.Brotli:
		r = brotli.NewReader(bytes.NewReader(body))
	default:
		r = bytes.NewReader(body)
	}
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func TestCodedAnswersComeFromOnePlainOne(t *testing.T) {
	c := open(t, result.Options{Budget: 8 << 20})
	body := strings.Repeat("citation after citation ", 1000)
	var runs atomic.Int32
	plain, _, err := c.Get(t.Context(), result.Key{}, counted(body, &runs))
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]bool{plain.ETag: true}
	for _, coding := range []result.Coding{result.Gzip, result.Brotli, result.Zstd} {
		t.Run(string(coding), func(t *testing.T) {
			var last *result.Answer
			kept(t, func() result.Outcome {
				a, outcome, err := c.Get(t.Context(), result.Key{Coding: coding}, counted(body, &runs))
				if err != nil {
					t.Fatal(err)
				}
				last = a
				return outcome
			})
			if last.Coding != coding || len(last.Body) >= len(body) {
				t.Errorf("coding %q of %d bytes, want %q and fewer than %d", last.Coding, len(last.Body), coding,
					len(body))
			}
			if got := decode(t, coding, last.Body); got != body {
				t.Errorf("decodes to %d bytes that differ", len(got))
			}
			tags[last.ETag] = true
		})
	}
	if len(tags) != 4 {
		t.Errorf("tags = %v, want four that differ", tags)
	}
	if got := runs.Load(); got != 1 {
		t.Errorf("plain answer computed %d times", got)
	}
}

func TestNotWorthCompressing(t *testing.T) {
	c := open(t, result.Options{})
	tests := map[string]*result.Answer{
		"tiny":      result.NewAnswer([]byte("{}"), "application/json"),
		"too large": {TooLarge: true},
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			got, _, err := c.Get(t.Context(), result.Key{Query: name, Coding: result.Gzip},
				func(context.Context) (*result.Answer, error) { return answer, nil })
			if err != nil || got != answer {
				t.Errorf("Get = %v, %v, want the plain answer", got, err)
			}
		})
	}
}

func TestStream(t *testing.T) {
	for _, coding := range []result.Coding{result.Gzip, result.Brotli, result.Zstd} {
		t.Run(string(coding), func(t *testing.T) {
			var out bytes.Buffer
			w, err := result.NewStream(&out, coding)
			if err != nil {
				t.Fatal(err)
			}
			for range 100 {
				fmt.Fprint(w, "row")
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got := decode(t, coding, out.Bytes()); got != strings.Repeat("row", 100) {
				t.Errorf("decodes to %q", got)
			}
		})
	}
	if _, err := result.NewStream(io.Discard, result.Identity); err == nil {
		t.Error("identity has a compressor")
	}
}

func TestTag(t *testing.T) {
	if result.Tag("a", result.Identity) == result.Tag("a", result.Gzip) ||
		result.Tag("a", "") == result.Tag("b", "") {
		t.Error("tags of different content are equal")
	}
}

func BenchmarkHit(b *testing.B) {
	c := open(b, result.Options{Budget: 1 << 20})
	key := result.Key{View: "activities", Epoch: "e", Generation: 12, Query: "list?limit=20&filter={}",
		Coding: result.Zstd}
	load := func(context.Context) (*result.Answer, error) {
		return result.NewAnswer(make([]byte, 4096), "application/json"), nil
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := c.Get(b.Context(), key, load); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWaiting: a load fails at once if too many wait already. Waiting loads run one after the
// other.
func TestWaiting(t *testing.T) {
	c := open(t, result.Options{Timeout: time.Hour})
	const waiting = 1000
	parallel := 2 * runtime.GOMAXPROCS(0)
	begun, release := make(chan struct{}, parallel+waiting), make(chan struct{})
	load := func(context.Context) (*result.Answer, error) {
		begun <- struct{}{}
		<-release
		return result.NewAnswer([]byte("x"), "text/plain"), nil
	}
	errs := make(chan error, parallel+waiting+1)
	get := func(query string) {
		_, _, err := c.Get(t.Context(), result.Key{Query: query}, load)
		errs <- err
	}
	for i := range parallel {
		go get("begins " + strconv.Itoa(i))
		<-begun
	}
	for i := range waiting + 1 { // one of them fails
		go get("waits " + strconv.Itoa(i))
	}
	if err := <-errs; !errors.Is(err, rules.ErrUnavailable) {
		t.Errorf("error %v, want %v", err, rules.ErrUnavailable)
	}
	close(release)
	for range parallel + waiting {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	_, turn, err := c.Begin(t.Context())
	if err != nil {
		t.Fatalf("no free turn at the end: %v", err)
	}
	turn.End()
}
