package origin_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// keptStore is a store whose methods are those of its Responses, too.
type keptStore struct {
	origin.Store
	origin.Responses
}

// openKept opens a fresh store.
func (h harness) openKept(t *testing.T, with settings) keptStore {
	t.Helper()
	s := h.open(t, with)
	return keptStore{s, s.Responses()}
}

// rewriteKept changes a stored document behind the store's back, see harness.
func (h harness) rewriteKept(t *testing.T, s keptStore, with settings, at stored,
	change func(bson.Raw) any) keptStore {
	t.Helper()
	changed := h.rewrite(t, s.Store, with, at, change)
	return keptStore{changed, changed.Responses()}
}

var responseTests = map[string]func(*testing.T, harness){
	"an answer comes back as it was stored":                 testResponseStored,
	"an answer of any bytes comes back":                     testResponseBytes,
	"what is not kept is not found":                         testResponseMissing,
	"a claim returns what is kept":                          testClaimReturns,
	"one holder at a time claims a key":                     testClaimHeld,
	"one of many concurrent claims succeeds":                testClaimRace,
	"a claim runs out by the monotonic clock":               testClaimExpires,
	"tokens of a key grow":                                  testClaimTokens,
	"a claim that cannot be read is free":                   testClaimUnreadable,
	"key, holder and term are checked":                      testClaimChecked,
	"an outdated claim stores nothing":                      testClaimOutdated,
	"a claim given back is free":                            testUnclaim,
	"a new answer replaces all of the old one":              testPutReplaces,
	"what no document can hold is refused":                  testPutRefused,
	"a confirmed answer keeps its body":                     testConfirm,
	"a dropped answer is reported and its claim is lost":    testDrop,
	"drops and stored answers come in one order":            testDropRace,
	"changes are those since a generation":                  testChanges,
	"a reader of an older store starts over":                testChangesStale,
	"documents that cannot be read are left out":            testChangesUnreadable,
	"a damaged body is dropped":                             testBodyDamaged,
	"demand adds up and ages":                               testAsk,
	"swept documents are gone, and their claims stay lost":  testSweep,
	"marks are stored under the newest lease":               testMarks,
	"marks that cannot be read are written anew":            testMarksUnreadable,
	"a lost count of generations goes on":                   testCountLost,
	"views and source collections do not show what is kept": testResponsesApart,
}

// answer returns an answer for a key whose body is a text.
func answer(key, body string) origin.Response {
	at := time.Date(2024, 2, 29, 11, 0, 0, 5e6, time.UTC)
	return origin.Response{
		Key: key, Digest: "digest of " + body, Status: 200, Body: []byte(body), Size: len(body),
		Header: []origin.ResponseField{
			{Name: "Content-Type", Value: "text/html"}, {Name: "X-Twice", Value: "1"}, {Name: "X-Twice", Value: "2"},
		},
		ETag: `"1"`, Modified: "Thu, 29 Feb 2024 10:00:00 GMT", Fetched: at, Checked: at.Add(time.Second),
		Marks: map[string]int64{"activities": 7, "a.b": 8},
	}
}

// keep claims a key and stores an answer. It returns the answer with what the store has added.
func keep(t *testing.T, s keptStore, r origin.Response) origin.Response {
	t.Helper()
	put := must(s.Put(t.Context(), claimed(t, s, r.Key, "a"), r))(t)
	if put.Body != nil || put.Generation == 0 {
		t.Errorf("Put returned %d bytes and generation %d", len(put.Body), put.Generation)
	}
	put.Body = r.Body
	return put
}

// claimed claims a key for a minute.
func claimed(t *testing.T, s keptStore, key, holder string) origin.Claim {
	t.Helper()
	c, _, err := s.Claim(t.Context(), key, holder, time.Minute)
	ok(t, err)
	return c
}

// isKept fails the test unless a key has an answer.
func isKept(t *testing.T, s keptStore, want origin.Response) {
	t.Helper()
	if got := must(s.Response(t.Context(), want.Key))(t); !reflect.DeepEqual(got, want) {
		t.Errorf("kept:\n got %+v\nwant %+v", got, want)
	}
}

// isMissing fails the test unless a key has no answer.
func isMissing(t *testing.T, s keptStore, key string) {
	t.Helper()
	if r, err := s.Response(t.Context(), key); !errors.Is(err, origin.ErrNotFound) {
		t.Errorf("%s: %+v, %v; want ErrNotFound", key, r, err)
	}
}

// changes returns the answers changed since a generation as "key digest", sorted.
func changes(t *testing.T, s keptStore, since uint64) (list []string, latest uint64) {
	t.Helper()
	all, latest, err := s.Changes(t.Context(), since)
	ok(t, err)
	for r, err := range all {
		ok(t, err)
		if r.Generation <= since || r.Body != nil {
			t.Errorf("%s has generation %d and %d bytes, since %d", r.Key, r.Generation, len(r.Body), since)
		}
		list = append(list, r.Key+" "+r.Digest)
	}
	slices.Sort(list)
	return list, latest
}

func testResponseStored(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	want := answer("/portfolio/unit/BIO?limit=10&x=a.b%24", "<html>")
	put := keep(t, s, want)
	want.Generation = put.Generation
	if !reflect.DeepEqual(put, want) {
		t.Errorf("Put = %+v\nwant %+v", put, want)
	}
	isKept(t, s, want)
	empty := origin.Response{Key: "/moved", Digest: "d", Status: 301}
	put = keep(t, s, empty)
	empty.Generation, empty.Body = put.Generation, []byte{}
	isKept(t, s, empty)
	moment := time.Date(2024, 2, 29, 11, 0, 0, 999_999, time.FixedZone("", 3600))
	put = keep(t, s, origin.Response{Key: "/moment", Digest: "d", Status: 200, Fetched: moment})
	if at := moment.Truncate(time.Millisecond).UTC(); put.Fetched != at || put.Checked != at {
		t.Errorf("fetched at %v, checked at %v; want %v", put.Fetched, put.Checked, at)
	}
}

