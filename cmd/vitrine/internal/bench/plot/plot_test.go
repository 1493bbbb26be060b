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

// chart is what both kinds do.
type chart interface{ Write(w io.Writer) error }

func TestCharts(t *testing.T) {
	lines := []plot.Line{{At: 3, Label: "three"}}
	tests := []struct {
		name  string
		chart chart
		want  []string // in the drawing
	}{
		{"dots", plot.Dots{Title: "A <b> & c", Description: "d & e", Axis: plot.Axis{Label: "of it"}, Lines: lines,
			Rows: []plot.Row{{Label: "one", Values: []plot.Value{{1, 0.5, 2}}}, {Label: "none", Values: []plot.Value{plot.Nothing}}}},
			[]string{"A &lt;b&gt; &amp; c", ">d &amp; e</desc>", ">one<", ">none<", ">three<", ">of it<", "</title></circle>"}},
		{"dots in powers of ten", plot.Dots{Title: "T", Axis: plot.Axis{Log: true}, Series: []string{"p50", "p99"},
			Rows: []plot.Row{{Label: "x", Values: []plot.Value{{At: 0.05}, {1234, 1234, 2000}}}, {Label: "zero", Values: []plot.Value{{}, {At: 7}}}}},
			[]string{">0.01<", ">10k<", ">p99<", ">1.23k<"}},
		{"an axis that ends", plot.Dots{Title: "T", Axis: plot.Axis{Most: 2}, Rows: []plot.Row{{Label: "x", Values: []plot.Value{{1, 1, 9}}}}}, []string{">2<"}},
		{"no dots", plot.Dots{Title: "T"}, []string{">T<"}},
		{"points", plot.Points{Title: "T", X: plot.Axis{Label: "s"}, Y: plot.Axis{Label: "ms", Log: true}, Marks: lines, Lines: lines,
			Series: []plot.Series{{Name: "a", Joined: true, Points: []plot.XY{{X: -1, Y: 1}, {X: 2, Y: 10}}}, {Name: "b", Points: []plot.XY{{X: 0, Y: 5}}}}},
			[]string{"<path", "<circle", "<polygon", ">three<", ">a<", ">b<"}},
		{"no points", plot.Points{Title: "T"}, []string{">T<"}},
		{"equal values", plot.Points{Title: "T", Series: []plot.Series{{Name: "a", Points: []plot.XY{{X: 2, Y: 0}, {X: 2, Y: 0}}}}}, []string{"<circle"}},
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
