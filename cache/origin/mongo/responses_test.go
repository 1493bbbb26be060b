package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
)

const keptKey = "/portfolio/unit/BIO"

// numberedAnswer returns an answer of which every part carries a number.
func numberedAnswer(n int) origin.Response {
	text, at := fmt.Sprint(n), time.Unix(1e9+int64(n), 0).UTC()
	return origin.Response{
		Key: keptKey, Digest: text, Status: 200, Body: []byte(text), Size: len(text), ETag: text, Modified: text,
		Header:  []origin.ResponseField{{Name: "X-Number", Value: text}},
		Fetched: at, Checked: at, Marks: map[string]int64{"activities": int64(n)},
	}
}

// wholeAnswer returns the stored answer, or one without a digest. It fails the test unless all parts have one number;
// marks and the time of the last check may have another one if the answer was confirmed.
func wholeAnswer(t *testing.T, s *mongo.Store) origin.Response {
	t.Helper()
	got, err := s.Responses().Response(t.Context(), keptKey)
	if errors.Is(err, origin.ErrNotFound) {
		return origin.Response{}
	}
	var n int
	if err == nil {
		_, err = fmt.Sscan(got.Digest, &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := numberedAnswer(n)
	confirmed := numberedAnswer(int(got.Marks["activities"]))
	want.Generation, want.Marks, want.Checked = got.Generation, confirmed.Marks, confirmed.Checked
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("a mixture: %+v", got)
	}
	return got
}

// renew claims the key for a holder and stores an answer, confirms it with other marks, and drops it. It returns
// after the first error, with the steps done.
func renew(ctx context.Context, s *mongo.Store, holder string, n int) (done int, err error) {
	kept := s.Responses()
	c, _, err := kept.Claim(ctx, keptKey, holder, time.Minute)
	if err == nil {
		_, err = kept.Put(ctx, c, numberedAnswer(n))
	}
	if err != nil {
		return 0, err
	}
	next := numberedAnswer(n + 1)
	c, _, err = kept.Claim(ctx, keptKey, holder, time.Minute)
	if err == nil {
		_, err = kept.Confirm(ctx, c, fmt.Sprint(n), next.Checked, next.Marks)
	}
	if err != nil {
		return 1, err
	}
	if err := kept.Drop(ctx, []string{keptKey}); err != nil {
		return 2, err
	}
	return 3, nil
}

// TestAnswersCutOffAfterEveryCommand breaks the connection of a process after each command with which it stores,
// confirms and drops an answer, before the server gets the next command or after it. Each time the answer is whole:
// none, the one before, or the new one, and no older than what was acknowledged. Another process can replace it.
func TestAnswersCutOffAfterEveryCommand(t *testing.T) {
	server := mongotest.Start(t)
	for _, tc := range []struct {
		name   string
		answer bool // the server gets the last command, only its answer is lost
	}{{"command lost", false}, {"answer lost", true}} {
		t.Run(tc.name, func(t *testing.T) {
			direct := open(t, server, mongo.Options{})
			database := strings.TrimPrefix(direct.Name(), strings.TrimSuffix(server, "/"))
			for commands := int64(1); ; commands++ {
				n := int(commands) * 10
				c, _, err := direct.Responses().Claim(t.Context(), keptKey, "victim", time.Minute)
				if err == nil { // the killed process's own claim is not in the way
					_, err = direct.Responses().Put(t.Context(), c, numberedAnswer(n))
				}
				if err != nil {
					t.Fatal(err)
				}
				before := wholeAnswer(t, direct)
				wire, ctx := cutAfter(t, server, commands, tc.answer)
				victim := reach(t, strings.TrimSuffix(wire.URI(), "/")+database+impatient)
				done, err := renew(ctx, victim, "victim", n+1)
				after := wholeAnswer(t, direct)
				steps, known := map[string]int{ // how many steps led to it
					fmt.Sprintf("%d %d", n, n): 0, fmt.Sprintf("%d %d", n+1, n+1): 1,
					fmt.Sprintf("%d %d", n+1, n+2): 2, " 0": 3,
				}[fmt.Sprintf("%s %d", after.Digest, after.Marks["activities"])]
				if !known || steps < done || steps > done+1 {
					t.Fatalf("cut after %d commands: %d steps acknowledged, then %+v", commands, done, after)
				}
				changed, _, failed := direct.Responses().Changes(t.Context(), before.Generation)
				if failed != nil {
					t.Fatal(failed)
				}
				found := 0
				for range changed {
					found++
				}
				if (found == 1) != (steps > 0) {
					t.Fatalf("cut after %d commands: %d changes after %d steps", commands, found, steps)
				}
				if wire.Commands() < commands {
					if err != nil {
						t.Fatal(err)
					}
					return // all was done before the cut
				}
			}
		})
	}
}

// TestAnswersOfAnotherSource: a second institute with the same database for its views neither gets nor replaces the
// answers of the first. A copy of a database that has its own views goes on with them.
func TestAnswersOfAnotherSource(t *testing.T) {
	server := mongotest.Start(t)
	a := openAt(t, server+"a", mongo.Options{ViewsDatabase: "shared"})
	b := openAt(t, server+"b", mongo.Options{ViewsDatabase: "shared"})
	if _, err := renewOnce(t, a, 1); err != nil {
		t.Fatal(err)
	}
	kept := b.Responses()
	_, read := kept.Response(t.Context(), keptKey)
	_, _, claim := kept.Claim(t.Context(), keptKey, "b", time.Minute)
	_, _, other := kept.Claim(t.Context(), "/other", "b", time.Minute)
	_, _, changes := kept.Changes(t.Context(), 0)
	_, _, marks := kept.Marks(t.Context())
	for name, err := range map[string]error{
		"Response": read, "Claim": claim, "Claim of another key": other, "Changes": changes, "Marks": marks,
		"Drop": kept.Drop(t.Context(), []string{keptKey}), "Sweep": kept.Sweep(t.Context(), 1<<50),
		"AddDemand": kept.AddDemand(t.Context(), []origin.Demand{{Key: keptKey, Requests: 1}}),
	} {
		if !errors.Is(err, origin.ErrForeign) {
			t.Errorf("%s: %v, want ErrForeign", name, err)
		}
	}
	if got := wholeAnswer(t, a); got.Digest != "1" || got.Requests != 0 {
		t.Errorf("the first institute has %+v", got)
	}

	own := openAt(t, server+"copy", mongo.Options{})
	if _, err := renewOnce(t, own, 1); err != nil {
		t.Fatal(err)
	}
	all := client(t, server).Database("copy").Collection("view_upstream")
	renamed := bson.D{{Key: "$set", Value: bson.D{{Key: "source", Value: "institute"}}}}
	if _, err := all.UpdateMany(t.Context(), bson.D{}, renamed); err != nil {
		t.Fatal(err)
	}
	if got := wholeAnswer(t, own); got.Digest != "1" {
		t.Errorf("the copy has %+v", got)
	}
	if _, err := renewOnce(t, own, 2); err != nil {
		t.Error(err)
	}
}

// renewOnce stores an answer.
func renewOnce(t *testing.T, s *mongo.Store, n int) (origin.Response, error) {
	t.Helper()
	c, _, err := s.Responses().Claim(t.Context(), keptKey, "a", time.Minute)
	if err != nil {
		return origin.Response{}, err
	}
	return s.Responses().Put(t.Context(), c, numberedAnswer(n))
}
