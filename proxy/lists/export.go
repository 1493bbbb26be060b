package lists

import (
	"context"
	"encoding/csv"
	"strconv"
	"strings"
	"unicode/utf8"

	"vitrine/proxy/lists/params"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/ejson"
	"vitrine/rules/mark"
)

// itemBytes is about how long an item is in an export.
const itemBytes = 400

// write appends an item to dst.
type write = func(dst []byte, it *item) []byte

// shared returns a func for exported, where goroutines may share what appends items.
func shared(one write) func() write { return func() write { return one } }

// exported is the body of an export: its items one after the other, between two texts.
// Each call of writer returns what appends items for one goroutine.
func (l *listing) exported(ctx context.Context, head, between, tail string, writer func() write) (*response.Body, error) {
	return joined(ctx, l, head, between, tail, func() func([]byte, entry) []byte {
		it, rules, write := &item{}, l.lists.cite[l.view], writer()
		return func(dst []byte, e entry) []byte {
			it.read(e, rules)
			return write(dst, it)
		}
	})
}

// joined is exported with what appends entries as they are.
func joined(ctx context.Context, l *listing, head, between, tail string, writer func() func([]byte, entry) []byte) (*response.Body, error) {
	if _, err := l.heading(ctx); err != nil {
		return nil, err
	}
	count, _, err := l.Size(ctx)
	if err != nil {
		return nil, err
	}
	// A long export is read while it is sent, when the work for the request has ended.
	ctx = context.WithoutCancel(ctx)
	around := response.Around(count, []byte(head), between, []byte(tail))
	body := response.JoinCostly(around, entries(ctx, l), writer)
	if l.q.Number(params.Limit) == 0 {
		body.Guess = count * itemBytes
	}
	return body, nil
}

// bibTeX is made of prepared entries where it has most rows of a view in memory: they are
// prepared for all of a view's rows at once.
func (l *listing) bibTeX(ctx context.Context) (*response.Body, error) {
	latex := l.q.Flag(params.LaTeX)
	rows, resident := l.snap.Resident()
	if resident && !latex && l.view == rules.ViewActivities && l.q.Number(params.Limit) == 0 {
		count, _, err := l.Size(ctx)
		if err != nil {
			return nil, err
		}
		if 2*count > rows.Len() {
			return joined(ctx, l, "", "\n", "", func() func([]byte, entry) []byte {
				return func(dst []byte, e entry) []byte { return e.from.AppendFragment(dst, fragBibTeX) }
			})
		}
	}
	return l.exported(ctx, "", "\n", "", shared(func(dst []byte, it *item) []byte { return cite.AppendBibTeX(dst, &it.Item, latex) }))
}

func (l *listing) ris(ctx context.Context) (*response.Body, error) {
	return l.exported(ctx, "", "\r\n", "", shared(func(dst []byte, it *item) []byte { return cite.AppendRIS(dst, &it.Item) }))
}

func (l *listing) csl(ctx context.Context) (*response.Body, error) {
	return l.exported(ctx, "[", ",\n", "]\n", shared(func(dst []byte, it *item) []byte { return cite.AppendCSL(dst, &it.Item) }))
}

// jsonLD is the data of an item, or of a list as an ItemList.
func (l *listing) jsonLD(ctx context.Context) (*response.Body, error) {
	title, err := l.heading(ctx)
	if err != nil {
		return nil, err
	}
	if l.kind == items {
		return l.exported(ctx, schema, "", "}\n", shared(func(dst []byte, it *item) []byte {
			data := cite.AppendJSONLD(nil, &it.Item, l.links)
			return append(append(dst, ','), data[1:len(data)-1]...)
		}))
	}
	count, _, err := l.Size(ctx)
	if err != nil {
		return nil, err
	}
	return l.exported(ctx, listHead(title, count), ",\n", "]}\n", shared(l.appendListItem))
}

// schema begins a document of schema.org.
const schema = `{"@context":"https://schema.org"`

