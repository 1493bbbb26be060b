package api_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/proxy/proxytest"
)

// attacker makes up requests from our grammar, from pieces that have harmed other servers, and from
// random bytes. The same seed makes the same requests.
type attacker struct{ *rand.Rand }

func (a attacker) one(of ...string) string { return of[a.IntN(len(of))] }

func (a attacker) bytes(most int) string {
	b := make([]byte, a.IntN(most))
	for i := range b {
		b[i] = byte(a.Uint32())
	}
	return string(b)
}

// piece is part of a value.
func (a attacker) piece() string {
	switch a.IntN(12) {
	case 0:
		return a.bytes(12)
	case 1:
		return fmt.Sprint(a.Int64() >> a.IntN(64))
	case 2:
		return fmt.Sprintf("%%%02x", a.IntN(256))
	case 3:
		return strings.Repeat(a.one("(", "[", "{\"a\":", "a", "%", ".", "a.", "(a+)+", "\\", "$"), 1+a.IntN(200))
	default:
		return a.one("publication", "2020", "true", "null", "-1", "0", "1e309", "NaN", "%00", "%ff", "\"", "'",
			"<script>", "%0d%0aX-Evil:1", "authors.user",
			"title", "year", "type", "_id", "64a000000000000000000001", "$gt", "$in", "$regex", "$or", "$where",
			"../", "//", "@", "{}", "[]", "{", "[", ",", ";", "&", "=", "+", " ",
			"(?=a)", "(a+)+$", `\1`, "\\u0000", "a{1000000}", "ä", "\u202e", "de", "en", "portal", "my-activities",
			"linda", "javascript:alert(1)")
	}
}

func (a attacker) value() string {
	var b strings.Builder
	for range a.IntN(5) {
		b.WriteString(a.piece())
	}
	return b.String()
}

