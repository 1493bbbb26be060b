package spectrum

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Values that the API's description prescribes for GET /portfolio/spectrum.
const (
	maxRelated  = 10  // the most units, researchers and activities of a topic
	minScore    = 0.8 // the least score of an assignment for an activity to be listed
	recentYears = 5   // years before the current one
)

// Options says in which field topics are, what their public addresses are, and how activities are rendered.
type Options struct {
	Topics     string // dotted path of topic assignments; catalog.topics if empty
	CatalogURL string // a topic's address with {id}; https://openalex.org/{id} if empty
	// Strip returns an activity without the fields that a summary must not show. If nil, it may show all.
	Strip func(activity bson.Raw) bson.Raw
	// Render completes an activity's rendered document. If nil, the stored document is used.
	Render func(activity bson.Raw) (bson.Raw, error)
	// Rest is called between the activities that Rows counts. It may be nil.
	Rest func()
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
	rest   func()

	catalogue map[string]bson.Raw
	units     directory
	persons   directory

	members []member       // by the number of the activity
	names   []string       // of topics, units and persons; the first is none
	numbers map[string]int // positions in names

	noting   bool            // Put gets every record that rows show; only Rows changes that
	changed  bool            // a member has changed since Rows was called
	touched  map[int]*topic  // the topics of these members, by their position in names
	edited   map[int]bool    // the numbers of these members
	made     map[int]bool    // the topics whose rows the last call of Rows has made anew or left out
	listings map[int]listing // by position in names, what Rows last made rows of, so as not to fetch it again

	activities, live int // members in the spectrum, the base of shares, and their topics, when Rows was called
}

// topic counts the activities of one topic.
type topic struct {
	count   int
	counted bool // members that count otherwise than before have touched it, not only edited ones
	listing

	timeline map[int64]int
	units    tally
	persons  tally
}

// listing is what the row of a topic takes from the records of a few activities.
type listing struct {
	labels bson.Raw // the newest assignment, of the activity at latest
	latest moment
	recent newest
}

// New begins a summary. It keeps the documents of sources, which must not change.
func New(o Options, sources Sources) *Summary {
	s := &Summary{
		path:      strings.Split(cmp.Or(o.Topics, "catalog.topics"), "."),
		url:       cmp.Or(o.CatalogURL, "https://openalex.org/{id}"),
		strip:     o.Strip,
		render:    o.Render,
		rest:      o.Rest,
		catalogue: make(map[string]bson.Raw, len(sources.Catalogue)),
		units:     visibleUnits(sources.Units),
		persons:   visiblePersons(sources.Persons),
		names:     []string{""},
		numbers:   map[string]int{"": 0},
		noting:    true,
		touched:   map[int]*topic{},
		edited:    map[int]bool{},
		listings:  map[int]listing{},
	}
	if s.rest == nil {
		s.rest = func() {}
	}
	for _, doc := range sources.Catalogue {
		id := raw.StringField(doc, "id")
		if _, there := s.catalogue[id]; id != "" && !there {
			s.catalogue[id] = doc
		}
	}
	return s
}

// Put counts an activity for its topics, in place of an earlier version with its number. It ignores activities
// outside the spectrum; nil is one. It does not keep the record. If it cannot render the activity, it returns an
// error: the activity is counted, but is missing among the activities of its topics, and among its researchers'
// unless it stores them.
func (s *Summary) Put(n int, record bson.Raw) error {
	s.members = append(s.members, make([]member, max(0, n+1-len(s.members)))...)
	old, m, a := s.members[n], member{}, activity{}
	topics, ok := s.assignments(record)
	if ok {
		if m.hash = xxhash.Sum64(record); m.hash == old.hash && !s.noting {
			return nil
		}
		if s.strip != nil { // most activities are outside the spectrum, with fewer fields, too
			record = s.strip(record)
			topics, ok = s.assignments(record)
		}
	}
	if ok {
		a = s.read(record)
		m.refs = s.encode(&a, topics)
	}
	if m.hash != old.hash {
		s.changed = true
		if !s.noting {
			s.edited[n] = true
		}
	}
	if same := m.refs != nil && bytes.Equal(m.refs, old.refs); same {
		s.touch(m, false)
	} else {
		s.touch(old, true)
		s.touch(m, true)
	}
	if s.members[n] = m; s.noting {
		s.note(&a, topics)
	}
	if a.err != nil {
		return fmt.Errorf("render activity %s: %w", a.id, a.err)
	}
	return nil
}

// note lists an activity in touched topics, and keeps assignments that are the newest.
func (s *Summary) note(a *activity, topics bson.RawValue) {
	for assignment := range raw.Elements(topics) {
		doc := document(assignment)
		t := s.touched[s.numbers[raw.StringField(doc, "id")]]
		if t == nil {
			continue
		}
		if t.labels == nil || a.after(t.latest) {
			t.labels, t.latest = bytes.Clone(doc), a.moment
		}
		score, listed := a.listed(doc)
		if !listed {
			continue
		}
		if i, _ := t.recent.place(a.moment); i >= maxRelated {
			continue // save rendering it
		}
		if cited := s.cite(a); cited != nil {
			t.recent = t.recent.add(entry{cited, score})
		}
	}
}

// Changed reports whether Put has changed the summary since Rows was called.
func (s *Summary) Changed() bool { return s.changed }

// Made reports whether the last call of Rows has made the row with an _id anew, or left it out. All others stay.
func (s *Summary) Made(id bson.RawValue) bool {
	return id.Type != bson.TypeString || s.made[s.numbers[text(id)]]
}

// Rows yields the rows that have changed since its last call, at first all: the row of Totals, then one for each
// topic in order of id. Equal activities give equal rows, whatever the order and the number of calls. A topic's _id
// is its id. A row has the fields of the API's description in its order, but no share; its activities are not only
// recent ones. at has the numbers of activities by raw.Key of their _id. fetch yields the records of some keys: of
// activities that have changed or were not shown before. It is not called at first.
func (s *Summary) Rows(at map[string]int, fetch func(keys []string) iter.Seq2[bson.Raw, error]) (iter.Seq[bson.Raw],
	error) {
	missing, made := s.count(at), map[int]bool{}
	for n := range s.touched {
		made[n] = true
	}
	if len(missing) > 0 {
		s.noting, s.changed = true, false
		for record, err := range fetch(slices.Collect(maps.Keys(missing))) {
			key := raw.Key(raw.Get(record, "_id"))
			if n, ok := missing[key]; ok && err == nil {
				delete(missing, key)
				err = s.Put(n, record)
			}
			if err != nil {
				return nil, err
			}
		}
		if s.changed || len(missing) > 0 {
			return nil, errors.New("activities have changed meanwhile")
		}
	}
	touched := s.touched
	for n := range made {
		if t := touched[n]; t.count > 0 {
			s.listings[n] = t.listing
		} else {
			delete(s.listings, n)
		}
	}
	s.noting, s.changed, s.touched, s.edited, s.made = false, false, map[int]*topic{}, map[int]bool{}, made
	return func(yield func(bson.Raw) bool) {
		if !yield(s.totals()) {
			return
		}
		byID := func(a, b int) int { return strings.Compare(s.names[a], s.names[b]) }
		for _, n := range slices.SortedFunc(maps.Keys(touched), byID) {
			if t := touched[n]; t.count > 0 && !yield(s.row(s.names[n], t)) {
				return
			}
		}
	}, nil
}
