package api

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/ejson"
)

// projectsByFundingNumber answers GET /api/projects-by-funding-number: _id, name
// and title of the projects that hold one of the numbers. Nothing restricts it
// but the key.
func (e *Env) projectsByFundingNumber(_ context.Context, r Request) (response.Plan, error) {
	numbers, err := fundingNumbers(r.Params)
	if err != nil {
		return response.Plan{}, err
	}
	g, err := r.Params.Page()
	if err != nil {
		return response.Plan{}, err
	}
	f, err := e.query.Compile(bson.D{{Key: "funding_number", Value: bson.D{{Key: "$in", Value: numbers}}}}, "number")
	if err != nil {
		return response.Plan{}, err
	}
	list := listing{view: rules.ViewProjects, filter: f, page: g}
	return list.plan("funding number", func(ctx context.Context, s *view.Snapshot) (*response.Body, error) {
		selected, err := s.Select(ctx, f)
		if err != nil {
			return nil, err
		}
		count := selected.Count()
		return response.Join(response.List(count, g), list.cut(ctx, selected.By(idOrder(false))), fundedRow), nil
	}), nil
}

// fundedRow writes _id as it is, name and title where there are such.
func fundedRow(dst []byte, row index.Row) []byte {
	doc := row.Doc()
	dst = ejson.Append(append(dst, `{"_id":`...), doc.Lookup("_id"))
	dst = appendStored(dst, doc, "name", "name")
	dst = appendStored(dst, doc, "title", "title")
	return append(dst, '}')
}

// fundingNumbers reads number: values between commas, or each number[] as one
// value. Values are decoded a second time, so that %252C is a comma in a number,
// and not trimmed (API.md: projects-by-funding-number).
func fundingNumbers(p query.Params) ([]string, error) {
	values, err := p.Values("number")
	if err != nil {
		return nil, err
	}
	var numbers []string
	for _, value := range values {
		if value = decodeAgain(value); value != "" {
			numbers = append(numbers, value)
		}
		if err := query.CheckUTF8("number", value); err != nil {
			return nil, err
		}
	}
	if len(numbers) == 0 {
		return nil, rules.Wrongf("number", "", "no funding number provided")
	}
	return numbers, nil
}

// decodeAgain undoes URL encoding; a "%" that begins no encoded byte stays.
func decodeAgain(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			out = append(out, ' ')
		case s[i] == '%' && i+2 < len(s) && hexDigit(s[i+1]) >= 0 && hexDigit(s[i+2]) >= 0:
			out = append(out, byte(hexDigit(s[i+1])<<4|hexDigit(s[i+2])))
			i += 2
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}

// hexDigit is the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
