package mark

import (
	"encoding/binary"
	"iter"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// Field is the reserved field of a row that holds the mark. Rows of records that are not public do not have it.
const Field = rules.FieldList

// Paths of a mark, for the filters, facets and sorts of lists.
const (
	// true in every mark; filters use it because a scalar is faster to test than Field
	Public   = Field + ".public"
	Year     = Field + ".year"          // int32
	Day      = Field + ".day"           // int32, to sort the records of a year by
	Type     = Field + ".type"          // text, like the paths below
	Subtype  = Field + ".subtype"       // a subtype of Type
	Unit     = Field + ".units.id"      // the record's own units
	Units    = Field + ".units"         // the record's own units
	In       = Field + ".in"            // the ids of the record's units and all their ancestors
	Above    = Field + ".above"         // the ancestors beyond the record's units
	Person   = Field + ".persons.id"    // usernames of public persons of the institute
	ORCID    = Field + ".persons.orcid" // ORCIDs of those persons, in the bare form
	Project  = Field + ".projects.id"   // names of public projects
	Topic    = Field + ".topics.id"     // ids in the scholarly catalogue
	Keyword  = Field + ".keywords.id"   // keys of keywords (package keyword)
	OA       = Field + ".oa"            // "1" for open access, "0" for records that say that they are not
	DOI      = Field + ".doi"           // bare and in small letters
	About    = Field + ".about"         // DOIs, in small letters, and ids of the other works of notices
	ByTitle  = Field + ".by_title"      // sort key: the title
	ByAuthor = Field + ".by_author"     // sort key: the first author
	Entered  = Field + ".entered"       // when the record was entered
	Alike    = Field + ".alike"         // numbers that entries have in common which year suffixes tell apart
	Past     = Field + ".past"          // true for a person who has left
)

// Set returns a row with a mark, or without one if it is nil, in place of the record's own field.
func Set(row, mark bson.Raw) (bson.Raw, error) {
	if mark != nil {
		return raw.SetField(row, Field, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: mark})
	}
	if _, ok := raw.Lookup(row, Field); !ok {
		return row, nil
	}
	var b raw.Builder
	err := b.Copy(row, func(name string) bool { return name != Field })
	return b.Document(), err
}

// EnteredOf returns when the record of a row was entered, or 0 if its mark does not say.
func EnteredOf(row bson.Raw) int64 {
	at, _ := raw.Get(Of(row), "entered").AsInt64OK()
	return at
}

// UpdatedOf returns when the record of a row was last changed, or 0 if its mark does not say.
func UpdatedOf(row bson.Raw) int64 {
	at, _ := raw.Get(Of(row), "updated").AsInt64OK()
	return at
}

// ItemOf returns the item in a mark, or nil.
func ItemOf(mark bson.Raw) []byte {
	_, item, _ := raw.Get(mark, "item").BinaryOK()
	return item
}

// StyledOf returns the citations in a mark, see Options.Finish, or nil.
func StyledOf(mark bson.Raw) []byte {
	_, styled, _ := raw.Get(mark, "styled").BinaryOK()
	return styled
}

// SetStyled returns a copy of a mark with citations in styles and the numbers at Alike.
func SetStyled(mark bson.Raw, styled []byte, alike []int64) (bson.Raw, error) {
	with, err := raw.SetField(mark, "styled",
		bson.RawValue{Type: bson.TypeBinary, Value: bsoncore.AppendBinary(nil, bson.TypeBinaryGeneric, styled)})
	if err != nil || len(alike) == 0 {
		return with, err
	}
	start, all := bsoncore.AppendArrayStart(nil)
	for i, n := range alike {
		all = bsoncore.AppendInt64Element(all, strconv.Itoa(i), n)
	}
	if all, err = bsoncore.AppendArrayEnd(all, start); err != nil {
		return nil, err
	}
	return raw.SetField(with, "alike", bson.RawValue{Type: bson.TypeArray, Value: all})
}

// SetEntered returns a copy of a mark with the time when its record was entered.
func SetEntered(mark bson.Raw, at int64) (bson.Raw, error) {
	return raw.SetField(mark, "entered",
		bson.RawValue{Type: bson.TypeInt64, Value: binary.LittleEndian.AppendUint64(nil, uint64(at))})
}

// Entries yields the entries of a list of a mark.
func Entries(mark bson.Raw, list string) iter.Seq[bson.Raw] {
	return func(yield func(bson.Raw) bool) {
		for v := range raw.Elements(raw.Get(mark, list)) {
			if one, ok := v.DocumentOK(); ok && !yield(one) {
				return
			}
		}
	}
}

// Of returns the mark of a row, or nil if the row is not public.
func Of(row bson.Raw) bson.Raw {
	about, _ := raw.Get(row, Field).DocumentOK()
	return about
}
