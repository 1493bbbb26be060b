package response_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// unread sends requests, each on its own connection, and reads only the beginnings of the answers.
// It returns the number of answers by status.
func unread(l *proxytest.Live, coding, target string, n int) (conns []net.Conn, statuses map[string]int) {
	l.T.Helper()
	for i := range n {
		conn := l.Narrowly()
		l.Write(conn, "GET "+fmt.Sprintf(target, i)+" HTTP/1.1\r\nHost: x\r\nAccept-Encoding: "+coding+"\r\n\r\n")
		conns = append(conns, conn)
	}
	statuses = map[string]int{}
	for _, conn := range conns {
		begin := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(conn, begin); err != nil {
			l.T.Fatal(err)
		}
		statuses[string(begin[9:])]++
	}
	return conns, statuses
}

// TestUnreadAnswers: unread answers stay within their budget, whatever their coding; others get the
// same bytes as ever meanwhile, and in the end no memory is claimed.
func TestUnreadAnswers(t *testing.T) {
	const clients, budget = 24, 8 << 20
	store := proxytest.Many(t, 2000)
	want := proxytest.Open(t, store, proxytest.Options(t)).Get("/api/activities?full=1&limit=1000").Body
	for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
		t.Run(coding, func(t *testing.T) {
			o := proxytest.Options(t)
			o.Limits.KeptBytes = 1 << 20
			o.Cache.Budget, o.Cache.InFlight = 0, budget
			l := proxytest.ServeOn(t, proxytest.Open(t, store, o), proxytest.Narrow{Listener: proxytest.Listen(t)})
			l.Get("/api/activities?limit=1")
			before := proxytest.Memory()
			conns, statuses := unread(l, coding, "/api/activities?full=1&limit=1000&offset=%d", clients)
			held, claimed := heldSince(before, budget+4<<20), l.Metric("vitrine_results_in_flight_bytes")
			t.Logf("%d bytes held, %d of them claimed, for answers of %d; by status %v", held, claimed, len(want),
				statuses)
			if statuses["200"]+statuses["503"] != clients || statuses["200"] < clients/2 {
				t.Errorf("answers by status %v", statuses)
			}
			if claimed > budget || held > budget+4<<20 {
				t.Errorf("%d bytes held, %d claimed; the budget is %d", held, claimed, budget)
			}
			got := l.Get("/api/activities?full=1&limit=1000")
			if got.StatusCode != 200 || string(got.Body) != string(want) {
				t.Errorf("a request at the same time: status %d, %d of %d bytes", got.StatusCode, len(got.Body),
					len(want))
			}
			for _, conn := range conns {
				conn.Close()
			}
			proxytest.Until(t, "nothing is claimed",
				func() bool { return l.Metric("vitrine_results_in_flight_bytes") == 0 })
		})
	}
}

// TestNoRoomForAnswers: small answers, 304s and heads are sent even while the budget for answers in
// flight is used up; other requests are refused until there is room.
func TestNoRoomForAnswers(t *testing.T) {
	const large = "/api/activities?limit=500"
	o := proxytest.Options(t)
	store := proxytest.Many(t, 2000)
	whole := proxytest.Open(t, store, o).Get(large)
	o.Cache.InFlight = 300 << 10 // too little for an answer, enough for two pieces
	l := proxytest.ServeOn(t, proxytest.Open(t, store, o), proxytest.Narrow{Listener: proxytest.Listen(t)})
	conns, _ := unread(l, "identity", "/api/activities?full=1&limit=1500&offset=%d", 4)
	for _, tt := range []struct {
		method, target, match string
		want                  int
	}{
		{"GET", "/api/activities?limit=2", "", 200}, {"HEAD", large, "", 200}, {"GET", large, "", 503},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, "http://"+l.Addr+tt.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.want || tt.want == 503 && res.Header.Get("Retry-After") == "" {
			t.Errorf("%s %s: status %d, want %d", tt.method, tt.target, res.StatusCode, tt.want)
		}
		if etag := res.Header.Get("ETag"); etag != "" && l.Get(tt.target, "If-None-Match", etag).StatusCode != 304 {
			t.Errorf("%s %s: not 304 for its tag", tt.method, tt.target)
		}
	}
	for _, conn := range conns {
		conn.Close()
	}
	proxytest.Until(t, "there is room", func() bool { return l.Get(large).StatusCode == 200 })
	if got := l.Get(large); len(got.Body) != len(whole.Body) {
		t.Errorf("%d bytes, want %d", len(got.Body), len(whole.Body))
	}
}

