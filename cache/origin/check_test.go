package origin_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

func TestCheckCollection(t *testing.T) {
	for _, c := range []struct {
		name, collection, want string
	}{
		{"a usual one", "activities", ""},
		{"with a dot and capitals", "Catalog.topics", ""},
		{"of the largest length", strings.Repeat("x", 200), ""},
		{"too long", strings.Repeat("x", 201), "at most 200 bytes"},
		{"without a name", "", "without a name"},
		{"one of Vitrine's own", "view_activities", "reserved"},
		{"the server's", "system.users", "reserved"},
		{"with a dollar sign", "a$b", "neither $"},
		{"with a zero byte", "a\x00b", "nor zero bytes"},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, origin.CheckCollection(c.collection), c.want) })
	}
}

func TestCheckView(t *testing.T) {
	for _, c := range []struct {
		name, view, want string
	}{
		{"a usual one", "user_units", ""},
		{"with digits", "year2024", ""},
		{"of the largest length", strings.Repeat("x", 100), ""},
		{"too long", strings.Repeat("x", 101), "1 to 100"},
		{"without a name", "", "1 to 100"},
		{"with a capital", "Persons", "small letters"},
		{"with a slash", "a/b", "small letters"},
		{"the stores' metas", "meta", "reserved"},
		{"the stores' prepared rows", "staged", "reserved"},
		{"the stores' leases", "lease", "reserved"},
		{"the kept answers", "upstream", "reserved"},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, origin.CheckView(c.view), c.want) })
	}
}

// wantError checks that an error contains a text; "" means that there must be no error.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want one with %q", err, want)
	}
}

func TestRowCheck(t *testing.T) {
	doc := raw(t, bson.D{{Key: "_id", Value: int32(1)}})
	for _, c := range []struct {
		name string
		row  origin.Row
		want string
	}{
		{"a row", origin.Row{ID: value(t, int32(1)), Doc: doc}, ""},
		{"a tombstone", gone(t, 1), ""},
		{"no id", origin.Row{Doc: doc}, "without ID"},
		{"another id", origin.Row{ID: value(t, int32(2)), Doc: doc}, "another _id"},
		{"the same number of another type", origin.Row{ID: value(t, int64(1)), Doc: doc}, "another _id"},
		{"a document without", origin.Row{ID: value(t, int32(1)), Doc: raw(t, bson.D{})}, "_id of its document"},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, c.row.Check(), c.want) })
	}
}

// TestGenerations: Is and Reaches tell a reader whether it may use the rows that it has.
func TestGenerations(t *testing.T) {
	at := origin.Meta{Epoch: "e", Generation: 7, Pruned: 3}
	for _, c := range []struct {
		name  string
		other origin.Meta
		stale bool
	}{
		{"the same", origin.Meta{Epoch: "e", Generation: 7}, false},
		{"an earlier generation", origin.Meta{Epoch: "e", Generation: 6}, true},
		{"a later generation", origin.Meta{Epoch: "e", Generation: 8}, true},
		{"another epoch", origin.Meta{Epoch: "f", Generation: 7}, true},
	} {
		if err := at.Is(c.other); errors.Is(err, origin.ErrStale) != c.stale {
			t.Errorf("%s: Is = %v, want stale: %t", c.name, err, c.stale)
		}
	}
	for since, stale := range map[uint64]bool{0: false, 1: true, 2: true, 3: false, 7: false, 8: true} {
		if err := at.Reaches(since); errors.Is(err, origin.ErrStale) != stale {
			t.Errorf("Reaches(%d) = %v, want stale: %t", since, err, stale)
		}
	}
}

func TestDamagedError(t *testing.T) {
	for _, c := range []struct {
		id   bson.RawValue
		want string
	}{
		{value(t, "x"), `record "x" of persons in bolt://v.db is damaged: import it again`},
		{bson.RawValue{}, "a record of persons in bolt://v.db is damaged: import it again"},
	} {
		err := error(&origin.DamagedError{Store: "bolt://v.db", Collection: "persons", ID: c.id})
		if err.Error() != c.want || !errors.Is(err, origin.ErrDamagedRecord) {
			t.Errorf("error = %q, want %q, an ErrDamagedRecord", err, c.want)
		}
	}
}

