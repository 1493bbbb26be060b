package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
)

// Source collections that questions are about.
const (
	collectionActivities = "activities"
	collectionPersons    = "persons"
	collectionProjects   = "projects"
)

// vocabulary is what questions are made of: values that the store's records have,
// so that filters find something.
type vocabulary struct {
	// words are sorted and without doubles, by the name of their list:
	//
	//	types, users, units, spectra, positions   of activities and their authors
	//	days                                      on which activities begin
	//	titles, prefixes                          of activities
	//	infixes                                   two words of titles, the second perhaps cut short
	//	patterns                                  expressions for two words of titles
	//	persons, ids                              usernames; ids in hexadecimal
	//	numbers                                   of funding
	words map[string][]string
	rows  int   // activities in the store
	bytes int64 // of their BSON
}

// sampled is how many activities are looked at, evenly spread.
const sampled = 8000

// collect reads a store. rows, if known, is how many activities it has.
func collect(ctx context.Context, store origin.Source, rows int) (*vocabulary, error) {
	v, found := &vocabulary{words: map[string][]string{}}, lists{}
	step := max(rows/sampled, 1)
	readers := map[string]func(bson.Raw){
		collectionActivities: func(record bson.Raw) {
			if v.rows%step == 0 {
				found.activity(record)
			}
			v.rows++
			v.bytes += int64(len(record))
		},
		collectionPersons: func(record bson.Raw) {
			found.add("persons", text(record, "username"))
			if id, ok := record.Lookup("_id").ObjectIDOK(); ok {
				found.add("ids", id.Hex())
			}
		},
		collectionProjects: func(record bson.Raw) {
			number := text(record, "funding_number")
			if !strings.Contains(number, ",") { // would be taken for two
				found.add("numbers", number)
			}
		},
	}
	for collection, read := range readers {
		for record, err := range store.Scan(ctx, collection) {
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", collection, err)
			}
			read(record)
		}
	}
	for list, words := range found {
		v.words[list] = slices.Sorted(maps.Keys(words))
	}
	return v, nil
}

// lists collects texts by the name of their list; the empty text is none.
type lists map[string]map[string]struct{}

// add adds a text to a list.
func (l lists) add(list, text string) {
	if text == "" {
		return
	}
	if l[list] == nil {
		l[list] = map[string]struct{}{}
	}
	l[list][text] = struct{}{}
}

// activity adds the words of one record.
func (l lists) activity(record bson.Raw) {
	l.add("types", text(record, "type"))
	if day := text(record, "start_date"); len(day) == len("2006-01-02") {
		l.add("days", day)
	}
	for unit := range raw.Elements(record.Lookup("units")) {
		name, _ := unit.StringValueOK()
		l.add("units", name)
	}
	for author := range raw.Elements(record.Lookup("authors")) {
		if doc, ok := author.DocumentOK(); ok {
			l.add("users", text(doc, "user"))
			l.add("positions", text(doc, "position"))
		}
	}
	for entry := range raw.Elements(record.Lookup("spectrum")) {
		if doc, ok := entry.DocumentOK(); ok {
			l.add("spectra", text(doc, "display_name"))
		}
	}
	l.title(text(record, "title"))
}

// title adds a title, its beginnings, and what finds it by two words.
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
		if !searchable(words[i-1]) || !searchable(words[i]) {
			continue
		}
		first, second := strings.ToLower(words[i-1]), strings.ToLower(words[i])
		for cut := range 3 {
			l.add("infixes", first+" "+second[:len(second)-cut])
		}
		for cut := range 2 {
			l.add("patterns", first[:4]+"[a-z]* "+second[:4-cut])
		}
	}
}

// searchable reports whether a word is long enough to look for and means nothing to a
// regular expression.
func searchable(word string) bool {
	return len(word) >= 5 && !strings.ContainsFunc(word, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
}

// text returns a string field; "" for anything else.
func text(record bson.Raw, field string) string {
	s, _ := record.Lookup(field).StringValueOK()
	return s
}
