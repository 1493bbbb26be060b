package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// uneven publishes n activities whose rows are from some hundred bytes to tens of
// thousands long, and then new versions of a few, so that the rows lie scattered.
func uneven(t testing.TB, n int) *site {
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
	store := newStore()
	store.publish(rules.ViewActivities, docs...)
	store.publish(rules.ViewPersons)
	o := options(t)
	o.Limits.KeptBytes = 128 << 10
	s := open(t, store, o)
	var changed []bson.Raw
	for range 20 {
		changed = append(changed, doc(random.IntN(n)))
	}
	s.refresh(rules.ViewActivities, changed...)
	return s
}

// TestPreparedRows: rows sent as they lie in memory are those joined one by one.
// No citation has a link, so a portal's rows, which are joined, are the same.
func TestPreparedRows(t *testing.T) {
	s := uneven(t, 1500)
	filters := []string{
		`{}`, `{"n":-1}`, `{"n":617}`, `{"n":{"$lt":100}}`, `{"n":{"$gte":1250}}`, `{"n":{"$gte":60,"$lt":950}}`,
		`{"n":{"$mod":[2,0]}}`, `{"n":{"$not":{"$mod":[7,3]}}}`, `{"n":{"$not":{"$mod":[250,0]}}}`,
		`{"$or":[{"n":{"$lt":350}},{"n":{"$mod":[3,1]}},{"n":{"$gte":1100}}]}`, `{"year":2011}`,
	}
	for _, f := range filters {
		target := "/api/all-activities?json=" + url.QueryEscape(f)
		joined := s.get(target + "&page=portal")
		for _, coding := range []string{"", "gzip", "br", "zstd"} {
			t.Run(fmt.Sprint(f, " ", coding), func(t *testing.T) {
				got := s.get(target, "Accept-Encoding", coding)
				if got.StatusCode != 200 || plain(t, got) != string(joined.body) {
					t.Errorf("status %d; %d bytes prepared, %d bytes joined", got.StatusCode, len(plain(t, got)), len(joined.body))
				}
			})
		}
	}
}
