package api_test

import (
	"fmt"
	"net/url"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestParameters checks what the API's description and docs/decisions.md say of single parameters: which rows are
// returned, and how many are counted.
func TestParameters(t *testing.T) {
	q := url.QueryEscape
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	const all = "7 8 9 2 3 5 1 4 a named-record c f 6 42 b"
	tests := []struct {
		name, target string
		ids          string
		count        int
	}{
		{"no parameters", "/api/activities", all, 15},
		{"unknown parameters are ignored", "/api/activities?x=1&search=soil&%ff=%ff&&=&a[=1", all, 15},
		{"a trailing slash", "/api/activities/?limit=1", "7", 15},
		{"limit", "/api/activities?limit=3", "7 8 9", 15},
		{"limit and offset", "/api/activities?limit=3&offset=2", "9 2 3", 15},
		{"offset without limit does nothing", "/api/activities?offset=10", all, 15},
		{"limit 0 does not paginate", "/api/activities?limit=0&offset=3", all, 15},
		{"a negative limit does not paginate", "/api/activities?limit=-5", all, 15},
		{"a negative offset is 0", "/api/activities?limit=2&offset=-3", "7 8", 15},
		{"limit with space around", "/api/activities?limit=+2+", "7 8", 15},
		{"an empty limit is ignored", "/api/activities?limit=", all, 15},
		{"the last limit counts", "/api/activities?limit=5&limit=1", "7", 15},
		{"limit and offset as large as can be",
			"/api/activities?limit=9223372036854775807&offset=9223372036854775807", "", 15},
		{"a large limit takes the rest", "/api/activities?limit=9223372036854775807&offset=13", "42 b", 15},
		{"json", "/api/activities?json=" + q(`{"type":"lecture"}`), "8", 1},
		{"json overrides filter", "/api/activities?filter[type]=misc&json=" + q(`{"type":"lecture"}`), "8", 1},
		{"json overrides even a wrong filter", "/api/activities?filter=x&json=" + q(`{"type":"lecture"}`), "8", 1},
		{"an empty json gives way to filter", "/api/activities?json=&filter[type]=lecture", "8", 1},
		{"an empty filter is ignored", "/api/activities?filter=", all, 15},
		{"an empty json filter", "/api/activities?json={}", all, 15},
		{"hex digits match an ObjectID", "/api/activities?json=" + q(`{"_id":"64a000000000000000000008"}`), "8", 1},
		{"hex digits in brackets too", "/api/activities?filter[_id]=64a000000000000000000008", "8", 1},
		{"$oid in json", "/api/activities?json=" + q(`{"_id":{"$oid":"64a000000000000000000008"}}`), "8", 1},
		{"$oid in brackets", "/api/activities?filter[_id][$oid]=64a000000000000000000008", "8", 1},
		{"percent-encoded brackets", "/api/activities?filter%5Btype%5D=lecture", "8", 1},
		{"full=0 is off", "/api/activities?full=0&limit=1", "7", 15},
		{"full=false is off", "/api/activities?full=FALSE&limit=1", "7", 15},
		{"columns in brackets are not split at commas", "/api/activities?limit=1&columns[]=web,print", "7", 15},
		{"columns by index", "/api/activities?limit=1&columns[0]=web&columns[1]=print", "7", 15},
		{"empty columns are ignored", "/api/activities?limit=1&columns[]=&columns=,", "7", 15},
		{"id as a column", "/api/activities?limit=1&columns=id", "7", 15},
		{"html ignores offset", "/api/html?limit=2&offset=1", "2 3", 5},
		{"html ignores json", "/api/html?json=%7B", "2 3 1 4 f", 5},
		{"all-activities ignores limit and offset", "/api/all-activities?limit=1&offset=x", all, 15},
		{"all-activities ignores columns, aggregate and full",
			"/api/all-activities?columns[]=a..b&aggregate=$x&full=maybe", all, 15},
		{"all-activities by type", "/api/all-activities?type=review", "9 a", 2},
		{"type is joined to json", "/api/all-activities?type=review&json=" + q(`{"year":2019}`), "a", 1},
		{"type does not overwrite json", "/api/all-activities?type=review&json=" + q(`{"type":"misc"}`), "", 0},
		{"type is a value, never an operator", "/api/all-activities?type=%7B%22$ne%22%3A1%7D", "", 0},
		{"projects as an ObjectID", "/api/all-activities?json=" + q(`{"projects":"65b000000000000000000001"}`), "1",
			1},
		{"projects as an ObjectID in brackets",
			"/api/all-activities?filter[projects]=65b000000000000000000001&filter[type]=publication", "1", 1},
		{"projects by name", "/api/all-activities?json=" + q(`{"projects":"SOIL-1"}`), "8", 1},
		{"projects only at the top", "/api/all-activities?json=" +
			q(`{"$and":[{"projects":"65b000000000000000000001"}]}`), "", 0},
		{"projects of activities stay text", "/api/activities?json=" + q(`{"projects":"65b000000000000000000001"}`),
			"", 0},
		{"my-activities of a user", "/api/all-activities?page=my-activities&user=bob", "8 9 2 3", 4},
		{"my-activities without a user", "/api/all-activities?page=my-activities", "", 0},
		{"my-activities joined to a filter", "/api/all-activities?page=my-activities&user=bob&filter[year]=2022",
			"2 3", 2},
		{"user counts only for my-activities", "/api/all-activities?user=bob", all, 15},
		{"an unknown page is all", "/api/all-activities?page=anything", all, 15},
		{"spectrum ignores limit and json", "/api/spectrum-activities?spectrum=Soil&limit=x&json=%7B&offset=1",
			"2 8 1 8", 0},
		{"spectrum is taken as it is", "/api/spectrum-activities?spectrum=+Soil", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := s.Get(tt.target)
			if res.StatusCode != 200 {
				t.Fatalf("status %d: %s", res.StatusCode, res.Body)
			}
			e := res.Envelope(t)
			if got := e.IDs(t); got != tt.ids {
				t.Errorf("ids = %s\nwant  %s", got, tt.ids)
			}
			if *e.Count != tt.count {
				t.Errorf("count = %d, want %d", *e.Count, tt.count)
			}
		})
	}
}

