package cite

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"vitrine/rules/date"
	"vitrine/rules/ejson"
	"vitrine/rules/identifier"
	"vitrine/rules/keyword"
	"vitrine/rules/notice"
	"vitrine/rules/pages"
)

// members appends members to an object from pairs of a name and a value. It skips empty values. dst
// ends in an open object; ejson.AppendKey writes a comma if one is needed.
func members(dst []byte, pairs ...string) []byte {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			dst = ejson.AppendString(ejson.AppendKey(dst, pairs[i]), pairs[i+1])
		}
	}
	return dst
}

// several appends a member with an identifier, or with an array if all holds several, separated by
// ", ". schema.org allows both forms for each property.
func several(dst []byte, name, all string) []byte {
	if !strings.Contains(all, ", ") {
		return members(dst, name, all)
	}
	return list(dst, name, strings.Split(all, ", "), appendText)
}

// appendText appends an element of a list that is a text.
func appendText(dst []byte, text *string) []byte { return ejson.AppendString(dst, *text) }

// list appends a member with an array, unless it is empty. one appends an element.
func list[T any](dst []byte, name string, all []T, one func(dst []byte, element *T) []byte) []byte {
	if len(all) == 0 {
		return dst
	}
	dst = append(ejson.AppendKey(dst, name), '[')
	for i := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, &all[i])
	}
	return append(dst, ']')
}

// AppendCSL appends an item as one object of CSL-JSON. It has the variables of CSL 1.0.2. Texts
// keep their markup as the HTML that CSL processors read. What has no variable goes to note and
// custom.
func AppendCSL(dst []byte, it *Item) []byte {
	dst = members(append(dst, '{'),
		"id", it.Key, "citation-key", it.Key, "type", it.Forms.CSL, "title", cslText(it.Title))
	dst = list(dst, "author", it.Authors, cslPerson)
	dst = list(dst, "editor", it.Editors, cslPerson)
	dst = cslDate(dst, "issued", it.Date, date.Date{})
	place, event := "publisher-place", cslText(it.HTML.Event)
	if it.Forms.CSL == "speech" || it.Forms.CSL == "event" {
		dst = cslDate(dst, "event-date", it.Date, it.End)
		place = "event-place"
	}
	dst = members(dst,
		"container-title", cslText(it.HTML.Container), "collection-title", cslText(it.HTML.Series),
		"event-title", event, "event", event, // the latter for styles that were written before CSL 1.0.2
		"volume", it.Volume, "issue", it.Issue, "number", cmp.Or(it.Number, it.ArticleNumber()),
		"status", cmp.Or(it.state(), it.Status),
		"page", it.Pages, "publisher", it.Publisher, place, it.Place, "edition", it.Edition, "genre", it.Degree,
		"version", it.Version,
		"DOI", it.DOI, "PMID", it.PMID, "ISBN", it.ISBN, "ISSN", it.ISSN, "URL", it.URL, "language", it.Language,
		"keyword", keyword.Join(it.Keywords), "abstract", cslText(it.HTML.Abstract), "note", it.note())
	if len(it.Notices) > 0 {
		dst = append(list(append(ejson.AppendKey(dst, "custom"), '{'), "notices", it.Notices, cslNotice), '}')
	}
	return append(dst, '}')
}

// cslNotice appends a notice with its code, since CSL has no variable for it.
func cslNotice(dst []byte, n *notice.Notice) []byte {
	return append(members(append(dst, '{'), "type", n.Code, "DOI", n.DOI, "URL", n.URL), '}')
}

// cslText returns the HTML of a text as plain text with the HTML elements that CSL knows.
func cslText(html string) (csl string) {
	for tag, text := range parts(html) {
		csl += formats.Tags[tag].CSL + text
	}
	return csl
}

// cslPerson appends a name in parts, or as literal.
func cslPerson(dst []byte, p *Person) []byte {
	dst = members(append(dst, '{'), "family", p.Family, "given", p.Given, "suffix", p.Suffix, "literal", p.Literal)
	return append(dst, '}')
}

// cslDate appends a date or a range unless it is empty. to is zero for a single day.
func cslDate(dst []byte, name string, from, to date.Date) []byte {
	if from.Year == 0 {
		return dst
	}
	dst = appendNumbers(append(ejson.AppendKey(dst, name), `{"date-parts":[`...), from)
	if to.Year > 0 {
		dst = appendNumbers(append(dst, ','), to)
	}
	return append(dst, "]}"...)
}

// appendNumbers appends the known parts of a date as an array of numbers.
//
//	2021-08 → [2021,8]
func appendNumbers(dst []byte, d date.Date) []byte {
	for i, n := range [...]int{d.Year, d.Month, d.Day} {
		if n > 0 {
			dst = strconv.AppendInt(append(dst, "[,,"[i]), int64(n), 10)
		}
	}
	return append(dst, ']')
}

