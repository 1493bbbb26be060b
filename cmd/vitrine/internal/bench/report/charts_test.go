package report

import (
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestCharts(t *testing.T) {
	marks := []mark{{At: 3, Label: "three"}}
	tests := []struct {
		name  string
		chart chart
		want  []string // in the drawing
	}{
		{"from zero", chart{Title: "A <b> & c", Unit: "of it", Marks: marks,
			Rows: []row{{Label: "one", Points: []point{{At: 1, Low: 0.5, High: 2}}}, {Label: "<script>"}}, Series: []string{"first"}},
			[]string{"A &lt;b&gt; &amp; c", ">one<", ">&lt;script&gt;<", ">three<", ">of it<", "<title>1</title></use>", ">0.5<"}},
		{"in powers of ten", chart{Title: "T", log: true, Series: []string{"p50", "p99"}, Rows: []row{
			{Points: []point{{At: 0.05}, {Series: 1, At: 1234, Low: 1234, High: 2000}}}, {Points: []point{{Series: 1, At: 7}}}}},
			[]string{">0.01<", ">10,000<", ">p99<", ">1,234<", "color:var(--s0)", "color:var(--s1)"}},
		{"one value in powers of ten", chart{Title: "T", log: true, Rows: []row{{Points: []point{{At: 10}}}}}, []string{">10<", ">100<"}},
		{"more series than colours", chart{Title: "T", Rows: []row{{Points: []point{{At: 1}}}}, Series: []string{"a", "b", "c", "d", "e"}}, []string{"color:var(--s3)", ">e<"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.chart.svg()
			again, failed := tt.chart.svg()
			if err != nil || failed != nil || got != again {
				t.Errorf("%v, %v; drawn twice, it differs: %t", err, failed, got != again)
			}
			for _, part := range tt.want {
				if !strings.Contains(got, part) {
					t.Errorf("no %s in\n%s", part, got)
				}
			}
			if strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
				t.Errorf("a coordinate is no number:\n%s", got)
			}
			wellFormed(t, got)
		})
	}
}

// TestAdd checks that rows and series are made once, in the order in which they come, and
// that a figure of 0 has no point.
func TestAdd(t *testing.T) {
	c := &chart{}
	c.add("small", "list", 1, 0, 0)
	c.add("small", "nothing", 0, 0, 0)
	c.add("small", "all", 2, 0, 0)
	c.add("large", "all", 3, 1, 4)
	c.add("large", "list", 4, 0, 0)
	want := []row{
		{"list", 64, []point{{At: 1, Low: 1, High: 1}, {Series: 1, At: 4, Low: 4, High: 4}}},
		{"all", 110, []point{{At: 2, Low: 2, High: 2}, {Series: 1, At: 3, Low: 1, High: 4}}},
	}
	if !reflect.DeepEqual(c.Rows, want) || !slices.Equal(c.Series, []string{"small", "large"}) {
		t.Errorf("rows %v, series %v", c.Rows, c.Series)
	}
}

func wellFormed(t *testing.T, s string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(s)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
