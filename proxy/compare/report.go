package compare

import (
	"bytes"
	_ "embed"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Report is what a comparison has found.
type Report struct {
	Old         string         `json:"old"`
	New         string         `json:"new"`
	Since       time.Time      `json:"since"`
	Until       time.Time      `json:"until"`
	Stopped     string         `json:"stopped,omitempty"` // why the comparison is not complete
	NotAsked    map[string]int `json:"not_asked"`         // lines of the logs, by reason
	Dropped     int64          `json:"dropped,omitempty"` // live requests that came too fast
	Total       Endpoint       `json:"total"`
	Endpoints   []Endpoint     `json:"endpoints"`   // the most different first
	Differences []Group        `json:"differences"` // those on purpose last; the most frequent first
	MoreGroups  int            `json:"more_groups,omitempty"`
}

// Endpoint counts what was asked of an endpoint.
type Endpoint struct {
	Endpoint string  `json:"endpoint"`
	Requests int     `json:"requests"` // in the logs
	Asked    int     `json:"asked"`    // different ones; the sum of the following four
	Agree    int     `json:"agree"`
	Purpose  int     `json:"on_purpose"` // differ on purpose only
	Differ   int     `json:"differ"`
	Failed   int     `json:"failed"`  // one side gave no answer that can be compared
	Errors   int     `json:"errors"`  // both sides answered with the same status of an error
	Refused  int     `json:"refused"` // … with 401 or 403
	Old      Latency `json:"old"`
	New      Latency `json:"new"`
}

// Group is the differences of a kind at one place of an endpoint's answers.
type Group struct {
	Place
	Answers  int       `json:"answers"`
	Values   int       `json:"values"`
	Examples []Example `json:"examples"`
}

// Place identifies a Group.
type Place struct {
	Endpoint string `json:"endpoint"`
	Kind     Kind   `json:"kind"`
	Path     string `json:"path"`             // with [*] for any index
	Reason   string `json:"reason,omitempty"` // why the differences are on purpose
}

// Example is one of a group's differences.
type Example struct {
	Target string `json:"target"`
	Difference
}

// Latency has the times of answers in milliseconds, within 5 percent.
type Latency struct {
	P50     float64     `json:"p50_ms"`
	P99     float64     `json:"p99_ms"`
	Buckets map[int]int `json:"buckets"` // how many answers took exp(0.05 times the key) milliseconds
}

const bucketWidth = 0.05

func (l *Latency) add(took time.Duration) {
	if l.Buckets == nil {
		l.Buckets = map[int]int{}
	}
	l.Buckets[int(math.Round(math.Log(max(float64(took)/1e6, 1e-3))/bucketWidth))]++
}

// quantiles returns a copy of l with its quantiles.
func (l Latency) quantiles() Latency {
	q, total, seen := Latency{Buckets: maps.Clone(l.Buckets)}, 0, 0
	for _, times := range l.Buckets {
		total += times
	}
	for _, b := range slices.Sorted(maps.Keys(l.Buckets)) {
		ms := math.Round(math.Exp(float64(b)*bucketWidth)*1000) / 1000
		if seen*2 < total {
			q.P50 = ms
		}
		if seen*100 < total*99 {
			q.P99 = ms
		}
		seen += l.Buckets[b]
	}
	return q
}

//go:embed page.tmpl
var pageSource string

var page = template.Must(template.New("").Parse(pageSource))

// Policy is the content security policy of the page: it loads nothing and runs no script.
const Policy = "default-src 'none'; style-src 'unsafe-inline'"

// HTML returns the report as a page in one file.
func (r Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, r)
	return b.Bytes(), err
}

// shorten returns the beginning of a text, without characters that control a terminal.
func shorten(text string) string {
	runes := 0
	for at := range text {
		if runes++; runes > mostShown {
			text = text[:at] + "…"
			break
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
