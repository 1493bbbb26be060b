package osiristest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Record is a record of the institute.
type Record struct {
	// ID is the 24 digits of an ObjectID, or for a group, topic or infrastructure its own id.
	ID   string
	Name string
	// Of lists the ids of the units, persons, projects, topics and infrastructures whose pages show the record. Pages
	// of others do not depend on it. A record without any is shown by all.
	Of []string
}

// Institute holds the records by collection.
type Institute map[string][]Record

// The records that the examples of Paths ask for.
const (
	Unit           = "BIO"
	Person         = "6500000000000000000000a1"
	Project        = "6500000000000000000000b1"
	Activity       = "6500000000000000000000c1"
	Topic          = "soil"
	Infrastructure = "microscope"
	OtherUnit      = "CHE"
)

// newInstitute returns an institute whose examples have at least one record on each page.
func newInstitute() Institute {
	all := []string{Unit, Person, Project, Topic, Infrastructure, Activity}
	i := Institute{
		"groups":          {{ID: Unit, Name: "Biology"}, {ID: OtherUnit, Name: "Chemistry"}},
		"topics":          {{ID: Topic, Name: "Soil"}, {ID: "water", Name: "Water"}},
		"infrastructures": {{Infrastructure, "Microscope", all}, {"cluster", "Cluster", []string{OtherUnit}}},
	}
	for n := range 6 {
		of := all
		if n%2 == 1 {
			of = []string{OtherUnit, "water", "cluster"}
		}
		i["persons"] = append(i["persons"], Record{numbered('a', n), fmt.Sprint("Person ", n), of})
		i["projects"] = append(i["projects"], Record{numbered('b', n), fmt.Sprint("Project ", n), of})
		i["activities"] = append(i["activities"], Record{numbered('c', n), fmt.Sprint("Activity ", n), of})
	}
	for _, name := range []string{
		"teaching", "organizations", "journals", "conferences", "activitiesConnections", "adminProjects",
		"adminFields",
		"adminVocabularies", "news", "system", "adminGeneral", "adminFeatures", "adminCategories", "adminTypes",
	} {
		i[name] = []Record{{ID: name + "-1", Name: "the first of " + name}}
	}
	return i
}

// numbered returns the id of the nth record of a kind; that of the first is the example's.
func numbered(kind byte, n int) string {
	return fmt.Sprintf("65000000000000000000%04x", int(kind-'a'+10)<<4+n+1)
}

// Rename changes the name of a record, or panics if there is none.
func (i Institute) Rename(collection, id, name string) {
	n := slices.IndexFunc(i[collection], func(r Record) bool { return r.ID == id })
	if n < 0 {
		panic(fmt.Sprintf("osiristest: no %s in %s", id, collection))
	}
	i[collection][n].Name = name
}

// Touch changes the first record of a collection.
func (i Institute) Touch(collection string) {
	i.Rename(collection, i[collection][0].ID, i[collection][0].Name+"'")
}

// clone copies an institute, so that pages are made from one state of it.
func (i Institute) clone() Institute {
	same := Institute{}
	for name, records := range i {
		same[name] = slices.Clone(records)
	}
	return same
}

// object is a JSON object, as OSIRIS's answers are compared.
type object = map[string]any

// document returns a record as the database holds it, with the fields that Vitrine's views need.
func (r Record) document(collection string) object {
	id := any(r.ID)
	if len(r.ID) == 24 {
		id = object{"$oid": r.ID}
	}
	switch collection {
	case "activities":
		return object{
			"_id": id, "type": "publication", "subtype": "article", "title": r.Name, "year": 2024, "units": r.Of,
			"affiliated": true, "authors": []object{{"last": "Keeper", "first": "A.", "affiliated": true}},
		}
	case "persons":
		units := []object{}
		for _, unit := range r.Of {
			units = append(units, object{"unit": unit, "start": "2020-01-01"})
		}
		return object{"_id": id, "username": r.ID, "first": "A.", "last": r.Name, "units": units}
	case "projects":
		return object{"_id": id, "type": "own", "name": r.Name, "title": r.Name, "units": r.Of}
	}
	return object{"_id": id, "id": r.ID, "name": r.Name, "of": r.Of, "level": 0}
}

// Dump writes the institute to a folder in the form that `vitrine import` reads: a file of JSON lines per collection.
// With names it writes only those collections.
func (i Institute) Dump(t testing.TB, dir string, names ...string) {
	t.Helper()
	for collection, records := range i {
		if len(names) > 0 && !slices.Contains(names, collection) {
			continue
		}
		file := filepath.Join(dir, collection+".jsonl")
		if err := os.WriteFile(file, bytes.Join(lines(collection, records), nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// lines returns records as lines of JSON.
func lines(collection string, records []Record) (all [][]byte) {
	for _, r := range records {
		line, _ := json.Marshal(r.document(collection)) // cannot fail: strings and numbers only
		all = append(all, append(line, '\n'))
	}
	return all
}
