package cite

import (
	"cmp"
	_ "embed"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.yaml.in/yaml/v3"

	"vitrine/rules"
	"vitrine/rules/views"
	"vitrine/rules/yamlfile"
)

//go:embed formats.yaml
var formatsFile []byte

// formats holds each format's own terms; the comments of the file describe them. They are no rules
// of an institute, and so built into the program rather than loaded.
var formats = func() (f struct {
	BibTeX, OpenURL, Meta map[string]struct {
		Genre, Title, Container, Publisher, Degree, Number, Author, Creator string
	}
	PubState         map[string]string
	Notices          map[string]string
	Unremarkable     map[string]struct{}
	Tags             map[string]struct{ LaTeX, CSL string }
	Accents, Symbols map[string]string
}) {
	yamlfile.BuiltIn("formats.yaml", formatsFile, &f)
	return f
}()

// Mapping holds compiled mapping rules for the rows of one view. A Mapping is immutable after Load;
// View, In and Hiding return variants that share its tables.
type Mapping struct {
	// Fingerprint changes if the same record may make another item. Views compare it to know whether
	// their rows are up to date.
	Fingerprint string // hash of the file, the zone, and what Hiding names

	// stamp also changes with the program's own fields. Four bytes are enough: a collision needs
	// two sets of rules that one row has met.
	stamp uint32 // in items in marks: they were made by the same rules

	view                   string
	zone                   *time.Location // in which points in time have their day
	slots                  map[string]int // the position in Item.values of each stored field
	kinds                  []*work
	subtypes, types, views map[string]*work
	fallback               *work
	degrees, funders       map[string]string // names by code
	licences               map[string]string // addresses by code
	openAccess             openAccess
	unpublished            unpublished
	notices                notices
	badges                 []badgeRule
	people                 people
	LastAuthor             bool // lists show the last author, too, where they fold some
}

// Slots of the fields that are always read, whatever the file says.
const (
	slotID = iota
	slotType
	slotSubtype
	slotResolved
)

// variables has the names of an item's variables. They come from the fields by reflection, so that
// file and program cannot disagree.
var variables = func() (all []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[fields]()) {
		all = append(all, strings.ToLower(f.Name))
	}
	return all
}()

// View returns the rules for the rows of another view, such as rules.ViewProjects. Load returns the
// rules for activities. Their items have the same stamp, as a row belongs to one view.
func (m *Mapping) View(name string) *Mapping {
	other := *m
	other.view, other.fallback = name, cmp.Or(m.views[name], m.fallback)
	if name != rules.ViewActivities { // in other views the same codes have other meanings
		other.subtypes, other.types = nil, nil
	}
	return &other
}

// In returns the rules for a site in a zone, in which points in time have their day. Load returns
// the rules for UTC. A change of the zone moves dates near midnight, so it changes the fingerprint.
func (m *Mapping) In(zone *time.Location) *Mapping {
	other := *m
	other.zone = zone
	other.sign(m.Fingerprint + " " + zone.String())
	return &other
}

// Hiding returns the rules for records without some fields, which hidden identifies. The same
// record without them makes another item.
func (m *Mapping) Hiding(hidden string) *Mapping {
	other := *m
	other.sign(m.Fingerprint + " hidden(" + hidden + ")")
	return &other
}

// sign sets the fingerprint, and the stamp, which also changes with the fields of items.
func (m *Mapping) sign(fingerprint string) {
	m.Fingerprint = fingerprint
	m.stamp = uint32(xxhash.Sum64String(fmt.Sprintf("%s %#v %#v", fingerprint, Item{}, Person{})))
}

// Load compiles mapping rules. It reports all mistakes, not only the first. Each error begins "name:line: key: ".
func Load(name string, src []byte) (*Mapping, error) {
	reader, top, err := yamlfile.Open(name, src)
	switch {
	case err != nil:
		return nil, err
	case top == nil:
		return nil, fmt.Errorf("%s: the file is empty", name)
	}
	l := &loader{Reader: reader, kinds: make(map[string]*work), to: &Mapping{
		zone: time.UTC,
		slots: map[string]int{
			"_id": slotID, "type": slotType, "subtype": slotSubtype, rules.FieldResolved: slotResolved,
		},
	}}
	l.to.sign(strconv.FormatUint(xxhash.Sum64(src), 36))
	l.file(top)
	return l.to.View(rules.ViewActivities), l.Err()
}

// loader compiles one file. Its Reader collects the mistakes, so that loading goes on after each.
type loader struct {
	*yamlfile.Reader
	to     *Mapping
	fields fields // the fields that kinds inherit
	kinds  map[string]*work
}

