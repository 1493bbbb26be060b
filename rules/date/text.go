package date

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds the bytes of a text that are read, and maxTokens the tokens before the year.
const maxText, maxTokens = 100, 16

func cut(s string) string { return s[:min(len(s), maxText)] }

// parse reads a date from text, see the package comment.
func parse(s string) Date {
	if d, ok := parseISO(s); ok {
		return d
	}
	var before [maxTokens]token
	n := 0
	for t, rest := next(cut(s)); t.text != ""; t, rest = next(rest) {
		switch {
		case t.isYear(n == 0):
			if d, ok := preceding(t, before[:n]); ok {
				return d
			}
			return following(t, rest)
		case len(t.text) == len("20210801") || len(t.text) == len("20210801223000"):
			if d := compact(t.text[:8]); d.Day != 0 {
				return d
			}
		case slices.Contains(particles[:], strings.ToLower(t.text)):
			continue
		}
		if n == maxTokens {
			return Date{}
		}
		before[n] = t
		n++
	}
	return Date{}
}

// particles are words between the parts of a date: "1st of August".
var particles = [...]string{"st", "nd", "rd", "th", "of"}

// parseISO reads the forms that nearly all records have: 2021, 2021-08, 2021-08-01, also before a time.
func parseISO(s string) (d Date, ok bool) {
	if i := strings.IndexByte(s, 'T'); i == len("2021-08-01") {
		s = s[:i]
	}
	digits := func(from, to int) (n int) {
		for _, c := range []byte(s[from:to]) {
			if c < '0' || c > '9' {
				ok = false
			}
			n = n*10 + int(c) - '0'
		}
		return n
	}
	ok = true
	switch {
	case len(s) == 4:
		d = New(digits(0, 4), 0, 0)
	case len(s) == 7 && s[4] == '-':
		d = New(digits(0, 4), digits(5, 7), 0)
	case len(s) == 10 && s[4] == '-' && s[7] == '-':
		d = New(digits(0, 4), digits(5, 7), digits(8, 10))
	default:
		return d, false
	}
	return d, ok
}

// compact reads "20210801".
func compact(s string) Date {
	if d, ok := parseISO(s[:4] + "-" + s[4:6] + "-" + s[6:]); ok {
		return d
	}
	return Date{}
}

// token is a number or a word of a text.
type token struct {
	before string // what separates it from the token before it
	text   string // "" at the end of the text
	number int    // of at most four digits, or -1
	month  int    // that a word names, or 0
}

// short reports whether a token can be the number of a month or a day.
func (t token) short() bool { return t.number >= 0 && len(t.text) <= 2 }

// isYear reports whether a token is a year, not an offset such as +1000, nor a year before Christ.
func (t token) isYear(first bool) bool {
	signed := strings.HasSuffix(t.before, "+") || strings.HasSuffix(t.before, " -") || first && t.before == "-"
	return len(t.text) == 4 && t.number >= minYear && !signed
}

// next returns the first token of a text, and the rest.
func next(s string) (t token, rest string) {
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }
	start := strings.IndexFunc(s, func(r rune) bool { return digit(r) || letter(r) })
	if start < 0 {
		return token{number: -1}, ""
	}
	t.before, s = s[:start], s[start:]
	same := letter
	if digit(rune(s[0])) {
		same = digit
	}
	end := strings.IndexFunc(s, func(r rune) bool { return !same(r) })
	if end < 0 {
		end = len(s)
	}
	t.text, t.number = s[:end], -1
	switch {
	case !digit(rune(s[0])):
		t.month = monthNamed(t.text)
	case end <= 4:
		t.number = 0
		for _, c := range []byte(t.text) {
			t.number = t.number*10 + int(c-'0')
		}
	}
	return t, s[end:]
}

// preceding reads a date that ends in its year. ok is false if no month or day precedes the year.
func preceding(year token, before []token) (d Date, ok bool) {
	if i := slices.IndexFunc(before, func(t token) bool { return t.month > 0 }); i >= 0 {
		return named(year.number, before, i), true
	}
	start := len(before)
	for start > 0 && before[start-1].short() {
		start--
	}
	parts := before[start:]
	if len(parts) == 0 || start > 0 && len(parts) == 1 { // "Q1/2021", "Issue 3/2021"
		return d, false
	}
	switch separator := strings.TrimSpace(year.before); separator {
	case ".":
		return dotted(year.number, parts), true
	case "-", "/":
		return ambiguous(year.number, parts, separator), true
	}
	return d, false
}

