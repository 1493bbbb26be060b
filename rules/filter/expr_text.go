package filter

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// coerce returns the first argument as text, for operators that also take values other than
// strings. Null becomes "". Doubles, decimals and timestamps are left to the database: their texts
// in MongoDB are not reproduced here.
func (f frame) coerce() string {
	v := f.values[0]
	switch {
	case raw.IsNone(v):
		return ""
	case raw.IsText(v.Type) || v.Type == bson.TypeJavaScript:
		return raw.Text(v)
	}
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		return strconv.FormatInt(raw.Int(v), 10)
	case bson.TypeDateTime:
		return f.formatted(utcFormat, f.date(v, time.UTC))
	case bson.TypeDouble, bson.TypeDecimal128, bson.TypeTimestamp:
		f.beyond("of a " + typeName(v))
	}
	f.fail("takes a string, number or date, not %s", typeName(v))
	return ""
}

// evalConcat concatenates strings. It returns null if one of them is null. Its arguments are lazy:
// after a null the next argument may be of any type.
func evalConcat(f frame) bson.RawValue {
	var b strings.Builder
	for i := range f.call.args {
		v := f.lazy(i)
		if raw.IsNone(v) {
			return null
		}
		b.WriteString(f.string("argument", v))
	}
	return raw.NewString(b.String())
}

// cased is $toLower or $toUpper, which know ASCII letters. MongoDB leaves all other letters
// unchanged, so "Ä" stays "Ä" in $toLower. The bit of 'a' - 'A' is the only difference between the
// cases in ASCII.
func cased(first, last byte) evaluation {
	return func(f frame) bson.RawValue {
		letters := []byte(f.coerce())
		for i, b := range letters {
			if b >= first && b <= last {
				letters[i] ^= 'a' - 'A'
			}
		}
		return raw.NewString(string(letters))
	}
}

// evalLength counts code points, not bytes.
func evalLength(f frame) bson.RawValue {
	return intValue(int64(utf8.RuneCountInString(f.string("argument", f.values[0]))), bson.TypeInt32)
}

// evalSubstring counts code points. It stops at the end of the string.
//
//	{$substrCP: ["Größe", 2, 2]} → "öß"
func evalSubstring(f frame) bson.RawValue {
	s, from, n := f.coerce(), f.count("start", 1), f.count("length", 2)
	rest := s[offset(s, from):]
	return raw.NewString(rest[:offset(rest, n)])
}

// offset returns the byte offset of a code point by its number, or the length of s if it has fewer code points.
func offset(s string, point int) int {
	for i := range s {
		if point == 0 {
			return i
		}
		point--
	}
	return len(s)
}

// evalIndexOf returns a position in code points, or -1 if the second string does not occur. The end
// bounds where a match begins, not where it ends.
func evalIndexOf(f frame) bson.RawValue {
	s, token := f.string("first argument", f.values[0]), f.string("second argument", f.values[1])
	from, to := 0, utf8.RuneCountInString(s)
	if len(f.values) > 2 {
		from = f.count("start", 2)
	}
	if len(f.values) > 3 {
		to = min(f.count("end", 3), to)
	}
	at, start := -1, offset(s, from)
	if i := strings.Index(s[start:], token); i >= 0 {
		at = from + utf8.RuneCountInString(s[start:start+i])
	}
	if at >= to && (s != "" || at > 0) {
		// a match must begin within the bounds; an empty string occurs in an empty one
		at = -1
	}
	return intValue(int64(at), bson.TypeInt32)
}

// evalRegexMatch returns false if the input or the expression is null. The input is checked first,
// so that a number is an error even if the expression is null. The budget is the request's, shared
// with all other expressions of the filter.
func evalRegexMatch(f frame) bson.RawValue {
	if raw.IsNone(f.values[0]) {
		return raw.NewBool(false)
	}
	s := f.string("input", f.values[0])
	if f.call.regex == nil {
		return raw.NewBool(false)
	}
	ok, err := f.call.regex.MatchString(s, f.state.budget)
	if err != nil {
		rules.Fail(err)
	}
	return raw.NewBool(ok)
}
