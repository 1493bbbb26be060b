package docs_test

import (
	"cmp"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"

	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/rules/filter"
	"vitrine/rules/label"
	"vitrine/rules/mark"
	"vitrine/rules/person"
	"vitrine/rules/render"
	"vitrine/rules/views"
)

var update = flag.Bool("update", false, "write docs/records.md")

// citing is the part of the mapping rules that names stored fields and codes.
type citing struct {
	Fields map[string][]string
	Kinds  map[string]struct{ Fields map[string][]string }

	Subtypes, Types map[string]string
	OpenAccess      struct {
		Fields []string
		Codes  map[string]bool
	} `yaml:"open_access"`
	Status struct {
		Fields, Places, Flags []string
		Codes                 map[string]string
	}
	Notices struct {
		Flags, Works, Updates map[string]string
		Relations, Types      []string
	}
	Badges []struct{ Field string }
	People struct {
		Photo, Mail, Phone, Room shown
		AcademicTitle            shown `yaml:"academic_title"`
		Position                 shown
		PositionDE               shown `yaml:"position_de"`
		Links                    []struct{ Field string }
	}
}

// shown are the fields of a property of persons, and the flag that releases it.
type shown struct {
	Fields []string
	When   string
}

// readers are what reads records, as the program has it built in.
type readers struct {
	cite   citing
	render *render.Rules
	public *filter.Filter
	labels label.Sets
}

func newReaders(t *testing.T) (r readers) {
	t.Helper()
	_, src := configs.CiteRules()
	must(t, yaml.Unmarshal(src, &r.cite))
	var err error
	r.render, err = render.Parse(configs.RenderRules())
	must(t, err)
	r.public, err = filter.Parse([]byte(configs.Default().Lists.Public), filter.Options{})
	must(t, err)
	r.labels = r.render.Labels()
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kindsOf are the kinds of works of the records of a collection.
var kindsOf = map[string][]string{
	"activities": nil, // all but those of the others
	"projects":   {"project"}, "persons": {"person"}, "conferences": {"event"},
}

// kinds returns the kinds of works of a collection's records, by name.
func (r readers) kinds(collection string) []string {
	if all := kindsOf[collection]; all != nil {
		return all
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.cite.Kinds)), func(kind string) bool {
		return kind == "project" || kind == "person"
	})
}

// stored returns the stored fields of a variable of citations, in the order in which they are read, for a kind.
func (r readers) stored(variable, kind string) []string {
	if own, ok := r.cite.Kinds[kind].Fields[variable]; ok {
		return own
	}
	if (variable == "month" || variable == "day") && len(r.stored("year", kind)) == 0 {
		return nil // they complete a year
	}
	return r.cite.Fields[variable]
}

// row is a line of a table: fields that mean the same, or for others the field's name.
type row struct {
	Key    string
	Fields []string
}

// rows returns all that the readers read of a collection's records, each field once: first what citations have, and
// then what only others read.
func (r readers) rows(collection string) (all []row) {
	seen := map[string]bool{}
	add := func(key string, names ...string) {
		fresh := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return seen[name] })
		for _, name := range fresh {
			seen[name] = true
		}
		if len(fresh) > 0 {
			all = append(all, row{key, fresh})
		}
	}
	for _, name := range []string{"_id", "type", "subtype"} {
		if slices.Contains(mark.Stored(collection), name) {
			add(name, name)
		}
	}
	if collection != "groups" {
		stored := r.variables(collection)
		for _, variable := range slices.Sorted(maps.Keys(stored)) {
			names := stored[variable]
			if collection == "persons" { // what persons are called is a line of its own for each field
				names = slices.DeleteFunc(names, func(name string) bool {
					return slices.Contains(mark.Stored(collection), name)
				})
			}
			add(variable, names...)
		}
		add("open access", r.cite.OpenAccess.Fields...)
		for _, b := range r.cite.Badges {
			add(b.Field, b.Field)
		}
		for _, name := range r.public.Fields() {
			add(name, name)
		}
		topics, _, _ := strings.Cut(configs.Default().Catalog.TopicsPath, ".")
		add(topics, topics)
	}
	if collection == "activities" {
		add("status", slices.Concat(r.cite.Status.Fields, r.cite.Status.Flags)...)
		add("notice", r.notices()...)
		for _, name := range r.render.Stored() {
			add(name, name)
		}
	}
	if collection == "persons" {
		p := r.cite.People
		for _, one := range []struct {
			key string
			shown
		}{
			{"academic_title", p.AcademicTitle}, {"position", p.Position}, {"position_de", p.PositionDE},
			{"photo", p.Photo}, {"mail", p.Mail}, {"phone", p.Phone}, {"room", p.Room},
		} {
			add(one.key, one.Fields...)
			if one.When != "" {
				add(one.When, one.When)
			}
		}
		for _, l := range p.Links {
			add("profile", l.Field)
		}
	}
	for _, name := range mark.Stored(collection) {
		add(name, name)
	}
	return all
}

