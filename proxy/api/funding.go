package api

import (
	"context"
	"encoding/hex"
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// projectsByFundingNumber answers GET /api/projects-by-funding-number. It requires only the API key. It has no
// permission of its own and no filter: the rows name the project and no persons.
func (e *Env) projectsByFundingNumber(_ context.Context, r Request) (response.Plan, error) {
	list := listing{view: rules.ViewProjects, order: raw.Sort{raw.ByID}}
	numbers := bson.D{{Key: "$in", Value: fundingNumbers(r.Params)}}
	list.filter = r.Params.Checked(e.query.Compile(bson.D{{Key: "funding_number", Value: numbers}}, "number"))
	list.page = r.Params.Page()
	return list.rows("funding number", func(dst []byte, row index.Row) []byte {
		doc := row.Doc()
		dst = ejson.Append(ejson.AppendKey(append(dst, '{'), "_id"), doc.Lookup("_id"))
		dst = appendStored(dst, doc, "", "name", "name")
		return append(appendStored(dst, doc, "", "title", "title"), '}')
	}), nil
}

// fundingNumbers reads number: values separated by commas, or each number[] as one value. It decodes values a
// second time, so that %252C is a comma in a number, and does not trim them. A funding number may contain a comma
// and blanks at its ends, and escaping twice is the only way to write such a comma.
func fundingNumbers(p query.Params) []string {
	var numbers []string
	for _, value := range p.Values("number") {
		if value = p.UTF8("number", decodeAgain(value)); value != "" {
			numbers = append(numbers, value)
		}
	}
	if len(numbers) == 0 {
		p.Fail(rules.Wrongf("number", "", "no funding number provided"))
	}
	return numbers
}

// escapedByte matches an escaped byte of a URL. Any other "%" stays unchanged.
var escapedByte = regexp.MustCompile("%[0-9a-fA-F]{2}")

// decodeAgain undoes URL encoding, "+" for a space included.
func decodeAgain(s string) string {
	return escapedByte.ReplaceAllStringFunc(strings.ReplaceAll(s, "+", " "), func(escaped string) string {
		b, _ := hex.DecodeString(escaped[1:]) // two hexadecimal digits: cannot fail
		return string(b)
	})
}
