package response_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/proxy/proxytest"
)

// soaks reports whether the long forms of tests run.
func soaks() bool { return os.Getenv("VITRINE_TEST_HOSTILE") != "" }

// anonymous returns the bytes of anonymous memory of this process.
func anonymous(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("the system does not say how much anonymous memory a process has")
	}
	var kilobytes int
	_, after, _ := strings.Cut(string(status), "RssAnon:")
	if _, err := fmt.Sscan(after, &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// TestManyUnreadExports: a thousand clients that request sorted exports of all records and read
// nothing hold at most 300 MB, others get kept answers meanwhile, and when the clients have left
// nothing is claimed. The test logs how soon; five seconds are the bar.
func TestManyUnreadExports(t *testing.T) {
	if !soaks() {
		t.Skip("takes long and much memory: .ci/run soak runs it, and TestUnreadExports is its short form")
	}
	const rows, clients, most = 75_000, 1_000, 300 << 20
	// the rows are on the heap of this process, which would double it
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	l := serveExports(t, rows, 64<<10, 128<<20, proxytest.Narrow{Listener: proxytest.Listen(t)})
	const target, hot = "/lists/activities.bib?latex=1&sort=title&exclude=s%d", "/lists/activities.html?limit=5"
	l.Get(fmt.Sprintf(target, 0)) // sorts the rows
	proxytest.Until(t, "the page is kept",
		func() bool { return l.Get(hot).Header.Get("Cache-Status") == "vitrine; hit" })
	debug.FreeOSMemory()
	before := anonymous(t)
	var conns []net.Conn
	for i := range clients {
		conn := l.Narrowly()
		l.Write(conn, "GET "+fmt.Sprintf(target, i+1)+" HTTP/1.1\r\nHost: x\r\n\r\n")
		conns = append(conns, conn)
	}
	begun, held, statuses := 0, 0, map[string]int{}
	proxytest.Until(t, "all clients have the first bytes, or are refused", func() bool {
		for ; begun < clients; begun++ {
			if err := conns[begun].SetReadDeadline(time.Now().Add(5 * time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			first := make([]byte, len("HTTP/1.1 200"))
			if _, err := io.ReadFull(conns[begun], first); err != nil {
				break
			}
			statuses[string(first[9:])]++
		}
		held = max(held, anonymous(t)-before)
		if res := l.Get(hot); res.StatusCode != http.StatusOK || res.Header.Get("Cache-Status") != "vitrine; hit" {
			t.Errorf("a kept answer: %s, %s", res.Status, res.Header.Get("Cache-Status"))
		}
		return begun == clients
	})
	claimed := l.Metric("vitrine_results_in_flight_bytes")
	for _, conn := range conns {
		conn.Close()
	}
	left := time.Now()
	atRest(l)
	rested := time.Since(left)
	debug.FreeOSMemory()
	rest := anonymous(t) - before
	t.Logf(
		"%d clients of %d rows, by status %v: %d bytes held, %d claimed; nothing claimed %v after they left, %d "+
			"bytes held then", clients, rows, statuses, held, claimed, rested, rest)
	if statuses["200"]+statuses["503"] != clients || statuses["200"] == 0 {
		t.Errorf("answers by status %v", statuses)
	}
	if held > most || rest > most/4 {
		t.Errorf("%d bytes held, and %d in the end, want at most %d and %d", held, rest, most, most/4)
	}
}

// TestEveryExport: of exports of each format in each order and language, clients read nothing, leave
// before the first byte or in the middle, or read slowly; slow readers get every byte, and in the end
// nothing is claimed.
func TestEveryExport(t *testing.T) {
	proxytest.WholeOnly(t)
	rows, every := 500, 7 // some of them in a short run
	if soaks() {
		rows, every = 4_000, 1
	}
	l := serveExports(t, rows, 64<<10, 0, proxytest.Narrow{Listener: proxytest.Listen(t)})
	var targets []string
	for _, format := range []string{"bib?", "bib?latex=1&", "ris?", "csl.json?", "csv?", "jsonld?"} {
		for _, order := range []string{"", "&sort=year", "&sort=-year", "&sort=title", "&sort=-title", "&sort=author",
			"&sort=-author", "&sort=type", "&sort=-type", "&sort=added", "&sort=-added", "&q=the&sort=relevance",
			"&group=person", "&group=unit,year&sort=title"} {
			for _, lang := range []string{"en", "de"} {
				targets = append(targets, "/lists/activities."+format+"lang="+lang+order)
			}
		}
	}
	var clients sync.WaitGroup
	room := make(chan struct{}, 32)
	var mu sync.Mutex
	var unread []net.Conn
	ask := func(target string, n int) (net.Conn, *bufio.Reader) {
		conn := l.Narrowly()
		l.Write(conn, "GET "+target+fmt.Sprintf("&exclude=s%d HTTP/1.1\r\nHost: x\r\n\r\n", n))
		return conn, bufio.NewReaderSize(conn, 4<<10)
	}
	asked := 0
	for i := 0; i < len(targets); i += every {
		asked++
		target := targets[i]
		room <- struct{}{}
		clients.Go(func() {
			defer func() { <-room }()
			want := l.Get(target + "&exclude=s1")
			if want.StatusCode != http.StatusOK {
				t.Errorf("%s: %s", target, want.Status)
				return
			}
			conn, _ := ask(target, 2)
			mu.Lock()
			unread = append(unread, conn)
			mu.Unlock()
			conn, _ = ask(target, 3)
			conn.Close()
			conn, r := ask(target, 4)
			_, _ = io.CopyN(io.Discard, r, int64(len(want.Body)/2))
			conn.Close()
			conn, r = ask(target, 1)
			defer conn.Close()
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Errorf("%s: %v", target, err)
				return
			}
			if n, err := proxytest.Steadily(res.Body, 32<<10, time.Millisecond); err != io.EOF ||
				int(n) != len(want.Body) {
				t.Errorf("%s: %d of %d bytes to a slow reader, %v", target, n, len(want.Body), err)
			}
		})
	}
	clients.Wait()
	if res := l.Get("/lists/activities.html?limit=5"); res.StatusCode != http.StatusOK {
		t.Errorf("a page at the same time: %s", res.Status)
	}
	t.Logf("%d of %d exports of %d rows; %d bytes claimed", asked, len(targets), rows,
		l.Metric("vitrine_results_in_flight_bytes"))
	for _, conn := range unread {
		conn.Close()
	}
	atRest(l)
}
