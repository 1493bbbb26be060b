package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// FuzzQuery: whatever stands in a query string, every endpoint answers with a
// valid envelope and never with a 5xx.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=1&offset=2", "limit=-1", "full=1&limit=2", "columns[]=authors.user&columns=web,print", "aggregate=authors.user",
		`json={"year":{"$gte":2020},"$or":[{"type":"x"},{"title":{"$regex":"^a","$options":"i"}}]}`,
		"filter[year][$gte]=2020&filter[$or][0][type]=x", "filter[type][$in][]=a&filter[_id][$oid]=64a000000000000000000001",
		"filter[a][$elemMatch][$gte]=1&filter[a][$not][$all][]=x", "filter[%00]=1&columns[]=%ff", "spectrum=Soil", "spectrum[]=x",
		"page=my-activities&user=bob", "page=portal&path=//x", "path=https://example.org/%22", "type=publication&json={", "&&=&a[=]&[]=1",
	} {
		f.Add(seed)
	}
	s := open(f, institute(f), options(f))
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range []string{"/api/activities", "/api/html", "/api/all-activities", "/api/spectrum-activities"} {
			req := httptest.NewRequest(http.MethodGet, path, nil)
			req.URL.RawQuery = onTheWire(query)
			req.RequestURI = req.URL.RequestURI()
			res := (&site{t: t, Server: s.Server}).send(req)
			if res.StatusCode >= 500 {
				t.Fatalf("%s?%q: %d %s", path, query, res.StatusCode, res.body)
			}
			res.envelope(t)
		}
	})
}

// onTheWire escapes what would end the request line or is refused in it, and
// nothing else.
func onTheWire(query string) string {
	var b []byte
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c == '#' || c == 0x7f {
			b = append(b, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}
