// Package date reads the forms in which institutes, publishers and reference managers store a date.
//
// Read promises: a value has one date wherever it is shown, selected or sorted. A BSON date has its day in the zone
// of the site; a text has no zone and keeps its day. Read drops invalid parts of a date: an invalid month leaves the
// year, an invalid day leaves the month. Years have four digits; 0987, a typing error such as 21, and the zero time
// of many programs are no dates.
//
// The forms of texts are those of ISO 8601, with any of - . / between the parts, of German and English letters
// ("01.08.2021", "1. August 2021", "Aug 1, 2021"), of PubMed ("2021 Aug 1", "2021 Jul-Aug", "2021 Spring"), of e-mail
// and HTTP, and years as catalogues write them ("c2021", "[2021]", "2021a"). Of a range the start counts. Where a
// text can mean several days, Read returns what all meanings have in common: 01/02/2021 is of 2021, 13/02/2021 is a
// day, and 2010/11 may be two years, while 2010-11 is a month, as in ISO 8601. A week, a quarter, a season, a term
// and the number of a day in the year give the year alone. "n.d.", "o. J." and "forthcoming" are no dates.
//
// All functions are pure, take constant time and never panic.
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

const minYear, maxYear = 1000, 9999

// New returns the date made of the valid parts of year, month and day.
func New(year, month, day int) Date {
	switch {
	case year < minYear || year > maxYear:
		return Date{}
	case month < 1 || month > 12:
		return Date{Year: year}
	case day < 1 || day > 28 && day > time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day():
		return Date{Year: year, Month: month}
	}
	return Date{year, month, day}
}

// Read reads a stored date: a year as a number, a text, a BSON date, {year, month, day}, or a date of CSL-JSON.
func Read(v bson.RawValue, zone *time.Location) Date {
	if v.Type != bson.TypeEmbeddedDocument {
		return scalar(v, zone)
	}
	if issued := raw.Get(v.Value, "issued"); issued.Type == bson.TypeEmbeddedDocument {
		v = issued
	} else if issued.Type != 0 {
		return scalar(issued, zone)
	}
	d := scalar(raw.Get(v.Value, "year"), zone).With(raw.Get(v.Value, "month"), raw.Get(v.Value, "day"))
	if d.Year == 0 {
		d = parts(raw.Get(v.Value, "date-parts"), zone)
	}
	for _, name := range [...]string{"raw", "literal"} {
		if d.Year == 0 {
			d = scalar(raw.Get(v.Value, name), zone)
		}
	}
	return d
}

// parts reads the date-parts of CSL-JSON, [[2021, 8, 1]]: of a range, its start. The outer array may be missing.
func parts(v bson.RawValue, zone *time.Location) Date {
	if first := element(v, 0); first.Type == bson.TypeArray {
		v = first
	}
	return scalar(element(v, 0), zone).With(element(v, 1), element(v, 2))
}

// element returns an element of an array, or nothing.
func element(v bson.RawValue, i int) bson.RawValue {
	for e := range raw.Elements(v) {
		if i == 0 {
			return e
		}
		i--
	}
	return bson.RawValue{}
}

// With completes a year by a stored month and day. The month may be a name. A date that has a month stays.
func (d Date) With(month, day bson.RawValue) Date {
	if d.Year == 0 || d.Month != 0 {
		return d
	}
	return New(d.Year, part(month), part(day))
}

func scalar(v bson.RawValue, zone *time.Location) Date {
	switch v.Type {
	case bson.TypeString:
		return parse(strings.TrimSpace(raw.Text(v)))
	case bson.TypeDateTime:
		year, month, day := v.Time().In(zone).Date()
		return New(year, int(month), day)
	}
	return New(number(v), 0, 0)
}

// part returns a stored month or day, or 0.
func part(v bson.RawValue) int {
	if v.Type != bson.TypeString {
		return number(v)
	}
	first, _ := next(cut(strings.TrimSpace(raw.Text(v))))
	if first.short() {
		return first.number
	}
	return first.month
}

// number returns a whole number, or 0.
func number(v bson.RawValue) int {
	n, whole, ok := raw.Truncate(v)
	if !whole || !ok || n != int64(int32(n)) {
		return 0
	}
	return int(n)
}

// Time returns the beginning of d in a zone. An unknown month or day counts as the first.
func (d Date) Time(zone *time.Location) time.Time {
	return time.Date(d.Year, time.Month(max(d.Month, 1)), max(d.Day, 1), 0, 0, 0, 0, zone)
}

// Before reports whether d is before e, comparing only the parts that both have. It is false if one of them is no
// date.
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
	dst = strconv.AppendInt(dst, int64(d.Year), 10)
	for _, n := range [...]int{d.Month, d.Day} {
		if n == 0 {
			break
		}
		dst = append(dst, sep, byte('0'+n/10), byte('0'+n%10))
	}
	return dst
}
