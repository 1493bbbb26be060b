package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/url"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/api"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/units"
)

// connection is the peer of requests that need no network.
type connection struct {
	fasthttp.RequestCtx
	request []byte
	text    bytes.Reader
	reader  *bufio.Reader
}

// call runs one request through an app's handler. It parses the request from text, as if a client
// had sent it.
func call(b *testing.B, handler fasthttp.RequestHandler, from *connection, target string) int64 {
	if from.reader == nil {
		from.reader = bufio.NewReader(nil)
	}
	ctx := &from.RequestCtx
	ctx.Request.Reset()
	ctx.Response.Reset()
	from.request = append(append(append(from.request[:0], "GET "...), target...),
		" HTTP/1.1\r\nHost: portal.example\r\n\r\n"...)
	from.text.Reset(from.request)
	from.reader.Reset(&from.text)
	if err := ctx.Request.Read(from.reader); err != nil {
		b.Fatal(err)
	}
	handler(ctx)
	if ctx.Response.StatusCode() != fasthttp.StatusOK {
		b.Fatalf("status %d: %s", ctx.Response.StatusCode(), ctx.Response.Body())
	}
	if !ctx.Response.IsBodyStream() {
		return int64(len(ctx.Response.Body()))
	}
	n, err := io.Copy(io.Discard, ctx.Response.BodyStream())
	if err != nil {
		b.Fatal(err)
	}
	if err := ctx.Response.CloseBodyStream(); err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkAnswer compares answers with a bare Fiber handler that sends as many bytes as the cached
// list.
func BenchmarkAnswer(b *testing.B) {
	s := proxytest.Open(b, proxytest.Many(b, 10_000), proxytest.Options(b))
	const list = "/api/activities?limit=20&json=%7B%22year%22%3A2020%7D"
	var ctx connection
	size := call(b, s.Server.App().Handler(), &ctx, list)
	same := make([]byte, size)
	bare := fiber.New()
	bare.Get("/api/activities", func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSONCharsetUTF8)
		return c.Send(same)
	})
	fresh := 0
	tests := []struct {
		name    string
		handler fasthttp.RequestHandler
		target  func() string
	}{
		{"bare", bare.Handler(), func() string { return list }},
		{"cached list", s.Server.App().Handler(), func() string { return list }},
		{"kept fragment", proxytest.OpenLists(b, nil).Server.App().Handler(),
			func() string { return "/lists/activities.html" }},
		{"never-seen filter", s.Server.App().Handler(), func() string {
			fresh++
			return "/api/activities?limit=20&json=" +
				url.QueryEscape(fmt.Sprintf(`{"year":{"$gte":%d.%d}}`, 2000+fresh%20, fresh))
		}},
		{"never-seen page", s.Server.App().Handler(), func() string {
			fresh++
			return fmt.Sprintf("/api/activities?limit=20&offset=%d", fresh%9000)
		}},
		{"full", s.Server.App().Handler(), func() string { return "/api/activities?full=1" }},
		{"all-activities", s.Server.App().Handler(), func() string { return "/api/all-activities" }},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(call(b, tt.handler, &ctx, tt.target()))
			}
		})
	}
}

// personal returns a store with rows of persons, their units, events and a topic.
func personal(t testing.TB) *proxytest.Store {
	t.Helper()
	s := proxytest.NewStore()
	persons := proxytest.Documents(t, "api/testdata/department/persons.jsonl")
	s.Publish(rules.ViewPersons, persons...)
	s.Publish(rules.ViewEvents, proxytest.Documents(t, "api/testdata/department/conferences.jsonl")...)
	row, err := units.NewNames(proxytest.Documents(t, "api/testdata/department/groups.jsonl")).Row(persons[0])
	if err != nil {
		t.Fatal(err)
	}
	s.Publish(rules.ViewUserUnits, row)
	s.Publish(rules.ViewSpectrum, proxytest.Parse(t, `{"_id":"T1","id":"T1","catalog_url":"https://openalex.org/T1","name":"Soil","path":null,
		"domain":null,"field":null,"subfield":null,"domain_id":null,"field_id":null,"subfield_id":null,"description":null,"keywords":[],"count":1,
		"timeline":[{"year":2024,"count":1}],"units":[],"researchers":[]}`, `{"_id":0,"topics":1,"activities":1,"catalogue":true}`)...)
	return s
}

// BenchmarkRecords measures answers from memory that depend on the user, on the day or on a title.
func BenchmarkRecords(b *testing.B) {
	o := proxytest.Options(b)
	o.Access = access.New(access.Options{Anonymous: []access.Permission{access.PortfolioSpectrum}})
	s, titles := proxytest.Open(b, personal(b), o), proxytest.Open(b, proxytest.Many(b, 10_000), o)
	benchmarks := []struct {
		name   string
		site   *proxytest.Site
		target func(i int) string
	}{
		{"user", s, func(int) string { return "/api/users/ada" }},
		{"user by _id", s, func(int) string { return "/api/users/66c000000000000000000011" }},
		{"user columns", s, func(int) string { return "/api/users/ada?columns[]=last&columns[]=units.unit" }},
		{"user-units", s, func(int) string { return "/api/user-units/ada" }},
		{"events", s, func(int) string { return "/api/events" }},
		{"spectrum", s, func(int) string { return "/portfolio/spectrum" }},
		{"title asked before", titles, func(int) string { return "/api/levenshtein?title=Activty" }},
		{"title never seen", titles, func(i int) string {
			return fmt.Sprintf("/api/levenshtein?title=Activty+%d", i)
		}},
	}
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			var ctx connection
			handler := bm.site.Server.App().Handler()
			call(b, handler, &ctx, bm.target(-1))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				b.SetBytes(call(b, handler, &ctx, bm.target(i)))
			}
		})
	}
}

// BenchmarkFragments encodes the prepared data of an activity.
func BenchmarkFragments(b *testing.B) {
	docs := proxytest.Documents(b, "proxytest/testdata/activities.jsonl")
	for _, def := range api.Views() {
		if def.Name != rules.ViewActivities {
			continue
		}
		for _, fragment := range def.Fragments {
			parts := fragment.Parts
			if parts == nil {
				parts = append(parts, fragment)
			}
			b.Run(fragment.Name, func(b *testing.B) {
				b.ReportAllocs()
				var out []byte
				encode := func(doc bson.Raw) {
					for _, part := range parts {
						out = part.Encode(out, doc)
					}
				}
				for b.Loop() {
					out = out[:0]
					for _, doc := range docs {
						encode(doc)
					}
				}
				b.SetBytes(int64(len(out)))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(docs)), "ns/row")
			})
		}
	}
}
