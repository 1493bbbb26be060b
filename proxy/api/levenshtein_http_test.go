package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/access"
)

func TestLevenshtein(t *testing.T) {
	s := proxytest.Open(t, department(t), departmentOptions(t))
	answer := func(similarity, id, title string) string {
		return fmt.Sprintf(`{"similarity":%s,"id":%q,"title":%q}`, similarity, id, title)
	}
	world := "64b000000000000000000001"
	tests := []struct{ name, title, want string }{
		{"4 of 4 and 5 characters", "Word", answer("88.9", world, "world")},
		{"the same", "world", answer("100", world, "world")},
		{"in capitals", "WORLD", answer("100", world, "world")},
		{"tags of the requested title count: 5 of 12 and 5", "<b>WORLD</b>", answer("58.8", world, "world")},
		{"tags of the stored title", "roots & shoots", answer("100", "64b000000000000000000002", "roots & shoots")},
		{"the first of equals by _id, not the newest", "soil", answer("100", "64b000000000000000000003", "soil")},
		{"lectures are none", "soils", answer("88.9", "64b000000000000000000003", "soil")},
		{"exactly 50 %", "worxyz4", answer("50", world, "world")},
		{"46 % is reported as 0, and selected", "worxyz45", answer("0", world, "world")},
		{"nothing in common", "1234567", answer("0", "", "")},
		{"only a tag, 2 of 7 and 12 characters", "<i></i>", answer("0", "64b000000000000000000006", "unaffiliated")},
		{"characters, not bytes", "GRÖSSE", `{"similarity":0,"id":"named","title":"größe &amp; übermaß"}`},
		{"references stay", "größe &amp; übermaß", `{"similarity":100,"id":"named","title":"größe &amp; übermaß"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			target := "/api/levenshtein?title=" + url.QueryEscape(tt.title)
			if got := string(s.Get(target).Body); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			// The comparison overwrites exact look-ups, whatever their result.
			if got := string(s.Get(target + "&doi=10.1000/1&pubmed[]=1").Body); got != tt.want {
				t.Errorf("with identifiers: got %s", got)
			}
		})
	}
}

func TestLevenshteinOfNothing(t *testing.T) {
	s := proxytest.Open(t, proxytest.NewStore(), departmentOptions(t))
	want := `{"similarity":0,"id":"","title":""}`
	if got := string(s.Get("/api/levenshtein?title=any").Body); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLevenshteinFollowsTheView: the corpus belongs to the snapshot that the answer comes from.
func TestLevenshteinFollowsTheView(t *testing.T) {
	s := proxytest.Open(t, department(t), departmentOptions(t))
	ask := func(want string) {
		t.Helper()
		var asking sync.WaitGroup
		for i := range 8 { // different answers, so that they do not share a flight
			asking.Go(func() { s.Get(fmt.Sprintf("/api/levenshtein?title=worlds%d", i)) })
		}
		asking.Wait()
		if got := string(s.Get("/api/levenshtein?title=worlds").Body); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	ask(`{"similarity":90.9,"id":"64b000000000000000000001","title":"world"}`)
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "later"}, {Key: "type", Value: "publication"},
		{Key: "title", Value: "Worlds"}})
	if err != nil {
		t.Fatal(err)
	}
	s.Refresh(rules.ViewActivities, doc)
	ask(`{"similarity":100,"id":"later","title":"worlds"}`)
}

// TestClosestVisibleTitle: the closest title is one of an activity whose type the session may see, or of its own.
func TestClosestVisibleTitle(t *testing.T) {
	secret := []byte("session secret")
	o := matrixOptions(t, secret, false, "10.0.0.0/8")
	o.Access = access.New(access.Options{Restricted: map[string][]string{"publication": {"admin"}}})
	store := matrixStore(t)
	store.Publish(rules.ViewActivities, proxytest.Parse(t,
		`{"_id":"a1","type":"publication","title":"World"}`,
		`{"_id":"a4","type":"publication","title":"Moths","rendered":{"users":["linda"]}}`)...)
	s := proxytest.Open(t, store, o)
	for round := range 2 { // the second answer may be a kept one
		for user, want := range map[string]string{"": "a1", linked: "a4", viewer: "", admin: "a1"} {
			var headers []string
			if user != "" {
				headers = []string{"Authorization", "Bearer " + proxytest.Token(t, user, secret)}
			}
			if body := string(s.Get("/api/levenshtein?title=World", headers...).Body); !strings.Contains(body,
				`"id":"`+want+`"`) {
				t.Errorf("round %d, %q: want %q, have %s", round, user, want, body)
			}
		}
	}
}
