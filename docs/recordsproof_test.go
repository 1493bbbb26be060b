package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/display"
	"vitrine/rules/label"
	"vitrine/rules/mark"
	"vitrine/rules/person"
	"vitrine/rules/render"
)

// lister makes what lists are made from: marks and rendered documents.
type lister struct {
	t    *testing.T
	r    readers
	cite *cite.Mapping
}

func newLister(t *testing.T) lister {
	t.Helper()
	mapping, err := cite.Load(configs.CiteRules())
	must(t, err)
	return lister{t, newReaders(t), mapping}
}

// institute are the records to which others refer, by collection.
var institute = map[string][]string{
	"persons":       {`{"username": "amoe", "first": "Anna", "last": "Moe", "units": [{"unit": "BIO"}]}`},
	"groups":        {`{"id": "BIO", "name": "Ecology"}`, `{"id": "TOP", "name": "All"}`},
	"projects":      {`{"_id": "p", "name": "NIGHT", "title": "Nights", "public": true}`},
	"organizations": {`{"_id": "o", "id": "org", "name": "Lantern Fund"}`},
}

// viewOf are the views of the collections that lists show.
var viewOf = map[string]string{
	"activities": rules.ViewActivities, "projects": rules.ViewProjects, "conferences": rules.ViewEvents,
	"persons": rules.ViewPersons,
}

// answer returns all that lists show of a record, or because of it: as a record of lists, and as one to which
// others refer. It is the same for records between which no list makes a difference.
func (l lister) answer(collection string, doc bson.D) string {
	record, err := bson.Marshal(doc)
	must(l.t, err)
	docs := map[string][]bson.Raw{}
	for name, all := range institute {
		for _, json := range all {
			docs[name] = append(docs[name], parsed(l.t, json))
		}
	}
	if docs[collection] != nil {
		docs[collection] = append([]bson.Raw{record}, docs[collection]...)
	}
	var b strings.Builder
	for _, portal := range []*mark.Portal{nil, {}} {
		organizations := display.NewDirectory(docs["organizations"], nil)
		d := mark.NewDirectory(mark.Options{
			Public: l.r.public, Portal: portal, Now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC),
			Cited: func(view string, record, about bson.Raw) mark.Citation {
				if view == rules.ViewProjects {
					record, _ = organizations.Row(record)
				}
				return l.cite.View(view).Cited(record, about)
			},
		}, docs["persons"], docs["groups"], docs["projects"])
		makeMark := func(view string, record bson.Raw) {
			made, lacks, err := d.Make(view, record)
			must(l.t, err)
			fmt.Fprintf(&b, "%s %d %x\n", view, lacks, []byte(made))
		}
		if view := viewOf[collection]; view != "" {
			makeMark(view, record)
		}
		makeMark(rules.ViewActivities, parsed(l.t, `{"_id": 1, "title": "Owls", "authors": [{"user": "amoe"}, {"user":
			"bfern"}], "units": ["BIO", "MOTH"], "projects": ["NIGHT", "OWLS", "p", "x"], "type": "lecture"}`))
		makeMark(rules.ViewProjects, parsed(l.t, `{"_id": 2, "name": "B", "public": true, "funding_organization":
			"org"}`))
		makeMark(rules.ViewPersons, parsed(l.t, `{"_id": 3, "username": "c", "units": [{"unit": "MOTH"}, {"unit":
			"BIO"}]}`))
	}
	if collection == "activities" {
		rendered, err := l.r.render.Complete(record, render.Options{Affiliated: configs.Default().Affiliation.Fields})
		must(l.t, err)
		b.WriteString(rendered.String())
	}
	return b.String()
}

// parsed returns a document of Extended JSON.
func parsed(t *testing.T, json string) bson.Raw {
	t.Helper()
	var doc bson.Raw
	must(t, bson.UnmarshalExtJSON([]byte(json), false, &doc))
	return doc
}

// with returns a document with another value of a field, which may be in a document.
func with(doc bson.D, field string, value any) bson.D {
	field, below, nested := strings.Cut(field, ".")
	if nested {
		value = with(nil, below, value)
	}
	doc = slices.DeleteFunc(slices.Clone(doc), func(e bson.E) bool { return e.Key == field })
	return append(doc, bson.E{Key: field, Value: value})
}

