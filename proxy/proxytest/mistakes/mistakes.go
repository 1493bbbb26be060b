// Package mistakes makes mistakes in answers of the API, as a server with a bug might: rows in another order, another
// year, a link to another record, words that are missing. Tests plant them in the answers of one of two servers, and
// check that comparing both finds them.
//
// It is test support: only tests import it (TestImportsPointOneWay in cmd/vitrine).
package mistakes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Answer is what a server sends.
type Answer struct {
	Status int
	Type   string // the media type
	Body   string
}

// fields is an object of JSON, with numbers as they are written.
type fields = map[string]any

func decoder(text string) *json.Decoder {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d
}

// Mistake makes a mistake in an answer, and reports whether the answer has what the mistake needs. r chooses
// where.
type Mistake func(r *rand.Rand, a *Answer) bool

// inRows is a mistake in the rows of a list.
func inRows(change func(r *rand.Rand, body fields, rows []any) bool) Mistake {
	return func(r *rand.Rand, a *Answer) bool {
		var body fields
		if decoder(a.Body).Decode(&body) != nil {
			return false
		}
		rows, ok := body["data"].([]any)
		if !ok || len(rows) == 0 || !change(r, body, rows) {
			return false
		}
		a.Body = encoded(body)
		return true
	}
}

func encoded(v any) string {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // cannot fail: it was JSON
	return text.String()
}

// inField is a mistake in a field of a row. It is tried in the rows and fields in a random order.
func inField(change func(row fields, name string, v any) (any, bool)) Mistake {
	return inRows(func(r *rand.Rand, _ fields, rows []any) bool {
		for _, i := range r.Perm(len(rows)) {
			row, _ := rows[i].(fields)
			var names []string
			for name := range row {
				names = append(names, name)
			}
			slices.Sort(names)
			r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			for _, name := range names {
				if v, ok := change(row, name, row[name]); ok {
					row[name] = v
					return true
				}
			}
		}
		return false
	})
}

// inText is a mistake in a text, in HTML a match of an expression is replaced.
func inText(pattern, with string) Mistake {
	re := regexp.MustCompile(pattern)
	return inField(func(_ fields, _ string, v any) (any, bool) {
		text, ok := v.(string)
		at := re.FindStringSubmatchIndex(text)
		if !ok || at == nil {
			return nil, false
		}
		changed := text[:at[0]] + string(re.ExpandString(nil, with, text, at)) + text[at[1]:]
		return changed, changed != text
	})
}

// inNamed is a mistake in the fields of a name.
func inNamed(name string, change func(v any) (any, bool)) Mistake {
	return inField(func(_ fields, n string, v any) (any, bool) {
		if n != name {
			return nil, false
		}
		return change(v)
	})
}

// inBody is a mistake in the envelope.
func inBody(change func(body fields) bool) Mistake {
	return func(_ *rand.Rand, a *Answer) bool {
		var body fields
		if decoder(a.Body).Decode(&body) != nil || !change(body) {
			return false
		}
		a.Body = encoded(body)
		return true
	}
}

// swapped exchanges two rows whose years differ, or two that Vitrine's order has in this order.
func swapped(r *rand.Rand, _ fields, rows []any) bool {
	if len(rows) < 2 {
		return false
	}
	i := r.IntN(len(rows) - 1)
	a, _ := json.Marshal(rows[i])
	b, _ := json.Marshal(rows[i+1])
	rows[i], rows[i+1] = rows[i+1], rows[i]
	return string(a) != string(b)
}

func plusOne(by int) func(any) (any, bool) {
	return func(v any) (any, bool) {
		n, ok := v.(json.Number)
		i, err := strconv.Atoi(string(n))
		return i + by, ok && err == nil
	}
}

func dropped(array any) (any, bool) {
	a, ok := array.([]any)
	if !ok || len(a) == 0 {
		return nil, false
	}
	return a[1:], true
}

func reversed(array any) (any, bool) {
	a, ok := array.([]any)
	if !ok || len(a) < 2 || fmt.Sprint(a[0]) == fmt.Sprint(a[len(a)-1]) {
		return nil, false
	}
	a = slices.Clone(a)
	slices.Reverse(a)
	return a, true
}

