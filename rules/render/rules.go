package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/label"
	"vitrine/rules/render/joiner"
	"vitrine/rules/render/names"
)

// codeVersion is part of the fingerprint: raise it when the code renders the
// same rules differently.
const codeVersion = "2"

// The languages labels and dates come in.
const (
	english = iota
	german
	languages
)

// languageCodes are the names of the languages in the rules file and in Options.
var languageCodes = [languages]string{english: "en", german: "de"}

// languageOf returns the language with a code, English for an unknown one.
func languageOf(code string) int { return max(english, slices.Index(languageCodes[:], code)) }

// Rules is a loaded rules file. It is immutable and safe for concurrent use.
type Rules struct {
	// slots are the places of stored fields in a page, by the first part of their path.
	slots map[string]int
	types typeRules // named are the types, and their named the subtypes
	// userSlots are the slots of the lists of participants (rendered.users).
	userSlots []int
	dateParts bool // whether the parts of dates count, which the file's rules do not know
	// templates replace those of all subtypes; nil entries replace nothing.
	templates   [outputs][]instr
	fingerprint string
	pages       sync.Pool // of *page
}

// typeRules are the rules for a type or a subtype.
type typeRules struct {
	// label is HTML by language. If it is empty, the type goes by its id.
	label [languages]string
	// icon is the name of a Phosphor icon, without "ph-".
	icon string
	// ongoing says whether an activity without an end continues. It matters only to dates in
	// parts; otherwise an end_date of null says so.
	ongoing bool
	// templates are compiled. Plain text may have none (page.output).
	templates [outputs][]instr
	// named are the types, or the subtypes of a type, that the file names, by id; other is for
	// all others.
	named map[string]*typeRules
	other *typeRules
}

// find returns the rules of the type, or subtype, with an id.
func (t *typeRules) find(id string) *typeRules {
	if found, ok := t.named[id]; ok {
		return found
	}
	return t.other
}

// Fingerprint identifies the rules and the code that runs them: a record rendered under the
// same fingerprint need not be rendered again.
func (r *Rules) Fingerprint() string { return r.fingerprint }

// fingerprint covers the source of the rules and the version of this code.
func fingerprint(src []byte) string {
	d := xxhash.New()
	_, _ = d.WriteString(codeVersion)
	_, _ = d.Write(src)
	return fmt.Sprintf("%016x", d.Sum64())
}

// Options is what rendering depends on beside rules and activity. The zero value
// works. A caller that keeps rendered rows must render them again when it changes.
type Options struct {
	// Language of labels and dates, "en" or "de"; anything else is "en".
	Language string
	// Affiliated names the author fields that mark affiliation when true, 1 or
	// "1". If nil, they are affiliated and aoi (DESIGN.md: 4).
	Affiliated []string
	// Zone is where stored points in time have their day. If nil, UTC is used.
	Zone *time.Location
}

// defaultAffiliated are the markers of affiliation if Options names none.
var defaultAffiliated = []string{"affiliated", "aoi"}

// page is the work space of one rendering.
type page struct {
	rules *Rules
	// The options, with defaults: a language by number, and the keys of persons that mark
	// affiliation.
	lang       int
	affiliated []string
	zone       *time.Location

	// values are the activity's stored fields by slot, in the activity's memory. A missing
	// field has type 0.
	values []bson.RawValue
	// persons are the lists of persons that have been read, by slot: a citation, its forms
	// and users all need the authors.
	persons [][]names.Person
	typ     *typeRules // and subtype
	sub     *typeRules
	joiner  joiner.Joiner
	// value holds the field that is being written or that a condition asks for.
	value []byte
}

// page returns a work space for r; give it back to r.pages.
func (r *Rules) page(o Options) *page {
	p, ok := r.pages.Get().(*page)
	if !ok {
		p = &page{rules: r, values: make([]bson.RawValue, len(r.slots)), persons: make([][]names.Person, len(r.slots))}
	}
	p.set(o)
	return p
}

// set sets options and their defaults.
func (p *page) set(o Options) {
	p.lang, p.affiliated, p.zone = languageOf(o.Language), o.Affiliated, o.Zone
	if p.affiliated == nil {
		p.affiliated = defaultAffiliated
	}
	if p.zone == nil {
		p.zone = time.UTC
	}
}

// release gives the work space back, without the activity it pointed into.
func (r *Rules) release(p *page) {
	clear(p.values)
	clear(p.persons)
	r.pages.Put(p)
}

// typeLabel returns the type's label as text, the type's id if it has no label.
func (p *page) typeLabel() string { return cmp.Or(p.typ.label[p.lang], text(p.values[slotType])) }

// subtypeLabel returns the subtype's label as text, the subtype's id if it has no label, and
// the type's label if the activity has no subtype.
func (p *page) subtypeLabel() string {
	return cmp.Or(p.sub.label[p.lang], text(p.values[slotSubtype]), p.typeLabel())
}

// Labels returns the labels that the rules give to types and subtypes, as the sets
// label.ActivityType and label.ActivitySubtype: the API shows a type that was rendered in one
// language in another.
func (r *Rules) Labels() label.Sets {
	types, subtypes := map[string]label.Name{}, map[string]label.Name{}
	for typ, t := range r.types.named {
		types[typ] = label.Name{EN: t.label[english], DE: t.label[german]}
		for id, sub := range t.named {
			subtypes[typ+"/"+id] = label.Name{EN: sub.label[english], DE: sub.label[german]}
		}
	}
	return label.Sets{label.ActivityType: types, label.ActivitySubtype: subtypes}
}

// source finds the stored field of a dotted path. It makes a slot for a field that has none.
func (r *Rules) source(path string) source {
	parts := strings.Split(path, ".")
	slot, ok := r.slots[parts[0]]
	if !ok {
		slot = len(r.slots)
		r.slots[parts[0]] = slot
	}
	return source{slot: slot, path: parts[1:]}
}
