package csl

import "strings"

// A box is a part of an entry: a text, or a list of boxes with a format.
type box struct {
	text   string // of a leaf
	leaf   leafKind
	kids   []*box
	format format
	quoted bool
	single bool // has the other quotation marks, unless it stands in a quote with these
	rich   bool // comes from markup in the data

	display string
	mark    string // attribute of the span around it, such as data-title
	href    string
	nocase  bool // is not changed by text-case
	slot    bool // holds a slot that may stay empty: so does what stands around it
}

// A leafKind says what a leaf is.
type leafKind uint8

const (
	inner     leafKind = iota // not a leaf: the box has children
	dataLeaf                  // a text of the item
	styleLeaf                 // a text of the style or the locale
	openQuote                 // a quotation mark, which the function quote has put
	closeQuote
	slotStart // begins a part that is dropped if the slot in it stays empty
	slotEnd
)

// leaf returns a box with a text, or nil if the text is empty.
func leaf(kind leafKind, s string) *box {
	if s == "" {
		return nil
	}
	return &box{leaf: kind, text: s}
}

// wrap returns a box around boxes, or nil if there are none.
func wrap(kids ...*box) *box {
	kids = nonNil(kids...)
	switch len(kids) {
	case 0:
		return nil
	case 1:
		return kids[0]
	}
	return &box{kids: kids}
}

// join returns boxes with a delimiter between them, or nil if there are none. A delimiter beside a box that may
// stay empty goes into the box.
func join(boxes []*box, delim string) *box {
	var kids []*box
	solid := false // whether a box that is always there precedes
	for _, b := range boxes {
		if b == nil {
			continue
		}
		switch d := leaf(styleLeaf, delim); {
		case len(kids) == 0 || d == nil:
			kids = append(kids, b)
		case b.slot:
			kids = append(kids, optional(d, b))
		case !solid:
			kids = append(kids[:len(kids)-1], optional(kids[len(kids)-1], d), b)
		default:
			kids = append(kids, d, b)
		}
		solid = solid || !b.slot
	}
	all := wrap(kids...)
	if all != nil && !solid {
		all.slot = true
	}
	return all
}

// optional returns a box that is dropped if the slot in it stays empty.
func optional(kids ...*box) *box {
	all := append([]*box{{leaf: slotStart, text: slotOpen}}, kids...)
	return &box{kids: append(all, &box{leaf: slotEnd, text: slotClose}), slot: true}
}

// leaves calls f for each leaf in order.
func (b *box) leaves(f func(*box)) {
	if b == nil {
		return
	}
	if b.leaf != inner {
		f(b)
		return
	}
	for _, kid := range b.kids {
		kid.leaves(f)
	}
}

// plain returns the text of all leaves.
func (b *box) plain() string {
	var s strings.Builder
	b.leaves(func(l *box) { s.WriteString(l.text) })
	return s.String()
}

// nonNil returns the boxes that are not nil. It changes boxes.
func nonNil(boxes ...*box) []*box {
	all := boxes[:0]
	for _, b := range boxes {
		if b != nil {
			all = append(all, b)
		}
	}
	return all
}
