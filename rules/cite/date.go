package cite

import (
	"time"

	"vitrine/rules/date"
)

// dates sets when a work appeared or took place. The stored year and month count before the
// start, which adds what they leave open.
func (it *Item) dates(k *kind) {
	read := func(variable int) date.Date { return date.Read(it.value(k, variable), time.UTC) }
	start, end := read(vStart), read(vEnd)
	it.Date = read(vYear)
	if it.Date.Month == 0 {
		it.Date = it.Date.With(it.value(k, vMonth), it.value(k, vDay))
	}
	d := it.Date
	if d.Year == 0 || d.Year == start.Year && (d.Month == 0 || d.Month == start.Month && d.Day == 0) {
		it.Date = start
	}
	if it.Date.Before(end) {
		it.End = end
	}
}