// file reads the sections in the order in which they depend on each other. Kinds inherit the
// fields, and the codes name kinds.
func (l *loader) file(n *yaml.Node) {
	sections := []string{"fields", "kinds", "subtypes", "types", "views", "degrees"}
	optional := []string{"open_access", "status", "notices", "licences", "funders", "badges", "last_author", "people"}
	top := l.Mapping(n, "", append(sections, optional...)...)
	for _, key := range sections {
		if top[key] == nil {
			l.Errorf(n, key, "is missing")
			return
		}
	}
	l.read(top["fields"], "fields", &l.fields)
	l.Entries(top["kinds"], "kinds", func(key string, n *yaml.Node, path string) {
		l.kinds[key] = l.kind(n, path)
		l.kinds[key].name = key
	})
	l.to.subtypes, l.to.types = l.codes(top["subtypes"], "subtypes"), l.codes(top["types"], "types")
	l.to.views = l.codes(top["views"], "views")
	decode := func(key, want string, into any) {
		if n := top[key]; n != nil && n.Decode(into) != nil {
			l.Errorf(n, key, "expected %s", want)
		}
	}
	decode("degrees", "codes and names", &l.to.degrees)
	decode("funders", "codes and names", &l.to.funders)
	decode("licences", "codes and addresses", &l.to.licences)
	decode("last_author", "true or false", &l.to.LastAuthor)
	if n := top["open_access"]; n != nil {
		l.openAccess(n)
	}
	if n := top["status"]; n != nil {
		l.unpublished(n)
	}
	if n := top["notices"]; n != nil {
		l.notices(n)
	}
	if n := top["people"]; n != nil {
		l.people(n)
	}
	var badges []yaml.Node
	decode("badges", "a list of rules", &badges)
	for i := range badges {
		l.badge(&badges[i], "badges."+strconv.Itoa(i+1))
	}
	for view := range l.to.views {
		if _, ok := views.Named(view); !ok {
			l.Errorf(top["views"], "views."+view, "unknown view")
		}
	}
	if l.to.views[rules.ViewActivities] == nil {
		l.Errorf(top["views"], "views."+rules.ViewActivities, "is missing")
	}
}

// read sets the slots of the variables in a section, and leaves the others as they are.
func (l *loader) read(n *yaml.Node, path string, into *fields) {
	l.Entries(n, path, func(key string, n *yaml.Node, path string) {
		v := slices.Index(variables, key)
		var names []string
		switch {
		case v < 0:
			l.Errorf(n, path, "unknown variable, want one of %s", strings.Join(variables, ", "))
			return
		case n.Decode(&names) != nil:
			l.Errorf(n, path, "expected a list of stored fields")
			return
		}
		slots := make([]int, len(names))
		for i, name := range names {
			slots[i] = l.slot(n, path, name)
		}
		reflect.ValueOf(into).Elem().Field(v).Set(reflect.ValueOf(slots))
	})
}

// slot returns the position of a stored field among the values, and adds it if it is new. Records
// are read at their top level only, so names have no dots.
func (l *loader) slot(n *yaml.Node, path, field string) int {
	if field == "" || strings.ContainsAny(field, ".$\x00") {
		l.Errorf(n, path, "%q is not the name of a field of records", field)
	}
	if _, ok := l.to.slots[field]; !ok {
		l.to.slots[field] = len(l.to.slots)
	}
	return l.to.slots[field]
}

// kind reads a kind of work. Its names in the formats must match a pattern, because the writers do not escape them.
func (l *loader) kind(n *yaml.Node, path string) *work {
	k := &work{number: len(l.to.kinds), fields: l.fields}
	l.to.kinds = append(l.to.kinds, k)
	found := l.Mapping(n, path, "bibtex", "csl", "openurl", "ris", "schema", "fields")
	name := func(key, shape string) string {
		n := cmp.Or(found[key], n)
		switch {
		case found[key] == nil:
			l.Errorf(n, path+"."+key, "is missing")
		case !regexp.MustCompile(shape).MatchString(n.Value):
			l.Errorf(n, path+"."+key, "%q does not match %s", n.Value, shape)
		}
		return n.Value
	}
	k.BibTeX, k.CSL = name("bibtex", `^[a-z]+$`), name("csl", `^[a-z]+([_-][a-z]+)*$`)
	k.OpenURL = name("openurl", `^(journal|book|dissertation|dc)/[A-Za-z]+$`)
	k.RIS, k.Schema = name("ris", `^[A-Z]{2,7}$`), name("schema", `^[A-Z][A-Za-z]+$`)
	if fields := found["fields"]; fields != nil {
		l.read(fields, path+".fields", &k.fields)
	}
	return k
}

// codes reads a section that maps stored codes to kinds.
func (l *loader) codes(n *yaml.Node, path string) map[string]*work {
	codes := make(map[string]*work)
	l.Entries(n, path, func(key string, n *yaml.Node, path string) {
		k, ok := l.kinds[n.Value]
		if !ok {
			l.Errorf(n, path, "unknown kind %q", n.Value)
		}
		codes[key] = k
	})
	return codes
}

// Codes returns the kinds of works by the codes of types and of subtypes that the rules map to one.
func (m *Mapping) Codes() (types, subtypes map[string]string) {
	named := func(codes map[string]*work) map[string]string {
		all := make(map[string]string, len(codes))
		for code, k := range codes {
			all[code] = k.name
		}
		return all
	}
	return named(m.types), named(m.subtypes)
}