func TestSkipText(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
	}{
		{"short", "a year is missing", "a year is missing"},
		{"not UTF-8", "a\xffb", "a?b"},
		{"of the largest length", strings.Repeat("x", origin.MaxSkipText), strings.Repeat("x", origin.MaxSkipText)},
		{"too long", strings.Repeat("x", 1000), strings.Repeat("x", origin.MaxSkipText-len("…")) + "…"},
		{"cut between characters", "x" + strings.Repeat("ü", 500), "x" + strings.Repeat("ü", 148) + "…"},
	} {
		got := origin.SkipText(c.text)
		if got != c.want || len(got) > origin.MaxSkipText || !utf8.ValidString(got) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestCount checks over two days which count a run is compared with.
func TestCount(t *testing.T) {
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	var c origin.Count
	if most := c.Most(noon); most != 0 {
		t.Errorf("Most without a run = %d", most)
	}
	for _, run := range []struct {
		name    string
		after   time.Duration
		records int
		forced  bool
		most    int // after the run
		peaks   int
	}{
		{"the first", 0, 100, false, 100, 1},
		{"more in the same hour", 10 * time.Minute, 120, false, 120, 1},
		{"fewer in the same hour", 20 * time.Minute, 110, false, 120, 1},
		{"fewer in a later hour", 2 * time.Hour, 90, false, 120, 2},
		{"a clock that was set back", time.Hour, 95, false, 120, 2},
		{"fewer when the most is a day old", 25*time.Hour + 30*time.Minute, 80, false, 95, 2},
		{"forced", 28 * time.Hour, 10, true, 10, 1},
		{"more again", 29 * time.Hour, 50, false, 50, 1},
		{"the last is never forgotten", 900 * time.Hour, 40, false, 40, 1},
	} {
		now := noon.Add(run.after)
		c = c.Published(run.records, now, run.forced)
		if c.Records != run.records || c.Most(now) != run.most || len(c.Peaks) != run.peaks {
			t.Errorf("%s: %d records, most %d, %d peaks; want %d, %d, %d: %+v",
				run.name, c.Records, c.Most(now), len(c.Peaks), run.records, run.most, run.peaks, c.Peaks)
		}
	}
}

// TestFollows: epoch, generation and past tell which publications a view follows.
func TestFollows(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	now := origin.Meta{Epoch: "a", Generation: 9, Published: at(90), Past: []time.Time{at(70), at(80), at(90)}}
	for name, c := range map[string]struct {
		from          origin.Meta
		follows, sure bool
	}{
		"itself":                     {now, true, true},
		"two before":                 {origin.Meta{Epoch: "a", Generation: 7, Published: at(70)}, true, true},
		"before the past":            {origin.Meta{Epoch: "a", Generation: 6, Published: at(60)}, true, false},
		"another of that generation": {origin.Meta{Epoch: "a", Generation: 8, Published: at(81)}, false, true},
		"of another past":            {origin.Meta{Epoch: "a", Generation: 9, Published: at(95)}, false, true},
		"a later one":                {origin.Meta{Epoch: "a", Generation: 10, Published: at(99)}, false, true},
		"another epoch":              {origin.Meta{Epoch: "b", Generation: 7, Published: at(70)}, false, true},
	} {
		if follows, sure := now.Follows(c.from); follows != c.follows || sure != c.sure {
			t.Errorf("%s: %t, sure %t; want %t, %t", name, follows, sure, c.follows, c.sure)
		}
	}
	now.Past = nil // an earlier version published it
	if follows, sure := now.Follows(origin.Meta{Epoch: "a", Generation: 8, Published: at(81)}); !follows || !sure {
		t.Errorf("follows a meta without past: %t, sure %t", follows, sure)
	}
}
