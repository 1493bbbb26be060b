package render

import (
	"maps"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/label"
	"vitrine/rules/markup"
)

// osirisStoredNames are fields of OSIRIS that show a stored value as it is: by the name
// that templates use, the path it is stored under.
var osirisStoredNames = map[string]string{
	"abstract": "abstract", "affiliation": "affiliation", "book-series": "series", "book-title": "book",
	"city": "city", "conference": "conference", "countries": "countries", "country": "country",
	"details": "details", "doctype": "doc_type", "editorial": "editor_type", "isbn": "isbn", "issn": "issn",
	"issue": "issue", "iteration": "iteration", "lecture-type": "lecture_type", "license": "license",
	"location": "location", "magazine": "magazine", "name": "name", "nationality": "country",
	"pages": "pages", "person-only": "name", "projects": "projects", "publisher": "publisher",
	"review-description": "title", "review-type": "review-type", "role": "role",
	"software-venue": "software_venue", "status": "status", "subtitle": "subtitle", "tags": "tags",
	"teaching-course": "title", "teaching-course-short": "module", "teaching-course-title": "title",
	"title": "title", "topics": "topics", "university": "publisher", "venue": "venue", "volume": "volume",
}

// osirisNothing are fields that stand for parts of OSIRIS's own pages.
var osirisNothing = []string{"event-select", "file-icons", "semester-select"}

// osirisFields returns what the templates of a database may name: the fields of OSIRIS
// and those of the institute, of which none can take the place of the former.
func (l *osirisLoader) osirisFields(o Osiris) map[string]*field {
	fields := derivedFields()
	for name, path := range osirisStoredNames {
		fields[name] = osirisStored(l.source(path))
	}
	for _, name := range osirisNothing {
		fields[name] = constantField("")
	}
	l.persons(fields)
	l.journals(fields, o.Journals)
	l.links(fields)
	l.remarks(fields)
	l.numbers(fields)
	l.dates(fields)
	l.codes(fields, o.Vocabularies)
	for _, f := range o.Fields {
		_, builtIn := fields[f.ID]
		switch {
		case !fieldName(f.ID):
			l.fault(f.From, "id %q cannot be the name of a field", f.ID)
		case builtIn:
			l.fault(f.From, "field %q exists already", f.ID)
		default:
			fields[f.ID] = l.custom(f)
		}
	}
	return fields
}

// osirisStored is a stored value as it is, with the inline markup of titles. A dash
// stands for nothing.
func osirisStored(s source) *field {
	stored := markupField(s)
	return &field{write: func(p *page, dst []byte, format string) []byte {
		start := len(dst)
		if dst = stored.write(p, dst, format); string(dst[start:]) == "-" {
			return dst[:start]
		}
		return dst
	}}
}

func constantField(html string) *field {
	return &field{write: func(_ *page, dst []byte, _ string) []byte { return append(dst, html...) }}
}

// persons adds the fields that name persons without saying how.
func (l *osirisLoader) persons(fields map[string]*field) {
	for name, path := range map[string]string{
		"authors": "authors", "author-table": "authors", "scientist": "authors",
		"editor": "editors", "editors": "editors",
		"supervisor": "supervisors", "supervisors": "supervisors", "supervisor-thesis": "supervisors",
	} {
		fields[name] = styledPersons(l.source(path), defaultStyle())
	}
	fields[legend] = legendField(l.source("authors"))
	who, title, affiliation := textField(l.source("name")), textField(l.source("academic_title")), textField(l.source("affiliation"))
	organization := l.source("organization")
	fields["person"] = &field{write: func(p *page, dst []byte, _ string) []byte {
		start := len(dst)
		return joinFields(p, joinFields(p, dst, start, " ", title, who), start, ", ", affiliation)
	}}
	fields["organization"] = &field{write: func(p *page, dst []byte, _ string) []byte {
		return markup.AppendTitle(dst, organizationName(organization.value(p)))
	}}
	fields["person-organization"] = &field{write: func(p *page, dst []byte, _ string) []byte {
		return joinFields(p, dst, len(dst), ", ", who, fields["organization"])
	}}
}

// organizationName is the name of an organisation where activities have it. Most have
// its _id, which says nothing to readers.
func organizationName(v bson.RawValue) string {
	name := text(v)
	if _, err := bson.ObjectIDFromHex(name); err == nil {
		return ""
	}
	return name
}

// joinFields appends fields that are not empty, each behind the separator unless nothing
// stands in dst from start on.
func joinFields(p *page, dst []byte, start int, separator string, fields ...*field) []byte {
	for _, f := range fields {
		if len(dst) == start {
			dst = f.write(p, dst, "")
		} else {
			dst = prefixed(p, dst, separator, f)
		}
	}
	return dst
}

