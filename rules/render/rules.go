package render

import (
	"cmp"
	"fmt"
	"maps"
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

// codeVersion is part of the fingerprint: raise it when the same rules render differently. Without
// that, stored rows would keep the old output until their records change.
const codeVersion = "7"

// Rules is a loaded rules file. It is immutable and safe for concurrent use.
type Rules struct {
	slots       map[string]int   // of each stored field, by the first part of its path
	types       typeRules        // its named are the types, and their named the subtypes
	userSlots   []int            // of the lists of persons (rendered.users)
	dateParts   bool             // whether to read dates stored in parts; set for OSIRIS, not in the file
	templates   [outputs][]instr // replace those of all subtypes, unless nil
	fingerprint string
	pages       sync.Pool // pool of *page
}

// typeRules are the rules for a type or a subtype.
type typeRules struct {
	label     [languages]string // HTML by language; if empty, the type's id is shown
	icon      string            // name of a Phosphor icon, without "ph-"
	place     int               // among the others, in the order of the file; those of a database come before
	ongoing   bool              // dates in parts continue without an end, as others do if end_date is null
	templates [outputs][]instr  // compiled; the one for plain text may be nil (page.output)
	// named has the file's types, or the subtypes of a type, by id. other is for the rest.
	named map[string]*typeRules
	other *typeRules
}

// find returns the rules for an id. It never returns nil for types, nor for one of the types.
func (t *typeRules) find(id string) *typeRules {
	if found, ok := t.named[id]; ok {
		return found
	}
	return t.other
}

// order returns the ids in named in the order of their places.
func (t *typeRules) order() []string {
	return slices.SortedFunc(maps.Keys(t.named), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.named[a].place, t.named[b].place), cmp.Compare(a, b))
	})
}

// Fingerprint identifies the rules and the code that runs them: a record rendered under the same
// fingerprint need not be rendered again.
func (r *Rules) Fingerprint() string { return r.fingerprint }

// fingerprint covers the version of this code, the rules below, if any, and the source of the rules.
func fingerprint(below string, src []byte) string {
	d := xxhash.New()
	_, _ = d.WriteString(codeVersion + below)
	_, _ = d.Write(src)
	return fmt.Sprintf("%016x", d.Sum64())
}

// Options are the other inputs of rendering, beside rules and activity. The zero value works. When they change, a
// caller that keeps rendered rows must render them again.
type Options struct {
	Language   string         // of labels and dates, "en" or "de"; anything else is "en"
	Affiliated []string       // fields that mark affiliation; affiliated and aoi if nil
	Zone       *time.Location // in which stored points in time have their day; UTC if nil
}

// defaultAffiliated is used if Options names no fields.
var defaultAffiliated = []string{"affiliated", "aoi"}

// page is the work space of one rendering.
type page struct {
	rules *Rules
	// The options with their defaults: the language as a number, and the keys of persons that mark affiliation.
	lang       int
	affiliated []string
	zone       *time.Location

	values  []bson.RawValue  // stored fields by slot, in the activity's memory; type 0 if missing
	persons [][]names.Person // lists read so far, by slot: a citation, its forms and users need them
	typ     *typeRules       // rules of the activity's type and subtype
	sub     *typeRules
	joiner  joiner.Joiner
	value   []byte // scratch space for the field that is written or tested
}

// page returns a work space for r. Return it to r.pages with release. A page belongs to one
// goroutine. Slots are complete when rules are loaded, so its slices never grow.
func (r *Rules) page(o Options) *page {
	p, ok := r.pages.Get().(*page)
	if !ok {
		p = &page{rules: r, values: make([]bson.RawValue, len(r.slots)),
			persons: make([][]names.Person, len(r.slots))}
	}
	p.set(o)
	return p
}

// set takes over the options with their defaults.
func (p *page) set(o Options) {
	p.lang = max(english, slices.Index(languageCodes[:], o.Language)) // an unknown code means English
	p.affiliated, p.zone = o.Affiliated, o.Zone
	if p.affiliated == nil {
		p.affiliated = defaultAffiliated
	}
	if p.zone == nil {
		p.zone = time.UTC
	}
}

// release returns the work space to the pool, without references to the activity.
func (r *Rules) release(p *page) {
	clear(p.values)
	clear(p.persons)
	r.pages.Put(p)
}

// typeLabel returns the type's label as text, or the type's id if it has no label.
func (p *page) typeLabel() string { return cmp.Or(p.typ.label[p.lang], text(p.values[slotType])) }

// subtypeLabel returns the subtype's label, or its id, or the type's label, as text.
func (p *page) subtypeLabel() string {
	return cmp.Or(p.sub.label[p.lang], text(p.values[slotSubtype]), p.typeLabel())
}

// Labels returns the labels that the rules give to types and subtypes, in their order, as the sets
// label.ActivityType and label.ActivitySubtype. With them the API shows a type in another language
// than the one in which it was rendered.
func (r *Rules) Labels() label.Sets {
	types, subtypes := map[string]label.Name{}, map[string]label.Name{}
	for _, typ := range r.types.order() {
		t := r.types.named[typ]
		types[typ] = label.Name{EN: t.label[english], DE: t.label[german], Rank: len(types) + 1}
		for _, id := range t.order() {
			sub := t.named[id]
			subtypes[typ+"/"+id] = label.Name{EN: sub.label[english], DE: sub.label[german], Rank: len(subtypes) + 1}
		}
	}
	return label.Sets{label.ActivityType: types, label.ActivitySubtype: subtypes}
}

// source returns the place of a stored field with a dotted path. It makes a slot for a field that
// has none. Only loading may call it, because rules are immutable afterwards.
func (r *Rules) source(path string) source {
	parts := strings.Split(path, ".")
	slot, ok := r.slots[parts[0]]
	if !ok {
		slot = len(r.slots)
		r.slots[parts[0]] = slot
	}
	return source{slot: slot, path: parts[1:]}
}

// Stored returns the top-level fields of records that the rules read, sorted.
func (r *Rules) Stored() []string { return slices.Sorted(maps.Keys(r.slots)) }
