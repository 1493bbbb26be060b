package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestCharts(t *testing.T) {
	marks := []mark{{at: 3, label: "three"}}
	of := func(points ...point) []series { return []series{{name: "first", points: points}} }
	tests := []struct {
		name  string
		chart chart
		want  []string // in the drawing
	}{
		{"rows", chart{title: "A <b> & c", description: "d & e", x: axis{label: "of it"}, marks: marks,
			rows: []string{"one", "none"}, series: of(point{x: 1, low: 0.5, high: 2})},
			[]string{"A &lt;b&gt; &amp; c", ">d &amp; e</desc>", ">one<", ">none<", ">three<", ">of it<", "</title></use>"}},
		{"rows in powers of ten", chart{title: "T", x: axis{log: true}, rows: []string{"x", "zero"}, series: []series{
			{name: "p50", points: []point{{x: 0.05}, {}}}, {name: "p99", points: []point{{x: 1234, low: 1234, high: 2000}, {x: 7, y: 1}}}}},
			[]string{">0.01<", ">10,000<", ">p99<", ">1,234<"}},
		{"no rows", chart{title: "T", rows: []string{}}, []string{">T<"}},
		{"points", chart{title: "T", x: axis{label: "s"}, y: axis{label: "ms", log: true}, marks: marks,
			series: []series{{name: "a", joined: true, points: []point{{x: -1, y: 1}, {x: 2, y: 10}}}, {name: "b", points: []point{{x: 0, y: 5}}}}},
			[]string{`<path d="M`, `color:var(--s0)`, `color:var(--s1)`, ">three<", ">a<", ">b<", ">ms<"}},
		{"no points", chart{title: "T"}, []string{">T<"}},
		{"equal values", chart{title: "T", series: of(point{x: 2}, point{x: 2})}, []string{`color:var(--s0)`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, again := draw(t, tt.chart), draw(t, tt.chart)
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

func draw(t *testing.T, c chart) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
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
