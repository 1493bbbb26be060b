package lists

import (
	"context"
	"encoding/csv"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/ejson"
	"vitrine/rules/mark"
)

// exported is the body of an export: its items one after the other, between two texts, as
// write appends them. Goroutines share write, which reads of an item what it needs.
func (a *answer) exported(head, between, tail string, write writeItem) (*response.Body, error) {
	return a.exportedBy(head, between, tail, func() writeItem { return write })
}

// writeItem appends an item to dst.
type writeItem = func(dst []byte, it *item) []byte

// exportedBy is exported with a write for each goroutine, which writer returns.
func (a *answer) exportedBy(head, between, tail string, writer func() writeItem) (*response.Body, error) {
	around := response.Envelope{Count: a.count, Head: []byte(head), Between: between, Tail: []byte(tail)}
	body := response.JoinCostly(around, a.Entries, func() func([]byte, selection.Entry) []byte {
		it, write := &item{}, writer()
		return func(dst []byte, e selection.Entry) []byte {
			it.Entry = e
			return write(dst, it)
		}
	})
	body.Held = a.Held()
	if a.Query.Number(params.Limit) == 0 {
		body.Guess = a.count * 400 // about as many bytes as an item has
	}
	return body, nil
}

// fragBibTeX is the fragment with an activity's entry in BibTeX.
const fragBibTeX = "bib"

// bibTeXOf returns what encodes public rows; the others have no entry.
func bibTeXOf(read *cite.Rules) func(dst []byte, row bson.Raw) []byte {
	items := sync.Pool{New: func() any { return &cite.Item{} }}
	return func(dst []byte, row bson.Raw) []byte {
		if mark.Of(row) == nil {
			return dst
		}
		it := items.Get().(*cite.Item)
		defer items.Put(it)
		read.Read(row, it)
		return cite.AppendBibTeX(dst, it, false)
	}
}

// bibTeX is made of prepared entries where it has most rows of a view in memory: they are
// prepared for all of a view's rows at once.
func bibTeX(ctx context.Context, a *answer) (*response.Body, error) {
	latex := a.Query.Flag(params.LaTeX)
	rows, resident := a.Snap.Resident()
	if resident && !latex && a.View == rules.ViewActivities && a.Query.Number(params.Limit) == 0 && 2*a.count > rows.Len() {
		if err := rows.Prepare(ctx, fragBibTeX); err != nil {
			return nil, err
		}
		return a.exported("", "\n", "", func(dst []byte, it *item) []byte { return it.AppendFragment(dst, fragBibTeX) })
	}
	return a.exported("", "\n", "", func(dst []byte, it *item) []byte { return cite.AppendBibTeX(dst, &a.read(it).Item, latex) })
}

// items returns what builds an export of items as a writer of package cite writes them.
func items(head, between, tail string, write func([]byte, *cite.Item) []byte) build {
	return func(_ context.Context, a *answer) (*response.Body, error) {
		return a.exported(head, between, tail, func(dst []byte, it *item) []byte { return write(dst, &a.read(it).Item) })
	}
}

// jsonLD is the data of an item, or of a list as an ItemList.
func jsonLD(_ context.Context, a *answer) (*response.Body, error) {
	if a.isItem() {
		return a.exported("", "", "\n", func(dst []byte, it *item) []byte { return a.appendSchema(dst, a.read(it)) })
	}
	return a.exported(a.listHead(), ",\n", "]}\n", func(dst []byte, it *item) []byte { return a.appendListItem(dst, a.read(it)) })
}

// schema begins a document of schema.org.
const schema = `{"@context":"https://schema.org",`

// appendSchema writes an item as a document of schema.org.
func (a *answer) appendSchema(dst []byte, it *item) []byte {
	return append(append(dst, schema...), cite.AppendJSONLD(nil, &it.Item, a.links)[1:]...)
}

// listHead begins an ItemList, safe inside a script element.
func (a *answer) listHead() string {
	name := strings.ReplaceAll(string(ejson.AppendString(nil, a.title)), "<", `\u003c`)
	return schema + `"@type":"ItemList","name":` + name + `,"numberOfItems":` + strconv.Itoa(a.count) + `,"itemListElement":[`
}

// appendListItem writes an item with its place in the list.
func (a *answer) appendListItem(dst []byte, it *item) []byte {
	dst = strconv.AppendInt(append(dst, `{"@type":"ListItem","position":`...), int64(it.Position), 10)
	return append(cite.AppendJSONLD(append(dst, `,"item":`...), &it.Item, a.links), '}')
}

// csvTable is a table with a header row. It begins with a byte order mark, without which
// Excel takes UTF-8 for another encoding.
func csvTable(_ context.Context, a *answer) (*response.Body, error) {
	head := newCells().append([]byte("\ufeff"), []string{
		"id", "key", "type", "subtype",
		"year", "date", "end", "authors", "editors", "title", "container",
		"volume", "issue", "pages", "publisher", "event", "doi", "isbn", "issn", "url", "page",
	})
	return a.exportedBy(string(head), "", "", func() writeItem {
		row := newCells()
		return func(dst []byte, it *item) []byte {
			a.read(it)
			return row.append(dst, []string{
				it.ID, it.Key, a.Label(params.Type, it.Type, it.Doc()), a.Label(params.Subtype, it.Subtype, it.Doc()),
				it.year(), it.Date.String(), it.End.String(), names(it.Authors), names(it.Editors), it.Text, it.Container,
				it.Volume, it.Issue, it.Pages, it.Publisher, it.Event, it.DOI, it.ISBN, it.ISSN, it.URL, a.own(it),
			})
		}
	})
}

// cells writes rows of CSV, all with one writer: each has a buffer of its own.
type cells struct {
	row []byte
	to  *csv.Writer // writes to row
}

func newCells() *cells {
	c := &cells{}
	c.to = csv.NewWriter(c)
	c.to.UseCRLF = true
	return c
}

// Write implements io.Writer.
func (c *cells) Write(p []byte) (int, error) {
	c.row = append(c.row, p...)
	return len(p), nil
}

// append appends a row. It changes a cell that a spreadsheet would compute: it begins with
// an apostrophe.
func (c *cells) append(dst []byte, cells []string) []byte {
	for i, cell := range cells {
		if first, _ := utf8.DecodeRuneInString(cell); cell != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
			cells[i] = "'" + cell
		}
	}
	c.row = dst
	_ = c.to.Write(cells) // to memory; the comma is a valid one
	c.to.Flush()
	return c.row
}