// journals adds the journal of an activity: as its own record has it, or else as the
// activity does.
func (l *osirisLoader) journals(fields map[string]*field, known map[string]OsirisJournal) {
	known = maps.Clone(known)
	id, stored := l.source("journal_id"), osirisStored(l.source("journal"))
	journal := func(name func(OsirisJournal) string) *field {
		return &field{write: func(p *page, dst []byte, format string) []byte {
			if j, ok := known[text(id.value(p))]; ok && name(j) != "" {
				return markup.AppendTitle(dst, name(j))
			}
			return stored.write(p, dst, format)
		}}
	}
	fields["journal"] = journal(func(j OsirisJournal) string { return j.Name })
	fields["journal-abbr"] = journal(func(j OsirisJournal) string {
		if j.Abbr != "" {
			return j.Abbr
		}
		return j.Name
	})
}

// as is a field in one of its formats.
func as(f *field, format string) *field {
	return &field{
		address: f.address,
		write:   func(p *page, dst []byte, _ string) []byte { return f.write(p, dst, format) },
	}
}

// links adds identifiers and addresses, which OSIRIS shows as links.
func (l *osirisLoader) links(fields map[string]*field) {
	doi, url, pubmed := doiField(l.source("doi")), urlField(l.source("link")), l.source("pubmed")
	fields["doi"], fields["doi-text"] = as(doi, asLink), as(doi, "")
	fields["doi-link"] = &field{address: doi.address, write: func(p *page, dst []byte, _ string) []byte {
		return appendLink(dst, doi.address(p), doi.address(p), asLink)
	}}
	fields["doi-prefix"] = &field{write: func(p *page, dst []byte, _ string) []byte {
		return prefixed(p, dst, "DOI: ", fields["doi"])
	}}
	for _, name := range [...]string{"link", "link-full", "link-short", "software-link"} {
		fields[name] = as(url, asLink)
	}
	fields["pubmed"] = &field{write: func(p *page, dst []byte, _ string) []byte {
		if _, ok := integer(pubmed.value(p)); !ok {
			return dst
		}
		id := text(pubmed.value(p))
		return appendLink(dst, "https://pubmed.ncbi.nlm.nih.gov/"+id+"/", id, asLink)
	}}
}

// prefixed appends a field that is not empty behind a prefix.
func prefixed(p *page, dst []byte, prefix string, f *field) []byte {
	start := len(dst)
	dst = append(dst, prefix...)
	mark := len(dst)
	if dst = f.write(p, dst, ""); len(dst) == mark {
		return dst[:start]
	}
	return dst
}

// remarks adds what flags of an activity put into its citation. OSIRIS has it in
// English whatever the language.
func (l *osirisLoader) remarks(fields map[string]*field) {
	for name, r := range map[string]struct{ path, html string }{
		"correction":            {"correction", "<span class='text-danger'>[Correction]</span>"},
		"lecture-invited":       {"invited_lecture", "Invited lecture"},
		"online-ahead-of-print": {"epub", "<span class='text-danger'>[Online ahead of print]</span>"},
		"openaccess-text":       {"open_access", "Open Access"},
		"peer-reviewed":         {"peer_reviewed", "<span class='text-success'>[Peer-reviewed]</span>"},
	} {
		fields[name] = remarkField(l.source(r.path), func(*page) string { return r.html })
	}
	open, status := l.source("open_access"), l.source("oa_status")
	for _, name := range [...]string{"openaccess", "open_access"} {
		fields[name] = &field{write: func(p *page, dst []byte, _ string) []byte { return appendOpenAccess(p, dst, open, status) }}
	}
	for _, name := range [...]string{"openaccess-status", "oa_status"} {
		fields[name] = &field{write: func(p *page, dst []byte, _ string) []byte {
			return markup.AppendEscape(dst, openAccess(p, open, status))
		}}
	}
}

// remarkField says something where a flag is set.
func remarkField(flag source, html func(p *page) string) *field {
	return &field{write: func(p *page, dst []byte, _ string) []byte {
		if truthy(flag.value(p)) {
			dst = append(dst, html(p)...)
		}
		return dst
	}}
}

// openAccess is how an activity can be read: "Open Access (gold)".
func openAccess(p *page, open, status source) string {
	if !truthy(open.value(p)) {
		return "Closed Access"
	}
	if s := text(status.value(p)); s != "" {
		return "Open Access (" + s + ")"
	}
	return "Open Access"
}

// appendOpenAccess appends the icon of openAccess.
func appendOpenAccess(p *page, dst []byte, open, status source) []byte {
	class := "icon-closed-access text-danger"
	if truthy(open.value(p)) {
		class = "icon-open-access text-success"
	}
	dst = append(append(append(dst, "<i class='"...), class...), "' title='"...)
	return append(markup.AppendEscape(dst, openAccess(p, open, status)), "'></i>"...)
}

