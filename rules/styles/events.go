package styles

import (
	"strings"

	"vitrine/rules/csl"
)

// A talk has one day, which CSL-JSON has twice: as the date of issue, without which nearly all styles have none for
// talks, and as that of the event, without which a few have none. Styles with both would write it twice.

// events are the types of works that have both.
var events = []string{"speech", "event"}

// datesOnce returns the types of works that are rendered without a date of the event that is the date of issue:
// those for which the style then writes the same parts of the date. It renders a sample of each with and without.
func datesOnce(r *csl.Renderer) map[string]bool {
	once := map[string]bool{}
	for _, kind := range events {
		sample, err := csl.ReadItem([]byte(`{"type":"` + kind + `","title":"T","author":[{"literal":"A"}],` +
			`"event":"E","event-place":"P","issued":{"date-parts":[[2003,7,28]]},` +
			`"event-date":{"date-parts":[[2003,7,28]]}}`))
		if err != nil {
			continue // never
		}
		without, _ := sample.DatedOnce()
		before, after := r.Entry(sample).Text(1, ""), r.Entry(without).Text(1, "")
		lost := func(part string) bool { return strings.Contains(before, part) && !strings.Contains(after, part) }
		once[kind] = !lost("03") && !lost("28")
	}
	return once
}

// entry renders an item.
func (v *variant) entry(it *csl.Item) csl.Entry {
	if once, same := it.DatedOnce(); same && v.once[it.Kind()] {
		it = once
	}
	return v.renderer.Entry(it)
}