// Kinds are the kinds of mistakes by name.
var Kinds = map[string]Mistake{
	"every link's id is zeros": func(_ *rand.Rand, a *Answer) bool {
		was := a.Body
		a.Body = regexp.MustCompile(`(/activities/view/|/profile/)[0-9a-z]+`).ReplaceAllString(a.Body, "${1}0000")
		return a.Body != was
	},
	"words after a tag":        inText(`</a>(<br>)?(<small[^>]*>)?[^<]+<`, "</a>$1${2}XX <"),
	"the words of a link":      inText(`(<a [^>]*>)[^<]+<`, "${1}XX<"),
	"a link to another record": inText(`/activities/view/([0-9a-f]{20})[0-9a-f]{4}`, "/activities/view/${1}ffff"),
	"a link to another person": inText(`/profile/[a-z]+`, "/profile/ada"),
	"a link elsewhere":         inText(`href='/activities/view/`, "href='/profile/"),
	"a link to another host":   inText(`href='/`, "href='https://other.example/"),
	"a link is no link":        inText(`<a [^>]*href='/profile/[^>]*>(.*?)</a>`, "$1"),
	"rows reversed": inRows(func(_ *rand.Rand, _ fields, rows []any) bool {
		slices.Reverse(rows)
		return len(rows) > 3
	}),
	"two rows swapped":       inRows(swapped),
	"a row moved to the end": inRows(moved),
	"a row dropped": inRows(func(_ *rand.Rand, b fields, rows []any) bool {
		b["data"] = rows[1:]
		return true
	}),
	"a row twice": inRows(func(_ *rand.Rand, b fields, rows []any) bool {
		b["data"] = append(rows, rows[0])
		return true
	}),
	"a row added": inRows(added),
	"no rows": inRows(func(_ *rand.Rand, b fields, _ []any) bool {
		b["data"] = []any{}
		return true
	}),
	"count is off by one": inBody(func(b fields) bool {
		n, ok := plusOne(1)(b["count"])
		b["count"] = n
		return ok
	}),
	"a year later":          inNamed("year", plusOne(1)),
	"a year earlier":        inNamed("year", plusOne(-1)),
	"a year as text":        inNamed("year", func(v any) (any, bool) { return fmt.Sprint(v), v != nil }),
	"a year in a citation":  inText(`\((\d\d\d)\d\)`, "(${1}x)"),
	"the day of a date":     inText(`\b\d\d\.(\d\d\.\d{4})`, "$1"),
	"day and month swapped": inText(`\b(0[1-9])\.(1[0-2])\.(\d{4})`, "$2.$1.$3"),
	"a month in a citation": inText(`\((\d\d)\.(\d{4})\)`, "(13.$2)"),
	"a month is gone":       inText(`\(\d\d\.(\d{4})\)`, "($1)"),
	"a day in a field":      inText(`^(\d{4}-\d\d)-\d\d$`, "$1"),
	"the next century":      inText(`^20(\d\d-)`, "21$1"),
	"a DOI's digit":         inText(`(10\.\d{4}/.*)\d`, "${1}x"),
	"a DOI's link": inNamed("link", func(v any) (any, bool) {
		s, ok := v.(string)
		return s + "1", ok
	}),
	"a link is null":            inNamed("link", func(v any) (any, bool) { return nil, v != nil }),
	"an author dropped":         inText(`<b>[^<]*</b>,? ?`, ""),
	"an author's initial":       inText(`(&nbsp;)[A-Z]\.`, "${1}Q."),
	"two authors swapped":       inText(`<b>([^<]*)</b>, <b>([^<]*)</b>`, "<b>$2</b>, <b>$1</b>"),
	"a bold author is not bold": inText(`<b>([^<]*)</b>`, "$1"),
	"a tag is another":          inText(`<i>([^<]*)</i>`, "<em>$1</em>"),
	"a tag is added":            inText(`^([^<]+)<`, "<u>$1</u><"),
	"a tag is not closed":       inText(`</i>`, ""),
	"an attribute":              inText(`class='colorless'`, "class='colourless'"),
	"an attribute is gone":      inText(` class='colorless'`, ""),
	"a handler of events":       inText(`<a `, "<a onclick='x()' "),
	"a label": inNamed("type", func(v any) (any, bool) {
		return "Teaching", v != nil && v != "Teaching"
	}),
	"a label of another": inNamed("subtype", func(v any) (any, bool) {
		return "Sample", v != nil && v != "Sample"
	}),
	"an icon":                 inText(`ph-[a-z-]+'`, "ph-x'"),
	"null instead of a value": inNamed("doi", func(v any) (any, bool) { return nil, v != nil }),
	"a field is gone":         inRows(gone),
	"a field is added": inRows(func(_ *rand.Rand, _ fields, rows []any) bool {
		rows[0].(fields)["x"] = 1
		return true
	}),
	"a truth value": inField(func(_ fields, _ string, v any) (any, bool) {
		b, ok := v.(bool)
		return !b, ok
	}),
	"a truth value as a number": inField(func(_ fields, _ string, v any) (any, bool) {
		b, ok := v.(bool)
		return 0, ok && b
	}),
	"rounded": inNamed("score", func(v any) (any, bool) {
		return json.Number("0.5"), v != json.Number("0.5")
	}),
	"a group's count":          inNamed("count", plusOne(1)),
	"an array's first is gone": inField(func(_ fields, _ string, v any) (any, bool) { return dropped(v) }),
	"an array reversed":        inField(func(_ fields, _ string, v any) (any, bool) { return reversed(v) }),
	"another unit":             inNamed("units", otherUnit),
	"a department less":        inNamed("departments", dropped),
	"the quarter": inNamed("quarter", func(v any) (any, bool) {
		s, ok := v.(string)
		return s + "1", ok && s != ""
	}),
	"truncated":             inText(`^(.{10,}).{5}$`, "$1"),
	"escaped twice":         inText(`&nbsp;`, "&amp;nbsp;"),
	"another case":          inText(`^([^<]*)[a-z]([^<]*)$`, "${1}Q$2"),
	"white space in a word": inText(`([a-z]{3})([a-z]{3})`, "$1 $2"),
	"a space for nothing":   inText(`&nbsp;`, " "),
	"a letter's accent":     inText(`[äöüéèçå]`, "a\u0308"),
	"the limit": inBody(func(b fields) bool {
		n, ok := plusOne(1)(b["limit"])
		b["limit"] = n
		return ok
	}),
	"the offset": inBody(func(b fields) bool {
		n, ok := plusOne(1)(b["offset"])
		b["offset"] = n
		return ok
	}),
	"the next page": inRows(func(_ *rand.Rand, b fields, rows []any) bool {
		b["data"] = rows[1:]
		return b["limit"] != nil
	}),
	"the status":                 func(_ *rand.Rand, a *Answer) bool { a.Status = 404; return true },
	"the status of the envelope": inBody(func(b fields) bool { b["status"] = 404; return true }),
	"an error's code": inBody(func(b fields) bool {
		ok := b["error"] != nil
		b["error"] = "X"
		return ok
	}),
	"an error without a message": inBody(func(b fields) bool { ok := b["error"] != nil; b["msg"] = ""; return ok }),
	"the media type":             func(_ *rand.Rand, a *Answer) bool { a.Type = "text/plain"; return true },
	"no JSON":                    func(_ *rand.Rand, a *Answer) bool { a.Body = a.Body[:len(a.Body)-2]; return true },
	"an empty body":              func(_ *rand.Rand, a *Answer) bool { a.Body = ""; return true },
	"another person":             inPerson("last"),
}

func moved(r *rand.Rand, body fields, rows []any) bool {
	i := r.IntN(len(rows))
	body["data"] = append(slices.Delete(slices.Clone(rows), i, i+1), rows[i])
	return len(rows) > 1 && encoded(rows[i]) != encoded(rows[len(rows)-1])
}

func added(_ *rand.Rand, body fields, rows []any) bool {
	body["data"] = append(rows, fields{"id": "ffffffffffffffffffffffff", "year": json.Number("1900")})
	return true
}

func gone(r *rand.Rand, _ fields, rows []any) bool {
	row := rows[r.IntN(len(rows))].(fields)
	for name := range row {
		if name != "id" && name != "value" {
			delete(row, name)
			return true
		}
	}
	return false
}

func otherUnit(v any) (any, bool) {
	units, ok := v.([]any)
	if !ok || len(units) == 0 {
		return nil, false
	}
	return append(slices.Clone(units[:len(units)-1]), "ELSEWHERE"), true
}

// inPerson is a mistake in the answer with one person.
func inPerson(name string) Mistake {
	return inBody(func(b fields) bool {
		data, _ := b["data"].(fields)
		text, ok := data[name].(string)
		if ok {
			data[name] = strings.ToUpper(text) + "x"
		}
		return ok
	})
}
