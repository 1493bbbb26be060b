package render

import (
	"cmp"
	_ "embed"
	"maps"
	"strings"
	"sync"

	"github.com/dustin/go-humanize"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/date"
	"vitrine/rules/identifier"
	"vitrine/rules/label"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
	"vitrine/rules/render/names"
	"vitrine/rules/yamlfile"
)

//go:embed osiris.yaml
var osirisSource []byte

// osirisTables are the fields of OSIRIS that osiris.yaml describes.
var osirisTables = sync.OnceValue(func() (t struct {
	Empty           []string
	Stored, Persons map[string]string
	Remarks         map[string]struct{ Flag, HTML string }
	Codes           map[string]struct {
		Path, Vocabulary string
		Names            map[string]label.Name
	}
}) {
	yamlfile.BuiltIn("osiris.yaml", osirisSource, &t)
	return t
})

// osirisFields returns OSIRIS's fields, and the institute's, which cannot replace them.
func (l *osirisLoader) osirisFields(o Osiris) map[string]*field {
	fields, known := l.rules.derivedFields(), osirisTables()
	for name, path := range known.Stored {
		fields[name] = osirisStored(l.rules.source(path))
	}
	for _, name := range known.Empty {
		fields[name] = constantField([languages]string{})
	}
	for name, path := range known.Persons {
		fields[name] = osirisPersons(l.rules.source(path), names.Osiris())
	}
	for name, r := range known.Remarks {
		fields[name] = remarkField(l.rules.source(r.Flag), [languages]string{r.HTML, r.HTML})
	}
	for name, c := range known.Codes {
		codes := map[string]label.Name{}
		maps.Copy(codes, c.Names)
		maps.Copy(codes, o.Vocabularies[c.Vocabulary])
		fields[name] = codeField(l.rules.source(c.Path), codes, "")
	}
	l.persons(fields)
	l.journals(fields, o.Journals)
	l.links(fields)
	l.openAccess(fields)
	l.numbers(fields)
	addTimes(fields)
	for _, f := range o.Fields {
		_, builtIn := fields[f.ID]
		switch {
		case !fieldName.MatchString(f.ID):
			l.fault(f.From, "id %q cannot be the name of a field", f.ID)
		case builtIn:
			l.fault(f.From, "field %q exists already", f.ID)
		default:
			fields[f.ID] = l.custom(f)
		}
	}
	return fields
}

// osirisStored is a stored value with the inline markup of titles. A dash counts as empty.
func osirisStored(s source) *field {
	return &field{write: func(p *page, dst []byte) []byte {
		start := len(dst)
		if dst = appendTexts(dst, s.value(p), markup.AppendTitle); string(dst[start:]) == "-" {
			return dst[:start]
		}
		return dst
	}}
}

// persons adds the fields for single persons and organisations, and the legend of authors.
func (l *osirisLoader) persons(fields map[string]*field) {
	fields[legend] = legendField(l.rules.source("authors"))
	who, organization := scalarField(l.rules.source("name")), l.rules.source("organization")
	title, affiliation := scalarField(l.rules.source("academic_title")), scalarField(l.rules.source("affiliation"))
	fields["organization"] = titleField(func(p *page) string {
		name := text(organization.value(p))
		if _, err := bson.ObjectIDFromHex(name); err == nil {
			return "" // most activities store the _id, which means nothing to readers
		}
		return name
	})
	fields["person"] = join(", ", join(" ", title, who), affiliation)
	fields["person-organization"] = join(", ", who, fields["organization"])
}

// titleField is a field with the text that f returns, with the inline markup of titles.
func titleField(f func(p *page) string) *field {
	return &field{write: func(p *page, dst []byte) []byte { return markup.AppendTitle(dst, f(p)) }}
}

// journals adds the journal by its own record or, without one, as the activity has it.
func (l *osirisLoader) journals(fields map[string]*field, known map[string]OsirisJournal) {
	id, stored := l.rules.source("journal_id"), osirisStored(l.rules.source("journal"))
	journal := func(name func(OsirisJournal) string) *field {
		return &field{write: func(p *page, dst []byte) []byte {
			if name := name(known[text(id.value(p))]); name != "" {
				return markup.AppendTitle(dst, name)
			}
			return stored.write(p, dst)
		}}
	}
	fields["journal"] = journal(func(j OsirisJournal) string { return j.Name })
	fields["journal-abbr"] = journal(func(j OsirisJournal) string { return cmp.Or(j.Abbr, j.Name) })
}

// links adds identifiers and addresses, which OSIRIS shows as links.
func (l *osirisLoader) links(fields map[string]*field) {
	doi, pubmed := doiField(l.rules.source("doi")), l.rules.source("pubmed")
	pubmedID := func(p *page) string { return identifier.PMID(text(pubmed.value(p))) }
	pubmedURL := func(p *page) string { return identifier.PMIDAddress(pubmedID(p)) }
	url := asLink(urlField(l.rules.source("link")))
	fields["doi"], fields["doi-text"] = asLink(doi), doi
	fields["doi-link"] = asLink(linkField(doi.address, doi.address))
	fields["doi-prefix"] = around("DOI: ", fields["doi"], "")
	fields["link"], fields["link-full"], fields["link-short"], fields["software-link"] = url, url, url, url
	fields["pubmed"] = &field{write: asLink(linkField(pubmedURL, pubmedID)).write}
}

