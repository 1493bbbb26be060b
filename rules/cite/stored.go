package cite

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/date"
	"vitrine/rules/mark"
	"vitrine/rules/notice"
	"vitrine/rules/raw"
)

// Read reads a row into an item and reuses the item's slices. It decodes the item in the row's
// mark. If the row is not public, or its mark has no item by the same rules or a damaged one, or
// the item was too large, it makes the item anew. The texts of a decoded item point into the row,
// so reading copies none of them.
func (m *Mapping) Read(row bson.Raw, it *Item) {
	about := mark.Of(row)
	if !m.ReadMark(about, it) {
		m.Make(row, about, it)
		return
	}
	it.ID = idOf(raw.Get(row, "_id"))
}

// mostStored bounds the size of an item in a mark, so that the row has room for it. Larger items
// are made anew. A document of MongoDB has at most 16 MiB.
const mostStored = 1 << 20

// Cited returns what marks have of a record's citation. about is the mark with its persons and
// projects. It runs when the row is written, not when it is read. Year, day and the like have a
// place of their own in the mark, because indexes and sorting read them without the item.
func (m *Mapping) Cited(record, about bson.Raw) (c mark.Citation) {
	it := items.Get().(*Item)
	defer items.Put(it)
	m.Make(record, about, it)
	c = mark.Citation{
		Year: it.Date.Year, Day: it.Date.Month*100 + it.Date.Day,
		OA: map[string]string{"true": "1", "false": "0"}[it.OA], DOI: it.DOI, Keywords: slices.Clone(it.Keywords),
		Untitled: it.Text == "", Undated: it.Date.Year == 0,
		Unnamed: len(it.Authors)+len(it.Editors)+len(it.Supervisors) == 0,
	}
	for _, n := range it.Notices {
		if key := n.Key(); key != "" && !slices.Contains(c.About, key) {
			c.About = append(c.About, strings.Clone(key))
		}
	}
	if c.Item = m.encode(it); len(c.Item) > mostStored {
		c.Item = nil
	}
	return c
}

// pass passes each field that marks have to a codec, in the order in which they are stored. The
// others are the _id of the row, the projects in its mark, and what Item.be sets. A text that is
// like another one takes no room.
//
// Writing and reading are one function, so that they cannot disagree about the order.
func (it *Item) pass(c *codec) {
	c.text(&it.Key, "")
	c.text(&it.Type, "")
	c.text(&it.Subtype, "")
	c.text(&it.Text, "")
	c.text(&it.Title, it.Text)
	c.text(&it.Name, "")
	passAll(c, &it.Authors, (*Person).pass)
	passAll(c, &it.Editors, (*Person).pass)
	passAll(c, &it.Supervisors, (*Person).pass)
	c.flag(&it.MoreAuthors)
	c.flag(&it.MoreEditors)
	c.flag(&it.MoreSupervisors)
	c.date(&it.Date)
	c.date(&it.End)
	c.text(&it.Container, "")
	c.text(&it.HTML.Container, it.Container)
	c.text(&it.Series, "")
	c.text(&it.HTML.Series, it.Series)
	c.text(&it.Event, "")
	c.text(&it.HTML.Event, it.Event)
	c.text(&it.Volume, "")
	c.text(&it.Issue, "")
	c.text(&it.Pages, "")
	c.text(&it.Publisher, "")
	c.text(&it.Place, "")
	c.text(&it.Edition, "")
	c.text(&it.Degree, "")
	c.text(&it.Version, "")
	c.text(&it.Number, "")
	c.text(&it.EID, "")
	c.text(&it.Status, "")
	passAll(c, &it.Notices, passNotice)
	c.flag(&it.Titled)
	c.text(&it.DOI, "")
	c.text(&it.PMID, "")
	c.text(&it.ISBN, "")
	c.text(&it.ISSN, "")
	c.text(&it.URL, "")
	c.text(&it.Language, "")
	c.text(&it.Abstract, "")
	c.text(&it.HTML.Abstract, it.Abstract)
	c.text(&it.paragraphs, it.HTML.Abstract)
	passAll(c, &it.Keywords, func(word *string, c *codec) { c.text(word, "") })
	c.text(&it.OA, "")
	c.text(&it.Rights, "")
	c.text(&it.Licence, c.rules.licence(it.Rights))
	c.text(&it.PDF, "")
	c.text(&it.Funder, "")
	c.text(&it.Grant, "")
	passAll(c, &it.badges, (*badge).pass)
	it.Profile.pass(c)
}

// pass passes the fields of a person.
func (p *Person) pass(c *codec) {
	c.text(&p.Given, "")
	c.text(&p.Family, "")
	c.text(&p.Suffix, "")
	c.text(&p.Literal, "")
	c.text(&p.User, "")
	c.text(&p.ORCID, "")
}

