package spectrum

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Values that API.md prescribes (GET /portfolio/spectrum, rules 4 and 5).
const (
	maxRelated  = 10  // the most units, researchers and activities of a topic
	minScore    = 0.8 // the least score of an assignment for an activity to be listed
	recentYears = 5   // years before the current one
)

// Options says in which field topics are, what their public addresses are, and how activities are rendered.
type Options struct {
	// Topics is the dotted path of an activity's topic assignments. If empty,
	// catalog.topics is used (DESIGN.md: 4).
	Topics string
	// CatalogURL is the public address of a topic, with {id} in place of its id. If empty, https://openalex.org/{id} is
	// used.
	CatalogURL string
	// Strip returns an activity without the fields that a summary must not show. If nil, it may show all.
	Strip func(activity bson.Raw) bson.Raw
	// Render returns the whole rendered document of an activity, and keeps the parts that the activity has. If nil, the
	// stored document is used.
	Render func(activity bson.Raw) (bson.Raw, error)
}

// Sources are the collections that enrich a summary. If an id comes twice, the first document is used.
type Sources struct {
	Catalogue []bson.Raw // topics: id, description, keywords
	Units     []bson.Raw
	Persons   []bson.Raw
}

// Summary counts activities by topic.
type Summary struct {
	path   []string
	url    string
	strip  func(bson.Raw) bson.Raw // nil if nothing is hidden
	render func(bson.Raw) (bson.Raw, error)

	catalogue map[string]bson.Raw
	units     directory
	persons   directory

	activities int // activities in the spectrum, the base of shares
	topics     map[string]*topic
}

// topic counts the activities of one topic so far.
type topic struct {
	id    string
	count int

	// labels is the newest assignment, which comes from the activity at latest.
	labels bson.Raw
	latest moment

	timeline map[int64]int
	units    tally
	persons  tally
	recent   newest
}

// New begins a summary. It keeps the documents of sources, which must not change.
func New(o Options, sources Sources) *Summary {
	s := &Summary{
		path:      strings.Split(cmp.Or(o.Topics, "catalog.topics"), "."),
		url:       cmp.Or(o.CatalogURL, "https://openalex.org/{id}"),
		strip:     o.Strip,
		render:    o.Render,
		catalogue: make(map[string]bson.Raw, len(sources.Catalogue)),
		units:     visibleUnits(sources.Units),
		persons:   visiblePersons(sources.Persons),
		topics:    map[string]*topic{},
	}
	for _, doc := range sources.Catalogue {
		id := raw.StringField(doc, "id")
		if _, there := s.catalogue[id]; id != "" && !there {
			s.catalogue[id] = doc
		}
	}
	return s
}

// Add counts an activity for its topics. It ignores activities outside the spectrum. It does not keep the record. If it
// cannot render the activity, it returns an error: the activity is counted, but is missing among the activities of its
// topics, and among its researchers' unless it stores them.
func (s *Summary) Add(record bson.Raw) error {
	topics, ok := s.assignments(record)
	if ok && s.strip != nil { // most activities are outside the spectrum, with fewer fields, too
		record = s.strip(record)
		topics, ok = s.assignments(record)
	}
	if !ok {
		return nil
	}
	s.activities++
	a := s.read(record)
	for assignment := range raw.Elements(topics) {
		doc := document(assignment)
		id := raw.StringField(doc, "id")
		if id == "" {
			continue
		}
		t := s.topic(id)
		t.add(&a, doc)
		score, _ := raw.Get(doc, "score").AsFloat64OK()
		if !a.dated || !(score >= minScore) || !t.recent.keeps(a.id, a.year) {
			continue
		}
		if cited := s.cite(&a); cited != nil {
			t.recent = t.recent.add(entry{cited, score})
		}
	}
	if a.err != nil {
		return fmt.Errorf("render activity %s: %w", a.id, a.err)
	}
	return nil
}

// topic returns the topic with an id. It adds a new one if necessary.
func (s *Summary) topic(id string) *topic {
	t := s.topics[id]
	if t == nil {
		t = &topic{id: id, timeline: map[int64]int{}, units: tally{}, persons: tally{}}
		s.topics[id] = t
	}
	return t
}

// add counts an assignment of an activity, and keeps it if it is the newest.
func (t *topic) add(a *activity, assignment []byte) {
	if t.labels == nil || a.after(t.latest) {
		t.labels, t.latest = bytes.Clone(assignment), a.moment
	}
	t.count++
	if a.dated {
		t.timeline[a.year]++
	}
	for _, u := range a.units {
		t.units[u]++
	}
	for _, p := range a.persons {
		t.persons[p]++
	}
}

// Rows yields the summary of all activities added: the row of Totals, then one for each
// topic in order of id. Equal input gives equal rows, whatever its order. A topic's _id
// is its id. A row has the fields of API.md's table in its order, but no share, which
// changes with every activity; its activities are not only recent ones.
func (s *Summary) Rows() iter.Seq[bson.Raw] {
	return func(yield func(bson.Raw) bool) {
		if !yield(s.totals()) {
			return
		}
		for _, id := range slices.Sorted(maps.Keys(s.topics)) {
			if !yield(s.row(s.topics[id])) {
				return
			}
		}
	}
}