// json makes a filter, well-formed as a rule.
func (a attacker) json(depth int) string {
	if depth <= 0 || a.IntN(5) == 0 {
		return a.one("1", "-0", "2020", `"publication"`, "true", "null", "[]", "{}",
			`{"$oid":"64a000000000000000000001"}`, `{"$date":0}`, `{"$numberLong":"9223372036854775807"}`,
			`"`+strings.NewReplacer(`"`, "", `\`, "").Replace(a.value())+`"`)
	}
	key := a.one("type", "year", "title", "authors.user", "a.b.c", "_id", "$or", "$and", "$nor", "$expr", "$gt",
		"$lte", "$ne", "$in", "$nin", "$all", "$not", "$elemMatch", "$regex", "$options",
		"$size", "$mod", "$type", "$exists", "$bitsAllSet", "$text", "$where", "$jsonSchema", "$near", "", "$",
		"a..b")
	if a.IntN(3) == 0 {
		return "[" + a.json(depth-1) + "," + a.json(depth-1) + "]"
	}
	return fmt.Sprintf("{%q:%s}", key, a.json(depth-1))
}

func (a attacker) query() string {
	var pairs []string
	for range a.IntN(6) {
		switch a.IntN(6) {
		case 0:
			pairs = append(pairs, "json="+
				strings.NewReplacer("%", "%25", " ", "+", "#", "%23", "&", "%26").Replace(a.json(6)))
		case 1:
			name := "filter"
			for range 1 + a.IntN(4) {
				name += "[" + a.one("type", "year", "$gte", "$in", "", "0", "1", "$or", "$regex", "authors.user",
					a.value()) + "]"
			}
			pairs = append(pairs, name+"="+a.value())
		default:
			pairs = append(pairs, a.one("limit", "offset", "full", "raw", "formatted", "columns[]", "columns",
				"aggregate", "aggregate_function", "aggregate_value", "search", "apikey", "lang",
				"page", "user", "path", "type", "spectrum", "number", "number[]", "title", "doi", "pubmed", "doc",
				"json", "filter", a.value())+"="+a.one(a.value(), a.value(), "1", "sum", "type"))
		}
	}
	return strings.Join(pairs, "&")
}

// request makes one request, complete or cut, well-formed or not.
func (a attacker) request(paths []string) string {
	if a.IntN(60) == 0 {
		return a.bytes(300)
	}
	path := a.one(paths...)
	if a.IntN(10) == 0 {
		path += a.value()
	}
	target := path
	if a.IntN(8) > 0 {
		target += "?" + a.query()
	}
	if a.IntN(5) > 0 { // otherwise blanks and line ends stay, and make it another request
		target = strings.NewReplacer(" ", "%20", "\r", "%0d", "\n", "%0a").Replace(target)
	}
	method := "GET"
	if a.IntN(12) == 0 {
		method = a.one("HEAD", "POST", "PUT", "OPTIONS", "TRACE", "CONNECT", "PRI", "get", "")
	}
	lines := []string{method + " " + target + " " +
		a.one("HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.1", "HTTP/2.0"), "Host: x"}
	for range a.IntN(4) {
		lines = append(lines, a.one("Accept-Encoding: ", "If-None-Match: ", "X-API-Key: ", "Authorization: Bearer ",
			"Cookie: vitrine_session=", "Origin: ", "Range: bytes=", "X-Request-Id: ",
			"X-Forwarded-For: ", "Content-Length: ", "Transfer-Encoding: ", "Expect: ", "Connection: ", "Host: ",
			"Sec-Fetch-Site: ", "Referer: ", " ", "")+
			a.one("gzip", "br", "zstd;q=0.1, *", "*", "chunked", "0", "5", "100-continue", "close", "keep-alive",
				"Upgrade", "https://www.example.org", "same-origin", a.value()))
	}
	text := strings.Join(lines, a.one("\r\n", "\r\n", "\r\n", "\r\n", "\n")) + "\r\n\r\n"
	if a.IntN(20) == 0 {
		text += a.value()
	}
	if a.IntN(40) == 0 {
		text = text[:a.IntN(len(text))]
	}
	return text
}

// TestRandomAttacker sends random requests over many connections; it cuts off some and does not
// read others. The server answers 5xx only as 503 with Retry-After, each answer is an envelope
// without headers injected by a request, and afterwards the server holds no more goroutines,
// descriptors or memory than before.
func TestRandomAttacker(t *testing.T) {
	o := matrixOptions(t, []byte("session secret"), false, "10.0.0.0/8")
	o.Limits.Read, o.Limits.RequestTimeout = 2*time.Second, 5*time.Second
	o.CORS.Origins, o.CORS.Credentials = []string{"https://www.example.org"}, true
	l := proxytest.ServeLive(t, proxytest.Open(t, matrixStore(t), o))
	var paths []string
	for _, row := range matrix {
		path, _, _ := strings.Cut(row.target, "?")
		paths = append(paths, path)
	}
	paths = append(paths, "/", "*", "//", "/api/users/", "/api/%2e%2e/", "http://elsewhere/api/html")
	flurry(l, t, paths, 1, 200*time.Millisecond) // fills the caches
	base, before, held := quietly(t, l), descriptors(), proxytest.Memory()

	seed := uint64(time.Now().UnixNano())
	statuses := flurry(l, t, paths, seed, proxytest.HostileFor(t, 2*time.Second))
	total := 0
	for _, n := range statuses {
		total += n
	}
	t.Logf("seed %d: %d requests, by status %v", seed, total, statuses)
	// The server keeps idle workers for up to twenty seconds.
	if n := falls(base+2, runtime.NumGoroutine); n > base+2 {
		var stacks strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		t.Errorf("%d goroutines, %d before:\n%s", n, base, stacks.String())
	}
	if after := falls(before+4, descriptors); after > before+4 {
		t.Errorf("%d descriptors, %d before", after, before)
	}
	after := proxytest.Memory()
	t.Logf("%d goroutines before, %d after; %d bytes before, %d after", base, runtime.NumGoroutine(), held, after)
	if after-held > 128<<20 {
		t.Errorf("%d bytes more than before", after-held)
	}
}

// quietly waits until no connection is open and returns the number of goroutines.
func quietly(t *testing.T, l *proxytest.Live) int {
	t.Helper()
	proxytest.Until(t, "no connection is open", func() bool { return l.Metric("vitrine_connections") == 0 })
	before := -1
	proxytest.Until(t, "no goroutine ends or starts", func() bool {
		last := before
		before = runtime.NumGoroutine()
		return before == last
	})
	return before
}

// descriptors counts the open descriptors of this process; 0 if the system does not report them.
func descriptors() int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(all)
}

// falls counts until there are at most so many, and returns the last count. It gives up after so long that even a
// busy machine has ended by then what ends at all.
func falls(most int, count func() int) (n int) {
	end := time.Now().Add(5 * time.Minute)
	for n = count(); n > most && time.Now().Before(end); n = count() {
		<-time.After(20 * time.Millisecond)
	}
	return n
}

// flurry sends requests for a while and returns how often each status came; 0 stands for no answer.
func flurry(l *proxytest.Live, t *testing.T, paths []string, seed uint64, long time.Duration) map[int]int {
	var mu sync.Mutex
	statuses := map[int]int{}
	end := time.Now().Add(long)
	var clients sync.WaitGroup
	for k := range 8 {
		clients.Go(func() {
			a := attacker{rand.New(rand.NewPCG(seed, uint64(k)))}
			for time.Now().Before(end) && !t.Failed() {
				request := a.request(paths)
				status, err := assail(l, a, request)
				if err != nil {
					t.Errorf("seed %d, %q: %v", seed, request, err)
				}
				mu.Lock()
				statuses[status]++
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	return statuses
}

// assail sends a request on a new connection and checks the answer.
func assail(l *proxytest.Live, a attacker, request string) (int, error) {
	conn, err := net.Dial("tcp", l.Addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return 0, err
	}
	_, _ = io.WriteString(conn, request) // the server may close before it has read everything
	if a.IntN(50) == 0 {
		return 0, nil // the server closed the connection
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return 0, nil // the server reset the connection
	}
	method, _, _ := strings.Cut(strings.TrimLeft(request, "\r\n"), " ")
	r := bufio.NewReader(conn)
	res, err := http.ReadResponse(r, &http.Request{Method: method})
	if err == nil && res.StatusCode == http.StatusContinue {
		res, err = http.ReadResponse(r, &http.Request{Method: method})
	}
	var network *net.OpError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &network) && !network.Timeout():
		return 0, nil
	case err != nil:
		return 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil && !errors.As(err, &network) {
		return res.StatusCode, err
	}
	return res.StatusCode, judge(res, body, method)
}

// judge describes what is wrong with an answer.
func judge(res *http.Response, body []byte, method string) error {
	switch {
	case res.StatusCode == 503 && res.Header.Get("Retry-After") != "":
	case res.StatusCode >= 500:
		return fmt.Errorf("status %d: %.300s", res.StatusCode, body)
	}
	if res.Header.Get("X-Evil") != "" {
		return fmt.Errorf("a header of the request's making: %v", res.Header)
	}
	if origin := res.Header.Get("Access-Control-Allow-Origin"); origin != "" && origin != "https://www.example.org" {
		return fmt.Errorf("another site may read: %s", origin)
	}
	if len(body) == 0 || method == http.MethodHead || res.Header.Get("Content-Encoding") != "" ||
		!strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	var answer struct{ Status int }
	if err := decoder.Decode(&answer); err != nil {
		return fmt.Errorf("no JSON: %w: %.300s", err, body)
	}
	if res.StatusCode >= 400 && answer.Status != res.StatusCode {
		return fmt.Errorf("status %d, envelope %d: %.300s", res.StatusCode, answer.Status, body)
	}
	return nil
}
