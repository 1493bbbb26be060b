package response_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/proxy/api"
	"vitrine/proxy/proxytest"
)

// numbers returns a list of n numbers, as JSON or in brackets.
func numbers(n int, format, separator string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, separator)
}

// TestFilterBombs: the server refuses small requests with costly evaluations, or answers them
// within its limits.
func TestFilterBombs(t *testing.T) {
	proxytest.WholeOnly(t)
	s := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Many(t, 2000), proxytest.Options(t)))
	j := func(filter string) string { return "/api/activities?limit=1&json=" + url.QueryEscape(filter) }
	re := func(pattern string) string {
		return j(`{"title":{"$regex":"` + strings.ReplaceAll(pattern, `\`, `\\`) + `"}}`)
	}
	repeat := strings.Repeat
	tests := []struct {
		name, target string
		want         []int
	}{
		{"depth", j(repeat(`{"$and":[`, 2000) + `{}` + repeat(`]}`, 2000)), []int{400}},
		{"depth of $not", j(`{"a":` + repeat(`{"$not":`, 3000) + `{"$gt":1}` + repeat(`}`, 3000) + `}`), []int{400}},
		{"depth of $elemMatch", j(`{"a":` + repeat(`{"$elemMatch":`, 2000) + `{"$gt":1}` + repeat(`}`, 2000) + `}`),
			[]int{400}},
		{"depth of values", j(`{"a":` + repeat(`[`, 10000) + repeat(`]`, 10000) + `}`), []int{400}},
		{"depth of brackets", "/api/activities?filter" + repeat("[$and][0]", 2000) + "[a]=1", []int{400}},
		{"depth of a path", j(`{"` + repeat("a.", 10000) + `a":1}`), []int{200, 400}},
		{"width", j(`{"$or":[` + numbers(2500, `{"a":%d}`, ",") + `]}`), []int{400}},
		{"width of brackets", "/api/activities?" + numbers(5000, "filter[$or][][a]=%d", "&"), []int{400, 414, 431}},
		{"one condition many times", j(`{"$or":[` + repeat(`{"a":1},`, 900) + `{}]}`), []int{200, 400}},
		{"nested alternatives", j(repeat(`{"$or":[{"a":1},`, 15) + `{}` + repeat(`]}`, 15)), []int{200}},
		{"alternatives of alternatives",
			j(`{"$and":[` + repeat(`{"$or":[{"title":"a"},{"$nor":[{"year":1},{"type":2}]}]},`, 200) + `{}]}`),
			[]int{200, 400}},
		{"$in of 100,000", j(`{"year":{"$in":[` + numbers(100_000, "%d", ",") + `]}}`), []int{400, 414, 431}},
		{"$in as long as may be", j(`{"year":{"$in":[` + numbers(5500, "%d", ",") + `]}}`), []int{200, 400}},
		{"$in of expressions",
			j(`{"title":{"$in":[` + repeat(`{"$regularExpression":{"pattern":"(a+)+$","options":""}},`, 300) +
				`1]}}`), []int{200, 400}},
		{"$all of many", j(`{"year":{"$all":[` + numbers(3000, "%d", ",") + `]}}`), []int{200, 400}},
		{"$size beyond numbers", j(`{"authors":{"$size":1e308}}`), []int{400}},
		{"$mod by the least number", j(`{"year":{"$mod":[-1,-9223372036854775808]}}`), []int{200, 400}},
		{"$mod of a fraction", j(`{"year":{"$mod":[0.1,0]}}`), []int{400}},
		{"$bitsAllSet far out", j(`{"year":{"$bitsAllSet":[2147483647]}}`), []int{200, 400}},
		{"$expr in itself", j(`{"$expr":` + repeat(`{"$not":[`, 500) + `true` + repeat(`]}`, 500) + `}`), []int{400}},
		{"$where", j(`{"$where":"while(1){}"}`), []int{400}},
		{"$function", j(`{"$expr":{"$function":{"body":"while(1){}","args":[],"lang":"js"}}}`), []int{400}},
		{"numbers beyond numbers", j(`{"year":1e999999}`), []int{200, 400}},
		{"decimals", j(`{"year":{"$numberDecimal":"1E6144"}}`), []int{200}},
		{"a number of 30,000 digits", j(`{"year":` + repeat("9", 30000) + `}`), []int{200, 400}},

		{"expression: nested repetition", re(`(a+)+$`), []int{200, 400}},
		{"expression: nested repetition with a look", re(`^(?=(\w+)+!$)`), []int{200, 400}},
		{"expression: alternatives that overlap", re(`(?!x)^(\w|\w\w|\w+)+!$`), []int{200, 400}},
		{"expression: a reference to itself", re(`(\w*)*\1!$`), []int{200, 400}},
		{"expression: looks in looks", re(repeat(`(?=`, 300) + `a` + repeat(`)`, 300)), []int{200, 400}},
		{"expression: a look behind", re(`(?<=(\w+\s)+)!$`), []int{200, 400}},
		{"expression: huge repetition", re(`a{1000000}`), []int{200, 400}},
		{"expression: repetition of repetition", re(`((a{1000}){1000}){1000}`), []int{200, 400}},
		{"expression: repetition beyond numbers", re(`a{99999999999999999999}`), []int{200, 400}},
		{"expression: repetition to 1000, many times", re(repeat(`[a-z]{0,1000}`, 80)), []int{200, 400}},
		{"expression: groups", re(repeat(`(`, 1500) + repeat(`)`, 1500)), []int{200, 400}},
		{"expression: classes", re(repeat(`[^a-z\x{10000}-\x{10ffff}]`, 100)), []int{200, 400}},
		{"expression: every letter folded",
			"/api/activities?limit=1&json=" +
				url.QueryEscape(`{"title":{"$regex":"`+repeat("ſK", 400)+`","$options":"i"}}`), []int{200, 400}},
		{"expression: recursion", re(`(a(?1)?b)+`), []int{200, 400}},
		{"expression: a search", "/api/projects?search=" + url.QueryEscape(`(?=(.*.*.*)*x)y`), []int{200, 400}},

		{"columns", "/api/activities?" + numbers(5000, "columns[]=c%d", "&"), []int{400, 414}},
		{"one column many times", "/api/activities?limit=1&" + repeat("columns[]=a&", 5000), []int{200, 400}},
		{"columns in one", "/api/search/persons?columns=" + numbers(9000, "c%d", ","), []int{400, 414}},
		{"the largest limit", "/api/activities?limit=9223372036854775807&offset=9223372036854775807", []int{200}},
		{"the largest limit of groups", "/api/search/activities?aggregate=year&limit=9223372036854775807&offset=1",
			[]int{200}},
		{"limit beyond numbers", "/api/activities?limit=9223372036854775808", []int{400}},
		{"unwinding within unwinding",
			"/api/search/activities?limit=1&columns[]=authors.user&columns[]=editors.user&columns[]=topics&" +
				"columns[]=units&columns[]=persons.user", []int{200, 400}},
		{"a figure of everything",
			"/api/search/activities?aggregate=title&aggregate_function=median&aggregate_value=year", []int{200}},
		{"funding numbers", "/api/projects-by-funding-number?number=" + numbers(10000, "%d", ","), []int{200, 400}},
		{"a title as long as may be", "/api/levenshtein?title=" + repeat("ab", 32000), []int{200, 400}},
		{"a title of many bytes a letter", "/api/levenshtein?title=" + repeat("%F0%9F%92%A9", 5000), []int{200, 400}},
	}
	client := &http.Client{}
	defer client.CloseIdleConnections()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			res, err := client.Get("http://" + s.Addr + tt.target)
			if err != nil {
				t.Fatalf("%.300v", err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes: %d in %v", len(tt.target), res.StatusCode, time.Since(began).Round(time.Millisecond))
			if !slices.Contains(tt.want, res.StatusCode) {
				t.Errorf("status %d, want one of %v: %.300s", res.StatusCode, tt.want, body)
			}
			if !strings.HasPrefix(tt.target, "/api/levenshtein") || res.StatusCode != 200 {
				proxytest.Response{Response: res, Body: body}.Envelope(t)
			}
		})
	}
}