// numbers adds pages, editions and versions with the words that go with them.
func (l *osirisLoader) numbers(fields map[string]*field) {
	volume, issue, pages := fields["volume"], fields["issue"], fields["pages"]
	fields["volume-issue-pages"] = &field{write: func(p *page, dst []byte, _ string) []byte {
		start := len(dst)
		dst = prefixed(p, dst, " ", volume)
		mark := len(dst)
		if dst = prefixed(p, dst, "(", issue); len(dst) > mark {
			dst = append(dst, ')')
		}
		if len(dst) == start {
			return prefixed(p, dst, " : ", pages)
		}
		return prefixed(p, dst, ": ", pages)
	}}
	version, edition := osirisStored(l.source("version")), l.source("edition")
	fields["pages-pp"] = &field{write: func(p *page, dst []byte, _ string) []byte {
		start := len(dst)
		dst = prefixed(p, dst, "pp. ", pages)
		if s := string(dst[start:]); s != "" && !strings.ContainsAny(s, "-–,") {
			return append(dst[:start], s[1:]...) // one page is a p.
		}
		return dst
	}}
	fields["version"] = &field{write: func(p *page, dst []byte, _ string) []byte { return prefixed(p, dst, "Version ", version) }}
	fields["edition"] = &field{write: func(p *page, dst []byte, _ string) []byte {
		return markup.AppendTitle(dst, ordinal(edition.value(p)))
	}}
	fields["edition-ed"] = &field{write: func(p *page, dst []byte, _ string) []byte {
		start := len(dst)
		dst = markup.AppendTitle(dst, ordinal(edition.value(p)))
		if _, number := integer(edition.value(p)); number && len(dst) > start {
			return append(dst, " ed."...)
		}
		return dst
	}}
}

// ordinal returns a number as "2nd", and everything else as it is.
func ordinal(v bson.RawValue) string {
	n, ok := integer(v)
	if !ok || n < 1 {
		return text(v)
	}
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// dates adds the names that the time of an activity has in OSIRIS.
func (l *osirisLoader) dates(fields map[string]*field) {
	start := l.source("start")
	fields["date-range"] = &field{write: func(p *page, dst []byte, _ string) []byte { return appendOsirisSpan(dst, p.span()) }}
	fields["date"] = fields["date-range"]
	fields["date-range-ongoing"] = &field{write: func(p *page, dst []byte, _ string) []byte {
		return appendOngoing(dst, p.span(), !absent(start.value(p)), p.lang)
	}}
	fields["start"] = &field{write: func(p *page, dst []byte, _ string) []byte { return appendOsirisDate(dst, p.span().from) }}
	fields["end"] = &field{write: func(p *page, dst []byte, _ string) []byte { return appendOsirisDate(dst, p.span().to) }}
	fields["month"] = &field{write: func(p *page, dst []byte, _ string) []byte {
		return append(dst, monthName(p.span().from, p.lang)...)
	}}
}

// codes adds fields that store codes: what a vocabulary of the database calls them, or
// else what they are called here.
func (l *osirisLoader) codes(fields map[string]*field, vocabularies map[string]map[string]label.Name) {
	for name, c := range map[string]struct {
		path, vocabulary string
		names            map[string]label.Name
	}{
		"category":               {"category", "", categoryNames},
		"guest":                  {"category", "", categoryNames},
		"guest-category":         {"category", "", categoryNames},
		"student-category":       {"category", "", categoryNames},
		"teaching-category":      {"category", "", categoryNames},
		"thesis":                 {"thesis", "thesis", thesisNames},
		"gender":                 {"gender", "", genderNames},
		"scope":                  {"scope", "", scopeNames},
		"software-type":          {"software_type", "", softwareNames},
		"pubtype":                {"pubtype", "", nil},
		"funding_type":           {"funding_type", "funding-type", nil},
		"political_consultation": {"political_consultation", "political_consultation", nil},
		"pub-language":           {"pub-language", "pub-language", nil},
	} {
		names := maps.Clone(c.names)
		if names == nil {
			names = map[string]label.Name{}
		}
		maps.Copy(names, vocabularies[c.vocabulary])
		fields[name] = codeField(l.source(c.path), names, "")
	}
}

// codeField shows the names of stored codes, and codes without one as they are.
func codeField(s source, names map[string]label.Name, otherwise string) *field {
	texts := make(map[string][languages]string, len(names))
	for code, name := range names {
		texts[code] = inLanguages(name)
	}
	return &field{write: func(p *page, dst []byte, _ string) []byte {
		v := s.value(p)
		if absent(v) && otherwise != "" {
			return appendCode(dst, otherwise, texts, p.lang)
		}
		return appendTexts(dst, v, func(dst []byte, code string) []byte { return appendCode(dst, code, texts, p.lang) })
	}}
}

func appendCode(dst []byte, code string, texts map[string][languages]string, lang int) []byte {
	if text := texts[code][lang]; text != "" {
		return markup.AppendTitle(dst, text)
	}
	return markup.AppendTitle(dst, code)
}

// custom makes a field of the institute's own.
func (l *osirisLoader) custom(f OsirisField) *field {
	s := l.source(f.ID)
	switch f.Kind {
	case OsirisDate:
		return &field{write: func(p *page, dst []byte, _ string) []byte {
			return appendOsirisDate(dst, parseDate(s.value(p), p.zone))
		}}
	case OsirisURL:
		return as(urlField(s), asLink)
	case OsirisFlag:
		names := inLanguages(f.Name)
		return remarkField(s, func(p *page) string {
			name := names[p.lang]
			if name == "" {
				name = f.ID
			}
			return "[" + markup.Title(name) + "]"
		})
	}
	return codeField(s, f.Values, f.Default)
}