// asLink turns a field with an address into a link to it.
func asLink(f *field) *field {
	linked, _ := f.in(linkFormat)
	return linked
}

// openAccess adds the kind of open access of an activity.
func (l *osirisLoader) openAccess(fields map[string]*field) {
	open, status := l.rules.source("open_access"), l.rules.source("oa_status")
	access := textField(func(p *page) string { // "Open Access (gold)"
		s := text(status.value(p))
		switch {
		case !truthy(open.value(p)):
			return "Closed Access"
		case s != "":
			return "Open Access (" + s + ")"
		}
		return "Open Access"
	})
	icon := &field{write: func(p *page, dst []byte) []byte {
		class := "icon-closed-access text-danger"
		if truthy(open.value(p)) {
			class = "icon-open-access text-success"
		}
		return around("<i class='"+class+"' title='", access, "'></i>").write(p, dst)
	}}
	fields["openaccess"], fields["open_access"] = icon, icon
	fields["openaccess-status"], fields["oa_status"] = access, access
}

// remarkField is HTML, by language, that is shown if a flag is set.
func remarkField(flag source, html [languages]string) *field {
	return &field{write: func(p *page, dst []byte) []byte {
		if truthy(flag.value(p)) {
			dst = append(dst, html[p.lang]...)
		}
		return dst
	}}
}

// numbers adds pages, editions and versions with their units.
func (l *osirisLoader) numbers(fields map[string]*field) {
	pages, edition := fields["pages"], l.rules.source("edition")
	issue := join("", around(" ", fields["volume"], ""), around("(", fields["issue"], ")"))
	fields["volume-issue-pages"] = &field{write: func(p *page, dst []byte) []byte {
		start := len(dst)
		if dst = issue.write(p, dst); len(dst) == start {
			return around(" : ", pages, "").write(p, dst)
		}
		return around(": ", pages, "").write(p, dst)
	}}
	fields["pages-pp"] = &field{write: func(p *page, dst []byte) []byte {
		start := len(dst)
		dst = around("pp. ", pages, "").write(p, dst)
		if s := string(dst[start:]); s != "" && !strings.ContainsAny(s, "-–,") {
			return append(dst[:start], s[1:]...) // write p. instead of pp. for a single page
		}
		return dst
	}}
	fields["version"] = around("Version ", osirisStored(l.rules.source("version")), "")
	fields["edition"] = titleField(func(p *page) string { return ordinal(edition.value(p)) })
	fields["edition-ed"] = titleField(func(p *page) string {
		if _, number := integer(edition.value(p)); number {
			return ordinal(edition.value(p)) + " ed."
		}
		return text(edition.value(p))
	})
}

// ordinal returns a number as "2nd". Other values stay unchanged.
func ordinal(v bson.RawValue) string {
	if n, ok := integer(v); ok && n > 0 {
		return humanize.Ordinal(n)
	}
	return text(v)
}

// addTimes adds OSIRIS's names for the period of an activity.
func addTimes(fields map[string]*field) {
	timed := func(write func(dst []byte, t span, lang int) []byte) *field {
		return &field{write: func(p *page, dst []byte) []byte { return write(dst, p.span(), p.lang) }}
	}
	fields["date"] = timed(osirisDates.span)
	fields["date-range"] = fields["date"]
	fields["date-range-ongoing"] = &field{write: func(p *page, dst []byte) []byte {
		return appendOngoing(dst, p.span(), !raw.IsNone(p.values[slotStartParts]), p.lang)
	}}
	fields["start"] = timed(func(dst []byte, t span, lang int) []byte { return osirisDates.date(dst, t.from, lang) })
	fields["end"] = timed(func(dst []byte, t span, lang int) []byte { return osirisDates.date(dst, t.to, lang) })
	fields["month"] = timed(func(dst []byte, t span, lang int) []byte {
		if t.from.Month > 0 {
			dst = append(dst, monthNames[lang].full[t.from.Month-1]...)
		}
		return dst
	})
}

// codeField shows the names of stored codes, and codes without a name unchanged. otherwise is the
// code for activities that lack the field.
func codeField(s source, names map[string]label.Name, otherwise string) *field {
	texts := make(map[string][languages]string, len(names))
	for code, name := range names {
		texts[code] = inLanguages(name)
	}
	return &field{write: func(p *page, dst []byte) []byte {
		name := func(dst []byte, code string) []byte {
			return markup.AppendTitle(dst, cmp.Or(texts[code][p.lang], code))
		}
		v := s.value(p)
		if raw.IsNone(v) {
			return name(dst, otherwise)
		}
		return appendTexts(dst, v, name)
	}}
}

func (l *osirisLoader) custom(f OsirisField) *field {
	s := l.rules.source(f.ID)
	switch f.Kind {
	case OsirisDate:
		return &field{write: func(p *page, dst []byte) []byte {
			return osirisDates.date(dst, date.Read(s.value(p), p.zone), p.lang)
		}}
	case OsirisURL:
		return asLink(urlField(s))
	case OsirisFlag:
		names := inLanguages(f.Name)
		for lang, name := range names {
			names[lang] = "[" + markup.Title(cmp.Or(name, f.ID)) + "]"
		}
		return remarkField(s, names)
	}
	return codeField(s, f.Values, f.Default)
}
