package response

import (
	"strconv"

	"vitrine/proxy/query"
	"vitrine/rules/ejson"
)

// ContentType is that of every answer but pages.
const ContentType = "application/json; charset=utf-8"

// Envelope is what stands around the rows of an answer (API.md: Standard envelope), and
// between two of them.
type Envelope struct {
	count      int
	head, tail []byte
	between    string
}

// Around is an envelope of any form.
func Around(count int, head []byte, between string, tail []byte) Envelope {
	return Envelope{count, head, tail, between}
}

// List is the envelope of a list; limit and offset are part of it where they were applied.
func List(count int, g query.Page) Envelope {
	head := strconv.AppendInt([]byte(`{"status":200,"count":`), int64(count), 10)
	return Envelope{count, append(head, `,"data":[`...), append(appendPage([]byte("]"), g), '}'), ","}
}

// Full is the envelope of full records, whose count comes last.
func Full(count int, g query.Page) Envelope {
	tail := strconv.AppendInt([]byte(`],"count":`), int64(count), 10)
	return Envelope{count, []byte(`{"status":200,"data":[`), append(appendPage(tail, g), '}'), ","}
}

func appendPage(b []byte, g query.Page) []byte {
	if g.Limit == 0 {
		return b
	}
	b = strconv.AppendInt(append(b, `,"limit":`...), int64(g.Limit), 10)
	return strconv.AppendInt(append(b, `,"offset":`...), int64(g.Offset), 10)
}

// Single is the body of an answer whose data is one object.
func Single(object func(dst []byte) []byte) *Body {
	e := Envelope{1, []byte(`{"status":200,"count":1,"data":`), []byte{'}'}, ","}
	return JoinRange(e, 0, 1, func(dst []byte, _ int) []byte { return object(dst) })
}

// Failure is the envelope of an error (API.md: Errors).
func Failure(status int, name, msg string) []byte {
	b := strconv.AppendInt([]byte(`{"status":`), int64(status), 10)
	b = ejson.AppendString(append(b, `,"count":0,"error":`...), name)
	b = ejson.AppendString(append(b, `,"msg":`...), msg)
	return append(b, '}')
}
