package styles

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/csl"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// Bounds of the citations in a mark, in bytes: of one, and of all together. Each request renders larger ones, which
// hardly any record has. The bounds keep the mark of a work with a million authors small.
const mostOne, mostAll = 64 << 10, 512 << 10

// Citation is a record's citation in a style.
type Citation struct {
	csl.Entry
	Lang string // the language tag of its words
}

// Finish returns a mark with the record's citations in all styles and languages. It returns the mark unchanged if
// the record is a person, or if the mark has no item by the rules of m.
func (s *Set) Finish(m *cite.Mapping, about bson.Raw) (bson.Raw, error) {
	it := &cite.Item{}
	if s == nil || len(s.all) == 0 || !m.ReadMark(about, it) {
		return about, nil
	}
	read := itemOf(it)
	if read == nil {
		return about, nil
	}
	var groups []group
	for _, v := range s.all {
		groups = add(groups, v, v.entry(read))
	}
	styled, alike := []byte(nil), []int64(nil)
	for _, g := range groups {
		if one := g.encode(); len(one) <= mostOne && len(styled)+len(one) <= mostAll {
			styled = append(styled, one...)
		}
		for _, v := range g.variants {
			if n := v.alike(g.entry.Key); g.entry.Key != "" && !slices.Contains(alike, n) {
				alike = append(alike, n)
			}
		}
	}
	return mark.SetStyled(about, styled, alike)
}

// itemOf returns an item as package csl reads it, from the CSL-JSON of exports. It returns nil for a person, who is
// not a work.
func itemOf(it *cite.Item) *csl.Item {
	if it.View == rules.ViewPersons {
		return nil
	}
	read, err := csl.ReadItem(cite.AppendCSL(nil, it))
	if err != nil {
		return nil
	}
	return read
}

// group is a citation that several variants have in common, such as one style in two languages.
type group struct {
	variants []*variant
	entry    csl.Entry
}

// add adds the citation of a variant to the group with the same one, or to a new group.
func add(groups []group, v *variant, e csl.Entry) []group {
	i := slices.IndexFunc(groups, func(g group) bool { return g.entry == e })
	if i < 0 {
		return append(groups, group{[]*variant{v}, e})
	}
	groups[i].variants = append(groups[i].variants, v)
	return groups
}

// encode returns the group as it is stored in marks: the number of stamps as a uvarint, the stamps in four bytes
// each, then HTML and key, each after its length as a uvarint.
func (g *group) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(g.variants)))
	for _, v := range g.variants {
		b = binary.LittleEndian.AppendUint32(b, v.stamp)
	}
	b = append(binary.AppendUvarint(b, uint64(len(g.entry.HTML))), g.entry.HTML...)
	return append(binary.AppendUvarint(b, uint64(len(g.entry.Key))), g.entry.Key...)
}

// find returns the citation with a stamp from the groups that encode has written one after the other. Its texts
// point into styled. It finds nothing in damaged data.
func find(styled []byte, stamp uint32) (e csl.Entry, found bool) {
	number := func() int {
		n, size := binary.Uvarint(styled)
		if size <= 0 || n > uint64(len(styled)) {
			styled = nil
			return 0
		}
		styled = styled[size:]
		return int(n)
	}
	text := func() (s string) {
		n := min(number(), len(styled))
		s, styled = raw.String(styled[:n]), styled[n:]
		return s
	}
	for len(styled) > 0 && !found {
		for n := number(); n > 0 && len(styled) >= 4; n-- {
			found = found || binary.LittleEndian.Uint32(styled) == stamp
			styled = styled[4:]
		}
		e = csl.Entry{HTML: text(), Key: text()}
	}
	if !found {
		return csl.Entry{}, false
	}
	return e, true
}

// Of returns the citation of a row's record in a language of lists. It is the one in the row's mark, or a new one
// if the mark has none by this style and these rules. Its texts may point into the row. HTML is empty if the style
// has nothing for the record.
func (s *Style) Of(lang string, m *cite.Mapping, row bson.Raw) Citation {
	v := s.languages[lang]
	if e, found := find(mark.StyledOf(mark.Of(row)), v.stamp); found {
		return Citation{e, v.lang}
	}
	made := Citation{Lang: v.lang}
	m.With(row, func(it *cite.Item) {
		if read := itemOf(it); read != nil {
			made.Entry = v.entry(read)
			made.HTML, made.Key = strings.Clone(made.HTML), strings.Clone(made.Key)
		}
	})
	return made
}

// Alike returns the number at mark.Alike by which lists find the rows whose citations in a language have a key.
// Rows with other keys may have the same number.
func (s *Style) Alike(lang, key string) int64 { return s.languages[lang].alike(key) }

// alike returns the number of a key. It is the same for all languages of a style, because a record has the same key
// in most of them.
func (v *variant) alike(key string) int64 {
	var d xxhash.Digest
	d.ResetWithSeed(v.family)
	_, _ = d.WriteString(key)
	return int64(d.Sum64())
}
