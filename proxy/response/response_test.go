package response_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
)

// number appends a row.
func number(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(i), 10) }

// pieces returns the pieces of a body, in a turn that ends with the test.
func pieces(t *testing.T, b *response.Body) response.Pieces {
	t.Helper()
	ctx, turn, err := fair.New(1, 1).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(turn.End)
	return b.Pieces(ctx)
}

// TestNoTurn: only the holder of a turn can make the pieces of a body: not without a turn, nor while
// or after it is paused, even if the turn was held when Pieces was called.
func TestNoTurn(t *testing.T) {
	text := response.Bytes([]byte("text"))
	b := text.Then(text)
	ctx, turn, err := fair.New(1, 1).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := b.Pieces(ctx)
	for _, err := range held {
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for piece, err := range held {
		turn.Pause()
		got = append(got, fmt.Sprint(string(piece), " ", err != nil))
	}
	if want := []string{"text false", " true"}; !slices.Equal(got, want) {
		t.Errorf("paused after the first piece: %q, want %q", got, want)
	}
	for name, pieces := range map[string]response.Pieces{"without a turn": b.Pieces(t.Context()),
		"while it is paused": b.Pieces(ctx), "paused after Pieces": held} {
		var failed error
		for piece, err := range pieces {
			if failed = err; err == nil {
				t.Errorf("%s: %q", name, piece)
			}
		}
		if failed == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// joined returns all pieces of a body.
func joined(t *testing.T, b *response.Body) string {
	t.Helper()
	var out []byte
	for piece, err := range pieces(t, b) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, piece...)
	}
	return string(out)
}

// TestEnvelopes: the standard envelope.
func TestEnvelopes(t *testing.T) {
	page, nothing := query.Page{Limit: 2, Offset: 4}, response.JoinRange(response.List(0, query.Page{}), 0, 0, number)
	tests := []struct {
		name string
		body *response.Body
		want string
	}{
		{"a list", response.JoinRange(response.List(9, query.Page{}), 0, 3, number),
			`{"status":200,"count":9,"data":[0,1,2]}`},
		{"a page", response.JoinRange(response.List(9, page), 4, 6, number),
			`{"status":200,"count":9,"data":[4,5],"limit":2,"offset":4}`},
		{"a page past the end", response.JoinRange(response.List(1, page), 4, 1, number),
			`{"status":200,"count":1,"data":[],"limit":2,"offset":4}`},
		{"full records", response.JoinRange(response.Full(2, query.Page{}), 0, 2, number),
			`{"status":200,"data":[0,1],"count":2}`},
		{"a page of full records", response.JoinRange(response.Full(9, page), 4, 6, number),
			`{"status":200,"data":[4,5],"count":9,"limit":2,"offset":4}`},
		{"nothing", nothing, `{"status":200,"count":0,"data":[]}`},
		{"an object", response.Single(func(dst []byte) []byte { return append(dst, `{"a":1}`...) }),
			`{"status":200,"count":1,"data":{"a":1}}`},
		{"text", response.Bytes([]byte(`{}`)), `{}`},
		{"two documents", nothing.Then(response.Bytes([]byte(`{}`))), `{"status":200,"count":0,"data":[]}{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // the pieces can be made again
				if got := joined(t, tt.body); got != tt.want {
					t.Errorf("%s, want %s", got, tt.want)
				}
			}
		})
	}
	if got, want := string(response.Failure(400, "WrongCall",
		`a "b"`)), `{"status":400,"count":0,"error":"WrongCall","msg":"a \"b\""}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPieces: a long body has several pieces, and stops when its reader stops, and on an error.
func TestPieces(t *testing.T) {
	row := func(dst []byte, _ int) []byte { return append(dst, strings.Repeat("x", 1000)...) }
	b := response.JoinRange(response.List(1000, query.Page{}), 0, 1000, row)
	count, longest := 0, 0
	for piece := range pieces(t, b) {
		count, longest = count+1, max(longest, len(piece))
	}
	if count < 10 || longest > 100<<10 {
		t.Errorf("%d pieces of up to %d bytes", count, longest)
	}
	for range pieces(t, b.Then(b)) {
		break
	}
	broken := errors.New("broken")
	rows := func(context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			if yield(1, nil) {
				yield(0, broken)
			}
		}
	}
	failing := response.Join(response.List(2, query.Page{}), rows, number)
	for name, b := range map[string]*response.Body{"a body": failing, "the first of two": failing.Then(b),
		"the second": response.Bytes(nil).Then(failing)} {
		var last error
		after := 0
		for _, err := range pieces(t, b) {
			if last != nil {
				after++
			}
			last = err
		}
		if !errors.Is(last, broken) || after != 0 {
			t.Errorf("%s ends with %v, %d pieces after that", name, last, after)
		}
	}
}

// static serves content by Static.
func static(t *testing.T, content string, codings ...result.Coding) *fiber.App {
	t.Helper()
	results, err := result.New(result.Options{Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(results.Close)
	r := response.New(response.Options{
		Results: results, Codings: codings, Timeout: time.Hour, Now: time.Now,
	})
	app := fiber.New()
	app.Get("/", func(c *fiber.Ctx) error { return r.Static(c, "name", "text/plain", []byte(content), time.Minute) })
	return app
}

// get sends a request with headers given as name, value pairs.
func get(t *testing.T, app *fiber.App, method string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	req := httptest.NewRequest(method, "/", nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := app.Test(req, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, body
}

// TestNegotiation: the coding with the highest weight wins; among equal weights, the first one that
// the server offers (RFC 9110: 12.5.3).
func TestNegotiation(t *testing.T) {
	app := static(t, strings.Repeat("text ", 300), result.Zstd, result.Brotli, result.Gzip)
	tests := []struct{ accept, want string }{
		{"", ""},
		{"gzip", "gzip"},
		{"x-gzip", "gzip"},
		{"GZIP", "gzip"},
		{"deflate", ""},
		{"gzip, deflate, br, zstd", "zstd"},
		{"gzip, br", "br"},
		{"br;q=0.5, gzip", "gzip"},
		{"br ; Q=0.9 , gzip;q=0.8", "br"},
		{"*", "zstd"},
		{"*;q=0.1, gzip;q=0.2", "gzip"},
		{"*, zstd;q=0", "br"},
		{"gzip;q=0", ""},
		{"gzip;q=2", ""},
		{"gzip;q=x", ""},
		{"gzip;q=NaN", ""},
		{"gzip;level=9", ""},
		{"identity, gzip;q=0.5", ""},
		{"identity;q=0.5, gzip;q=0.5", "gzip"},
		{"identity;q=0, gzip;q=0.1", "gzip"},
		{",,;,gzip", "gzip"},
	}
	for _, tt := range tests {
		res, body := get(t, app, http.MethodGet, "Accept-Encoding", tt.accept)
		if got := res.Header.Get("Content-Encoding"); got != tt.want || res.StatusCode != 200 || len(body) == 0 {
			t.Errorf("%s: %d in %q, want %q", tt.accept, res.StatusCode, got, tt.want)
		}
		if res.Header.Get("Vary") != "Accept-Encoding" || res.Header.Get("Cache-Control") != "public, max-age=60" {
			t.Errorf("%s: headers %v", tt.accept, res.Header)
		}
	}
	if res, _ := get(t, static(t, "text"), http.MethodGet, "Accept-Encoding",
		"gzip, *"); res.Header.Get("Content-Encoding") != "" {
		t.Error("the answer has a coding that the server does not offer")
	}
}

// TestConditions: a caller that has the answer gets 304 without a body (RFC 9110: 13.1.2).
func TestConditions(t *testing.T) {
	app := static(t, strings.Repeat("text ", 20_000), result.Gzip)
	res, plain := get(t, app, http.MethodGet)
	tag := res.Header.Get("ETag")
	res, _ = get(t, app, http.MethodGet, "Accept-Encoding", "gzip")
	if coded := res.Header.Get("ETag"); coded == tag || !strings.HasSuffix(coded, `-gzip"`) ||
		!strings.HasPrefix(tag, `"`) {
		t.Errorf("tags %s and %s", tag, coded)
	}
	for match, want := range map[string]int{
		tag: 304, "W/" + tag: 304, "*": 304, ` "a" , ` + tag: 304, `"a"`: 200, `"a", "b"`: 200, ",": 200,
		strings.Trim(tag, `"`): 200,
	} {
		res, body := get(t, app, http.MethodGet, "If-None-Match", match)
		if res.StatusCode != want || res.Header.Get("ETag") != tag || want == 304 && len(body) > 0 ||
			want == 200 && !bytes.Equal(body, plain) {
			t.Errorf("%s: %d with %d bytes, want %d", match, res.StatusCode, len(body), want)
		}
	}
	res, body := get(t, app, http.MethodHead)
	if res.StatusCode != 200 || len(body) > 0 || res.Header.Get("ETag") != tag {
		t.Errorf("HEAD: %d with %d bytes, tag %s", res.StatusCode, len(body), res.Header.Get("ETag"))
	}
	res, _ = get(t, app, http.MethodGet, "If-Modified-Since", time.Now().UTC().Format(http.TimeFormat))
	if res.StatusCode != 200 {
		t.Errorf("If-Modified-Since of an answer without Last-Modified: %d", res.StatusCode)
	}
}
