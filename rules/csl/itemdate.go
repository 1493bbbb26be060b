package csl

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A Date is a day, a month, a year, or a range of them.
type Date struct {
	from, to [3]int // year, month, day; 0 is unknown. Months 13 to 16 and 21 to 24 are seasons.
	isRange  bool
	open     bool   // a range without an end
	season   string // 1 (spring) to 4, or a text
	circa    bool
	literal  string // takes the place of everything else
}

// jsonDate is a date in CSL-JSON.
type jsonDate struct {
	Parts   [][]json.RawMessage `json:"date-parts"`
	Season  json.RawMessage     `json:"season"`
	Circa   flag                `json:"circa"`
	Literal string              `json:"literal"`
	Raw     string              `json:"raw"`
}

// readDate reads a date of CSL-JSON. It returns nil if there is none.
func readDate(src json.RawMessage) *Date {
	var in jsonDate
	if json.Unmarshal(src, &in) != nil {
		if in.Raw = readText(src); in.Raw == "" {
			return nil
		}
	}
	d := &Date{circa: bool(in.Circa), season: strings.TrimSpace(readText(in.Season)),
		literal: clean(in.Literal, maxPart)}
	for i, parts := range in.Parts {
		to := &d.from
		if i == 1 {
			d.isRange = true
			to = &d.to
		}
		for j := 0; j < len(parts) && j < 3 && i < 2; j++ {
			n, _ := strconv.Atoi(readText(parts[j]))
			if n > 9999 || n < -9999 {
				n = 0
			}
			to[j] = n
		}
	}
	d.open = d.isRange && d.to[0] == 0
	if d.to == d.from {
		d.isRange = false
	}
	if d.from[0] == 0 && d.literal == "" {
		d.raw(clean(in.Raw, maxPart))
	}
	if d.from[0] == 0 && d.literal == "" {
		return nil
	}
	return d
}

// raw reads a date from a text: "2020", "2020-05", "2020-05-04", or two of them with a slash between. It keeps
// other texts as literals.
func (d *Date) raw(s string) {
	if s == "" {
		return
	}
	first, last, isRange := strings.Cut(s, "/")
	from, ok := isoDate(first)
	if !ok {
		d.literal = s
		return
	}
	if isRange {
		if d.to, ok = isoDate(last); !ok {
			d.literal = s
			return
		}
		d.isRange = d.to != from
	}
	d.from = from
}

// isoDate reads "2020", "2020-05" or "2020-05-04".
func isoDate(s string) (day [3]int, ok bool) {
	parts := strings.Split(strings.TrimSpace(s), "-")
	if len(parts) > 3 {
		return day, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 9999 || i == 0 && len(part) != 4 {
			return [3]int{}, false
		}
		day[i] = n
	}
	return day, true
}
