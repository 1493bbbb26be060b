package cite

import (
	"bytes"
	"strings"

	"vitrine/rules/doi"
	"vitrine/rules/ejson"
)

// AppendJSONLD appends an item as one object of schema.org without @context, safe inside
// a script element.
func AppendJSONLD(dst []byte, it *Item, l Links) []byte {
	start := len(dst)
	dst = ejson.AppendString(append(dst, `{"@type":`...), it.Forms.Schema)
	dst = member(dst, "@id", l.ItemPage(it.ID))
	dst = member(dst, "name", it.Text())
	dst = member(dst, "url", l.ToItem(it))
	if it.DOI != "" {
		dst = member(dst, "sameAs", doi.URL(it.DOI))
	} else {
		dst = member(dst, "sameAs", it.URL)
	}
	switch it.Forms.Schema {
	case "ResearchProject":
		dst = appendProject(dst, it, l)
	case "Event":
		dst = appendEvent(dst, it, l)
	case "Person":
	default:
		dst = appendWork(dst, it, l)
	}
	dst = append(dst, '}')
	if bytes.IndexByte(dst[start:], '<') < 0 {
		return dst
	}
	return append(dst[:start], bytes.ReplaceAll(dst[start:], []byte("<"), []byte(`\u003c`))...)
}

// appendWork appends what creative works have.
func appendWork(dst []byte, it *Item, l Links) []byte {
	if strings.HasSuffix(it.Forms.Schema, "Article") {
		dst = member(dst, "headline", it.Text())
	}
	dst = schemaPersons(dst, "author", "Organization", it.Authors, l)
	if it.Container == "" {
		dst = schemaPersons(dst, "editor", "Organization", it.Editors, l)
	}
	dst = schemaDate(dst, "datePublished", it.Date)
	dst = appendPartOf(dst, it, l)
	if first, last := pageRange(it.Pages); last == "" {
		dst = member(dst, "pagination", it.Pages)
	} else {
		dst = member(member(dst, "pageStart", first), "pageEnd", last)
	}
	dst = named(dst, "publisher", "Organization", it.Publisher)
	dst = named(dst, "recordedAt", "Event", it.Event)
	dst = member(dst, "bookEdition", it.Edition)
	dst = member(dst, "inSupportOf", it.Degree)
	dst = member(dst, "version", it.Version)
	if it.Container == "" {
		dst = member(dst, "isbn", it.ISBN)
	}
	dst = member(dst, "inLanguage", it.Language)
	return member(dst, "abstract", it.Abstract)
}

// appendPartOf appends what a work is a part of: an issue of a volume of a periodical, or
// a book.
func appendPartOf(dst []byte, it *Item, l Links) []byte {
	if it.Container == "" {
		if it.Series == "" {
			return dst
		}
		return named(dst, "isPartOf", "CreativeWorkSeries", it.Series)
	}
	var closing int
	part := func(class, property, value string) {
		if value != "" {
			dst = append(append(append(open(dst, "isPartOf"), `{"@type":"`...), class...), '"')
			dst = member(dst, property, value)
			closing++
		}
	}
	class := "Book"
	if it.ISSN != "" || strings.HasPrefix(it.Forms.OpenURL, "journal/") {
		class = "Periodical"
		part("PublicationIssue", "issueNumber", it.Issue)
		part("PublicationVolume", "volumeNumber", it.Volume)
	}
	part(class, "name", it.Container)
	dst = schemaPersons(dst, "editor", "Organization", it.Editors, l)
	if class == "Periodical" {
		dst = member(dst, "issn", it.ISSN)
	} else {
		dst = member(dst, "isbn", it.ISBN)
	}
	for range closing {
		dst = append(dst, '}')
	}
	return dst
}

// appendEvent appends what events have. A lecture is one, held by its authors.
func appendEvent(dst []byte, it *Item, l Links) []byte {
	dst = schemaPersons(dst, "performer", "Organization", it.Authors, l)
	dst = schemaDate(dst, "startDate", it.Date)
	dst = schemaDate(dst, "endDate", it.End)
	dst = named(dst, "location", "Place", it.Place)
	dst = named(dst, "superEvent", "Event", it.Event)
	return member(dst, "description", it.Abstract)
}

// appendProject appends what projects have, which are organisations for schema.org.
func appendProject(dst []byte, it *Item, l Links) []byte {
	if it.Name != it.Text() {
		dst = member(dst, "alternateName", it.Name)
	}
	dst = schemaPersons(dst, "member", "Person", it.Authors, l)
	dst = schemaDate(dst, "foundingDate", it.Date)
	dst = schemaDate(dst, "dissolutionDate", it.End)
	return member(dst, "description", it.Abstract)
}

// schemaPersons appends a list of persons; those without a family name are of a class.
func schemaPersons(dst []byte, name, class string, persons []Person, l Links) []byte {
	for i := range persons {
		p := &persons[i]
		if i == 0 {
			dst = append(open(dst, name), '[')
		} else {
			dst = append(dst, ',')
		}
		if p.Family != "" {
			dst = append(dst, `{"@type":"Person"`...)
		} else {
			dst = append(append(append(dst, `{"@type":"`...), class...), '"')
		}
		if p.ORCID != "" {
			dst = member(dst, "@id", p.ORCIDPage())
		}
		dst = member(dst, "name", p.Name())
		dst = member(member(dst, "givenName", p.Given), "familyName", p.Family)
		if p.User != "" {
			dst = member(dst, "url", l.ToPerson(p.User))
		}
		dst = append(dst, '}')
	}
	if len(persons) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// schemaDate appends a date unless there is none.
func schemaDate(dst []byte, name string, d Date) []byte {
	if d.Year == 0 {
		return dst
	}
	return append(d.appendISO(append(open(dst, name), '"'), '-'), '"')
}

// named appends an object of a class with a name unless the name is empty.
func named(dst []byte, property, class, name string) []byte {
	if name == "" {
		return dst
	}
	dst = append(append(append(open(dst, property), `{"@type":"`...), class...), '"')
	return append(member(dst, "name", name), '}')
}
