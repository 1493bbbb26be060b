package response_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// uneven publishes n activities with rows of some hundred bytes to tens of thousands, and then new
// versions of a few, so that the rows lie scattered.
func uneven(t testing.TB, n int) *proxytest.Site {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	doc := func(i int) bson.Raw {
		text := strings.Repeat("lorem ", random.IntN(40))
		if random.IntN(20) == 0 {
			text = strings.Repeat("ipsum ", random.IntN(5000))
		}
		raw, err := bson.Marshal(bson.D{
			{Key: "_id", Value: i}, {Key: "year", Value: 2020 - i*20/n}, {Key: "n", Value: i},
			{Key: "rendered", Value: bson.D{{Key: "web", Value: text}, {Key: "print", Value: text}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	docs := make([]bson.Raw, n)
	for i := range docs {
		docs[i] = doc(i)
	}
	store := proxytest.NewStore()
	store.Publish(rules.ViewActivities, docs...)
	store.Publish(rules.ViewPersons)
	o := proxytest.Options(t)
	o.Limits.KeptBytes = 128 << 10
	s := proxytest.Open(t, store, o)
	var changed []bson.Raw
	for range 20 {
		changed = append(changed, doc(random.IntN(n)))
	}
	s.Refresh(rules.ViewActivities, changed...)
	return s
}

// TestPreparedRows: rows sent directly from memory equal rows joined one by one. No citation has a
// link, so the rows of a portal, which are joined, are equal, too.
func TestPreparedRows(t *testing.T) {
	proxytest.WholeOnly(t)
	s := uneven(t, 1500)
	filters := []string{
		`{}`, `{"n":-1}`, `{"n":617}`, `{"n":{"$lt":100}}`, `{"n":{"$gte":1250}}`, `{"n":{"$gte":60,"$lt":950}}`,
		`{"n":{"$mod":[2,0]}}`, `{"n":{"$not":{"$mod":[7,3]}}}`, `{"n":{"$not":{"$mod":[250,0]}}}`,
		`{"$or":[{"n":{"$lt":350}},{"n":{"$mod":[3,1]}},{"n":{"$gte":1100}}]}`, `{"year":2011}`,
	}
	for _, f := range filters {
		target := "/api/all-activities?json=" + url.QueryEscape(f)
		joined := s.Get(target + "&page=portal")
		for _, coding := range []string{"", "gzip", "br", "zstd"} {
			t.Run(fmt.Sprint(f, " ", coding), func(t *testing.T) {
				got := s.Get(target, "Accept-Encoding", coding)
				if got.StatusCode != 200 || proxytest.Plain(t, got) != string(joined.Body) {
					t.Errorf("status %d; %d bytes prepared, %d bytes joined", got.StatusCode,
						len(proxytest.Plain(t, got)), len(joined.Body))
				}
			})
		}
	}
}

// TestHeadOfStream: no body follows the head of a stream, so that the next answer on the connection
// begins where the client expects it.
func TestHeadOfStream(t *testing.T) {
	s := uneven(t, 1500)
	public := proxytest.Listen(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Server.Serve(ctx, public, nil) }()
	for _, target := range []string{"/api/all-activities", "/api/all-activities?page=portal", "/api/activities",
		"/api/activities?full=1"} {
		for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
			conn, err := net.Dial("tcp", public.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn,
				"HEAD %s HTTP/1.1\r\nHost: x\r\nAccept-Encoding: %s\r\n\r\nGET /healthz HTTP/1.1\r\nHost: "+
					"x\r\nConnection: close\r\n\r\n", target, coding)
			text, err := io.ReadAll(conn)
			if err != nil {
				t.Fatal(err)
			}
			head, next, _ := strings.Cut(string(text), "\r\n\r\n")
			if !strings.HasPrefix(head, "HTTP/1.1 200") || !strings.HasPrefix(next, "HTTP/1.1 200") {
				t.Errorf("%s, %s: after the head comes %.40q", target, coding, next)
			}
			conn.Close()
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestTagsOfLargeAnswers: equal tags mean equal bytes, also from another front end.
func TestTagsOfLargeAnswers(t *testing.T) {
	refreshed := uneven(t, 1500)
	o := proxytest.Options(t)
	o.Limits.KeptBytes = 128 << 10
	fresh, again := proxytest.Open(t, refreshed.Store, o), proxytest.Open(t, refreshed.Store, o)
	get := func(s *proxytest.Site, coding string) (tag, raw, content string) {
		res := s.Get("/api/all-activities", "Accept-Encoding", coding)
		return res.Header.Get("ETag"), string(res.Body), proxytest.Plain(t, res)
	}
	for _, coding := range []string{"", "gzip"} {
		tag, raw, content := get(fresh, coding)
		if otherTag, otherRaw, _ := get(again, coding); otherTag != tag || otherRaw != raw {
			t.Errorf("%q: two front ends with the same rows have tags %s and %s", coding, tag, otherTag)
		}
		otherTag, otherRaw, otherContent := get(refreshed, coding)
		if otherContent != content {
			t.Errorf("%q: the content differs after the refresh", coding)
		}
		if (otherTag == tag) != (otherRaw == raw) {
			t.Errorf("%q: tags %s and %s, the same bytes: %v", coding, tag, otherTag, otherRaw == raw)
		}
		if got := refreshed.Get("/api/all-activities", "Accept-Encoding", coding, "If-None-Match",
			otherTag).StatusCode; got != 304 {
			t.Errorf("%q: status %d for its own tag", coding, got)
		}
	}
}