// variables returns the stored fields of each variable for a collection, over all kinds of works.
func (r readers) variables(collection string) map[string][]string {
	all := map[string][]string{}
	for _, kind := range r.kinds(collection) {
		for _, variable := range slices.Concat(slices.Collect(maps.Keys(r.cite.Fields)),
			slices.Collect(maps.Keys(r.cite.Kinds[kind].Fields))) {
			for _, name := range r.stored(variable, kind) {
				if !slices.Contains(all[variable], name) {
					all[variable] = append(all[variable], name)
				}
			}
		}
	}
	return all
}

// notices returns the fields that say something of a work after its publication, sorted.
func (r readers) notices() []string {
	names := map[string]bool{}
	for _, of := range []map[string]string{r.cite.Notices.Flags, r.cite.Notices.Works, r.cite.Notices.Updates} {
		for name := range of {
			names[name] = true
		}
	}
	for _, name := range r.cite.Notices.Relations {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// described has what the page says, see testdata/records.yaml.
type described struct {
	Fields      map[string]description
	Own         map[string]map[string]string
	Shown       map[string][]string
	Collections map[string]struct{ Holds, Answers string }
}

type description struct{ Does, Sample, Field string }

func describe(t *testing.T) (d described) {
	t.Helper()
	src, err := os.ReadFile("testdata/records.yaml")
	must(t, err)
	must(t, yaml.Unmarshal(src, &d))
	return d
}

// of returns the description of a row of a collection's table.
func (d described) of(collection, key string) (description, bool) {
	if own, ok := d.Own[collection][key]; ok {
		key = own
	}
	found, ok := d.Fields[key]
	return found, ok
}

// hidden reports whether a row of a variable stands for itself only in the table of activities.
func (d described) hidden(r readers, collection, key string) bool {
	shown, less := d.Shown[collection]
	cited := r.cite.Fields[key] != nil || slices.Contains([]string{"open access", "quartile", "catalog"}, key)
	return less && cited && !slices.Contains(shown, key)
}

// recordsPage makes docs/records.md.
type recordsPage struct {
	t *testing.T
	r readers
	d described
}

func (p recordsPage) make() string {
	src, err := os.ReadFile("testdata/records.md.tmpl")
	must(p.t, err)
	page, err := template.New("records").Funcs(template.FuncMap{
		"fields": p.fields, "person": p.person, "collections": p.collections, "types": p.types, "works": p.works,
	}).Parse(string(src))
	must(p.t, err)
	var b strings.Builder
	must(p.t, page.Execute(&b, nil))
	return b.String()
}

func code(names ...string) string { return "`" + strings.Join(names, "` `") + "`" }

// fields returns the table of a collection's fields.
func (p recordsPage) fields(collection string) string {
	lines := []string{"| fields | what they do |", "| --- | --- |"}
	var others []string
	for _, row := range p.r.rows(collection) {
		d, ok := p.d.of(collection, row.Key)
		if !ok {
			p.t.Errorf("%s: testdata/records.yaml does not describe %s (%v)", collection, row.Key, row.Fields)
		}
		if p.d.hidden(p.r, collection, row.Key) {
			others = append(others, row.Fields...)
			continue
		}
		lines = append(lines, "| "+code(row.Fields...)+" | "+d.Does+" |")
	}
	if others != nil {
		slices.Sort(others)
		lines = append(lines, "| "+code(others...)+" | As of activities, in citations and exports |")
	}
	return strings.Join(lines, "\n")
}

// inPersons has what the fields of a person in a list do; those of the configuration are added to those of readers.
var inPersons = map[string]string{
	"first": "the given name", "middle": "further given names or initials", "last": "the family name",
	"suffix": "a suffix such as Jr.", "name": "the whole name, where the parts are missing",
	"user":  "the `username` in `persons`: the record is in that person's list, and the name links to it",
	"units": "the ids of units, which are the record's if it has no `units` of its own",
	"orcid": "the ORCID iD of a person who is not of the institute",
}

// personFields returns the fields of a person in a list.
func (p recordsPage) personFields() []string {
	return append(append(person.Fields(), mark.InPersons()[1:]...), "orcid")
}

func (p recordsPage) person() string {
	lines := []string{"| field | what it does |", "| --- | --- |"}
	for _, name := range p.personFields() {
		if inPersons[name] == "" {
			p.t.Errorf("the field %s of a person is not described", name)
		}
		lines = append(lines, "| "+code(name)+" | "+inPersons[name]+" |")
	}
	names := code(configs.Default().Affiliation.Fields...)
	return strings.Join(append(lines, "| "+names+" | true for persons of the institute: their names are bold |"), "\n")
}

// collections returns the table of the collections that jobs read.
func (p recordsPage) collections() string {
	var lines []string
	topics := materialize.Spectrum(materialize.SpectrumOptions{})
	jobs := materialize.Jobs(materialize.Activities(nil, ""), topics, nil)
	for n := range jobs {
		jobs[n] = materialize.Marked(jobs[n], nil)
	}
	read := materialize.Reads(jobs)
	for _, name := range read {
		d, ok := p.d.Collections[name]
		if !ok {
			p.t.Errorf("testdata/records.yaml does not describe the collection %s", name)
		}
		var made []string
		for _, v := range views.All() {
			if v.Source == name {
				made = append(made, v.Name)
			}
		}
		of := "for others"
		if made != nil {
			of = code(made...)
		}
		lines = append(lines, "| "+code(name)+" | "+d.Holds+" | "+of+" | "+d.Answers+" |")
	}
	for name := range p.d.Collections {
		if !slices.Contains(read, name) {
			p.t.Errorf("nothing reads the collection %s", name)
		}
	}
	return strings.Join(lines, "\n")
}

// types returns the table of the codes that have labels.
func (p recordsPage) types() string {
	lines := []string{"| type | subtype | English | German | kind |", "| --- | --- | --- | --- | --- |"}
	line := func(typ, subtype, kind string, n label.Name) {
		if subtype != "" {
			subtype = code(subtype)
		}
		lines = append(lines, "| "+code(typ)+" | "+subtype+" | "+n.EN+" | "+n.DE+" | "+kind+" |")
	}
	byRank := func(set map[string]label.Name) []string {
		rank := func(a, b string) int { return set[a].Rank - set[b].Rank }
		return slices.SortedFunc(maps.Keys(set), rank)
	}
	c := p.r.cite
	for _, typ := range byRank(p.r.labels[label.ActivityType]) {
		line(typ, "", cmp.Or(c.Types[typ], "other"), p.r.labels[label.ActivityType][typ])
		for _, both := range byRank(p.r.labels[label.ActivitySubtype]) {
			if subtype, ok := strings.CutPrefix(both, typ+"/"); ok {
				kind := cmp.Or(c.Subtypes[subtype], c.Types[typ], "other")
				line(typ, subtype, kind, p.r.labels[label.ActivitySubtype][both])
			}
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(c.Types)) {
		if _, ok := p.r.labels[label.ActivityType][typ]; !ok {
			line(typ, "", c.Types[typ], label.Name{EN: typ, DE: typ})
		}
	}
	return strings.Join(lines, "\n")
}

// works returns the codes that only exports know, by kind.
func (p recordsPage) works() string {
	labelled := func(subtype string) bool {
		for both := range p.r.labels[label.ActivitySubtype] {
			if strings.HasSuffix(both, "/"+subtype) {
				return true
			}
		}
		return false
	}
	codes := map[string][]string{}
	for subtype, kind := range p.r.cite.Subtypes {
		if !labelled(subtype) {
			codes[kind] = append(codes[kind], subtype)
		}
	}
	lines := []string{"| kind | codes |", "| --- | --- |"}
	for _, kind := range slices.Sorted(maps.Keys(codes)) {
		lines = append(lines, "| "+kind+" | "+code(slices.Sorted(slices.Values(codes[kind]))...)+" |")
	}
	return strings.Join(lines, "\n")
}

// TestRecords: docs/records.md is made from the tables by which the program reads records. With -update it is
// written.
func TestRecords(t *testing.T) {
	page := recordsPage{t, newReaders(t), describe(t)}.make()
	if *update {
		must(t, os.WriteFile("records.md", []byte(page), 0o644))
	}
	written, err := os.ReadFile("records.md")
	must(t, err)
	if string(written) != page {
		t.Error("docs/records.md is not what the tables say: go test ./docs -update writes it")
	}
}