// latencies sends the same request on its own connection until it is stopped, with a pause after each
// answer, and returns how long each answer took.
func latencies(l *proxytest.Live, stop <-chan struct{}, target string, pause time.Duration,
	see func(proxytest.Response)) []time.Duration {
	conn := l.Dial()
	r := bufio.NewReader(conn)
	var all []time.Duration
	for {
		select {
		case <-stop:
			return all
		default:
		}
		began := time.Now()
		l.Write(conn, "GET "+target+" HTTP/1.1\r\nHost: x\r\n\r\n")
		see(l.Read(r))
		all = append(all, time.Since(began))
		<-time.After(pause)
	}
}

// TestExpressionsBesideHits: fifty clients send new expressions, some of them catastrophic, as fast
// as they get answers. Meanwhile the server answers cached requests, and no client gets anything
// worse than 503 with Retry-After. The test logs the figures.
func TestExpressionsBesideHits(t *testing.T) {
	rows, long := 10_000, proxytest.HostileFor(t, time.Second)
	if os.Getenv("VITRINE_TEST_HOSTILE") != "" {
		rows, long = 100_000, min(long, 20*time.Second)
	}
	o := proxytest.Options(t)
	o.Limits.RequestTimeout = 3 * time.Second
	o.Cache.Timeout = o.Limits.RequestTimeout
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Many(t, rows), o))
	const hot = "/api/activities?limit=5"
	proxytest.Until(t, "the answer is kept", func() bool { // a moment after the server has sent it
		return l.Get(hot).Header.Get("Cache-Status") == "vitrine; hit"
	})
	attack := func(stop <-chan struct{}, clients int) (answered map[int]int, done func()) {
		var mu sync.Mutex
		answered = map[int]int{}
		var attackers sync.WaitGroup
		var n atomic.Int64
		for range clients {
			attackers.Go(func() {
				client := &http.Client{}
				defer client.CloseIdleConnections()
				for {
					select {
					case <-stop:
						return
					default:
					}
					k := n.Add(1)
					pattern := fmt.Sprintf("(?:lorem|acti[v]ity) .*%d", k)
					switch k % 5 {
					case 1:
						pattern = fmt.Sprintf(`^(?=(\w+\s?)+%d!$)`, k)
					case 2:
						pattern = fmt.Sprintf(`(\w*)*\1%d!$`, k)
					}
					res, err := client.Get("http://" + l.Addr + "/api/activities?limit=1&json=" +
						url.QueryEscape(`{"title":{"$regex":"`+strings.ReplaceAll(pattern, `\`, `\\`)+`"}}`))
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
					if res.StatusCode == 503 && res.Header.Get("Retry-After") == "" {
						t.Error("503 without Retry-After")
					}
					mu.Lock()
					answered[res.StatusCode]++
					mu.Unlock()
				}
			})
		}
		return answered, attackers.Wait
	}
	measure := func(clients int) (p50, p99 time.Duration, answered map[int]int) {
		running, cancel := context.WithTimeout(t.Context(), long)
		defer cancel()
		stop := running.Done()
		answered, wait := attack(stop, clients)
		var all []time.Duration
		var prober sync.WaitGroup
		prober.Go(func() {
			all = latencies(l, stop, hot, time.Millisecond, func(res proxytest.Response) {
				if res.StatusCode != 200 || res.Header.Get("Cache-Status") != "vitrine; hit" {
					t.Errorf("the answer in memory: %d, %s", res.StatusCode, res.Header.Get("Cache-Status"))
				}
			})
		})
		prober.Wait()
		wait()
		return percentile(all, 50), percentile(all, 99), answered
	}
	p50, p99, _ := measure(0)
	t.Logf("alone: p50 %v, p99 %v", p50, p99)
	p50, p99, answered := measure(50)
	t.Logf("beside fifty clients: p50 %v, p99 %v; answers by status %v", p50, p99, answered)
	for status := range answered {
		if status != 200 && status != 400 && status != 503 {
			t.Errorf("%d answers with status %d", answered[status], status)
		}
	}
}

// TestCacheBusting: clients send new queries as fast as the server answers them. Memory stays
// within the budgets, and an answer that clients request all the time stays cached.
func TestCacheBusting(t *testing.T) {
	const answers, indexes = 4 << 20, 8 << 20
	o := proxytest.Options(t)
	o.Cache.Budget = answers
	l := proxytest.ServeLive(t, proxytest.OpenViews(t, proxytest.Many(t, 2000), o, api.Views(), indexes))
	const hot = "/api/activities?limit=20"
	var n atomic.Int64
	flood := func(long time.Duration) {
		running, cancel := context.WithTimeout(t.Context(), long)
		defer cancel()
		stop := running.Done()
		var clients sync.WaitGroup
		for range 8 {
			clients.Go(func() {
				client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
				defer client.CloseIdleConnections()
				for {
					select {
					case <-stop:
						return
					default:
					}
					k := n.Add(1)
					target := []string{
						"/api/activities?limit=20&offset=%d", "/api/activities?filter[never.seen%d]=1",
						"/api/activities?limit=50&x=%d",
						"/api/activities?aggregate=field%d", "/api/search/activities?columns[]=column%d&limit=50",
						"/api/html?nonsense=%d",
						"/api/users/unknown%d", "/api/levenshtein?title=title+%d", "/api/nothing/%d",
						"/api/projects?search=s%d",
					}[k%10]
					res, err := client.Get("http://" + l.Addr + fmt.Sprintf(target, k))
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
					if res.StatusCode >= 500 {
						t.Errorf("%s: %d", res.Request.URL, res.StatusCode)
					}
				}
			})
		}
		hits, asked := 0, 0
		var prober sync.WaitGroup
		prober.Go(func() {
			latencies(l, stop, hot, time.Millisecond, func(res proxytest.Response) {
				if asked++; strings.HasSuffix(res.Header.Get("Cache-Status"), "hit") {
					hits++
				}
			})
		})
		clients.Wait()
		prober.Wait()
		t.Logf("%d queries; %d of %d hot answers from memory", n.Load(), hits, asked)
		if asked-hits > 5+asked/20 { // at first the cache does not know that it is hot
			t.Errorf("%d of %d hot answers from memory", hits, asked)
		}
	}
	before := proxytest.Memory()
	flood(proxytest.HostileFor(t, time.Second) / 2)
	first := proxytest.Memory()
	flood(min(proxytest.HostileFor(t, 2*time.Second), time.Minute))
	most := answers + indexes + 96<<20 // answers, indexes, and the cached plans of each resource
	second := before + heldSince(before, most)
	indexed := int64(0)
	for _, status := range l.Views.Status() {
		indexed += status.IndexBytes
	}
	t.Logf("heap before %d, then %d, then %d bytes; by indexes %d", before, first, second, indexed)
	if indexed > indexes {
		t.Errorf("indexes hold %d of %d bytes", indexed, indexes)
	}
	if second-before > most {
		t.Errorf("%d bytes more than before, want at most %d", second-before, most)
	}
}

// TestSmallAnswersStayInBudget: many answers of a few bytes hold no more memory than a few large
// ones.
func TestSmallAnswersStayInBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("fifteen thousand requests")
	}
	const answers, plans = 4 << 20, 8 << 20
	o := proxytest.Options(t)
	o.Cache.Budget = answers
	app := proxytest.Open(t, proxytest.Many(t, 10), o).Server.App()
	ask := func(i int) {
		req := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/api/activities?filter[type]=none%d", i), nil)
		res, err := app.Test(req, -1)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	ask(0)
	before := proxytest.Memory()
	for i := range 15_000 {
		ask(1 + i)
	}
	held := heldSince(before, 2*(answers+plans))
	t.Logf("%d bytes held", held)
	if held > 2*(answers+plans) {
		t.Errorf("%d bytes held where answers may take %d and plans %d", held, answers, plans)
	}
}

// percentile returns the p-th percentile of times.
func percentile(all []time.Duration, p int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)*p/100].Round(10 * time.Microsecond)
}