// TestPaginationIsTold: an answer contains limit and offset exactly if it is paginated.
func TestPaginationIsTold(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	tests := []struct {
		target        string
		limit, offset int // limit 0: neither is in the envelope
	}{
		{"/api/activities", 0, 0},
		{"/api/activities?limit=0", 0, 0},
		{"/api/activities?offset=4", 0, 0},
		{"/api/activities?limit=100", 100, 0},
		{"/api/activities?limit=1&offset=-1", 1, 0},
		{"/api/activities?limit=1&offset=7", 1, 7},
		{"/api/activities?limit=2&offset=1&aggregate=type", 2, 1},
		{"/api/activities?limit=2&offset=1&full=1", 2, 1},
		{"/api/html?limit=3", 3, 0},
		{"/api/all-activities?limit=3", 0, 0},
		{"/api/spectrum-activities?spectrum=Soil&limit=3", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			e := s.Get(tt.target).Envelope(t)
			if tt.limit == 0 {
				if e.Limit != nil || e.Offset != nil {
					t.Errorf("limit %v, offset %v in the envelope", e.Limit, e.Offset)
				}
				return
			}
			if e.Limit == nil || *e.Limit != tt.limit || e.Offset == nil || *e.Offset != tt.offset {
				t.Errorf("limit, offset = %v, %v, want %d, %d", e.Limit, e.Offset, tt.limit, tt.offset)
			}
		})
	}
}

// TestPagesJoinToTheWhole: pages neither overlap nor skip.
func TestPagesJoinToTheWhole(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	whole := s.Get("/api/activities").Envelope(t).IDs(t)
	var joined string
	for offset := 0; offset < 15; offset += 4 {
		target := fmt.Sprint("/api/activities?limit=4&offset=", offset)
		if joined != "" {
			joined += " "
		}
		joined += s.Get(target).Envelope(t).IDs(t)
	}
	if joined != whole {
		t.Errorf("pages joined  %s\nwhole list    %s", joined, whole)
	}
}
