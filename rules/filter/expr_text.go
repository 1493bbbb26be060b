package filter

import (
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// string returns the content of a string argument.
func (c *call) string(what string, v bson.RawValue) (string, error) {
	if v.Type != bson.TypeString {
		return "", c.wrongf("takes a string as %s, not %s", what, typeName(v))
	}
	return raw.Text(v), nil
}

// coerced is a value as the text operators that take more than strings see it; null
// is empty.
func (c *call) coerced(v bson.RawValue) (string, error) {
	switch {
	case nullish(v):
		return "", nil
	case raw.IsText(v.Type) || v.Type == bson.TypeJavaScript:
		return raw.Text(v), nil
	case raw.IsNumber(v.Type) || v.Type == bson.TypeDateTime:
		made, _ := convert(v, bson.TypeString)
		return raw.Text(made), nil
	}
	return "", c.wrongf("takes a string, number or date, not %s", typeName(v))
}

func evalConcat(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	var b strings.Builder
	for _, v := range args {
		if nullish(v) {
			return null, nil
		}
		part, err := c.string("argument", v)
		if err != nil {
			return null, err
		}
		b.WriteString(part)
	}
	return raw.NewString(b.String()), nil
}

// cased is $toLower or $toUpper, which know ASCII letters.
func cased(from, to byte, shift int) evaluation {
	return func(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
		s, err := c.coerced(args[0])
		letters := []byte(s)
		for i, b := range letters {
			if b >= from && b <= to {
				letters[i] = byte(int(b) + shift)
			}
		}
		return raw.NewString(string(letters)), err
	}
}

func evalLength(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	s, err := c.string("argument", args[0])
	return intValue(int64(utf8.RuneCountInString(s)), bson.TypeInt32), err
}

func evalSubstring(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	s, err := c.coerced(args[0])
	if err != nil {
		return null, err
	}
	from, err := c.count("start", args[1])
	if err != nil {
		return null, err
	}
	n, err := c.count("length", args[2])
	if err != nil {
		return null, err
	}
	rest := s[offset(s, from):]
	return raw.NewString(rest[:offset(rest, n)]), nil
}

// count returns a whole number that is not negative.
func (c *call) count(what string, v bson.RawValue) (int, error) {
	n, err := c.int32(what, v)
	if err == nil && n < 0 {
		err = c.wrongf("takes no negative %s", what)
	}
	return n, err
}

// offset is the byte at which the code point of a number begins; the end of s if it
// has fewer.
func offset(s string, point int) int {
	for i := range s {
		if point == 0 {
			return i
		}
		point--
	}
	return len(s)
}

func evalIndexOf(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return null, nil
	}
	s, err := c.string("first argument", args[0])
	if err != nil {
		return null, err
	}
	token, err := c.string("second argument", args[1])
	if err != nil {
		return null, err
	}
	points := utf8.RuneCountInString(s)
	bounds := []int{0, points}
	for i, v := range args[2:] {
		if bounds[i], err = c.count([]string{"start", "end"}[i], v); err != nil {
			return null, err
		}
	}
	from, to := bounds[0], min(bounds[1], points)
	if s == "" && token == "" && from == 0 {
		return intValue(0, bson.TypeInt32), nil
	}
	at := -1
	if from < to { // the match must begin within the bounds
		start := offset(s, from)
		if i := strings.Index(s[start:], token); i >= 0 {
			at = from + utf8.RuneCountInString(s[start:start+i])
		}
		if at >= to {
			at = -1
		}
	}
	return intValue(int64(at), bson.TypeInt32), nil
}

func evalRegexMatch(c *call, st *state, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return raw.NewBool(false), nil
	}
	s, err := c.string("input", args[0])
	if err != nil || c.regex == nil {
		return raw.NewBool(false), err
	}
	regex := c.regex
	if st.binding != nil {
		regex = regex.bound(st.binding)
	}
	ok, err := regex.MatchString(s)
	return raw.NewBool(ok), err
}
