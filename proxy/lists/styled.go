package lists

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/lists/byline"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/rules/csl"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/styles"
)

// styling gives the items of an answer their citations by a style.
type styling struct {
	answer  *answer
	style   *styles.Style
	lang    string // of the answer
	bylines bylines
}

// addStyled sets the citations of items by the style of an answer, and reports whether they have numbers. An item for
// which the style has none keeps the one that complete has set, as do all if there is no style.
func addStyled(ctx context.Context, a *answer, items []*item, rows []bson.Raw) (numbered bool, err error) {
	s := styling{answer: a, lang: a.query.Text(params.Lang), bylines: bylinesOf(a)}
	if s.style = a.lists.o.Styles.Named(a.query.Text(params.Style)); s.style == nil {
		return false, nil
	}
	keys := map[string]bool{}
	for i, it := range items {
		it.styled = s.style.Of(s.lang, a.mapping, rows[i])
		if key := it.styled.Key; key != "" {
			keys[key] = true
		}
	}
	suffixes, err := s.suffixes(ctx, keys)
	if err != nil {
		return false, err
	}
	for _, it := range items {
		if it.styled.HTML != "" {
			s.set(it, suffixes[it.ID])
		}
	}
	return s.style.Numbered(), nil
}

// suffixes returns the suffixes of years, by id, of the records with some keys: those that share their key with others
// of the list, in its order. An item is a list of one. A feed has none, because new entries would change those of
// others, and feed readers report changed entries as news.
func (s styling) suffixes(ctx context.Context, keys map[string]bool) (map[string]string, error) {
	if !s.style.Suffixed() || len(keys) == 0 || s.answer.isItem() || s.answer.format.feed {
		return nil, nil
	}
	var numbers []any
	for key := range keys {
		numbers = append(numbers, s.style.Alike(s.lang, key))
	}
	// The whole list, of which the index of mark.Alike finds the few rows that count.
	alike := s.answer.rows.Question
	alike.Where = filter.And(alike.Where, filter.OneOf(mark.Alike, numbers...))
	alike.Query = alike.Query.With(params.Page).With(params.Limit)
	found, seen := map[string][]string{}, map[string]bool{} // ids by key
	for e, err := range alike.On(s.answer.snap).Entries(ctx) {
		if err != nil {
			return nil, err
		}
		id, key := selection.IDText(e.Doc()), s.style.Of(s.lang, s.answer.mapping, e.Doc()).Key
		if !seen[id] && keys[key] {
			key = strings.Clone(key)
			seen[id], found[key] = true, append(found[key], id)
		}
	}
	all := map[string]string{}
	for _, ids := range found {
		for i, id := range ids {
			if len(ids) > 1 {
				all[id] = suffixOf(i)
			}
		}
	}
	return all, nil
}

// suffixOf returns the suffix of the entry i, from 0: a, b, …, z, aa, ab.
func suffixOf(i int) (s string) {
	for ; i >= 0; i = i/26 - 1 {
		s = string(rune('a'+i%26)) + s
	}
	return s
}

// set sets the citation of an item by its style, as text and as HTML with links, marks and folds like those of
// other citations.
func (s styling) set(it *item, suffix string) {
	it.citationLang = it.styled.Lang
	html := strings.NewReplacer(csl.NumberSlot, strconv.Itoa(it.position), csl.SuffixSlot, suffix).
		Replace(s.linked(it))
	it.html = s.noticed(it, s.answer.shorten(html, it))
	it.text = csl.Entry{HTML: s.noticed(it, it.styled.HTML)}.Text(it.position, suffix)
}

// noticed returns a citation, HTML, after what the notices of its item say. A number in the margin stands by
// itself: what is said of the work belongs to the text beside it.
func (s styling) noticed(it *item, html string) string {
	lead := ""
	if strings.HasPrefix(html, marginStart) {
		if i := strings.Index(html, besideStart); i >= 0 {
			lead, html = html[:i+len(besideStart)], html[i+len(besideStart):]
		}
	}
	return lead + it.withNotice(html, s.lang)
}

