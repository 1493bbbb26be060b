package ejson

import (
	"strconv"
	"strings"
	"time"
)

// endOfISO is the first millisecond of the year 10000; ISO 8601 is for the dates from 1970 to then.
const endOfISO = 253402300800000

// dateLayouts are the accepted dates, the usual ones first; time.Parse also accepts a fraction. The
// specification of Extended JSON requires the first alone; the others are forms of ISO 8601 that
// people write.
var dateLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700",
	"2006-01-02T15:04:05Z07", "2006-01-02T15:04Z07",
}

// parseDate reads a date as milliseconds since 1970.
func parseDate(s string) (ms int64, ok bool) {
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UnixMilli(), !lenient(s, t)
		}
	}
	return 0, false
}

// lenient reports whether time.Parse has accepted too much: an hour of one digit, a decimal comma,
// a zone of 24 hours. RFC 3339 has two digits for an hour, and a dot before the fraction.
func lenient(s string, t time.Time) bool {
	const day = 24 * 60 * 60
	_, offset := t.Zone()
	return len(s) > len(time.DateOnly) && s[len("2006-01-02T15")] != ':' || strings.Contains(s, ",") ||
		offset <= -day || offset >= day || strings.HasSuffix(s, "60")
}

// appendDate writes a date, given in milliseconds since 1970. From 1970 to 9999 it writes ISO 8601,
// with milliseconds unless they are zero; otherwise it writes a number.
func appendDate(dst []byte, ms int64) []byte {
	if ms < 0 || ms >= endOfISO {
		dst = append(dst, `{"$date":{"$numberLong":"`...)
		return append(strconv.AppendInt(dst, ms, 10), `"}}`...)
	}
	layout := `{"$date":"2006-01-02T15:04:05.000Z"}`
	if ms%1000 == 0 {
		layout = `{"$date":"2006-01-02T15:04:05Z"}`
	}
	return time.UnixMilli(ms).UTC().AppendFormat(dst, layout)
}