// bases returns records to which fields are added: one of each kind, and some with what other fields depend on.
func (l lister) bases(collection string) (all []bson.D) {
	switch collection {
	case "groups":
		return []bson.D{{{Key: "id", Value: "MOTH"}}, {{Key: "id", Value: "ROOT"}, {Key: "name", Value: "Nights"}}}
	case "persons":
		return []bson.D{{{Key: "_id", Value: "x"}, {Key: "username", Value: "bfern"}},
			{{Key: "username", Value: "bfern"}, {Key: "first", Value: "Bo"}, {Key: "last", Value: "Fern"},
				{Key: "units", Value: bson.A{bson.D{{Key: "unit", Value: "MOTH"}}}}},
			{{Key: "username", Value: "bfern"}, {Key: "public_image", Value: true},
				{Key: "public_email", Value: true},
				{Key: "public_phone", Value: true}, {Key: "public_room", Value: true}},
			{{Key: "username", Value: "bfern"}, {Key: "photo", Value: "https://night.example/b.png"},
				{Key: "contact_mail", Value: "b@night.example"}, {Key: "contact_phone", Value: "1"},
				{Key: "room", Value: "1"}}}
	case "projects":
		all = append(all,
			bson.D{{Key: "_id", Value: "x"}, {Key: "name", Value: "OWLS"}, {Key: "public", Value: true}},
			bson.D{{Key: "_id", Value: "x"}, {Key: "public", Value: true}})
	case "conferences":
		all = append(all, bson.D{{Key: "_id", Value: "x"}})
	default:
		for code := range l.r.cite.Types {
			all = append(all, bson.D{{Key: "_id", Value: "x"}, {Key: "type", Value: code}})
		}
		seen := map[string]bool{} // one code of each kind is enough
		for code, kind := range l.r.cite.Subtypes {
			if !seen[kind] {
				all = append(all, bson.D{{Key: "_id", Value: "x"}, {Key: "type", Value: "publication"},
					{Key: "subtype", Value: code}})
			}
			seen[kind] = true
		}
		for both := range l.r.labels[label.ActivitySubtype] {
			typ, subtype, _ := strings.Cut(both, "/")
			all = append(all,
				bson.D{{Key: "_id", Value: "x"}, {Key: "type", Value: typ}, {Key: "subtype", Value: subtype}})
		}
	}
	for _, base := range slices.Clone(all) {
		dated := with(with(base, "year", 2021), "month", 3)
		all = append(all, dated, with(base, "start_date", "2021-03-01"))
	}
	return all
}

// TestRecordsCount: each field in docs/records.md makes a difference to lists.
func TestRecordsCount(t *testing.T) {
	l, d := newLister(t), describe(t)
	others := []any{true, bson.D{{Key: "is_retracted_by", Value: "10.5555/n2"}}}
	for _, collection := range []string{"activities", "projects", "conferences", "persons", "groups"} {
		bases := l.bases(collection)
		before := make([]string, len(bases))
		for i, base := range bases {
			before[i] = l.answer(collection, base)
		}
		for _, row := range l.r.rows(collection) {
			said, _ := d.of(collection, row.Key)
			var sample struct{ V any }
			must(t, bson.UnmarshalExtJSON([]byte(`{"V": `+said.Sample+`}`), false, &sample))
			for _, field := range row.Fields {
				counts := false
				for i := 0; i < len(bases) && !counts; i++ {
					counts = slices.ContainsFunc(append([]any{sample.V}, others...), func(v any) bool {
						return l.answer(collection, with(bases[i], field, v)) != before[i]
					})
				}
				if !counts {
					t.Errorf("%s: %s (%s) makes no difference", collection, field, row.Key)
				}
			}
		}
	}
}

