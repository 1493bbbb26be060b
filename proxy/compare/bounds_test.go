package compare_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"vitrine/proxy/compare"
)

// allocated returns how many bytes a function allocates in all, which bounds what it holds at a time.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// page returns an answer with HTML, and object one with JSON.
func page(body string) compare.Answer {
	return compare.Answer{Status: http.StatusOK, Type: "text/html", Body: []byte(body)}
}

func object(body string) compare.Answer {
	return compare.Answer{Status: http.StatusOK, Type: "application/json", Body: []byte(body)}
}

// numbered returns n texts made from their numbers.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestBounds: whatever a side answers, a comparison holds little more than the answers, reports few differences, and
// reports what it did not compare as such: never as equal, never as on purpose.
func TestBounds(t *testing.T) {
	long := strings.Repeat("x", 300)
	var open strings.Builder
	for i := range 7 {
		fmt.Fprintf(&open, "<%s%d>", long, i)
	}
	for _, tt := range []struct {
		name     string
		old, new compare.Answer
		most     uint64 // bytes allocated for each byte of the answers
		want     string // the outcome
	}{
		{"tags below long names", page(open.String() + strings.Repeat("<br>", 375_000)),
			page(open.String() + strings.Repeat("<br>", 375_000) + "x"), 100, "differ"},
		{"elements below long names", page(open.String() + strings.Repeat("<b></b>", 200_000)),
			page(open.String() + strings.Repeat("<b></b>", 200_000) + "x"), 100, "differ"},
		{"too many tags", page(strings.Repeat("<br>", 600_000)), page(strings.Repeat("<br>", 600_000) + "x"), 100,
			"failed"},
		{"too many words", page(numbered(300_000, "%d<br>")), page("<b>" + numbered(300_000, "%d<br>")), 100,
			"failed"},
		{"too many words in a field", object(`{"a":"<b>` + strings.Repeat("a ", 600_000) + `"}`),
			object(`{"a":"<b>` + strings.Repeat("b ", 600_000) + `"}`), 100, "failed"},
		{"words that agree now and then", page(numbered(120_000, "<p>a b %d ")),
			page(numbered(120_000, "<p>b a %d ")), 100, "differ"},
		{"a tag with many attributes", page("<a" + strings.Repeat(" a", 400_000) + ">"),
			page("<a" + strings.Repeat(" b", 400_000) + ">"), 100, "failed"},
		{"too many lines", compare.Answer{Status: 200, Body: []byte(strings.Repeat("\n", 600_000))},
			compare.Answer{Status: 200, Body: []byte(strings.Repeat("\n", 600_000) + "x")}, 100, "failed"},
		{"too many fields", object(`{` + numbered(300_000, `"%d":1,`) + `"a":1}`),
			object(`{` + numbered(300_000, `"%d":1,`) + `"a":2}`), 100, "failed"},
		{"too many fields of rows", object(`{"data":[{` + numbered(300_000, `"%d":1,`) + `"a":1}]}`),
			object(`{"data":[{` + numbered(300_000, `"%d":1,`) + `"a":2}]}`), 100, "failed"},
		{"too many rows", object(`[1` + strings.Repeat(",1", 500_000) + `]`),
			object(`[2` + strings.Repeat(",1", 500_000) + `]`), 100, "failed"},
		{"too many documents", object(strings.Repeat("{}", 300_000)), object(strings.Repeat("{}", 300_001)), 100,
			"failed"},
		{"a deep value with much below",
			object(strings.Repeat("[", 40) + strings.Repeat("1,", 300_000) + "1" + strings.Repeat("]", 40)),
			object(strings.Repeat("[", 40) + strings.Repeat("1,", 300_000) + "2" + strings.Repeat("]", 40)), 100,
			"failed"},
		{"a deep row with much below", object(`[{"a":[` + strings.Repeat("0,", 500_000) + "1]}]"),
			object(`[{"a":[` + strings.Repeat("0,", 500_000) + `2]}]`), 100, "failed"},
		{"a huge number", object(`{"a":` + strings.Repeat("1", 1<<20) + `}`),
			object(`{"a":` + strings.Repeat("1", 1<<20) + `2}`), 100, "differ"},
		{"a huge exponent", object(`{"a":1e` + strings.Repeat("9", 1<<20) + `}`),
			object(`{"a":1e` + strings.Repeat("9", 1<<20) + `8}`), 100, "differ"},
		{"a huge id", object(`[{"id":"` + strings.Repeat("<", 1<<20) + `","a":1}]`),
			object(`[{"id":"` + strings.Repeat("<", 1<<20) + `","a":2}]`), 100, "differ"},
		{"more than enough differences on purpose",
			object(`{"data":[` + numbered(90_000, `{"id":%d,"purpose":1},`) + `{}]}`),
			object(`{"data":[` + numbered(90_000, `{"id":%d,"purpose":2},`) + `{}]}`), 1500, "failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules, err := compare.ParseAccepted("own.yaml",
				[]byte("- {reason: ours, path: '*purpose'}\n- {reason: long, ignore: 'x+y'}\n"))
			if err != nil {
				t.Fatal(err)
			}
			a, b := sides(t, answering(""), answering(""))
			c := compare.NewComparison(a, b,
				compare.Settings{Accepted: append(compare.OSIRIS(), rules...), Examples: 3})
			var outcome string
			got := allocated(func() {
				outcome = c.Add(t.Context(), compare.Request{Method: "GET", Target: "/api/x"},
					[2]compare.Answer{tt.old, tt.new}, [2]error{})
			})
			if outcome != tt.want {
				t.Errorf("outcome %s, want %s", outcome, tt.want)
			}
			if size := uint64(len(tt.old.Body) + len(tt.new.Body)); got > tt.most*size+(8<<20) {
				t.Errorf("%d MB for answers of %d MB: %d bytes for each", got>>20, size>>20, got/size)
			}
			r := c.Report()
			tooLong := 0
			for _, g := range r.Differences() {
				if g.Kind == compare.Failed && strings.HasPrefix(g.Examples[0].Old, compare.TooLong) {
					tooLong += g.Values
				}
			}
			if (tt.want == "failed") != (tooLong == 1) {
				t.Errorf("%d parts are reported as too long", tooLong)
			}
		})
	}
}

// TestBoundsEnd: a comparison ends with its context, and then counts nothing.
func TestBoundsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	differences := 0
	compare.Compare(ctx, object(`{"data":[`+numbered(1000, `{"id":%d,"a":1},`)+`{}]}`),
		object(`{"data":[`+numbered(1000, `{"id":%d,"a":2},`)+`{}]}`), func(compare.Difference) {
			differences++
			cancel()
		})
	if differences == 0 || differences > 100 {
		t.Errorf("%d differences of a comparison that has ended", differences)
	}
	a, b := sides(t, answering(""), answering(""))
	c := compare.NewComparison(a, b, compare.Settings{Examples: 3})
	if got := c.Add(ctx, compare.Request{}, [2]compare.Answer{object("1"), object("2")}, [2]error{}); got != "" ||
		c.Report().Total.Asked != 0 {
		t.Errorf("outcome %q, %+v", got, c.Report().Total)
	}
}
