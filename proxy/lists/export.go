package lists

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/ejson"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// export returns the body with entries between head and tail. Each goroutine calls writer for a function of its
// own, which may reuse an item from one entry to the next. Rows are read while the body is sent, so that an export
// of a whole view is never in memory at once.
func (a *answer) export(entries response.Rows[selection.Entry], head, between, tail string,
	writer func() func(dst []byte, e selection.Entry) []byte) (*response.Body, error) {
	around := response.Envelope{Head: []byte(head), Between: between, Tail: []byte(tail)}
	body := response.JoinCostly(around, entries, writer)
	body.RowMemory = a.rows.Memory()
	if a.query.Number(params.Limit) == 0 {
		// With a limit the body is small, and needs no estimate.
		body.SizeHint = a.count * 400 // about 400 bytes for each item
	}
	return body, nil
}

// exportItems is export for formats that write the bibliographic item and the position of an entry. The item is the
// whole one: files have what a list leaves out.
func (a *answer) exportItems(
	ctx context.Context, head, between, tail string, write func(dst []byte, it *cite.Item, position int) []byte,
) (*response.Body, error) {
	said, err := a.lists.saidIn(ctx, a.snap)
	if err != nil {
		return nil, err
	}
	return a.export(a.rows.Entries, head, between, tail, func() func([]byte, selection.Entry) []byte {
		it := &cite.Item{}
		return func(dst []byte, e selection.Entry) []byte {
			a.mapping.Read(e.Doc(), it)
			said.addTo(it)
			return write(dst, it, e.Position)
		}
	})
}

// citations returns a function that builds an export of items with a writer of package cite.
func citations(head, between, tail string, write func([]byte, *cite.Item) []byte) build {
	return func(ctx context.Context, a *answer) (*response.Body, error) {
		return a.exportItems(ctx, head, between, tail, func(dst []byte, it *cite.Item, _ int) []byte {
			return write(dst, it)
		})
	}
}

// fragBibTeX is the fragment with an activity's entry in BibTeX: it is prepared once for each row, and then copied
// into answers, see bibTeX.
const fragBibTeX = "bib"

// Views adds to the definitions of views the words, the indexes and the entries in BibTeX that public lists need, and
// the words of other views. It changes defs and returns them.
func Views(defs []index.Definition, mapping *cite.Mapping) []index.Definition {
	for i := range defs {
		d := &defs[i]
		if slices.Contains(views, d.Name) {
			d.WordRules = wordRules + mapping.Fingerprint
		}
		if d.Name == rules.ViewActivities {
			d.Warm = append(d.Warm, mark.Public, mark.Year, mark.Type, mark.Subtype, mark.Unit, mark.In, mark.Person,
				mark.Project, mark.Topic, mark.Keyword, mark.OA, mark.About)
			d.Fragments = append(d.Fragments,
				index.Fragment{Name: fragBibTeX, Bulky: true, Encode: appendBibTeXOf(mapping.View(d.Name))})
		}
	}
	return Words(defs, mapping)
}

// appendBibTeXOf returns the encoder of the fragment. Only public rows have an entry.
func appendBibTeXOf(mapping *cite.Mapping) func(dst []byte, row bson.Raw) []byte {
	return func(dst []byte, row bson.Raw) []byte {
		if mark.Of(row) != nil {
			mapping.With(row, func(it *cite.Item) { dst = cite.AppendBibTeX(dst, it, false) })
		}
		return dst
	}
}

// After each preparedEntries entries of an answer preparedRows rows of its view are prepared, so that the first
// entries need not wait for all.
const preparedEntries, preparedRows = 256, 1024

