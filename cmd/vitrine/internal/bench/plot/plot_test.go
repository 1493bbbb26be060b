package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/internal/bench/plot"
)

func TestCharts(t *testing.T) {
	marks := []plot.Mark{{At: 3, Label: "three"}}
	series := func(points ...plot.Point) []plot.Series { return []plot.Series{{Name: "first", Points: points}} }
	tests := []struct {
		name  string
		chart plot.Chart
		want  []string // in the drawing
	}{
		{"rows", plot.Chart{Title: "A <b> & c", Description: "d & e", X: plot.Axis{Label: "of it"}, Marks: marks,
			Rows: []string{"one", "none"}, Series: series(plot.Point{X: 1, Low: 0.5, High: 2})},
			[]string{"A &lt;b&gt; &amp; c", ">d &amp; e</desc>", ">one<", ">none<", ">three<", ">of it<", "</title></use>"}},
		{"rows in powers of ten", plot.Chart{Title: "T", X: plot.Axis{Log: true}, Rows: []string{"x", "zero"}, Series: []plot.Series{
			{Name: "p50", Points: []plot.Point{{X: 0.05}, {}}}, {Name: "p99", Points: []plot.Point{{X: 1234, Low: 1234, High: 2000}, {X: 7, Y: 1}}}}},
			[]string{">0.01<", ">10k<", ">p99<", ">1.23k<"}},
		{"an axis that ends", plot.Chart{Title: "T", X: plot.Axis{Most: 2}, Rows: []string{"x"}, Series: series(plot.Point{X: 1, Low: 1, High: 9})}, []string{">2<"}},
		{"no rows", plot.Chart{Title: "T", Rows: []string{}}, []string{">T<"}},
		{"points", plot.Chart{Title: "T", X: plot.Axis{Label: "s"}, Y: plot.Axis{Label: "ms", Log: true}, Marks: marks,
			Series: []plot.Series{{Name: "a", Joined: true, Points: []plot.Point{{X: -1, Y: 1}, {X: 2, Y: 10}}}, {Name: "b", Points: []plot.Point{{X: 0, Y: 5}}}}},
			[]string{`class="j l0"`, `class="f0"`, `class="f1"`, ">three<", ">a<", ">b<", ">ms<"}},
		{"no points", plot.Chart{Title: "T"}, []string{">T<"}},
		{"equal values", plot.Chart{Title: "T", Series: series(plot.Point{X: 2}, plot.Point{X: 2})}, []string{`class="f0"`}},
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

func draw(t *testing.T, c plot.Chart) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
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