// TestTricklingReader: a client that reads much less than a piece within Limits.Write, but
// steadily, gets the whole answer.
func TestTricklingReader(t *testing.T) {
	t.Parallel()
	store := proxytest.Many(t, 1000)
	proxytest.WithPatience(t, func(limit time.Duration) error {
		o := proxytest.Options(t)
		o.Limits.Write = limit
		l := proxytest.ServeOn(t, proxytest.Open(t, store, o), proxytest.Narrow{Listener: proxytest.Listen(t)})
		conn := l.Narrowly()
		l.Write(conn, "GET /api/activities?limit=250 HTTP/1.1\r\nHost: x\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		read, err := proxytest.Steadily(res.Body, 1<<10, limit/40) // 64 KiB take longer than the limit for a pause
		if !errors.Is(err, io.EOF) || read != res.ContentLength || read < 80<<10 {
			return fmt.Errorf("read %d of %d bytes: %w", read, res.ContentLength, err)
		}
		return nil
	})
}

// TestUnwoundRowsStream: unwound rows are counted first, then made while they are sent: the server
// holds none of them, and a page at a large offset costs only its own rows.
func TestUnwoundRowsStream(t *testing.T) {
	const papers, authors, units, topics = 4, 3000, 5, 4
	store := collaborations(t, papers, authors, units, topics)
	const target, rows = unwinding, papers * authors * units * topics
	o := proxytest.Options(t)
	o.Limits.KeptBytes = 1 << 20
	l := proxytest.ServeLive(t, proxytest.Open(t, store, o))
	for offset, want := range map[int]string{
		0:                         `"Author0"},"units":"unit0","topics":"topic0"`,
		authors*units*topics + 25: `"Author1"},"units":"unit1","topics":"topic1"`,
		rows - 1:                  `"Author2999"},"units":"unit4","topics":"topic3"`,
	} {
		page := l.Get(fmt.Sprintf("%s&limit=1&offset=%d", target, offset))
		if !strings.Contains(string(page.Body), want) || *page.Envelope(t).Count != rows {
			t.Errorf("offset %d: %.300s", offset, page.Body)
		}
	}
	before := proxytest.Memory()
	_, statuses := unread(l, "identity", target+"&x=%d", 8)
	held := heldSince(before, 8<<20)
	t.Logf("%d bytes held", held)
	if statuses["200"] != 8 || held > 8<<20 { // the row numbers alone took 8 MB for each
		t.Errorf("answers by status %v; %d bytes held", statuses, held)
	}
}

// TestSlowStreams: a streamed answer, compressed or not, may take longer than Limits.RequestTimeout.
func TestSlowStreams(t *testing.T) {
	t.Parallel()
	store := collaborations(t, 2, 3000, 5, 4)
	proxytest.WithPatience(t, func(limit time.Duration) error {
		o := proxytest.Options(t)
		o.Limits.KeptBytes, o.Limits.RequestTimeout = 1<<20, limit
		l := proxytest.ServeOn(t, proxytest.Open(t, store, o), proxytest.Narrow{Listener: proxytest.Listen(t)})
		var answers []*http.Response
		for _, coding := range []string{"identity", "br", "zstd", "gzip"} {
			conn := l.Narrowly()
			l.Write(conn, "GET "+unwinding+" HTTP/1.1\r\nHost: x\r\nAccept-Encoding: "+coding+"\r\n\r\n")
			res, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			answers = append(answers, res)
		}
		<-time.After(limit)
		for _, res := range answers {
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != http.StatusOK {
				return fmt.Errorf("%s: status %d, %w", res.Header.Get("Content-Encoding"), res.StatusCode, err)
			}
			if rows := strings.Count(proxytest.Plain(t, proxytest.Response{Response: res, Body: body}),
				`"last":`); rows != 2*3000*5*4 {
				return fmt.Errorf("%s: %d rows", res.Header.Get("Content-Encoding"), rows)
			}
		}
		return nil
	})
}

const unwinding = "/api/search/activities?columns[]=authors.last&columns[]=units&columns[]=topics"

// collaborations is a store of papers with the given number of authors, units and topics each.
func collaborations(t *testing.T, papers, authors, units, topics int) *proxytest.Store {
	t.Helper()
	list := func(n int, element func(i int) any) bson.A {
		all := make(bson.A, n)
		for i := range all {
			all[i] = element(i)
		}
		return all
	}
	store := proxytest.NewStore()
	for i := range papers {
		doc, err := bson.Marshal(bson.D{
			{Key: "_id", Value: i}, {Key: "year", Value: 2000},
			{Key: "authors", Value: list(authors,
				func(i int) any { return bson.D{{Key: "last", Value: fmt.Sprint("Author", i)}} })},
			{Key: "units", Value: list(units, func(i int) any { return fmt.Sprint("unit", i) })},
			{Key: "topics", Value: list(topics, func(i int) any { return fmt.Sprint("topic", i) })},
		})
		if err != nil {
			t.Fatal(err)
		}
		store.Publish(rules.ViewActivities, doc)
	}
	return store
}