// preparing yields entries, and meanwhile prepares a fragment of the table's rows. A row whose turn comes before is
// encoded when it is sent.
func preparing(table *index.Table, fragment string,
	entries response.Rows[selection.Entry]) response.Rows[selection.Entry] {
	return func(ctx context.Context) iter.Seq2[selection.Entry, error] {
		return func(yield func(selection.Entry, error) bool) {
			n := 0
			for e, err := range entries(ctx) {
				if n++; n%preparedEntries == 0 && err == nil {
					_, err = table.PrepareSome(ctx, fragment, preparedRows)
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// bibTeX sends prepared entries if the list has most rows of its view in memory, because preparing covers them all.
// Entries of which other records say something are written anew.
func bibTeX(ctx context.Context, a *answer) (*response.Body, error) {
	latex := a.query.Flag(params.LaTeX)
	rows, resident := a.snap.Resident()
	whole := a.def.View == rules.ViewActivities && !a.isItem() && a.query.Number(params.Limit) == 0
	if resident && !latex && whole && 2*a.count > rows.Len() {
		if fits, err := rows.PrepareSome(ctx, fragBibTeX, 0); err != nil {
			return nil, err
		} else if fits {
			said, err := a.lists.saidIn(ctx, a.snap)
			if err != nil {
				return nil, err
			}
			// PrepareSome with 0 rows has only asked whether the fragments fit into memory.
			entries := preparing(rows, fragBibTeX, a.rows.Entries)
			return a.export(entries, "", "\n", "", func() func([]byte, selection.Entry) []byte {
				it := &cite.Item{}
				return func(dst []byte, e selection.Entry) []byte {
					// The prepared entry has only what the record itself says.
					if !said.concerns(e.Doc()) {
						return append(dst, e.Fragment(fragBibTeX)...)
					}
					a.mapping.Read(e.Doc(), it)
					said.addTo(it)
					return cite.AppendBibTeX(dst, it, false)
				}
			})
		}
	}
	return a.exportItems(ctx, "", "\n", "", func(dst []byte, it *cite.Item, _ int) []byte {
		return cite.AppendBibTeX(dst, it, latex)
	})
}

// jsonLD writes the data of an item, or of a list as an ItemList with items as brief as in its pages.
func jsonLD(ctx context.Context, a *answer) (*response.Body, error) {
	if a.isItem() {
		return a.exportItems(ctx, "", "", "\n", func(dst []byte, it *cite.Item, _ int) []byte {
			return appendSchema(dst, it, a.links)
		})
	}
	head := listHead(a.title, a.count)
	return a.exportItems(ctx, head, ",\n", "]}\n", func(dst []byte, it *cite.Item, position int) []byte {
		return appendListItem(dst, a.brief(it), position, a.links)
	})
}

// schema is the beginning of every document of JSON-LD.
const schema = `{"@context":"https://schema.org",`

// appendSchema appends an item as a document of JSON-LD: the context stands before the first member.
func appendSchema(dst []byte, it *cite.Item, l Links) []byte {
	return append(append(dst, schema...), l.appendJSONLD(nil, it)[1:]...)
}

// listHead returns the beginning of an ItemList, safe inside a script element.
func listHead(title string, count int) string {
	name := strings.ReplaceAll(string(ejson.AppendString(nil, title)), "<", `\u003c`)
	return schema + `"@type":"ItemList","name":` + name + `,"numberOfItems":` + strconv.Itoa(count) +
		`,"itemListElement":[`
}

// appendListItem appends an element of the list that listHead begins.
func appendListItem(dst []byte, it *cite.Item, position int, l Links) []byte {
	dst = strconv.AppendInt(append(dst, `{"@type":"ListItem","position":`...), int64(position), 10)
	return append(l.appendJSONLD(append(dst, `,"item":`...), it), '}')
}

// csvTable writes a table with a header row, after a byte order mark, by which Excel recognises UTF-8.
func csvTable(ctx context.Context, a *answer) (*response.Body, error) {
	said, err := a.lists.saidIn(ctx, a.snap)
	if err != nil {
		return nil, err
	}
	columns := []string{
		"id", "key", "type", "subtype",
		"year", "date", "end", "authors", "editors", "title", "container",
		"volume", "issue", "pages", "publisher", "event", "doi", "isbn", "issn", "url", "page",
		"units", "orcid", "project", "tags", "open_access", "number", "status", "supervisors", "notice", "notice_doi",
	}
	if a.ofPersons() {
		columns = slices.Clone(personColumns)
	}
	head := csvRow()([]byte("\ufeff"), columns)
	return a.export(a.rows.Entries, string(head), "", "", func() func([]byte, selection.Entry) []byte {
		it, appendRow := &item{}, csvRow()
		return func(dst []byte, e selection.Entry) []byte {
			a.readItem(it, e)
			if a.ofPersons() {
				return appendRow(dst, personRow(a, it))
			}
			said.addTo(&it.Item)
			units := entries(e.Doc(), "units", "id")
			orcids := orcidsOf(e.Doc(), it)
			codes, dois := noticesOf(it)
			return appendRow(dst, []string{
				it.ID, it.Key, it.kind, it.subkind,
				it.year, it.Date.String(), it.End.String(), names(it.Authors), names(it.Editors), it.Text,
				it.Container,
				it.Volume, it.Issue, it.Pages, it.Publisher, it.Event, it.DOI, it.ISBN, it.ISSN, it.URL, it.page,
				units, orcids, entries(e.Doc(), "projects", "id"), strings.Join(it.Keywords, "; "), it.OA,
				cmp.Or(it.Number, it.EID), it.Status, names(it.Supervisors), codes, dois,
			})
		}
	})
}

// personColumns are the columns of persons in CSV.
var personColumns = []string{
	"id", "name", "academic_title", "position", "units", "mail", "phone", "room", "orcid", "profiles", "photo", "page",
}

// personRow returns the cells of a person in CSV, in the order of personColumns.
func personRow(a *answer, it *item) []string {
	p, lang := &it.Profile, a.query.Text(params.Lang)
	var units, profiles []string
	for _, u := range it.Units {
		units = append(units, u.ID)
	}
	for _, l := range p.Links {
		profiles = append(profiles, l.Href)
	}
	return []string{
		it.User, titleOf(&it.Item), p.AcademicTitle, p.PositionIn(lang), strings.Join(units, "; "), p.Mail, p.Phone,
		p.Room, it.ORCID, strings.Join(profiles, "; "), a.links.photo(&it.Item), a.links.ToPerson(it.User),
	}
}

// orcidsOf returns the ORCIDs of an entry's persons: of those of the institute, then of others.
func orcidsOf(row bson.Raw, it *item) string {
	var all []string
	seen := map[string]bool{"": true}
	add := func(orcid string) {
		if !seen[orcid] {
			seen[orcid], all = true, append(all, orcid)
		}
	}
	for one := range mark.Entries(mark.Of(row), "persons") {
		add(raw.StringField(one, "orcid"))
	}
	for p := range it.Persons() {
		add(p.ORCID)
	}
	return strings.Join(all, "; ")
}

// names joins persons for a cell of a table: "Moe, Anna; Quill, Bo".
func names(all []cite.Person) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.Inverted()
	}
	return strings.Join(texts, "; ")
}

// csvRow returns a function that appends rows in valid UTF-8, with an apostrophe before a cell that a spreadsheet
// would compute: a title that begins with "=" could otherwise run a formula (OWASP: CSV injection). Wide forms of
// the signs count, because spreadsheets in Japanese and Chinese read them as signs. The function is for one
// goroutine.
func csvRow() func(dst []byte, cells []string) []byte {
	var row bytes.Buffer
	w := csv.NewWriter(&row)
	w.UseCRLF = true
	return func(dst []byte, cells []string) []byte {
		for i, cell := range cells {
			cell = strings.ToValidUTF8(cell, "\uFFFD")
			// The caller's slice is changed; callers make a new one for each row.
			cells[i] = cell
			if first, _ := utf8.DecodeRuneInString(cell); cell != "" &&
				strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
				cells[i] = "'" + cell
			}
		}
		row.Reset()
		_ = w.Write(cells) // cannot fail: it writes to memory, and the comma is valid
		w.Flush()
		return append(dst, row.Bytes()...)
	}
}