// named reads the month and day before a year, the month by its name in before[i]: "1 August", "1.-3. August",
// "August 1,", "30 April - 2 May", "Sun Aug  1 22:30:00".
func named(year int, before []token, i int) Date {
	month, day := before[i].month, 0
	for _, t := range before[i+1:] {
		if t.month > 0 && t.month < month {
			return New(year, 0, 0) // a range that began in the year before
		}
	}
	j := i - 1
	for j > 0 && before[j].short() && before[j-1].short() && hasDash(before[j].before) {
		j--
	}
	switch {
	case j >= 0 && before[j].short() && before[j].before != ":": // the minutes of a time
		day = before[j].number
	case i+1 < len(before) && before[i+1].short() && !hasDash(before[i+1].before):
		if isTime := i+2 < len(before) && strings.HasPrefix(before[i+2].before, ":"); !isTime {
			day = before[i+1].number
		}
	}
	return New(year, month, day)
}

// dotted reads "8.", "1.8.", "28.-30.4." and "28.4.-2.5." before a year.
func dotted(year int, parts []token) Date {
	dot := func(i int) bool { return strings.TrimSpace(parts[i].before) == "." }
	switch {
	case len(parts) == 1:
		return New(year, parts[0].number, 0)
	case len(parts) == 2 && dot(1):
		return New(year, parts[1].number, parts[0].number)
	case len(parts) == 3 && dot(2) && hasDash(parts[1].before):
		return New(year, parts[2].number, parts[0].number)
	case len(parts) == 4 && dot(1) && dot(3) && hasDash(parts[2].before) && parts[1].number <= parts[3].number:
		return New(year, parts[1].number, parts[0].number)
	}
	return New(year, 0, 0)
}

// ambiguous reads "8/", "13/2/" and "2/13/" before a year. Of "1/2/" nothing is certain but the year.
func ambiguous(year int, parts []token, separator string) Date {
	if len(parts) == 1 {
		return New(year, parts[0].number, 0)
	}
	a, b := parts[0].number, parts[1].number
	switch {
	case len(parts) > 2 || parts[1].before != separator:
	case a > 12 || a == b:
		return New(year, b, a)
	case b > 12:
		return New(year, a, b)
	}
	return New(year, 0, 0)
}

// following reads a date that begins with its year.
func following(year token, rest string) Date {
	month, rest := next(rest)
	day, rest := next(rest)
	after, _ := next(rest)
	y := New(year.number, 0, 0)
	if month.month > 0 {
		if !day.short() || strings.HasPrefix(after.before, ":") {
			return New(y.Year, month.month, 0)
		}
		return New(y.Year, month.month, day.number)
	}
	switch month.before {
	case "-", "/", ".", "\u2010", "\u2011":
	default:
		return y // "2019–20" with a dash is a range, and "2021, 5" no date
	}
	switch {
	case !month.short():
		return y
	case day.short() && day.before == month.before:
		return New(y.Year, month.number, day.number)
	case month.before == "/" && month.number == (y.Year+1)%100: // the year from 2010 to 2011, or November
		return y
	case month.before == "." && len(month.text) < 2: // a number as text: 2021.0
		return y
	}
	return New(y.Year, month.number, 0)
}

// hasDash reports whether a separator means "to".
func hasDash(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Dash, r) })
}

// monthNames has the names of the months in small letters, whose beginnings are abbreviations.
var monthNames = [12][]string{
	{"january", "januar", "jänner", "jaenner"}, {"february", "februar", "feber"}, {"march", "märz", "maerz", "mrz"},
	{"april"}, {"may", "mai"}, {"june", "juni"}, {"july", "juli"}, {"august"},
	{"september"}, {"october", "oktober"}, {"november"}, {"december", "dezember"},
}

// monthNamed returns the month with a name of at least three letters in English or German, or 0.
func monthNamed(word string) int {
	if len(word) < 3 || len(word) > len("september")+2 {
		return 0
	}
	word = strings.ReplaceAll(strings.ToLower(word), "a\u0308", "ä") // as files of a Mac spell it
	if utf8.RuneCountInString(word) < 3 {
		return 0
	}
	for i, names := range monthNames {
		for _, name := range names {
			if strings.HasPrefix(name, word) {
				return i + 1
			}
		}
	}
	return 0
}