// AppendJSONLD appends an item as one object of schema.org without @context, safe inside a script
// element. page is the address of the item's page in Vitrine, url the address that the page links
// to, and person returns a person's address by username; each may be "". It writes "<" as \u003c,
// since a text with </script> would end the element.
func AppendJSONLD(dst []byte, it *Item, page, url string, person func(user string) string) []byte {
	start, same := len(dst), cmp.Or(identifier.DOIAddress(it.DOI), it.URL)
	if it.Forms.Schema == "Person" {
		same = "" // the profile has the addresses
	}
	dst = members(append(dst, '{'), "@type", it.Forms.Schema, "@id", page, "name", it.Text, "url", url, "sameAs",
		same)
	switch it.Forms.Schema {
	case "Person":
		dst = appendProfile(dst, it)
	case "ResearchProject": // schema.org treats projects as organisations
		if it.Name != it.Text {
			dst = members(dst, "alternateName", it.Name)
		}
		dst = schemaPersons(dst, "member", "Person", it.Authors, person)
		dst = members(dst, "foundingDate", it.Date.String(), "dissolutionDate", it.End.String(), "description",
			it.Abstract)
	case "Event": // a lecture is an event with its authors as performers
		dst = schemaPersons(dst, "performer", "Organization", it.Authors, person)
		dst = members(dst, "startDate", it.Date.String(), "endDate", it.End.String())
		dst = appendNamed(dst, "location", "Place", it.Place)
		dst = appendNamed(dst, "superEvent", "Event", it.Event)
		dst = members(dst, "description", it.Abstract)
	default:
		dst = appendWork(dst, it, person)
	}
	if it.Forms.Schema != "Person" {
		dst = appendFunding(dst, it)
	}
	dst = append(dst, '}')
	if bytes.IndexByte(dst[start:], '<') < 0 {
		return dst
	}
	return append(dst[:start], bytes.ReplaceAll(dst[start:], []byte("<"), []byte(`\u003c`))...)
}

// appendProfile appends the members that schema.org has for persons.
func appendProfile(dst []byte, it *Item) []byte {
	p := &it.Profile
	dst = members(dst, "honorificPrefix", p.AcademicTitle, "jobTitle", p.PositionIn("en"), "image", p.Photo,
		"email", p.Mail, "telephone", p.Phone)
	dst = appendNamed(dst, "workLocation", "Place", p.Room)
	dst = list(dst, "affiliation", it.Units, func(dst []byte, u *Unit) []byte {
		name := u.Name
		if name == "" {
			name = u.ID
		}
		return append(members(append(dst, '{'), "@type", "Organization", "name", name, "identifier", u.ID), '}')
	})
	var same []string
	if it.ORCID != "" {
		same = append(same, identifier.ORCIDAddress(it.ORCID))
	}
	for _, l := range p.Links {
		if !slices.Contains(same, l.Href) {
			same = append(same, l.Href)
		}
	}
	return list(dst, "sameAs", same, func(dst []byte, href *string) []byte { return ejson.AppendString(dst, *href) })
}

// appendWork appends the members that all creative works have. Editors and ISBN belong to the book
// that contains the work, if there is one (see appendPartOf).
func appendWork(dst []byte, it *Item, person func(user string) string) []byte {
	if strings.HasSuffix(it.Forms.Schema, "Article") {
		dst = members(dst, "headline", it.Text)
	}
	isbn := ""
	dst = schemaPersons(dst, "author", "Organization", it.Authors, person)
	if it.Container == "" {
		dst = schemaPersons(dst, "editor", "Organization", it.Editors, person)
		isbn = it.ISBN
	}
	dst = schemaPersons(dst, "contributor", "Organization", it.Supervisors, person)
	dst = members(dst, "datePublished", it.Date.String())
	dst = appendPartOf(dst, it, person)
	if first, last := pages.Range(it.Pages); last == "" {
		dst = members(dst, "pagination", it.Pages)
	} else {
		dst = members(dst, "pageStart", first, "pageEnd", last)
	}
	dst = appendNamed(dst, "publisher", "Organization", it.Publisher)
	dst = appendNamed(dst, "recordedAt", "Event", it.Event)
	number := "identifier"
	if it.Forms.Schema == "Report" {
		number = "reportNumber"
	}
	dst = members(dst, number, it.Number, "creativeWorkStatus", cmp.Or(formats.Notices[it.state()], it.Status))
	dst = appendNotices(dst, it)
	dst = several(members(dst, "bookEdition", it.Edition, "inSupportOf", it.Degree, "version", it.Version), "isbn",
		isbn)
	if it.PDF != "" {
		dst = members(append(ejson.AppendKey(dst, "encoding"), '{'), "@type", "MediaObject", "encodingFormat",
			"application/pdf", "contentUrl", it.PDF)
		dst = append(dst, '}')
	}
	return members(dst, "inLanguage", it.Language, "license", cmp.Or(it.Licence, it.Rights), "abstract", it.Abstract)
}

