package page

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// language is one of those that our texts are written in, and a column of their table.
type language int

const (
	english language = iota
	german
)

// languageOf returns the language for a code such as "de" or "de-AT"; English for any but German.
func languageOf(code string) language {
	if code == "de" || strings.HasPrefix(code, "de-") {
		return german
	}
	return english
}

// code returns the value for the attribute lang.
func (l language) code() string { return [...]string{"en", "de"}[l] }

// text returns a text, or its name where there is none.
func (l language) text(name string) string {
	if text, ok := table()[name]; ok {
		return text[l]
	}
	return name
}

// table has our texts, by name.
var table = sync.OnceValue(func() (all map[string][2]string) {
	src, err := embedded.ReadFile("templates/texts.yaml")
	if err == nil {
		err = yaml.Unmarshal(src, &all)
	}
	if err != nil {
		panic("page: texts: " + err.Error())
	}
	return all
})

// number writes a count with its digits in groups of three.
func (l language) number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + [...]string{",", "."}[l] + digits[i:]
	}
	return digits
}

// entries says how many entries there are.
func (l language) entries(n int) string {
	one, many := [...]string{" entry", " Eintrag"}[l], [...]string{" entries", " Einträge"}[l]
	if n == 1 {
		return l.number(n) + one
	}
	return l.number(n) + many
}

// shown says which entries of how many a page of a list has.
func (l language) shown(list *List, items int) string {
	switch first := max(list.Page-1, 0)*list.Limit + 1; {
	case list.Count == 0:
		return l.text("empty")
	case items == 0 || items >= list.Count:
		return l.entries(list.Count)
	case items == 1:
		return l.entries(list.Count) + ", " + l.number(first)
	default:
		return l.entries(list.Count) + ", " + l.number(first) + "–" + l.number(first+items-1)
	}
}

// page says which page of how many is shown.
func (l language) page(n, of int) string {
	return [...]string{"Page ", "Seite "}[l] + l.number(n) + [...]string{" of ", " von "}[l] + l.number(of)
}

// date writes a day.
func (l language) date(t time.Time) string {
	if l == german {
		return strconv.Itoa(t.Day()) + ". " + germanMonths[t.Month()-1] + " " + strconv.Itoa(t.Year())
	}
	return t.Format("2 January 2006")
}

// germanMonths are the names of the months.
var germanMonths = [...]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"}
