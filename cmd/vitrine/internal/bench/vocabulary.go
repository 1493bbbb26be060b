package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// Source collections that questions are about.
const (
	collectionActivities = "activities"
	collectionPersons    = "persons"
	collectionProjects   = "projects"
)

// vocabulary is what questions are made of: values that the store's records have,
// so that filters find something. All lists are sorted and without doubles.
type vocabulary struct {
	types, users, units, spectra []string
	days                         []string // of the beginning
	positions                    []string // of authors
	titles                       []string
	prefixes                     []string // of titles
	infixed                      []string // two words of titles, the second perhaps cut short
	patterned                    []string // expressions for two words of titles
	persons                      []string // usernames
	personIDs                    []bson.ObjectID
	numbers                      []string // of funding

	rows  int   // activities in the store
	bytes int64 // of their BSON
}

// sampled is how many activities are looked at, evenly spread.
const sampled = 8000

// collect reads a store. rows, if known, is how many activities it has.
func collect(ctx context.Context, store origin.Source, rows int) (*vocabulary, error) {
	v, words := &vocabulary{}, newLists()
	step := max(rows/sampled, 1)
	for record, err := range store.Scan(ctx, collectionActivities) {
		if err != nil {
			return nil, fmt.Errorf("read activities: %w", err)
		}
		if v.rows%step == 0 {
			words.activity(record)
		}
		v.rows++
		v.bytes += int64(len(record))
	}
	for record, err := range store.Scan(ctx, collectionPersons) {
		if err != nil {
			return nil, fmt.Errorf("read persons: %w", err)
		}
		words.add("persons", text(record, "username"))
		if id, ok := record.Lookup("_id").ObjectIDOK(); ok {
			v.personIDs = append(v.personIDs, id)
		}
	}
	for record, err := range store.Scan(ctx, collectionProjects) {
		if err != nil {
			return nil, fmt.Errorf("read projects: %w", err)
		}
		number := text(record, "funding_number")
		if !strings.Contains(number, ",") { // would be taken for two
			words.add("numbers", number)
		}
	}
	v.numbers = words.sorted("numbers")
	v.types, v.users, v.units = words.sorted("types"), words.sorted("users"), words.sorted("units")
	v.spectra, v.days = words.sorted("spectra"), words.sorted("days")
	v.positions, v.titles, v.prefixes = words.sorted("positions"), words.sorted("titles"), words.sorted("prefixes")
	v.infixed, v.patterned, v.persons = words.sorted("infixed"), words.sorted("patterned"), words.sorted("persons")
	return v, nil
}

// lists collects texts by the name of their list; the empty text is none.
type lists map[string]map[string]struct{}

func newLists() lists { return lists{} }

func (l lists) add(list, text string) {
	if text == "" {
		return
	}
	if l[list] == nil {
		l[list] = map[string]struct{}{}
	}
	l[list][text] = struct{}{}
}

func (l lists) sorted(list string) []string { return slices.Sorted(maps.Keys(l[list])) }

// activity takes the words of one record.
func (l lists) activity(record bson.Raw) {
	l.add("types", text(record, "type"))
	if day := text(record, "start_date"); len(day) == len("2006-01-02") {
		l.add("days", day)
	}
	for _, unit := range elements(record, "units") {
		unit, _ := unit.StringValueOK()
		l.add("units", unit)
	}
	for _, author := range elements(record, "authors") {
		if doc, ok := author.DocumentOK(); ok {
			l.add("users", text(doc, "user"))
			l.add("positions", text(doc, "position"))
		}
	}
	for _, entry := range elements(record, "spectrum") {
		if doc, ok := entry.DocumentOK(); ok {
			l.add("spectra", text(doc, "display_name"))
		}
	}
	l.title(text(record, "title"))
}

// title takes a title, its beginnings, and what finds it by two words.
func (l lists) title(title string) {
	if strings.ContainsAny(title, "<&") {
		return
	}
	l.add("titles", title)
	runes := []rune(title)
	for n := 6; n <= min(len(runes), 18); n += 3 {
		l.add("prefixes", string(runes[:n]))
	}
	words := strings.Fields(title)
	for i := 1; i < len(words); i++ {
		if letters(words[i-1]) && letters(words[i]) {
			l.pair(strings.ToLower(words[i-1]), strings.ToLower(words[i]))
		}
	}
}

// pair takes two neighbouring words of a title as what people type to find it.
func (l lists) pair(first, second string) {
	for cut := range 3 {
		l.add("infixed", first+" "+second[:len(second)-cut])
	}
	for cut := range 2 {
		l.add("patterned", first[:4]+"[a-z]* "+second[:4-cut])
	}
}

// letters reports whether a word is long enough to look for and means nothing to a
// regular expression.
func letters(word string) bool {
	return len(word) >= 5 && !strings.ContainsFunc(word, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
}

// text returns a string field; "" for anything else.
func text(record bson.Raw, field string) string {
	s, _ := record.Lookup(field).StringValueOK()
	return s
}

// elements returns the elements of an array field; none for anything else.
func elements(record bson.Raw, path ...string) []bson.RawValue {
	array, ok := record.Lookup(path...).ArrayOK()
	if !ok {
		return nil
	}
	values, _ := array.Values()
	return values
}
