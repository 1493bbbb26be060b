package lists_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules/fold"
	"vitrine/rules/markup"
)

// sortedRecords are activities with titles and first authors of a few words in many spellings; some
// lack them or have other types.
func sortedRecords(t testing.TB, r *rand.Rand, n int) (docs []bson.Raw) {
	t.Helper()
	texts := []any{
		"Arzt", "Ärzte", "arzt", "ÄRZTE", "Aerzte", "Zebra", "zebra", "éclair", "Eclair", "<i>Moth</i> lamps",
		"moth lamps", "Łódź", "ß", "Strasse", "Straße",
		"", "???", nil, 12, bson.A{"Zoo"}, bson.D{}, "\x00", "日本語", "10 moths", "9 moths",
	}
	for i := range n {
		doc := bson.D{{Key: "_id", Value: fmt.Sprintf("r%04d", i)}, {Key: "type", Value: "publication"},
			{Key: "year", Value: 2000 + r.IntN(4)}}
		if text := texts[r.IntN(len(texts))]; text != nil {
			doc = append(doc, bson.E{Key: "title", Value: text})
		}
		if text := texts[r.IntN(len(texts))]; text != nil {
			doc = append(doc, bson.E{Key: "authors", Value: bson.A{bson.D{{Key: "last", Value: text}}}})
		}
		raw, err := bson.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, raw)
	}
	return docs
}

// TestListsSortText: lists by title and author compare the text that readers see. For any rows, no
// row is lost, pages are parts of the whole, and rows that compare equal stay in the order of the
// view in both directions; rows without a text come last.
func TestListsSortText(t *testing.T) {
	proxytest.WholeOnly(t)
	t.Run("memory", sortText)
	proxytest.ViewsAre = view.Store
	defer func() { proxytest.ViewsAre = view.Memory }()
	t.Run("store", sortText)
}

func sortText(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	docs := sortedRecords(t, r, 190)
	s := proxytest.OpenLists(t, func(collection string, demo []bson.Raw) []bson.Raw {
		if collection == "activities" {
			return docs
		}
		return demo
	})
	textOf := map[string]func(doc bson.Raw) string{
		"title":  func(doc bson.Raw) string { return textAt(doc, "title") },
		"author": func(doc bson.Raw) string { return textAt(doc, "authors", "0", "last") },
	}
	byID := map[string]bson.Raw{}
	for _, doc := range docs {
		byID[doc.Lookup("_id").StringValue()] = doc
	}
	for field, of := range textOf {
		var orders [2][]string
		for i, sign := range []string{"", "-"} {
			target := "/lists/activities.json?sort=" + sign + field
			keyOf := func(id string) string { return fold.Key(markup.Plain(of(byID[id]))) }
			orders[i] = idsOf(getList(s, target+"&limit=200"))
			if len(orders[i]) != len(docs) {
				t.Fatalf("seed %d: %s has %d of %d items", seed, target, len(orders[i]), len(docs))
			}
			if !slices.IsSortedFunc(orders[i], func(a, b string) int {
				switch x, y := keyOf(a), keyOf(b); {
				case x == "" || y == "":
					return min(len(y), 1) - min(len(x), 1)
				case i == 1:
					return strings.Compare(y, x)
				default:
					return strings.Compare(x, y)
				}
			}) {
				t.Errorf("seed %d: %s is not sorted", seed, target)
			}
			var paged []string
			for page := 1; len(paged) < len(docs) && page < 100; page++ {
				paged = append(paged, idsOf(getList(s, fmt.Sprintf("%s&limit=7&page=%d", target, page)))...)
			}
			if !slices.Equal(paged, orders[i]) {
				t.Errorf("seed %d: the pages of %s do not add up to the list", seed, target)
			}
		}
		equal := func(order []string) map[string][]string {
			groups := map[string][]string{}
			for _, id := range order {
				key := fold.Key(markup.Plain(of(byID[id])))
				groups[key] = append(groups[key], id)
			}
			return groups
		}
		for key, ids := range equal(orders[0]) {
			if other := equal(orders[1])[key]; !slices.Equal(ids, other) {
				t.Errorf("seed %d: equal rows with %s %q are in the orders %v and %v", seed, field, key, ids, other)
			}
		}
	}
}

// textAt returns a text of a record as far as the sort compares it.
func textAt(doc bson.Raw, path ...string) string {
	v := doc.Lookup(path...)
	if array, ok := v.ArrayOK(); ok {
		v = array.Index(0)
	}
	if n, ok := v.Int32OK(); ok {
		return fmt.Sprint(n)
	}
	text, _ := v.StringValueOK()
	return text
}

func idsOf(l listAnswer) (ids []string) {
	for _, it := range l.Items {
		ids = append(ids, it.ID)
	}
	return ids
}

// BenchmarkListsSortText measures a first request for the activities of a whole institute.
func BenchmarkListsSortText(b *testing.B) {
	docs := map[string][]bson.Raw{}
	for _, name := range []string{"activities", "projects", "conferences", "persons", "groups"} {
		docs[name] = zippedDocuments(b, proxytest.InRepo("..", "shared", "data", "institute", name+".jsonl.gz"))
	}
	s := proxytest.OpenViews(b, proxytest.PublicStore(b, docs), proxytest.ListOptions(b), proxytest.ListViews(b), 0)
	for _, sort := range []string{"-year", "title", "author"} {
		b.Run(sort, func(b *testing.B) {
			var times []time.Duration
			for i := 0; b.Loop(); i++ {
				from := time.Now()
				if res := s.Get(fmt.Sprintf("/lists/activities.json?facets=none&limit=%d&sort=%s&exclude=%d", 10+i%90,
					sort, i)); res.StatusCode != http.StatusOK {
					b.Fatal(res.Status)
				}
				times = append(times, time.Since(from))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms-median")
		})
	}
}
