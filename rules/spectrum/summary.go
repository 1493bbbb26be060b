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

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// Fixed by API.md (GET /portfolio/spectrum, rules 4 and 5).
const (
	maxRelated  = 10  // related units, researchers and activities of a topic
	minScore    = 0.8 // of an assignment that makes an activity one of them
	recentYears = 5   // before the current year
)

// Options says where topics are and what they look like outside.
type Options struct {
	// Topics is the dotted path of an activity's topic assignments. If empty,
	// catalog.topics is used (DESIGN.md: 4).
	Topics string
	// CatalogURL is the public address of a topic, with {id} in the place of its id.
	// If empty, https://openalex.org/{id} is used.
	CatalogURL string
	// Render returns the whole rendered document of an activity, what it already
	// carries kept. If nil, the stored one is used.
	Render func(activity bson.Raw) (bson.Raw, error)
}

// Sources are the collections that a summary is enriched from. Where an id comes
// twice the first document counts.
type Sources struct {
	Catalogue []bson.Raw // topics: id, description, keywords
	Units     []bson.Raw
	Persons   []bson.Raw
}

// Summary counts activities by topic.
type Summary struct {
	path   []string
	url    string
	render func(bson.Raw) (bson.Raw, error)

	catalogue map[string]bson.Raw
	units     directory
	persons   directory

	activities int // number of activities in the spectrum, the base of shares
	topics     map[string]*topic
}

// topic is what is known of one topic so far.
type topic struct {
	id    string
	count int

	// labels is the newest assignment, and from the id of its activity, which has a year if
	// dated is true.
	labels bson.Raw
	from   string
	year   int64
	dated  bool

	timeline map[int64]int
	units    tally
	persons  tally
	recent   newest
}

// New begins a summary. The documents of sources are kept and must not change.
func New(o Options, sources Sources) *Summary {
	s := &Summary{
		path:      strings.Split(cmp.Or(o.Topics, "catalog.topics"), "."),
		url:       cmp.Or(o.CatalogURL, "https://openalex.org/{id}"),
		render:    o.Render,
		catalogue: make(map[string]bson.Raw, len(sources.Catalogue)),
		units:     visibleUnits(sources.Units),
		persons:   visiblePersons(sources.Persons),
		topics:    map[string]*topic{},
	}
	for _, doc := range sources.Catalogue {
		id := text(raw.Get(doc, "id"))
		if _, there := s.catalogue[id]; id != "" && !there {
			s.catalogue[id] = doc
		}
	}
	return s
}

// Add counts an activity for its topics; one that does not belong to the spectrum
// changes nothing. The record is not kept. An error says that the activity could not
// be rendered: it is counted, but not among its topics' activities, nor for
// researchers unless it carries them.
func (s *Summary) Add(record bson.Raw) error {
	a, ok := s.read(record)
	if !ok {
		return nil
	}
	s.activities++
	rendered := rendering{render: s.render, record: record, stored: a.rendered}
	units, persons := s.units.find(a.units), s.persons.find(rendered.users())
	id := ejson.IDText(a.id)
	var cited *citation
	for assignment := range raw.Elements(a.topics) {
		doc := document(assignment)
		t := s.topic(text(raw.Get(doc, "id")))
		if t == nil {
			continue
		}
		t.label(doc, a, id)
		t.tally(a, units, persons)
		score := number(raw.Get(doc, "score"))
		if !a.dated || !(score >= minScore) || !t.recent.keeps(id, a.year) {
			continue
		}
		if cited == nil {
			if cited = rendered.cite(id, a.year); cited == nil {
				continue
			}
		}
		t.recent = t.recent.add(entry{cited, score})
	}
	if rendered.err != nil {
		return fmt.Errorf("render activity %s: %w", id, rendered.err)
	}
	return nil
}

// topic returns the topic with an id, known or new; nil without an id.
func (s *Summary) topic(id string) *topic {
	if id == "" {
		return nil
	}
	t := s.topics[id]
	if t == nil {
		t = &topic{id: id, timeline: map[int64]int{}, units: tally{}, persons: tally{}}
		s.topics[id] = t
	}
	return t
}

// label keeps an assignment of the activity if it is the newest. The order of
// activities is total, so that labels do not depend on the order in which they come.
func (t *topic) label(assignment []byte, a activity, id string) {
	newer := t.labels == nil
	switch {
	case newer:
	case a.dated != t.dated:
		newer = a.dated
	case a.year != t.year:
		newer = a.year > t.year
	default:
		newer = id > t.from
	}
	if newer {
		t.labels = bytes.Clone(assignment)
		t.from, t.year, t.dated = id, a.year, a.dated
	}
}

// tally counts an assignment of the activity.
func (t *topic) tally(a activity, units, persons []*related) {
	t.count++
	if a.dated {
		t.timeline[a.year]++
	}
	for _, u := range units {
		t.units[u]++
	}
	for _, p := range persons {
		t.persons[p]++
	}
}

// Rows yields the summary of all activities added: the row of Totals, then one for each
// topic in order of id. Equal input gives equal rows, whatever its order. A topic's _id
// is its id. A row has the fields of API.md's table in its order; its activities are not
// only recent ones.
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
