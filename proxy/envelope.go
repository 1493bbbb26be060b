package proxy

import (
	"strconv"

	"vitrine/proxy/query"
	"vitrine/rules/ejson"
)

const contentType = "application/json; charset=utf-8"

// openList begins the envelope of a list (API.md: Standard envelope).
func openList(count int) []byte {
	b := strconv.AppendInt([]byte(`{"status":200,"count":`), int64(count), 10)
	return append(b, `,"data":[`...)
}

// closeList ends it; limit and offset are told where they were applied.
func closeList(g query.Page) []byte { return append(closePage([]byte("]"), g), '}') }

// openFull begins the envelope of full records, whose count comes last.
func openFull() []byte { return []byte(`{"status":200,"data":[`) }

// closeFull ends it.
func closeFull(count int, g query.Page) []byte {
	b := strconv.AppendInt([]byte(`],"count":`), int64(count), 10)
	return append(closePage(b, g), '}')
}

func closePage(b []byte, g query.Page) []byte {
	if g.Limit == 0 {
		return b
	}
	b = strconv.AppendInt(append(b, `,"limit":`...), int64(g.Limit), 10)
	return strconv.AppendInt(append(b, `,"offset":`...), int64(g.Offset), 10)
}

// failure is the envelope of an error (API.md: Errors).
func failure(status int, name, msg string) []byte {
	b := strconv.AppendInt([]byte(`{"status":`), int64(status), 10)
	b = ejson.AppendString(append(b, `,"count":0,"error":`...), name)
	b = ejson.AppendString(append(b, `,"msg":`...), msg)
	return append(b, '}')
}
