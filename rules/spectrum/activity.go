package spectrum

import (
	"cmp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// activity holds the fields of a record that a summary reads.
type activity struct {
	moment
	units   []*related // without duplicates
	persons []*related

	record   bson.Raw
	doc      []byte // the rendered document; the stored one until render is called
	rendered bool
	err      error // the error of rendering
	cited    *citation
}

// moment orders activities in time.
type moment struct {
	key   string // raw.Key of the _id
	id    string
	year  int64
	dated bool // whether the activity has a year
}

// after reports whether m comes later than n. The order is total.
func (m moment) after(n moment) bool {
	if m.dated != n.dated {
		return m.dated
	}
	return cmp.Or(cmp.Compare(m.year, n.year), strings.Compare(m.id, n.id), strings.Compare(m.key, n.key)) > 0
}

// assignments returns the array of topics of an activity. It returns false if the activity does not belong to the
// spectrum, because it is not affiliated or has no topics.
func (s *Summary) assignments(record bson.Raw) (topics bson.RawValue, ok bool) {
	if !is(raw.Get(record, "affiliated"), true) {
		return topics, false
	}
	doc := []byte(record)
	for _, key := range s.path {
		topics = raw.Get(doc, key)
		doc = document(topics)
	}
	for range raw.Elements(topics) {
		return topics, true
	}
	return topics, false
}

// listed returns the score of an assignment, and whether its topic may list the activity.
func (m moment) listed(assignment []byte) (score float64, ok bool) {
	score, _ = raw.Get(assignment, "score").AsFloat64OK()
	return score, m.dated && score >= minScore
}

// read reads the fields of an activity. It uses stored users unchanged, because rendering keeps them.
func (s *Summary) read(record bson.Raw) activity {
	a := activity{record: record, doc: document(raw.Get(record, "rendered"))}
	id := raw.Get(record, "_id")
	a.key, a.id = raw.Key(id), ejson.IDText(id)
	a.year, a.dated = whole(raw.Get(record, "year"))
	a.units = s.units.find(raw.Get(record, "units"))
	users := raw.Get(a.doc, "users")
	if users.Type != bson.TypeArray {
		s.complete(&a)
		users = raw.Get(a.doc, "users")
	}
	a.persons = s.persons.find(users)
	return a
}

// complete renders an activity, once.
func (s *Summary) complete(a *activity) {
	if !a.rendered && s.render != nil {
		a.doc, a.err = s.render(a.record)
	}
	a.rendered = true
}

// cite returns the entry of an activity for the lists of its topics, or nil if the activity cannot be rendered.
func (s *Summary) cite(a *activity) *citation {
	if s.complete(a); a.cited == nil && a.err == nil {
		a.cited = &citation{
			moment: a.moment,
			html:   raw.StringField(a.doc, "web"), icon: raw.StringField(a.doc, "icon"),
			kind: raw.StringField(a.doc, "type"), subkind: raw.StringField(a.doc, "subtype"),
		}
	}
	return a.cited
}
