package cite

import (
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// dates sets when a work appeared or took place. The stored year and month count before the
// start, which adds what they leave open.
func (it *Item) dates(k *kind) {
	start, end := date(it.value(k, vStart)), date(it.value(k, vEnd))
	it.Date = date(it.value(k, vYear))
	if it.Date.Month == 0 {
		it.Date = newDate(it.Date.Year, number(it.value(k, vMonth)), number(it.value(k, vDay)))
	}
	d := it.Date
	if d.Year == 0 || d.Year == start.Year && (d.Month == 0 || d.Month == start.Month && d.Day == 0) {
		it.Date = start
	}
	if it.Date.before(end) {
		it.End = end
	}
}

// before reports whether a date is before another in what both have.
func (d Date) before(e Date) bool {
	if d.Year != e.Year || d.Month == 0 || e.Month == 0 {
		return d.Year != 0 && d.Year < e.Year
	}
	if d.Month != e.Month || d.Day == 0 || e.Day == 0 {
		return d.Month < e.Month
	}
	return d.Day < e.Day
}

// String returns a date as far as it is known, as ISO 8601 writes it; "" for no date.
func (d Date) String() string {
	if d.Year == 0 {
		return ""
	}
	return string(d.appendISO(nil, '-'))
}

// appendISO appends "2021-08-01", "2021-08" or "2021" with sep between the parts.
func (d Date) appendISO(dst []byte, sep byte) []byte {
	year := strconv.Itoa(d.Year)
	dst = append(append(dst, "0000"[min(4, len(year)):]...), year...)
	for _, n := range [...]int{d.Month, d.Day} {
		if n == 0 {
			break
		}
		dst = append(dst, sep, byte('0'+n/10), byte('0'+n%10))
	}
	return dst
}

// newDate returns as much of a year, month and day as makes sense.
func newDate(year, month, day int) Date {
	switch {
	case year < 1 || year > 9999:
		return Date{}
	case month < 1 || month > 12:
		return Date{Year: year}
	case day < 1 || day > 28 && day > time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day():
		return Date{Year: year, Month: month}
	}
	return Date{year, month, day}
}

// date reads the stored forms of a date: a year, "2021-08-01" in its three lengths, with a
// time behind it or not, a BSON date, {year, month, day}.
func date(v bson.RawValue) Date {
	switch v.Type {
	case bson.TypeString:
		return textDate(strings.TrimSpace(raw.Text(v)))
	case bson.TypeDateTime:
		year, month, day := v.Time().UTC().Date()
		return newDate(year, int(month), day)
	case bson.TypeEmbeddedDocument:
		var parts [3]int
		for i, name := range [...]string{"year", "month", "day"} {
			e, _ := raw.Lookup(v.Value, name)
			parts[i] = number(e.Value())
		}
		return newDate(parts[0], parts[1], parts[2])
	}
	return newDate(number(v), 0, 0)
}

// textDate reads a date from text: a year of four digits, a month and a day.
func textDate(s string) Date {
	if i := strings.IndexAny(s, "T "); i > 0 && len(s) > len("2021-08-01") {
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
	return newDate(parts[0], parts[1], parts[2])
}

// number returns a whole number, also one stored as text; 0 for everything else.
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