// The begin of the parts of a citation whose number stands in the margin.
const marginStart, besideStart = `<div class="csl-left-margin">`, `<div class="csl-right-inline">`

// linked returns the styled citation of an item with a link on the title and on the names of persons with a list. The
// list's own persons are marked, and long lists folded.
func (s styling) linked(it *item) string {
	var b strings.Builder
	names, from := map[string][]byline.Name{}, 0
	source := it.styled.HTML
	for _, part := range spansOf(source) {
		b.WriteString(source[from:part.from])
		start, inner := b.Len(), source[part.start:part.end]
		if variable, index, isName := part.person(); isName {
			b.WriteString(s.linkPerson(it, variable, index, inner))
			names[variable] = append(names[variable], byline.Name{Person: index, From: start, To: b.Len()})
		} else {
			b.WriteString(linkTitle(it, inner))
		}
		from = part.to
	}
	b.WriteString(source[from:])
	return s.bylines.at(b.String(), names, it)
}

// linkPerson returns the name of a person, HTML, with a link to the person's list.
func (s styling) linkPerson(it *item, variable string, index int, name string) string {
	all := it.personsOf(variable)
	if index >= len(all) {
		return name
	}
	return linkTo(s.answer.links.ToPerson(all[index].User), "", name)
}

// linkTitle returns the title of an item, HTML, with a link to the item. It has the language of the work, which may
// differ from that of the style's words.
func linkTitle(it *item, title string) string {
	return linkTo(it.href, page.LangOf(it.Language, it.styled.Lang), title)
}

// linkTo returns HTML as a link, in a language if it is not "". Without an address it is no link.
func linkTo(href, lang, html string) string {
	tag, attributes := "span", ""
	if href != "" {
		tag, attributes = "a", ` href="`+markup.Escape(href)+`"`
	}
	if lang != "" {
		attributes += ` lang="` + markup.Escape(lang) + `"`
	}
	if attributes == "" {
		return html
	}
	return "<" + tag + attributes + ">" + html + "</" + tag + ">"
}

// span is a part of a citation that package csl has named: a person or the title. from and to are those of the
// element, start and end of what it contains.
type span struct {
	name                 string // "author 2"; "" for the title
	from, start, end, to int
}

// person returns the variable and the index of the person that a span has.
func (s span) person() (variable string, index int, ok bool) {
	variable, text, ok := strings.Cut(s.name, " ")
	index, err := strconv.Atoi(text)
	return variable, index, ok && err == nil && index >= 0
}

// The begin of the elements that package csl names.
const nameStart, titleStart = `<span data-name="`, `<span data-title>`

// spansOf returns the named parts of a citation by package csl, in their order. They contain no others.
func spansOf(html string) (all []span) {
	var open []int // indexes in all of the open elements that are spans; -1 for others
	for at := 0; at < len(html); {
		lt := strings.IndexByte(html[at:], '<')
		if lt < 0 {
			break
		}
		from := at + lt
		size := strings.IndexByte(html[from:], '>') + 1 // csl escapes ">" in attributes
		if size == 0 {
			break
		}
		at = from + size
		tag := html[from:at]
		switch {
		case tag == "</span>" && len(open) > 0:
			if i := open[len(open)-1]; i >= 0 {
				all[i].end, all[i].to = from, at
			}
			open = open[:len(open)-1]
		case !strings.HasPrefix(tag, "<span"):
		default:
			i := -1
			if name, isName := strings.CutPrefix(tag, nameStart); isName || tag == titleStart {
				i, all = len(all), append(all, span{name: strings.TrimSuffix(name, `">`), from: from, start: at})
			}
			if i >= 0 && tag == titleStart {
				all[i].name = ""
			}
			open = append(open, i)
		}
	}
	// An element that is not closed is none of package csl's.
	return slices.DeleteFunc(all, func(s span) bool { return s.to == 0 })
}
