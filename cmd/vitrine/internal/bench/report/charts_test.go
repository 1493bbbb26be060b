package report

import (
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestCharts(t *testing.T) {
	tests := []struct {
		name  string
		chart chart
		want  []string // in the drawing
	}{
		{"from zero", chart{Title: "A <b> & c", Series: []string{"first"}, Rows: []row{
			{Label: "one", Bars: []bar{{Value: 1}}}, {Label: "two", Bars: []bar{{Value: 2}}}, {Label: "<script>"}}},
			[]string{"A &lt;b&gt; &amp; c<", ">one<", ">&lt;script&gt;<", `width="282"`, `width="560"`, ">2<"}},
		{"logarithmic", chart{Title: "T", Log: true, Series: []string{"a", "b"}, Rows: []row{
			{Bars: []bar{{Value: 0.1}, {Series: 1, Value: 1000}}}, {Bars: []bar{{Series: 1, Value: 10}}}}},
			[]string{"T (logarithmic)", `width="4"`, `width="282"`, `width="560"`, ">1,000<", "fill:var(--s0)", "fill:var(--s1)"}},
		{"one value, logarithmic", chart{Title: "T", Log: true, Rows: []row{{Bars: []bar{{Value: 10}}}}}, []string{`width="560"`, ">10<"}},
		{"more series than colours", chart{Title: "T", Rows: []row{{Bars: []bar{{Series: 3, Value: 1}}}}, Series: []string{"a", "b", "c", "d", "e"}},
			[]string{"fill:var(--s3)", ">e<"}},
		{"nothing measured", chart{Title: "T", Log: true}, []string{">T (logarithmic)<"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.chart.svg()
			if err != nil {
				t.Error(err)
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

// TestAdd checks that rows are made once, in the order in which they come, and that a figure
// of 0 has no bar.
func TestAdd(t *testing.T) {
	c := &chart{}
	c.add("list", 0, 1)
	c.add("nothing", 0, 0)
	c.add("all", 0, 2)
	c.add("all", 1, 3)
	c.add("list", 1, 4)
	want := []row{{"list", []bar{{0, 1}, {1, 4}}}, {"all", []bar{{0, 2}, {1, 3}}}}
	if !reflect.DeepEqual(c.Rows, want) {
		t.Errorf("rows %v", c.Rows)
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
