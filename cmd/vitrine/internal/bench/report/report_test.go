package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestWriteTable(t *testing.T) {
	r := Report{Runs: []Run{{
		Rows: 100_000, BSON: 290e6, Fill: 8 * time.Second, Build: 9 * time.Second,
		Starts: []time.Duration{3 * time.Second, time.Second, 2 * time.Second},
		Memory: Memory{Rows: 404e6}, Refresh: Refresh{Changed: 100, Ratio: 1.5, Rounds: 1}, Notes: []string{"no wind"},
		Results: []Result{
			{Name: "list", Rate: 50_000, Bare: &Bare{Ratio: 0.83}},
			{Name: "full", P50: 1500 * time.Millisecond},
		},
	}}}
	var b strings.Builder
	if err := WriteTable(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"100,000 activities", "290 MB", "50,000", "0.83", "1.5s", "2s", "1.5 ×", "activities: no wind"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil || back.Runs[0].Results[0].Bare.Ratio != 0.83 {
		t.Errorf("read back: %v", err)
	}
}

func TestFigures(t *testing.T) {
	tests := []struct{ got, want string }{
		{short(0), "–"},
		{short(1234), "1µs"},
		{short(1_234_567), "1.23ms"},
		{short(123_456_789), "123ms"},
		{short(1_234_567_890), "1.23s"},
		{short(12_345_678_900), "12.3s"},
		{number(0.0126), "0.013"},
		{number(0.126), "0.13"},
		{number(12.34), "12.3"},
		{number(999.4), "999"},
		{number(12345.6), "12,346"},
		{number(0.1 + 0.2), "0.3"},
		{size(0), "–"},
		{size(1_234_567), "1.23 MB"},
		{size(12_345_678_900), "12,346 MB"},
		{number(1_234_567), "1,234,567"},
	}
	for i, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("figure %d: got %s, want %s", i, tt.got, tt.want)
		}
	}
}

func TestMedian(t *testing.T) {
	tests := []struct {
		name    string
		figures []float64
		want    float64
	}{
		{"of none", nil, 0},
		{"of one", []float64{7}, 7},
		{"of three", []float64{9, 1, 2}, 2},
		{"of four", []float64{4, 1, 2, 9}, 3},
	}
	for _, tt := range tests {
		if got := MedianOf(tt.figures); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		if got := Median(tt.figures, func(f float64) float64 { return -f }); got != -tt.want {
			t.Errorf("%s, negated: got %v, want %v", tt.name, got, -tt.want)
		}
	}
}