// words returns everything that may be the name of a field: the texts in the source of the rules, the words of the
// files with rules, and the fields of the demo's records.
func words(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	name := regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_-]*`)
	must(t, filepath.WalkDir("../rules", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				if found[text] = true; len(text) < 200 {
					for _, word := range name.FindAllString(text, -1) {
						found[word] = true
					}
				}
			}
			return true
		})
		return nil
	}))
	for _, of := range []func() (string, []byte){configs.CiteRules, configs.RenderRules, configs.LabelSets} {
		_, src := of()
		for _, word := range name.FindAllString(string(src), -1) {
			found[word] = true
		}
	}
	dumps, _ := filepath.Glob("../configs/demo/*.jsonl")
	for _, dump := range dumps {
		text, err := os.ReadFile(dump)
		must(t, err)
		for _, m := range regexp.MustCompile(`"([A-Za-z_-]+)":`).FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
	}
	delete(found, "")
	return slices.DeleteFunc(slices.Sorted(maps.Keys(found)), func(word string) bool {
		return strings.ContainsAny(word, "\x00") || len(word) > 100
	})
}

// separate are the words of a name: "update_to", "update-to" and "updateTo" are "update to".
func separate(name string) string {
	name = regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(name, "$1 $2")
	return strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(name))
}

// values are values of fields of which any reader understands one.
var values = []string{`true`, `2021`, `"10.5555/n2"`, `"in press"`, `["BIO", "Moe, Anna"]`, `"2021-05-06"`,
	`[{"user": "amoe", "first": "Anna", "last": "Moe", "unit": "BIO", "id": "T1", "name": "Owls", "units": ["BIO"]}]`,
	`{"topics": [{"id": "T1", "name": "Owls"}], "status": "rejected", "user": "amoe",
		"is_retracted_by": "10.5555/n"}`,
	`"amoe"`, `"gold"`, `"https://night.example/a.pdf"`,
}

// TestRecordsAreAll: no field that docs/records.md does not have makes a difference to lists, whatever its name is
// in the source of the program. They are added all at once, and one by one only to say which it was.
func TestRecordsAreAll(t *testing.T) {
	l, candidates := newLister(t), words(t)
	if len(candidates) < 1000 {
		t.Fatalf("only %d words", len(candidates))
	}
	for _, collection := range []string{"activities", "projects", "conferences", "persons", "groups"} {
		said := map[string]bool{rules.FieldList: true, rules.FieldResolved: true}
		for _, row := range l.r.rows(collection) {
			for _, field := range row.Fields {
				top, _, _ := strings.Cut(field, ".")
				said[top] = true
				if row.Key == "notice" {
					said[separate(field)] = true
				}
			}
		}
		others := slices.DeleteFunc(slices.Clone(candidates), func(name string) bool {
			return said[name] || collection == "activities" && said[separate(name)]
		})
		bases := slices.DeleteFunc(l.bases(collection), func(base bson.D) bool { return len(base) > 3 })
		l.indifferent(collection, bases, others, func(base bson.D, fields bson.D) bson.D {
			return slices.Concat(base, fields)
		})
	}
}

// TestRecordsOfPersons: the same for the persons in a list.
func TestRecordsOfPersons(t *testing.T) {
	l := newLister(t)
	p := recordsPage{t, l.r, describe(t)}
	said := append(p.personFields(), configs.Default().Affiliation.Fields...)
	others := slices.DeleteFunc(words(t), func(name string) bool { return slices.Contains(said, name) })
	base := bson.D{{Key: "_id", Value: "x"}, {Key: "type", Value: "lecture"}}
	in := func(own ...bson.E) func(base, fields bson.D) bson.D {
		return func(base, fields bson.D) bson.D {
			return append(slices.Clone(base), bson.E{Key: "authors", Value: bson.A{slices.Concat(own, fields)}})
		}
	}
	for _, own := range [][]bson.E{
		{{Key: "first", Value: "Bo"}, {Key: "last", Value: "Fern"}},
		{{Key: "name", Value: "Moe, Anna"}}, {{Key: "user", Value: "amoe"}},
	} {
		l.indifferent("activities", []bson.D{base}, others, in(own...))
	}
	plain := in(bson.E{Key: "last", Value: "Fern"})
	for _, field := range said {
		before := l.answer("activities", plain(base, nil))
		samples := []any{"amoe", true, "Jr.", bson.A{"BIO"}, "0000-0002-1825-0097"}
		if counts := slices.ContainsFunc(samples, func(v any) bool {
			return l.answer("activities", plain(base, bson.D{{Key: field, Value: v}})) != before
		}); !counts && !slices.Contains(person.Fields()[2:5], field) {
			t.Errorf("%s of a person makes no difference", field)
		}
	}
}

// indifferent fails the test if one of the fields changes the answer for one of the bases.
func (l lister) indifferent(collection string, bases []bson.D, fields []string,
	add func(base, fields bson.D) bson.D) {
	l.t.Helper()
	for _, json := range values {
		var v struct{ V any }
		must(l.t, bson.UnmarshalExtJSON([]byte(`{"V": `+json+`}`), false, &v))
		var all bson.D
		for _, name := range fields {
			all = append(all, bson.E{Key: name, Value: v.V})
		}
		for _, base := range bases {
			before := l.answer(collection, add(base, nil))
			if l.answer(collection, add(base, all)) == before {
				continue
			}
			for _, one := range all {
				if l.answer(collection, add(base, bson.D{one})) != before {
					l.t.Errorf("%s %v: the field %s (%s) makes a difference, and docs/records.md does not have it",
						collection, base, one.Key, json)
				}
			}
			break
		}
	}
}
