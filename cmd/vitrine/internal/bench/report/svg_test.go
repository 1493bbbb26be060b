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
	marks := []mark{{at: 3, label: "three"}}
	of := func(name string, points ...point) series { return series{name: name, points: points} }
	tests := []struct {
		name  string
		chart chart
		want  []string // in the drawing
	}{
		{"from zero", chart{title: "A <b> & c", description: "d & e", unit: "of it", marks: marks,
			rows: []string{"one", "none"}, series: []series{of("first", point{x: 1, low: 0.5, high: 2})}},
			[]string{"A &lt;b&gt; &amp; c", ">d &amp; e</desc>", ">one<", ">none<", ">three<", ">of it<", "</title></use>", ">0.5<"}},
		{"in powers of ten", chart{title: "T", log: true, rows: []string{"x", "zero"}, series: []series{
			of("p50", point{x: 0.05}, point{row: 1}), of("p99", point{x: 1234, low: 1234, high: 2000}, point{row: 1, x: 7})}},
			[]string{">0.01<", ">10,000<", ">p99<", ">1,234<", "color:var(--s0)", "color:var(--s1)"}},
		{"one value in powers of ten", chart{title: "T", log: true, rows: []string{"x"}, series: []series{of("a", point{x: 10})}}, []string{">10<", ">100<"}},
		{"two marks", chart{title: "T", rows: []string{"x"}, series: []series{of("a", point{x: 1})}, marks: append(marks, mark{at: 3.1, label: "close"})},
			[]string{`text-anchor="end" class="ml">three<`, `text-anchor="start" class="ml">close<`}},
		{"no points", chart{title: "T"}, []string{">T<"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, again := tt.chart.svg(), tt.chart.svg()
			if got != again {
				t.Error("drawn twice, it differs")
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

// TestAdd checks that rows and series are made once, in the order in which they come.
func TestAdd(t *testing.T) {
	c := &chart{}
	c.add("small", "list", point{x: 1})
	c.add("small", "all", point{x: 2})
	c.add("large", "all", point{x: 3})
	c.add("large", "list", point{x: 4})
	want := []series{
		{"small", []point{{x: 1}, {row: 1, x: 2}}},
		{"large", []point{{row: 1, x: 3}, {x: 4}}},
	}
	if !reflect.DeepEqual(c.series, want) || !slices.Equal(c.rows, []string{"list", "all"}) {
		t.Errorf("rows %v, series %v", c.rows, c.series)
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
