package cite

import (
	"bytes"
	"strings"

	"vitrine/rules/doi"
)

// AppendJSONLD appends an item as one object of schema.org without @context, safe inside
// a script element.
func AppendJSONLD(dst []byte, it *Item, l Links) []byte {
	start, same := len(dst), it.URL
	if it.DOI != "" {
		same = doi.URL(it.DOI)
	}
	dst = members(typed(dst, it.Forms.Schema), "@id", l.ItemPage(it.ID), "name", it.Text, "url", l.ToItem(it), "sameAs", same)
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
		dst = members(dst, "headline", it.Text)
	}
	isbn := ""
	dst = schemaPersons(dst, "author", "Organization", it.Authors, l)
	if it.Container == "" {
		dst = schemaPersons(dst, "editor", "Organization", it.Editors, l)
		isbn = it.ISBN
	}
	dst = members(dst, "datePublished", it.Date.String())
	dst = appendPartOf(dst, it, l)
	if first, last := pageRange(it.Pages); last == "" {
		dst = members(dst, "pagination", it.Pages)
	} else {
		dst = members(dst, "pageStart", first, "pageEnd", last)
	}
	dst = named(dst, "publisher", "Organization", it.Publisher)
	dst = named(dst, "recordedAt", "Event", it.Event)
	return members(dst, "bookEdition", it.Edition, "inSupportOf", it.Degree, "version", it.Version, "isbn", isbn,
		"inLanguage", it.Language, "abstract", it.Abstract)
}

// appendPartOf appends what a work is a part of: an issue of a volume of a periodical, or
// a book.
func appendPartOf(dst []byte, it *Item, l Links) []byte {
	if it.Container == "" {
		return named(dst, "isPartOf", "CreativeWorkSeries", it.Series)
	}
	var closing int
	part := func(class, property, value string) {
		if value != "" {
			dst = members(typed(open(dst, "isPartOf"), class), property, value)
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
		dst = members(dst, "issn", it.ISSN)
	} else {
		dst = members(dst, "isbn", it.ISBN)
	}
	for range closing {
		dst = append(dst, '}')
	}
	return dst
}

// appendEvent appends what events have. A lecture is one, held by its authors.
func appendEvent(dst []byte, it *Item, l Links) []byte {
	dst = schemaPersons(dst, "performer", "Organization", it.Authors, l)
	dst = members(dst, "startDate", it.Date.String(), "endDate", it.End.String())
	dst = named(dst, "location", "Place", it.Place)
	dst = named(dst, "superEvent", "Event", it.Event)
	return members(dst, "description", it.Abstract)
}

// appendProject appends what projects have, which are organisations for schema.org.
func appendProject(dst []byte, it *Item, l Links) []byte {
	if it.Name != it.Text {
		dst = members(dst, "alternateName", it.Name)
	}
	dst = schemaPersons(dst, "member", "Person", it.Authors, l)
	return members(dst, "foundingDate", it.Date.String(), "dissolutionDate", it.End.String(), "description", it.Abstract)
}

// schemaPersons appends a list of persons; those without a family name are of a class.
func schemaPersons(dst []byte, name, class string, persons []Person, l Links) []byte {
	return list(dst, name, persons, func(dst []byte, p *Person) []byte {
		if p.Family != "" {
			dst = typed(dst, "Person")
		} else {
			dst = typed(dst, class)
		}
		dst = members(dst, "@id", p.ORCIDPage(), "name", p.Name(), "givenName", p.Given, "familyName", p.Family)
		if p.User != "" {
			dst = members(dst, "url", l.ToPerson(p.User))
		}
		return append(dst, '}')
	})
}

// named appends an object of a class with a name unless the name is empty.
func named(dst []byte, property, class, name string) []byte {
	if name == "" {
		return dst
	}
	return append(members(typed(open(dst, property), class), "name", name), '}')
}

// typed begins an object of a class.
func typed(dst []byte, class string) []byte {
	return append(append(append(dst, `{"@type":"`...), class...), '"')
}
