package configs_test

import (
	"bufio"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
)

// documents reads a collection of the demo.
func documents(t *testing.T, collection string) []bson.M {
	t.Helper()
	f, err := configs.Demo().Open(collection + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []bson.M
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var d bson.M
		if err := bson.UnmarshalExtJSON(lines.Bytes(), false, &d); err != nil {
			t.Fatalf("%s: %v", collection, err)
		}
		all = append(all, d)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCollections(t *testing.T) {
	want := map[string]int{
		"activities": 600, "catalog_topics": 60, "conferences": 14, "deadlines": 5, "groups": 12,
		"journals": 12, "organizations": 8, "persons": 45, "projects": 25, "proposals": 15,
	}
	size := int64(0)
	files, err := fs.ReadDir(configs.Demo(), ".")
	if err != nil || len(files) != len(want) {
		t.Fatalf("have %d files (%v), want %d", len(files), err, len(want))
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size >= 2_000_000 {
		t.Errorf("the files take %d bytes, want less than 2,000,000", size)
	}
	for name, count := range want {
		docs := documents(t, name)
		if len(docs) != count {
			t.Errorf("%s: %d documents, want %d", name, len(docs), count)
		}
		ids := map[any]bool{}
		for _, d := range docs {
			ids[d["_id"]] = true
		}
		if len(ids) != count {
			t.Errorf("%s: %d different IDs among %d", name, len(ids), count)
		}
	}
}

// TestOddities checks that the demo holds the irregular shapes of real records.
func TestOddities(t *testing.T) {
	tests := []struct {
		name, collection string
		least            int
		is               func(d bson.M) bool
	}{
		{"no rendering yet", "activities", 180, func(d bson.M) bool { return d["rendered"] == nil }},
		{"script in the title", "activities", 5,
			func(d bson.M) bool { return strings.Contains(d["title"].(string), "<script>") }},
		{"script in the rendering", "activities", 1, func(d bson.M) bool {
			return strings.Contains(rendered(d, "web"), "onerror") &&
				strings.Contains(rendered(d, "web"), "javascript:")
		}},
		{"empty title", "activities", 1, func(d bson.M) bool { return d["title"] == "" }},
		{"no year", "activities", 5, func(d bson.M) bool { _, ok := d["year"]; return !ok }},
		{"no authors", "activities", 5, func(d bson.M) bool { return len(d["authors"].(bson.A)) == 0 }},
		{"units null", "activities", 5, func(d bson.M) bool { v, ok := d["units"]; return ok && v == nil }},
		{"editors", "activities", 20, func(d bson.M) bool { return d["editors"] != nil }},
		{"hidden", "activities", 5, func(d bson.M) bool { return d["hide"] == true }},
		{"still running", "activities", 10, func(d bson.M) bool { v, ok := d["end_date"]; return ok && v == nil }},
		{"across years", "activities", 5, func(d bson.M) bool {
			end, _ := d["end_date"].(string)
			return end != "" && end[:4] != d["start_date"].(string)[:4]
		}},
		{"affiliated as 1", "activities", 2, func(d bson.M) bool { return affiliatedAs(d, int32(1)) }},
		{"affiliated as text", "activities", 2, func(d bson.M) bool { return affiliatedAs(d, "1") }},
		{"electronic first", "activities", 5, func(d bson.M) bool { return d["epub"] == true }},
		{"project by name", "activities", 20, func(d bson.M) bool { _, ok := d["projects"].(string); return ok }},
		{"projects by ID", "activities", 20,
			func(d bson.M) bool { a, ok := d["projects"].(bson.A); return ok && len(a) > 0 }},
		{"only PubMed", "activities", 3, func(d bson.M) bool { return d["pubmed"] != nil && d["doi"] == nil }},
		{"only a link", "activities", 20,
			func(d bson.M) bool { return d["link"] != nil && d["doi"] == nil && d["pubmed"] == nil }},
		{"a link that runs a script", "activities", 1, func(d bson.M) bool {
			link, _ := d["link"].(string)
			return strings.HasPrefix(link, "javascript:")
		}},
		{"no username", "persons", 3, func(d bson.M) bool { v, ok := d["username"]; return ok && v == nil }},
		{"units null", "persons", 3, func(d bson.M) bool { v, ok := d["units"]; return ok && v == nil }},
		{"no units", "persons", 1, func(d bson.M) bool { a, ok := d["units"].(bson.A); return ok && len(a) == 0 }},
		{"prefers print", "persons", 2, func(d bson.M) bool { return d["display_activities"] == "print" }},
		{"inactive", "persons", 2, func(d bson.M) bool { return d["is_active"] == false }},
		{"hidden", "persons", 1, func(d bson.M) bool { return d["hide"] == true }},
		{"administrator", "persons", 1, func(d bson.M) bool { return hasRole(d, "admin") }},
		{"sees projects", "persons", 1, func(d bson.M) bool { return hasRole(d, "projects-viewer") }},
		{"one ISSN as text", "journals", 1, func(d bson.M) bool { _, ok := d["issn"].(string); return ok }},
		{"no end", "conferences", 1, func(d bson.M) bool { return d["end"] == nil }},
		{"no German name", "groups", 1, func(d bson.M) bool { return d["name_de"] == nil }},
		{"number with a comma", "projects", 1, func(d bson.M) bool {
			a, _ := d["funding_number"].(bson.A)
			return slices.Contains(a, any("A,B"))
		}},
		{"no description", "catalog_topics", 1, func(d bson.M) bool { return d["description"] == nil }},
	}
	read := map[string][]bson.M{}
	for _, tt := range tests {
		if read[tt.collection] == nil {
			read[tt.collection] = documents(t, tt.collection)
		}
		t.Run(tt.collection+": "+tt.name, func(t *testing.T) {
			count := 0
			for _, d := range read[tt.collection] {
				if tt.is(d) {
					count++
				}
			}
			if count < tt.least {
				t.Errorf("found in %d documents, want at least %d", count, tt.least)
			}
		})
	}
}

// field returns a field of an embedded document, nil if there is none.
func field(v any, name string) any {
	d, _ := v.(bson.D)
	for _, e := range d {
		if e.Key == name {
			return e.Value
		}
	}
	return nil
}

func rendered(d bson.M, name string) string {
	text, _ := field(d["rendered"], name).(string)
	return text
}

func affiliatedAs(d bson.M, want any) bool {
	return slices.ContainsFunc(d["authors"].(bson.A), func(a any) bool { return field(a, "affiliated") == want })
}

func hasRole(d bson.M, role string) bool {
	roles, _ := d["roles"].(bson.A)
	return slices.Contains(roles, any(role))
}

// TestReferences checks that the people, units and topics named in activities exist.
func TestReferences(t *testing.T) {
	users, units, topics := map[any]bool{}, map[any]bool{}, map[any]bool{}
	for _, p := range documents(t, "persons") {
		users[p["username"]] = true
	}
	for _, g := range documents(t, "groups") {
		units[g["id"]] = true
	}
	for _, c := range documents(t, "catalog_topics") {
		topics[c["id"]] = true
	}
	for _, a := range documents(t, "activities") {
		for _, author := range a["authors"].(bson.A) {
			if user := field(author, "user"); user != nil && !users[user] {
				t.Errorf("%v: no person is named %v", a["_id"], user)
			}
		}
		list, _ := a["units"].(bson.A)
		for _, u := range list {
			if !units[u] {
				t.Errorf("%v: no unit is named %v", a["_id"], u)
			}
		}
		assigned, _ := field(a["catalog"], "topics").(bson.A)
		for _, topic := range assigned {
			if !topics[field(topic, "id")] {
				t.Errorf("%v: no topic is named %v", a["_id"], field(topic, "id"))
			}
		}
	}
}
