package csl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// Limits of what is read of an item. No real item has more.
const (
	maxText  = 64 << 10 // bytes of a text
	maxPart  = 2 << 10  // bytes of a part of a name
	maxNames = 5000     // names of a variable
)

// An Item is a work to render. It is immutable.
type Item struct {
	kind string // the type: "article-journal"

	// Values by variable. Numbers are texts, too. A variable without a value is missing.
	texts map[string]string
	names map[string][]Name
	dates map[string]*Date
}

// A Name is a person or an institution.
type Name struct {
	Family      string `json:"family"`
	Given       string `json:"given"`
	Suffix      string `json:"suffix"`
	Dropping    string `json:"dropping-particle"`
	NonDropping string `json:"non-dropping-particle"`
	Literal     string `json:"literal"`

	CommaSuffix flag  `json:"comma-suffix"`
	Static      flag  `json:"static-ordering"`
	Parse       *flag `json:"parse-names"`
}

// A flag is a boolean that data also spell as a number or a text.
type flag bool

// UnmarshalJSON reads true, 1, "true" and "1" as true.
func (f *flag) UnmarshalJSON(src []byte) error {
	s := strings.ToLower(strings.Trim(string(src), `"`))
	*f = s == "true" || s == "1"
	return nil
}

// UnmarshalJSON reads an object, or a text as a literal name.
func (n *Name) UnmarshalJSON(src []byte) error {
	if len(src) > 0 && src[0] == '"' {
		return json.Unmarshal(src, &n.Literal)
	}
	type plain Name
	return json.Unmarshal(src, (*plain)(n))
}

// legacyVariables are the variables that older data names differently, by these names.
var legacyVariables = map[string]string{"shortTitle": "title-short", "journalAbbreviation": "container-title-short",
	"container-title-abbreviation": "container-title-short", "publisherPlace": "publisher-place"}

// ReadItem reads an item of CSL-JSON, which is an object. It ignores members that are not variables of CSL, and
// values of the wrong type. It returns an error for other JSON, and for names that are not a list of names.
func ReadItem(cslJSON []byte) (*Item, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(cslJSON, &members); err != nil {
		return nil, fmt.Errorf("read item: %w", err)
	}
	it := &Item{texts: map[string]string{}, names: map[string][]Name{}, dates: map[string]*Date{}}
	for name, value := range members {
		if known, ok := legacyVariables[name]; ok {
			name = known
		}
		switch {
		case name == "type":
			it.kind = readText(value)
		case nameVariables[name]:
			if err := it.readNames(name, value); err != nil {
				return nil, err
			}
		case dateVariables[name]:
			if d := readDate(value); d != nil {
				it.dates[name] = d
			}
		case standardVariables[name]:
			if s := readText(value); s != "" {
				it.texts[name] = s
			}
		}
	}
	it.alias("event", "event-title")
	it.alias("event-title", "event")
	it.firstPage()
	return it, nil
}

// alias sets a variable from another one if it is empty.
func (it *Item) alias(name, from string) {
	if it.texts[name] == "" && it.texts[from] != "" {
		it.texts[name] = it.texts[from]
	}
}

// firstPage sets page-first from page.
func (it *Item) firstPage() {
	page := it.texts["page"]
	if page == "" || it.texts["page-first"] != "" {
		return
	}
	first := strings.TrimSpace(page)
	if i := strings.IndexAny(first, "-–,;&"); i > 0 {
		first = strings.TrimSpace(first[:i])
	}
	it.texts["page-first"] = first
}

// readText returns a text or a number as text without control characters.
func readText(src json.RawMessage) string {
	src = bytes.TrimSpace(src)
	if len(src) == 0 {
		return ""
	}
	switch src[0] {
	case '"':
		var s string
		if json.Unmarshal(src, &s) != nil {
			return ""
		}
		return clean(s, maxText)
	case '{', '[', 'n', 't', 'f':
		return ""
	}
	return string(src)
}

// clean returns a text without control characters, of at most limit bytes. Line ends and tabs become spaces.
func clean(s string, limit int) string {
	if len(s) > limit {
		s = s[:limit]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, control) < 0 {
		return strings.TrimSpace(s)
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case control(r):
			return -1
		}
		return r
	}, s))
}

// control reports whether r is a control character, or no character at all.
func control(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff
}

// readNames reads the names of a variable.
func (it *Item) readNames(variable string, src json.RawMessage) error {
	var all []Name
	if err := json.Unmarshal(src, &all); err != nil {
		return fmt.Errorf("read item: %s: %w", variable, err)
	}
	if len(all) > maxNames {
		all = all[:maxNames]
	}
	names := all[:0]
	for _, n := range all {
		for _, part := range [...]*string{&n.Family, &n.Given, &n.Suffix, &n.Dropping, &n.NonDropping, &n.Literal} {
			*part = clean(*part, maxPart)
		}
		if n.Literal == "" && n.Family == "" {
			n.Literal, n.Given = n.Given, ""
		}
		if n.Family == "" && n.Literal == "" {
			continue
		}
		n.parse()
		names = append(names, n)
	}
	if len(names) > 0 {
		it.names[variable] = names
	}
	return nil
}

// Kind returns the item's type.
func (it *Item) Kind() string { return it.kind }

// DatedOnce returns the item without its event-date, and whether that was its date of issue, too.
func (it *Item) DatedOnce() (once *Item, same bool) {
	issued, event := it.dates["issued"], it.dates["event-date"]
	if issued == nil || event == nil || *issued != *event {
		return it, false
	}
	other := *it
	other.dates = maps.Clone(it.dates)
	delete(other.dates, "event-date")
	return &other, true
}

// has reports whether a variable is not empty. Every entry has a citation number, which the list fills in.
func (it *Item) has(variable string) bool {
	return it.texts[variable] != "" || it.dates[variable] != nil || len(it.names[variable]) > 0 ||
		variable == "citation-number"
}

// text returns the text of a variable, or that of its short form if form is "short" and there is one.
func (it *Item) text(variable, form string) string {
	if form == "short" {
		if s := it.texts[variable+"-short"]; s != "" {
			return s
		}
	}
	return it.texts[variable]
}

// key returns what entries have in common that need suffixes: the first names and the year.
func (it *Item) key(authors string) string {
	year := ""
	if d := it.dates["issued"]; d != nil {
		year = d.literal + strconv.Itoa(d.from[0])
		if d.isRange {
			year += "/" + strconv.Itoa(d.to[0])
		}
	}
	return authors + "\x1f" + year
}
