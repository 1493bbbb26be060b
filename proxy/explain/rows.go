package explain

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
)

// Rows answers GET /admin/query?view=NAME&filter=FILTER&offset=N&limit=N with the rows of a view, one JSON document a
// line, or with &count=1 with their number. A POST has the filter in its body.
func Rows(c *fiber.Ctx, views response.Views, r *response.Responder) error {
	p := query.Read(c.Context().QueryArgs().All())
	name, text, counts, offset, limit := p.Text("view"), p.Text("filter"), p.Flag("count"), p.Natural(
		"offset"), p.Natural("limit")
	if body := c.Body(); len(body) > 0 {
		text = string(body)
	}
	if !slices.ContainsFunc(views.Status(), func(st view.Status) bool { return st.View == name }) {
		p.Fail(rules.Wrongf("view", "", "there is no view %s", query.Quote(name)))
	}
	f := p.Checked(filter.Parse([]byte(cmp.Or(text, "{}")),
		filter.Options{Param: "filter", HexIDs: true, Foreign: true}))
	if err := p.Err(); err != nil {
		return err
	}
	build := func(ctx context.Context, s response.Snapshots) (*response.Body, error) {
		sel, err := s.Own().Select(ctx, f)
		if err != nil {
			return nil, err
		}
		if counts {
			return response.Bytes([]byte(strconv.Itoa(sel.Count()) + "\n")), nil
		}
		rows := func(ctx context.Context) iter.Seq2[index.Row, error] { return sel.Rows(ctx, offset, limit) }
		return response.Join(response.Envelope{}, rows, AppendRow), nil
	}
	// The key names all that the answer depends on, as that of any plan. The zero byte keeps it apart from the
	// queries of resources.
	key := fmt.Sprint("query\x00", offset, limit, counts, f.Key())
	return r.Serve(c, response.Audience{Personal: true}, func(*response.Planning) (response.Plan, error) {
		return response.Plan{View: name, Query: key, Build: build, ContentType: "application/x-ndjson",
			Caching: response.Caching{Personal: true, Whole: true}}, nil
	})
}

// AppendRow appends a row as a line of relaxed Extended JSON, without the reserved fields.
func AppendRow(dst []byte, row index.Row) []byte {
	return append(ejson.AppendDocument(dst, display.Strip(row.Doc())), '\n')
}