// appendNotices appends what the work is a notice of, and the notices about it. schema.org has a
// property for corrections only; other notices are works that are about this one.
func appendNotices(dst []byte, it *Item) []byte {
	if len(it.Notices) == 0 {
		return dst
	}
	works := func(name string, selects func(code string) bool) {
		dst = list(dst, name, it.addresses(selects), func(dst []byte, address *string) []byte {
			return append(members(append(dst, '{'), "@type", "CreativeWork", "@id", *address), '}')
		})
	}
	if code := it.Notice(); !notice.IsState(code) {
		dst = members(dst, "genre", formats.Notices[code])
	}
	works("about", func(code string) bool { return !notice.IsState(code) })
	corrected := func(code string) bool { return code == notice.Corrected }
	dst = list(dst, "correction", it.addresses(corrected), appendText)
	works("subjectOf", func(code string) bool { return notice.IsState(code) && code != notice.Corrected })
	return dst
}

// appendFunding appends the members that works, events and projects have: access, keywords and
// funding. isAccessibleForFree takes the booleans as they stand in OA.
func appendFunding(dst []byte, it *Item) []byte {
	if it.OA != "" {
		dst = append(ejson.AppendKey(dst, "isAccessibleForFree"), it.OA...)
	}
	dst = list(dst, "keywords", it.Keywords, appendText)
	dst = appendNamed(dst, "funder", "Organization", it.Funder)
	var grants []Project
	if it.Grant != "" {
		grants = append(grants, Project{Funder: it.Funder, Grant: it.Grant})
	}
	for _, p := range it.Projects {
		if p.Grant != "" || p.Funder != "" { // other projects are not known to be funded
			grants = append(grants, p)
		}
	}
	return list(dst, "funding", grants, func(dst []byte, p *Project) []byte {
		dst = several(members(append(dst, '{'), "@type", "Grant", "name", p.Title, "alternateName", p.ID),
			"identifier", p.Grant)
		return append(appendNamed(dst, "funder", "Organization", p.Funder), '}')
	})
}

// appendPartOf appends what contains the work: an issue of a volume of a periodical, or a book.
//
//	volume 7 of a journal → isPartOf {PublicationVolume 7, isPartOf {Periodical}}
//
// Each level is written only if its value is known, and closing ends those that were opened.
func appendPartOf(dst []byte, it *Item, person func(user string) string) []byte {
	if it.Container == "" {
		return appendNamed(dst, "isPartOf", "CreativeWorkSeries", it.Series)
	}
	closing := ""
	part := func(class, property, value string) {
		if value != "" {
			dst = members(append(ejson.AppendKey(dst, "isPartOf"), '{'), "@type", class, property, value)
			closing += "}"
		}
	}
	isbn := ""
	if it.ISSN == "" && !strings.HasPrefix(it.Forms.OpenURL, "journal/") {
		isbn = it.ISBN
		part("Book", "name", it.Container)
	} else {
		part("PublicationIssue", "issueNumber", it.Issue)
		part("PublicationVolume", "volumeNumber", it.Volume)
		part("Periodical", "name", it.Container)
	}
	dst = schemaPersons(dst, "editor", "Organization", it.Editors, person)
	return append(several(several(dst, "isbn", isbn), "issn", it.ISSN), closing...)
}

// schemaPersons appends a list of persons. A person without a family name gets the given class.
func schemaPersons(dst []byte, name, class string, persons []Person, person func(user string) string) []byte {
	return list(dst, name, persons, func(dst []byte, p *Person) []byte {
		class := class
		if p.Family != "" {
			class = "Person"
		}
		dst = members(append(dst, '{'), "@type", class, "@id", p.ORCIDPage(), "name", p.Name(),
			"givenName", p.Given, "familyName", p.Family, "honorificSuffix", p.Suffix)
		if p.User != "" { // most persons have none: save building the address
			dst = members(dst, "url", person(p.User))
		}
		return append(dst, '}')
	})
}

// appendNamed appends an object of a class with a name, unless the name is empty. An object without
// a name would say nothing.
func appendNamed(dst []byte, property, class, name string) []byte {
	if name == "" {
		return dst
	}
	return append(members(append(ejson.AppendKey(dst, property), '{'), "@type", class, "name", name), '}')
}
