package mark

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/identifier"
)

// sizeHint is a usual size of a mark.
const sizeHint = 1024

// document returns the mark as it is stored. The item stands near the beginning, because most readers need it.
func (m *mark) document() bson.Raw {
	b := begin(sizeHint + len(m.Cited.Item))
	b.dst = bsoncore.AppendBooleanElement(b.dst, "public", true)
	if len(m.Cited.Item) > 0 {
		b.dst = bsoncore.AppendBinaryElement(b.dst, "item", bson.TypeBinaryGeneric, m.Cited.Item)
	}
	b.int32("year", m.Cited.Year)
	b.int32("day", m.Cited.Day)
	b.text("type", m.Type)
	b.text("subtype", m.Subtype)
	b.entries("units", m.Units)
	b.texts("in", m.In)
	b.entries("above", m.Above)
	b.entries("persons", m.Persons)
	b.entries("projects", m.Projects)
	b.entries("topics", m.Topics)
	b.entries("keywords", m.Keywords)
	b.text("oa", m.Cited.OA)
	b.text("doi", trim(identifier.DOIKey(m.Cited.DOI)))
	b.texts("about", m.Cited.About)
	b.text("by_title", m.ByTitle)
	b.text("by_author", m.ByAuthor)
	b.int64("updated", m.Updated)
	b.int64("entered", m.Entered)
	if m.Past {
		b.dst = bsoncore.AppendBooleanElement(b.dst, "past", true)
	}
	return b.end()
}

// related returns the part of the mark that Options.Cited gets.
func (m *mark) related() bson.Raw {
	b := begin(sizeHint)
	b.entries("persons", m.Persons)
	b.entries("projects", m.Projects)
	return b.end()
}

// builder writes a document. It leaves out empty fields.
type builder struct{ dst []byte }

func begin(size int) builder { return builder{append(make([]byte, 0, size), 0, 0, 0, 0)} }

func (b *builder) end() bson.Raw {
	doc, _ := bsoncore.AppendDocumentEnd(b.dst, 0) // cannot fail: the document starts at 0
	return bson.Raw(doc)
}

func (b *builder) int32(name string, n int) {
	if n != 0 {
		b.dst = bsoncore.AppendInt32Element(b.dst, name, int32(n))
	}
}

func (b *builder) int64(name string, n int64) {
	if n != 0 {
		b.dst = bsoncore.AppendInt64Element(b.dst, name, n)
	}
}

func (b *builder) text(name, s string) {
	if s != "" {
		b.dst = bsoncore.AppendStringElement(b.dst, name, s)
	}
}

func (b *builder) texts(name string, all []string) {
	b.array(name, len(all), func(i int, name string) { b.text(name, all[i]) })
}

func (b *builder) entries(name string, all []entry) {
	b.array(name, len(all), func(i int, name string) { b.entry(name, &all[i]) })
}

// array appends an array of n elements, unless it is empty.
func (b *builder) array(name string, n int, element func(i int, name string)) {
	if n == 0 {
		return
	}
	var start int32
	start, b.dst = bsoncore.AppendArrayElementStart(b.dst, name)
	for i := range n {
		element(i, strconv.Itoa(i))
	}
	b.dst, _ = bsoncore.AppendArrayEnd(b.dst, start)
}

func (b *builder) entry(name string, e *entry) {
	var start int32
	start, b.dst = bsoncore.AppendDocumentElementStart(b.dst, name)
	b.text("id", e.ID)
	b.text("name", e.Name)
	b.text("name_de", e.NameDE)
	b.text("orcid", e.ORCID)
	b.text("title", e.Title)
	b.text("funder", e.Funder)
	b.text("funding_number", e.Grants)
	b.dst, _ = bsoncore.AppendDocumentEnd(b.dst, start)
}