// passNotice passes the fields of a notice.
func passNotice(n *notice.Notice, c *codec) {
	c.text(&n.Code, "")
	c.text(&n.DOI, "")
	c.text(&n.URL, "")
	c.text(&n.ID, "")
}

// pass passes the number of the rule always, as 0 is one.
func (b *badge) pass(c *codec) {
	b.rule = c.number(b.rule)
	c.text(&b.value, "")
}

// pass passes the fields of a profile that marks have.
func (p *Profile) pass(c *codec) {
	c.text(&p.AcademicTitle, "")
	c.text(&p.Position, "")
	c.text(&p.PositionDE, "")
	c.text(&p.Photo, "")
	c.flag(&p.Pictured)
	c.text(&p.Mail, "")
	c.text(&p.Phone, "")
	c.text(&p.Room, "")
	passAll(c, &p.Links, (*ProfileLink).pass)
}

func (l *ProfileLink) pass(c *codec) {
	l.rule = c.number(l.rule)
	c.text(&l.Href, "")
}

// encode returns an item as marks have it: the stamp, the kind, and the fields.
func (m *Mapping) encode(it *Item) []byte {
	c := codec{rules: m, data: binary.LittleEndian.AppendUint32(make([]byte, 0, 512), m.stamp)}
	c.number(it.kind.number)
	it.pass(&c)
	return c.data
}

// ReadMark reads the item in a row's mark, without its ID, which the row has. It returns false if there is none by the
// same rules. A damaged item is found by its lengths, and never makes the program fail.
func (m *Mapping) ReadMark(about bson.Raw, it *Item) bool {
	data := mark.ItemOf(about)
	if len(data) < 4 || binary.LittleEndian.Uint32(data) != m.stamp {
		return false
	}
	m.reset(it)
	c := codec{rules: m, reading: true, data: data[4:], skip: -1}
	kind := c.number(0)
	if kind >= len(m.kinds) {
		return false
	}
	it.be(m.kinds[kind])
	it.pass(&c)
	m.readProjects(about, it)
	m.readMembership(about, it)
	return !c.broken
}

// codec writes the fields of an item, or reads them. Before each value stands the number of fields
// without one that are left out before it. Texts that are read lie in data. Items lack many fields,
// and one byte for each run of absent ones takes less room than a name or a flag for each.
type codec struct {
	rules   *Mapping
	data    []byte // written, or still to be read
	reading bool
	broken  bool // what is read is not what was written
	// skip is the number of fields left out before the next value. While reading, -1 means that it is still to be
	// read.
	skip int
}

// has reports whether the next field has a value. there says so while writing. At the end of the
// data all other fields are absent.
func (c *codec) has(there bool) bool {
	switch {
	case c.reading && c.skip < 0 && len(c.data) == 0:
		c.skip = math.MaxInt
	case c.reading && c.skip < 0:
		c.skip = c.number(0)
	}
	if c.reading {
		c.skip--
		return c.skip < 0
	}
	if !there {
		c.skip++
		return false
	}
	c.number(c.skip)
	c.skip = 0
	return true
}

// number writes a number that is not negative, or returns the one that it reads.
func (c *codec) number(n int) int {
	if !c.reading {
		c.data = binary.AppendUvarint(c.data, uint64(n))
		return n
	}
	read, size := binary.Uvarint(c.data)
	if size <= 0 || read > math.MaxInt32 {
		c.broken, c.data = true, nil
		return 0
	}
	c.data = c.data[size:]
	return int(read)
}

// text passes a text. It leaves out a text that is like another one. What is read points into data,
// the row's memory, without a copy.
func (c *codec) text(s *string, like string) {
	switch has := c.has(*s != like); {
	case c.reading && !has:
		*s = like
	case c.reading:
		n := c.number(0)
		if n > len(c.data) {
			c.broken, n = true, len(c.data)
		}
		*s, c.data = raw.String(c.data[:n]), c.data[n:]
	case has:
		c.number(len(*s))
		c.data = append(c.data, *s...)
	}
}

// flag passes a boolean: it is true exactly if the field has a value.
func (c *codec) flag(b *bool) { *b = c.has(*b) }

// date passes a date as one number: 5 bits for the day, 4 for the month, the rest for the year.
func (c *codec) date(d *date.Date) {
	if c.has(d.Year != 0) {
		n := c.number(d.Year<<9 | d.Month<<5 | d.Day)
		*d = date.Date{Year: n >> 9, Month: n >> 5 & 15, Day: n & 31}
	}
}

// passAll passes a list, whose elements take at least a byte each. A damaged length so cannot make
// the reader allocate more elements than the item has bytes.
func passAll[T any](c *codec, all *[]T, pass func(*T, *codec)) {
	if !c.has(len(*all) > 0) {
		return
	}
	n := c.number(len(*all))
	if c.reading && n > len(c.data) {
		c.broken = true
		return
	}
	if c.reading {
		*all = slices.Grow(*all, n)[:n]
	}
	for i := range *all {
		pass(&(*all)[i], c)
	}
}