// listHead begins an ItemList.
func listHead(title string, count int) string {
	return schema + `,"@type":"ItemList","name":` + string(ejson.AppendString(nil, title)) + `,"numberOfItems":` + strconv.Itoa(count) + `,"itemListElement":[`
}

// appendListItem writes an item with its place in the list.
func (l *listing) appendListItem(dst []byte, it *item) []byte {
	dst = strconv.AppendInt(append(dst, `{"@type":"ListItem","position":`...), int64(it.place), 10)
	return append(cite.AppendJSONLD(append(dst, `,"item":`...), &it.Item, l.links), '}')
}

// columns are those of a table, in their order.
var columns = []struct {
	name string
	of   func(l *listing, it *item) string
}{
	{"id", func(_ *listing, it *item) string { return it.ID }},
	{"key", func(_ *listing, it *item) string { return it.Key }},
	{"type", func(l *listing, it *item) string { return l.Label(params.Type, it.Type, it.row) }},
	{"subtype", func(l *listing, it *item) string { return l.Label(params.Subtype, it.Subtype, it.row) }},
	{"year", func(_ *listing, it *item) string { return yearOf(it) }},
	{"date", func(_ *listing, it *item) string { return it.Date.String() }},
	{"end", func(_ *listing, it *item) string { return it.End.String() }},
	{"authors", func(_ *listing, it *item) string { return names(it.Authors) }},
	{"editors", func(_ *listing, it *item) string { return names(it.Editors) }},
	{"title", func(_ *listing, it *item) string { return it.Text() }},
	{"container", func(_ *listing, it *item) string { return it.Container }},
	{"volume", func(_ *listing, it *item) string { return it.Volume }},
	{"issue", func(_ *listing, it *item) string { return it.Issue }},
	{"pages", func(_ *listing, it *item) string { return it.Pages }},
	{"publisher", func(_ *listing, it *item) string { return it.Publisher }},
	{"event", func(_ *listing, it *item) string { return it.Event }},
	{"doi", func(_ *listing, it *item) string { return it.DOI }},
	{"isbn", func(_ *listing, it *item) string { return it.ISBN }},
	{"issn", func(_ *listing, it *item) string { return it.ISSN }},
	{"url", func(_ *listing, it *item) string { return it.URL }},
	{"page", func(l *listing, it *item) string { return l.own(it) }},
}

// csv is a table with a header row. It begins with a byte order mark, without which Excel
// takes UTF-8 for another encoding.
func (l *listing) csv(ctx context.Context) (*response.Body, error) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	head := newTable().append([]byte("\ufeff"), names)
	return l.exported(ctx, string(head), "", "", func() write {
		cells, t := make([]string, len(columns)), newTable()
		return func(dst []byte, it *item) []byte {
			for i, c := range columns {
				cells[i] = c.of(l, it)
			}
			return t.append(dst, cells)
		}
	})
}

// table writes rows of CSV.
type table struct {
	dst []byte
	csv *csv.Writer
}

func newTable() *table {
	t := &table{}
	t.csv = csv.NewWriter(t)
	t.csv.UseCRLF = true
	return t
}

// Write implements io.Writer.
func (t *table) Write(p []byte) (int, error) {
	t.dst = append(t.dst, p...)
	return len(p), nil
}

// append writes a row. A cell that a spreadsheet would compute begins with an apostrophe.
func (t *table) append(dst []byte, cells []string) []byte {
	for i, cell := range cells {
		if first, _ := utf8.DecodeRuneInString(cell); cell != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
			cells[i] = "'" + cell
		}
	}
	t.dst = dst
	_ = t.csv.Write(cells) // to memory; the comma is a valid one
	t.csv.Flush()
	return t.dst
}

// yearOf is the year of an item, as lists have it; empty if it has none.
func yearOf(it *item) string {
	if year, ok := mark.Of(it.row).Lookup("year").Int32OK(); ok {
		return strconv.Itoa(int(year))
	}
	return ""
}

// names lists persons in one text.
func names(all []cite.Person) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.Inverted()
	}
	return strings.Join(texts, "; ")
}
