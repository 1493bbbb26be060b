// Package texts has the texts of lists in each language, and writes numbers and dates. It is safe for concurrent use.
package texts

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"go.yaml.in/yaml/v3"
)

// Language is a language of the texts: a column in their table.
type Language int

// In returns the language for a code such as "de" or "de-AT": German, or else English.
func In(code string) Language {
	if code == "de" || strings.HasPrefix(code, "de-") {
		return 1
	}
	return 0
}

// Code returns the language's value for the attribute lang.
func (l Language) Code() string { return l.T("code") }

// T returns a text by its name. An unknown name is returned unchanged.
func (l Language) T(name string) string { return cmp.Or(table()[name][l], name) }

// Value returns the text of a value of a field. A value without one is returned as T returns it.
func (l Language) Value(field, value string) string {
	return cmp.Or(table()[field+"-"+value][l], l.T(value))
}

//go:embed texts.yaml
var source []byte

var table = sync.OnceValue(func() (all map[string][2]string) {
	if err := yaml.Unmarshal(source, &all); err != nil {
		panic("texts: " + err.Error())
	}
	return all
})

// Number returns a count with its digits in groups of three.
func (l Language) Number(n int) string {
	return strings.ReplaceAll(humanize.Comma(int64(n)), ",", l.T("thousands"))
}

// Entries returns a text with the number of entries.
func (l Language) Entries(n int) string {
	if n == 1 {
		return l.Number(n) + l.T("entry")
	}
	return l.Number(n) + l.T("entries")
}

// Page returns a text with the number of a page and the number of pages.
func (l Language) Page(n, of int) string {
	return fmt.Sprintf(l.T("page-of"), l.Number(n), l.Number(of))
}

// Date returns a day as text.
func (l Language) Date(t time.Time) string {
	return fmt.Sprintf(l.T("day"), t.Day(), strings.Fields(l.T("months"))[t.Month()-1], t.Year())
}
