package ejson

import (
	"encoding/binary"
	"strconv"
	"time"
)

// endOfISO is the first millisecond of the year 10000, which ISO 8601 dates of four
// digits cannot tell; relaxed Extended JSON writes dates as such from 1970 to then.
const endOfISO = 253402300800000

// parseDate reads an ISO 8601 date as milliseconds since 1970.
func parseDate(s []byte) (ms int64, ok bool) {
	d := dateReader{rest: s, ok: true}
	year, month, day := d.digits(4), d.after('-', 12), d.after('-', 31)
	if !d.ok || month == 0 || day == 0 {
		return 0, false
	}
	var hour, minute, second, milli, zone int
	if len(d.rest) > 0 {
		hour, minute = d.after('T', 23), d.after(':', 59)
		if d.ok && len(d.rest) > 0 && d.rest[0] == ':' {
			second, milli = d.after(':', 59), d.fraction()
		}
		zone = d.zone()
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if !d.ok || len(d.rest) > 0 || t.Day() != day {
		return 0, false // the day check finds the 31st of April
	}
	return (t.Unix()-int64(zone)*60)*1000 + int64(milli), true
}

// dateReader takes a date apart from the left; after the first mistake ok is false
// and everything reads as 0.
type dateReader struct {
	rest []byte
	ok   bool
}

// digits takes a number of n digits.
func (d *dateReader) digits(n int) int {
	if !d.ok || len(d.rest) < n || countDigits(d.rest[:n]) != n {
		d.ok = false
		return 0
	}
	v := 0
	for _, c := range d.rest[:n] {
		v = v*10 + int(c-'0')
	}
	d.rest = d.rest[n:]
	return v
}

// after takes a separator and a number of two digits up to limit.
func (d *dateReader) after(separator byte, limit int) int {
	if !d.ok || len(d.rest) == 0 || d.rest[0] != separator {
		d.ok = false
		return 0
	}
	d.rest = d.rest[1:]
	v := d.digits(2)
	d.ok = d.ok && v <= limit
	return v
}

// fraction takes the fraction of a second, if there is one, as milliseconds.
func (d *dateReader) fraction() int {
	if !d.ok || len(d.rest) == 0 || d.rest[0] != '.' {
		return 0
	}
	d.rest = d.rest[1:]
	n := countDigits(d.rest)
	if n == 0 {
		d.ok = false
		return 0
	}
	ms := 0
	for i := range 3 {
		ms *= 10
		if i < n {
			ms += int(d.rest[i] - '0')
		}
	}
	d.rest = d.rest[n:]
	return ms
}

// zone takes the time zone, as minutes east of UTC.
func (d *dateReader) zone() int {
	if !d.ok || len(d.rest) == 0 {
		d.ok = false
		return 0
	}
	sign := d.rest[0]
	if sign == 'Z' {
		d.rest = d.rest[1:]
		return 0
	}
	if sign != '+' && sign != '-' {
		d.ok = false
		return 0
	}
	minutes := d.after(sign, 23) * 60
	switch {
	case len(d.rest) == 2:
		m := d.digits(2)
		d.ok = d.ok && m <= 59
		minutes += m
	case len(d.rest) > 0:
		minutes += d.after(':', 59)
	}
	if sign == '-' {
		return -minutes
	}
	return minutes
}

// appendDate writes a date; from 1970 to 9999 as people write it, with milliseconds
// where there are any, else as a number.
func appendDate(dst, b []byte) []byte {
	ms := int64(binary.LittleEndian.Uint64(b))
	if ms < 0 || ms >= endOfISO {
		dst = append(dst, `{"$date":{"$numberLong":"`...)
		dst = strconv.AppendInt(dst, ms, 10)
		return append(dst, `"}}`...)
	}
	t := time.UnixMilli(ms).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = append(dst, `{"$date":"`...)
	dst = appendPadded(dst, uint64(year), 4)
	dst = appendPadded(append(dst, '-'), uint64(month), 2)
	dst = appendPadded(append(dst, '-'), uint64(day), 2)
	dst = appendPadded(append(dst, 'T'), uint64(hour), 2)
	dst = appendPadded(append(dst, ':'), uint64(minute), 2)
	dst = appendPadded(append(dst, ':'), uint64(second), 2)
	if milli := ms % 1000; milli != 0 {
		dst = appendPadded(append(dst, '.'), uint64(milli), 3)
	}
	return append(dst, `Z"}`...)
}

// appendPadded writes n with at least width digits, at most 20.
func appendPadded(dst []byte, n uint64, width int) []byte {
	var digits [20]byte
	i := len(digits)
	for ; n > 0 || width > 0; width-- {
		i--
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, digits[i:]...)
}
