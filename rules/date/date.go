// Package date reads the forms in which institutes store a date.
//
// It drops invalid parts of a date: an invalid month leaves the year, an invalid day leaves the month. All functions
// are pure and never panic.
package date

import (
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Date is a day, a month (Day is 0) or a year (Month is 0); Year 0 means no date.
type Date struct{ Year, Month, Day int }

const maxYear = 9999

// New returns the date made of the valid parts of year, month and day.
func New(year, month, day int) Date {
	switch {
	case year < 1 || year > maxYear:
		return Date{}
	case month < 1 || month > 12:
		return Date{Year: year}
	case day < 1 || day > 28 && day > time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day():
		return Date{Year: year, Month: month}
	}
	return Date{year, month, day}
}

// Read reads a year, "2021-08-01" or a prefix of it, also before a time, a BSON date, {year, month, day}.
func Read(v bson.RawValue, zone *time.Location) Date {
	switch v.Type {
	case bson.TypeString:
		return read(strings.TrimSpace(raw.Text(v)))
	case bson.TypeDateTime:
		year, month, day := v.Time().In(zone).Date()
		return New(year, int(month), day)
	case bson.TypeEmbeddedDocument:
		return Of(raw.Get(v.Value, "year"), raw.Get(v.Value, "month"), raw.Get(v.Value, "day"))
	}
	return New(number(v), 0, 0)
}

// Of returns the date of a stored year, month and day.
func Of(year, month, day bson.RawValue) Date { return New(number(year), 0, 0).With(month, day) }

// With returns the year of d with a stored month and day.
func (d Date) With(month, day bson.RawValue) Date { return New(d.Year, number(month), number(day)) }

// read reads a date from text: a year of four digits, perhaps with a month and a day.
func read(s string) Date {
	if i := strings.IndexAny(s, "T "); i > 0 {
		s = s[:i]
	}
	var parts [3]int
	i := 0
	for digits := range strings.SplitSeq(s, "-") {
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || len(digits) > 4 || i == 0 && len(digits) < 4 || i == len(parts) {
			return Date{}
		}
		parts[i] = int(n)
		i++
	}
	return New(parts[0], parts[1], parts[2])
}

// number returns a whole number, also one stored as text, or 0.
func number(v bson.RawValue) int {
	if v.Type == bson.TypeString {
		n, _ := strconv.ParseInt(strings.TrimSpace(raw.Text(v)), 10, 32)
		return int(n)
	}
	n, whole, ok := raw.Truncate(v)
	if !whole || !ok || n != int64(int32(n)) {
		return 0
	}
	return int(n)
}

// Before reports whether d is before e, comparing only the parts that both have. It is false if one of them is no date.
func (d Date) Before(e Date) bool {
	if d.Year != e.Year || d.Month == 0 || e.Month == 0 {
		return d.Year != 0 && d.Year < e.Year
	}
	if d.Month != e.Month || d.Day == 0 || e.Day == 0 {
		return d.Month < e.Month
	}
	return d.Day < e.Day
}

// String returns the known parts of a date in ISO 8601, "" for no date.
func (d Date) String() string { return string(d.AppendISO(nil, '-')) }

// AppendISO appends "2021-08-01", "2021-08" or "2021" with sep between the parts. It appends nothing for no date.
func (d Date) AppendISO(dst []byte, sep byte) []byte {
	if d.Year == 0 {
		return dst
	}
	year := strconv.Itoa(d.Year)
	dst = append(append(dst, "0000"[len(year):]...), year...)
	for _, n := range [...]int{d.Month, d.Day} {
		if n == 0 {
			break
		}
		dst = append(dst, sep, byte('0'+n/10), byte('0'+n%10))
	}
	return dst
}
