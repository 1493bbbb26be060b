package bench

import (
	"context"
	"fmt"
	"regexp"
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
	v := &vocabulary{words: map[string][]string{}}
	step := max(rows/sampled, 1)
	readers := map[string]func(bson.Raw){
		collectionActivities: func(record bson.Raw) {
			if v.rows%step == 0 {
				v.activity(record)
			}
			v.rows++
			v.bytes += int64(len(record))
		},
		collectionPersons: func(record bson.Raw) {
			v.add("persons", raw.StringField(record, "username"))
			if id, ok := record.Lookup("_id").ObjectIDOK(); ok {
				v.add("ids", id.Hex())
			}
		},
		collectionProjects: func(record bson.Raw) {
			number := raw.StringField(record, "funding_number")
			if !strings.Contains(number, ",") { // would be taken for two
				v.add("numbers", number)
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
	for list, words := range v.words {
		slices.Sort(words)
		v.words[list] = slices.Compact(words)
	}
	return v, nil
}

// add adds a text to a list, unless it is empty.
func (v *vocabulary) add(list, text string) {
	if text != "" {
		v.words[list] = append(v.words[list], text)
	}
}

// activity adds the words of one record.
func (v *vocabulary) activity(record bson.Raw) {
	v.add("types", raw.StringField(record, "type"))
	if day := raw.StringField(record, "start_date"); len(day) == len("2006-01-02") {
		v.add("days", day)
	}
	for unit := range raw.Elements(record.Lookup("units")) {
		name, _ := unit.StringValueOK()
		v.add("units", name)
	}
	each := func(array string, fields map[string]string) {
		for element := range raw.Elements(record.Lookup(array)) {
			for field, list := range fields {
				text, _ := raw.Field(element, []string{field}).StringValueOK()
				v.add(list, text)
			}
		}
	}
	each("authors", map[string]string{"user": "users", "position": "positions"})
	each("spectrum", map[string]string{"display_name": "spectra"})
	v.title(raw.StringField(record, "title"))
}

// title adds a title, its beginnings, and what finds it by two words.
func (v *vocabulary) title(title string) {
	if strings.ContainsAny(title, "<&") {
		return
	}
	v.add("titles", title)
	runes := []rune(title)
	for n := 6; n <= min(len(runes), 18); n += 3 {
		v.add("prefixes", string(runes[:n]))
	}
	words := strings.Fields(title)
	for i := 1; i < len(words); i++ {
		if !searchable.MatchString(words[i-1]) || !searchable.MatchString(words[i]) {
			continue
		}
		first, second := strings.ToLower(words[i-1]), strings.ToLower(words[i])
		for cut := range 3 {
			v.add("infixes", first+" "+second[:len(second)-cut])
		}
		for cut := range 2 {
			v.add("patterns", first[:4]+"[a-z]* "+second[:4-cut])
		}
	}
}

// searchable matches words that are long enough to look for and mean nothing to a regular
// expression.
var searchable = regexp.MustCompile(`^[A-Za-z]{5,}$`)