func testResponseBytes(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	want := answer("/any", string(all))
	want.Digest = "d"
	want.ETag, want.Modified = "\"\xff\x00\"", "\xfe"
	want.Header = []origin.ResponseField{{Name: "X-Latin", Value: "K\xf6ln"}, {Name: "$set", Value: "$unset"}}
	want.Generation = keep(t, s, want).Generation
	isKept(t, s, want)
	big := answer("/big", "")
	big.Body = bytes.Repeat(all, 12<<20/256)
	big.Size, big.Generation = len(big.Body), keep(t, s, big).Generation
	isKept(t, s, big)
}

func testResponseMissing(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	c := claimed(t, s, "/claimed", "a")
	for _, key := range []string{"/nothing", "/claimed", "", "state"} {
		isMissing(t, s, key)
	}
	if list, _ := changes(t, s, 0); len(list) > 0 {
		t.Errorf("changes: %s", list)
	}
	ok(t, s.Drop(t.Context(), []string{"/nothing", "", "state"}))
	ok(t, s.AddDemand(t.Context(), []origin.Demand{
		{Key: "/nothing", Requests: 1}, {Key: "/claimed", Requests: 1}, {Key: "state", Requests: 1},
	}))
	must(s.Put(t.Context(), c, answer(c.Key, "x")))(t)
	if kept := must(s.Response(t.Context(), c.Key))(t); kept.Requests != 0 || !kept.Asked.IsZero() {
		t.Errorf("asked for before it was kept: %+v", kept)
	}
}

func testPutReplaces(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	old := keep(t, s, answer("/a", "a long old body"))
	next := origin.Response{Key: "/a", Digest: "d", Status: 404, Body: []byte("new"), Size: 3}
	put := keep(t, s, next)
	next.Generation = put.Generation
	if put.Generation <= old.Generation {
		t.Errorf("generation %d after %d", put.Generation, old.Generation)
	}
	isKept(t, s, next)
}

func testPutRefused(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	large := answer("/a", "")
	large.Body = make([]byte, origin.MaxResponse)
	unsigned, strange := answer("/a", "x"), answer("/a", "x")
	unsigned.Digest, strange.Status = "", 0
	c := claimed(t, s, "/a", "a")
	for what, r := range map[string]origin.Response{"too large": large, "no digest": unsigned, "no status": strange} {
		_, err := s.Put(t.Context(), c, r)
		if err == nil || errors.Is(err, origin.ErrTooLarge) != (what == "too large") {
			t.Errorf("%s: %v", what, err)
		}
	}
	isMissing(t, s, "/a")
	must(s.Put(t.Context(), c, answer("/a", "x")))(t) // the claim is still valid
	large.Body = large.Body[:origin.MaxResponse-2000]
	large.Generation, large.Size = keep(t, s, large).Generation, len(large.Body)
	c, kept, err := s.Claim(t.Context(), "/a", strings.Repeat("holder", 1000), time.Minute)
	if err != nil || kept.Size != large.Size {
		t.Errorf("Claim of the largest answer: %d bytes, %v", kept.Size, err)
	}
	must(s.Confirm(t.Context(), c, large.Digest, large.Checked, large.Marks))(t)
}

func testConfirm(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	want := keep(t, s, answer("/a", "x"))
	ok(t, s.AddDemand(t.Context(), []origin.Demand{{Key: "/a", Requests: 3, Last: want.Fetched}}))
	c := claimed(t, s, "/a", "a")
	if _, err := s.Confirm(t.Context(), c, "other", time.Now(), nil); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Confirm of another digest: %v, want ErrFenced", err)
	}
	at := want.Checked.Add(time.Hour)
	got := must(s.Confirm(t.Context(), c, want.Digest, at.Add(999), map[string]int64{"persons": 9}))(t)
	if got.Generation <= want.Generation || got.Body != nil {
		t.Errorf("confirmed with generation %d after %d and %d bytes", got.Generation, want.Generation, len(got.Body))
	}
	want.Generation, want.Checked, want.Marks = got.Generation, at, map[string]int64{"persons": 9}
	want.Asked, want.Requests = want.Fetched, 3
	isKept(t, s, want)
	got.Body = want.Body
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Confirm = %+v\nwant %+v", got, want)
	}
	early := must(s.Confirm(t.Context(), claimed(t, s, "/a", "b"), want.Digest, at.Add(-48*time.Hour), nil))(t)
	if early.Checked.Before(early.Fetched) {
		t.Errorf("checked at %v, before it was fetched", early.Checked)
	}
	if _, err := s.Confirm(t.Context(), claimed(t, s, "/new", "a"), "", at, nil); !errors.Is(err, origin.ErrFenced) {
		t.Errorf("Confirm of nothing: %v, want ErrFenced", err)
	}
}

func testResponsesApart(t *testing.T, h harness) {
	s := h.openKept(t, settings{})
	keep(t, s, answer("/a", "x"))
	if metas := must(s.Metas(t.Context()))(t); len(metas) != 0 {
		t.Errorf("metas %+v", metas)
	}
	if names := must(s.Collections(t.Context()))(t); len(names) != 0 {
		t.Errorf("collections %q", names)
	}
	if _, err := s.Begin(t.Context(), "upstream", acquire(t, s.Store, "a")); err == nil {
		t.Error("a view may be named like the collection of answers")
	}
}
