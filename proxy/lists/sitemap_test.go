package lists_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
)

// pages are the places of a sitemap, or of an index of sitemaps.
type pages struct {
	URLs  []page `xml:"url"`
	Parts []page `xml:"sitemap"`
}

type page struct {
	Loc     string `xml:"loc"`
	Lastmod string `xml:"lastmod"`
}

func sitemapAt(t *testing.T, s *proxytest.Site, target string) (all pages) {
	t.Helper()
	if err := xml.Unmarshal(s.Get(target).Body, &all); err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return all
}

// numbered returns n public activities of one unit, whose ids are numbers from 1. Each changed on the day of its
// ten thousand.
func numbered(t *testing.T, n int) (docs []bson.Raw) {
	t.Helper()
	for i := range n {
		doc, err := bson.Marshal(bson.D{
			{Key: "_id", Value: int32(i + 1)}, {Key: "title", Value: "Title"}, {Key: "type", Value: "publication"},
			{Key: "year", Value: 2020}, {Key: "created", Value: "2020-01-01"},
			{Key: "updated", Value: fmt.Sprintf("202%d-%02d-01", i/50_000, 1+i/10_000%12)},
			{Key: "_list", Value: bson.D{
				{Key: "public", Value: true}, {Key: "year", Value: int32(2020)},
				{Key: "entered", Value: int64(1577836800)},
				{Key: "units", Value: bson.A{bson.D{{Key: "id", Value: "UNIT"}, {Key: "name", Value: "Unit"}}}},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

// turnSlices returns how many slices of a millisecond work has had in turns.
func turnSlices(t *testing.T, s *proxytest.Site) (n int) {
	t.Helper()
	text := s.Admin("GET", "/metrics").Body
	for _, line := range regexp.MustCompile(`vitrine_turns_(?:ordinary|costly)_total (\d+)`).FindAllSubmatch(text,
		-1) {
		more, _ := strconv.Atoi(string(line[1]))
		n += more
	}
	return n
}

// TestSitemapParts: the parts of a large sitemap have each page once, none has more than the protocol allows, and
// their index has the last change of each. The work for them looks at its turn while it reads rows.
func TestSitemapParts(t *testing.T) {
	proxytest.WholeOnly(t)
	// listed: the start page, the index, four whole lists and the unit's
	const rows, listed, most = 100_100, 7, 50_000
	store := proxytest.NewStore()
	store.Publish(rules.ViewActivities, numbered(t, rows)...)
	s := proxytest.OpenViews(t, store, proxytest.ListOptions(t), proxytest.ListViews(t), 0)
	if got := sitemapAt(t, s, "/sitemap.xml?part=3"); len(got.URLs) != rows+listed-2*most {
		t.Errorf("the last part has %d pages", len(got.URLs))
	}
	before := turnSlices(t, s)
	index := sitemapAt(t, s, "/sitemap.xml")
	if more := turnSlices(t, s) - before; more < 15 {
		t.Errorf("reading %d rows had %d slices of turns: it does not look at its turn", rows, more)
	}
	if len(index.URLs) > 0 || len(index.Parts) != 3 {
		t.Fatalf("the index has %d pages and %d parts", len(index.URLs), len(index.Parts))
	}
	seen := map[string]bool{}
	for i, part := range index.Parts {
		if want := fmt.Sprintf("https://data.example/sitemap.xml?part=%d", i+1); part.Loc != want {
			t.Errorf("part %d is at %s", i, part.Loc)
		}
		last, all := "", sitemapAt(t, s, strings.TrimPrefix(part.Loc, "https://data.example"))
		for _, p := range all.URLs {
			if seen[p.Loc] {
				t.Fatalf("%s is there twice", p.Loc)
			}
			seen[p.Loc], last = true, max(last, p.Lastmod)
		}
		if len(all.URLs) > most || last != part.Lastmod {
			t.Errorf("part %d has %d pages, changed on %s, in the index %s", i+1, len(all.URLs), last, part.Lastmod)
		}
	}
	for _, want := range []string{"/", "/lists", "/lists/activities", "/lists/unit/UNIT", "/items/1",
		"/items/100100"} {
		if !seen["https://data.example"+want] {
			t.Errorf("no part has %s", want)
		}
	}
	if len(seen) != rows+listed {
		t.Errorf("the parts have %d pages, want %d", len(seen), rows+listed)
	}
	for _, target := range []string{"/sitemap.xml?part=4", "/sitemap.xml?part=999"} {
		if res := s.Get(target); res.StatusCode != 404 {
			t.Errorf("%s: %s", target, res.Status)
		}
	}
}

// counting is a source that counts queries, and the rows that they return.
type counting struct {
	view.Source
	queries, rows *atomic.Int32
}

func (c counting) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	c.queries.Add(1)
	return func(yield func(bson.Raw, error) bool) {
		for doc, err := range c.Source.Select(ctx, at, q) {
			if c.rows.Add(1); !yield(doc, err) {
				return
			}
		}
	}
}

func (c counting) Count(ctx context.Context, at origin.Meta, filter bson.Raw) (int, error) {
	c.queries.Add(1)
	return c.Source.Count(ctx, at, filter)
}

func (c counting) Distinct(
	ctx context.Context, at origin.Meta, filter bson.Raw, fields []string, fn func(doc bson.Raw, rows int) error,
) error {
	c.queries.Add(1)
	return c.Source.Distinct(ctx, at, filter, fields, fn)
}

// TestNoSuchPart: a request for a part of the sitemap that does not exist reads no rows, and the next ones ask the
// store nothing until a view changes.
func TestNoSuchPart(t *testing.T) {
	proxytest.InStore(t, map[string]func(*testing.T){"in the store": func(t *testing.T) {
		var queries, rows atomic.Int32
		store := proxytest.ListStore(t, nil)
		store.Queries = func(from view.Source) view.Source { return counting{from, &queries, &rows} }
		s := proxytest.OpenViews(t, store, proxytest.ListOptions(t), proxytest.ListViews(t), 0)
		ask := func(part int) (asked, read int32) {
			t.Helper()
			queriesBefore, rowsBefore := queries.Load(), rows.Load()
			if res := s.Get(fmt.Sprint("/sitemap.xml?part=", part)); res.StatusCode != 404 {
				t.Errorf("part %d: %s", part, res.Status)
			}
			return queries.Load() - queriesBefore, rows.Load() - rowsBefore
		}
		for range 2 {
			asked, read := ask(2)
			if asked == 0 || read > 0 {
				t.Errorf("the first request: %d queries, %d rows", asked, read)
			}
			for part := range 50 {
				if asked, read := ask(part + 900); asked > 0 {
					t.Fatalf("part %d: %d queries, %d rows", part+900, asked, read)
				}
			}
			s.Refresh(rules.ViewProjects)
		}
	}})
}
