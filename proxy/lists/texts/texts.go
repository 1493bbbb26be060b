// Package texts has the texts of ours that lists show, and how their languages write numbers
// and dates. It is safe for concurrent use.
package texts

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"go.yaml.in/yaml/v3"
)

// Language is one of those that our texts are written in, and a column of their table.
type Language int

const (
	english Language = iota
	german
)

// In returns the language for a code such as "de" or "de-AT"; English for any but German.
func In(code string) Language {
	if code == "de" || strings.HasPrefix(code, "de-") {
		return german
	}
	return english
}

// Code returns the value for the attribute lang.
func (l Language) Code() string { return [...]string{"en", "de"}[l] }

// T returns a text, or its name where there is none.
func (l Language) T(name string) string {
	if text, ok := table()[name]; ok {
		return text[l]
	}
	return name
}

//go:embed texts.yaml
var source []byte

// table has our texts, by name.
var table = sync.OnceValue(func() (all map[string][2]string) {
	if err := yaml.Unmarshal(source, &all); err != nil {
		panic("texts: " + err.Error())
	}
	return all
})

// Number writes a count with its digits in groups of three.
func (l Language) Number(n int) string {
	return strings.ReplaceAll(humanize.Comma(int64(n)), ",", [...]string{",", "."}[l])
}

// Entries says how many entries there are.
func (l Language) Entries(n int) string {
	one, many := [...]string{" entry", " Eintrag"}[l], [...]string{" entries", " Einträge"}[l]
	if n == 1 {
		return l.Number(n) + one
	}
	return l.Number(n) + many
}

// Page says which page of how many is shown.
func (l Language) Page(n, of int) string {
	return [...]string{"Page ", "Seite "}[l] + l.Number(n) + [...]string{" of ", " von "}[l] + l.Number(of)
}

// Date writes a day.
func (l Language) Date(t time.Time) string {
	if l == german {
		return strconv.Itoa(t.Day()) + ". " + germanMonths[t.Month()-1] + " " + strconv.Itoa(t.Year())
	}
	return t.Format("2 January 2006")
}

// germanMonths are the names of the months.
var germanMonths = [...]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"}
