package notice

import (
	"cmp"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/date"
	"vitrine/rules/display"
	"vitrine/rules/identifier"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// Field says what the values of a field mean.
type Field struct {
	Flag string // the code of a work for which the field is set, or ""
	Work string // the code of a work for which the field names another work, or ""
	// Types are codes by what entries of the field call their type, as Crossref has them. An entry of another type
	// says nothing. Nil means that entries have no type.
	Types *Words
}

// mostRead bounds the values that are read of a field.
const mostRead = 200

// Append appends what a value of the field says.
func (f Field) Append(all []Notice, v bson.RawValue) []Notice {
	left := mostRead
	return f.append(all, v, &left)
}

// append counts down the values that it may still read.
func (f Field) append(all []Notice, v bson.RawValue, left *int) []Notice {
	if *left--; *left < 0 || v.Type == bson.TypeBoolean && !v.Boolean() || display.Empty(v) {
		return all
	}
	switch v.Type {
	case bson.TypeArray:
		for one := range raw.Elements(v) {
			all = f.append(all, one, left)
		}
		return all
	case bson.TypeEmbeddedDocument:
		return f.appendEntry(all, v.Value)
	}
	return f.appendScalar(all, v)
}

// names reports whether the field names works and nothing else, so that any number or word may be an id.
func (f Field) names() bool { return f.Flag == "" && !IsState(f.Work) }

func (f Field) appendScalar(all []Notice, v bson.RawValue) []Notice {
	text := strings.TrimSpace(display.Text(v))
	flag := flagOf(text, v)
	code := cmp.Or(f.Flag, f.Work)
	switch {
	case flag == raw.FlagYes && (v.Type == bson.TypeBoolean || !f.names()):
		return append(all, Notice{Code: code})
	case text == "", flag == raw.FlagNo: // forms store 0 for no work, too
		return all
	}
	before := len(all)
	parts := split(text)
	for _, part := range parts[:min(len(parts), mostRead)] {
		n := work(part)
		isID := n.ID != "" && f.Work != "" && (f.names() || !isDate(v))
		if n.Code = cmp.Or(f.Work, f.Flag); n.DOI+n.URL != "" || isID {
			all = append(all, n)
		}
	}
	if len(all) == before && (IsState(code) || f.names()) { // a date, or a reason
		all = append(all, Notice{Code: code})
	}
	return all
}

// flagOf returns what a value, which has a text, says as a flag.
func flagOf(text string, v bson.RawValue) raw.Flag {
	return cmp.Or(answers[strings.Trim(strings.ToLower(text), " .!")], raw.FlagOf(v))
}

// answers are what forms store for a flag beside the usual values.
var answers = map[string]raw.Flag{
	"yes": raw.FlagYes, "ja": raw.FlagYes, "y": raw.FlagYes, "x": raw.FlagYes, "on": raw.FlagYes,
	"no": raw.FlagNo, "nein": raw.FlagNo, "n": raw.FlagNo, "off": raw.FlagNo, "none": raw.FlagNo, "keine": raw.FlagNo,
	"n/a": raw.FlagNo, "n.a": raw.FlagNo, "na": raw.FlagNo, "null": raw.FlagNo, "nil": raw.FlagNo, "nan": raw.FlagNo,
	"false": raw.FlagNo, "-": raw.FlagNo, "–": raw.FlagNo, "unknown": raw.FlagNo, "unbekannt": raw.FlagNo,
	"not available": raw.FlagNo, "not applicable": raw.FlagNo, "nicht verfügbar": raw.FlagNo,
	"not retracted": raw.FlagNo, "nicht zurückgezogen": raw.FlagNo,
}

func isDate(v bson.RawValue) bool { return date.Read(v, time.UTC).Year != 0 }

// split returns the parts of a text that names several works. No identifier contains a blank.
func split(text string) []string {
	return strings.FieldsFunc(strings.NewReplacer("; ", "\n", ", ", "\n", "|", "\n").Replace(text),
		func(r rune) bool { return r == '\n' || r == '\r' })
}

// longestID is the most bytes of an id. Longer words are none.
const longestID = 100

// work returns the work that a text names: by the first DOI or address in it, or as a whole by an id.
func work(text string) Notice {
	if doi := identifier.DOI(text); doi != "" {
		return Notice{DOI: doi}
	}
	words := strings.Fields(text)
	for _, word := range words {
		word = strings.Trim(word, "().,;:")
		if doi := identifier.DOI(word); doi != "" {
			return Notice{DOI: doi}
		}
		if address := markup.WebURL(word); address != "" {
			return Notice{URL: address}
		}
	}
	if len(words) == 1 && len(text) <= longestID {
		return Notice{ID: strings.ToValidUTF8(words[0], "\uFFFD")}
	}
	return Notice{}
}

// appendEntry appends what a document says: its type, if the field has types, and the work that it names.
func (f Field) appendEntry(all []Notice, doc bson.Raw) []Notice {
	n, code, kind, says := Notice{}, cmp.Or(f.Work, f.Flag), "", false
	for e := range raw.All(doc) {
		text := strings.TrimSpace(display.Text(e.Value()))
		says = says || text != "" && flagOf(text, e.Value()) != raw.FlagNo
		switch name := strings.ToLower(raw.String(e.Key)); name {
		case "type", "update_type", "update-type":
			kind = text
		case "doi", "url", "link", "id", "_id":
			if found := work(text); n == (Notice{}) || found.DOI != "" {
				n = found
			}
		}
	}
	if f.Types != nil && kind != "" {
		if code = f.Types.Named(kind); IsState(f.Work) {
			code = State(code)
		} else {
			code = Kind(code)
		}
	}
	if code == "" || !says {
		return all
	}
	n.Code = code
	return append(all, n)
}
