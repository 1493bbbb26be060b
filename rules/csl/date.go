package csl

import (
	"fmt"
	"strconv"
	"strings"
)

// date renders a cs:date.
func (c *run) date(o *op) (*box, status) {
	d := c.it.dates[o.name]
	if d == nil || c.used[o.name] {
		return nil, status{called: true}
	}
	var b *box
	if d.literal != "" {
		b = c.data(d.literal)
		if o.name == "issued" {
			b = c.yearSlot(b)
		}
	} else {
		b = c.dateParts(o, d)
	}
	if b == nil {
		return nil, status{called: true}
	}
	c.use(o.name)
	return c.decorate(o, b), status{called: true, filled: true}
}

// dateParts renders the parts of a date in the order of the style, or of the locale's date form (sections Date and
// Localized Date Formats).
func (c *run) dateParts(o *op, d *Date) *box {
	parts, delim := o.date.parts, o.delim
	if o.date.form != "" {
		local := c.locale.dates[o.date.form]
		if local == nil {
			return nil
		}
		whole := c.locale.formats[o.date.form]
		parts = localParts(local.parts, o.date)
		delim = whole.delim
	}
	first, last := span(parts, d)
	var boxes []*box
	for i := 0; i < len(parts); i++ {
		if i != first {
			if b := c.datePart(o.name, &parts[i], d, d.from); b != nil {
				boxes = append(boxes, b)
			}
			continue
		}
		from, to := c.dateRange(o.name, parts[first:last+1], d, delim)
		if from != nil && (to != nil || d.open) {
			from = wrap(from, c.leaf(rangeDelim(parts[first:last+1], d)))
		}
		boxes = append(boxes, wrap(from, to))
		i = last
	}
	return join(boxes, delim)
}

// localParts returns the parts of a locale's date form that a cs:date shows, with the attributes that it sets.
func localParts(local []datePart, d *dateOp) []datePart {
	var parts []datePart
	for _, part := range local {
		if !strings.Contains(d.limit, part.name) {
			continue
		}
		for _, own := range d.parts {
			if own.name == part.name {
				part = part.with(&own)
			}
		}
		parts = append(parts, part)
	}
	return parts
}

// with returns a part of a locale with the attributes that the style sets.
func (p datePart) with(own *datePart) datePart {
	p.format = p.format.over(own.format)
	if own.form != "" {
		p.form = own.form
	}
	if own.casing != "" {
		p.casing = own.casing
	}
	if _, ok := own.set["range-delimiter"]; ok {
		p.rangeDelim = own.rangeDelim
	}
	p.strip = p.strip || own.strip
	return p
}

// levels are the parts of a date, the largest first.
var levels = map[string]int{"year": 0, "month": 1, "day": 2}

// differs returns the level of the largest part in which the ends of a range differ.
func (d *Date) differs() int {
	for i := range d.from {
		if d.from[i] != d.to[i] {
			return i
		}
	}
	return len(d.from)
}

// span returns the positions of the first and last part that are rendered for both ends of a range (section Date
// Ranges). first is -1 if the date is not a range.
func span(parts []datePart, d *Date) (first, last int) {
	first = -1
	if !d.isRange {
		return first, last
	}
	level := d.differs()
	for i := range parts {
		if levels[parts[i].name] >= level {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	return first, last
}

// rangeDelim returns the delimiter between the ends of a range: that of the largest part that differs.
func rangeDelim(parts []datePart, d *Date) string {
	level := d.differs()
	for i := range parts {
		if levels[parts[i].name] == level {
			return parts[i].rangeDelim
		}
	}
	return parts[0].rangeDelim
}

// dateRange renders both ends of a range.
func (c *run) dateRange(variable string, parts []datePart, d *Date, delim string) (from, to *box) {
	var start, end []*box
	last := -1
	for i := range parts {
		if c.datePart("", &parts[i], d, d.from) != nil {
			last = i
		}
	}
	for i := range parts {
		part := parts[i]
		if i == last {
			part.suffix = ""
			if strings.HasSuffix(parts[i].suffix, ".") && parts[i].name != "year" {
				part.suffix = "."
			}
		}
		if b := c.datePart("", &part, d, d.from); b != nil {
			start = append(start, b)
		}
		part = parts[i]
		if len(end) == 0 {
			part.prefix = ""
		}
		if d.open {
			continue
		}
		if b := c.datePart(variable, &part, d, d.to); b != nil {
			end = append(end, b)
		}
	}
	return join(start, delim), join(end, delim)
}

// datePart renders one part of a date.
func (c *run) datePart(variable string, p *datePart, d *Date, day [3]int) *box {
	text := ""
	c.started = true
	switch p.name {
	case "year":
		text = c.locale.year(p.form, day[0])
		if b := c.leaf(text); variable == "issued" && b != nil {
			return c.decorate(&p.op, c.yearSlot(b))
		}
	case "month":
		text = c.locale.month(p.form, day[1], d)
	case "day":
		text = c.locale.day(p.form, day)
	}
	return c.decorate(&p.op, c.leaf(text))
}

// yearSlot puts the slot of the year's suffix after the first year of the entry's date.
func (c *run) yearSlot(b *box) *box {
	if c.suffixed || !c.style.suffixed {
		return b
	}
	c.suffixed = true
	return &box{kids: []*box{b, slotBox()}}
}

// year renders a year.
func (l *Locale) year(form string, year int) string {
	switch {
	case year == 0:
		return ""
	case year < 0:
		return strconv.Itoa(-year) + l.text("bc", "long", false)
	case form == "short":
		return fmt.Sprintf("%02d", year%100)
	case year < 500:
		return strconv.Itoa(year) + l.text("ad", "long", false)
	}
	return strconv.Itoa(year)
}

// month renders a month, or a season in its place.
func (l *Locale) month(form string, month int, d *Date) string {
	season := ""
	switch {
	case month > 12 && month < 25:
		season = strconv.Itoa((month-1)%4 + 1)
	case month == 0:
		season = d.season
	}
	if season != "" {
		if t, ok := l.term("season-0"+season, "long"); ok {
			return t.single
		}
		return season
	}
	if month < 1 || month > 12 {
		return ""
	}
	switch form {
	case "numeric":
		return strconv.Itoa(month)
	case "numeric-leading-zeros":
		return fmt.Sprintf("%02d", month)
	}
	return l.text(monthTerm(month), form, false)
}

// monthTerm returns the name of a month's term.
func monthTerm(month int) string { return fmt.Sprintf("month-%02d", month) }

// day renders a day. Ordinals may be limited to the first one ("1er mai, 2 mai").
func (l *Locale) day(form string, day [3]int) string {
	n := day[2]
	switch {
	case n < 1 || n > 31:
		return ""
	case form == "numeric-leading-zeros":
		return fmt.Sprintf("%02d", n)
	case form == "ordinal" && (n == 1 || l.options["limit-day-ordinals-to-day-1"] != "true"):
		t, _ := l.term(monthTerm(day[1]), "long")
		return l.ordinal(n, t.gender)
	}
	return strconv.Itoa(n)
}
