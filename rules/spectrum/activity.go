package spectrum

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// activity is what a summary reads of a record.
type activity struct {
	id       bson.RawValue
	year     int64
	dated    bool          // whether there is a year
	topics   bson.RawValue // the array of assignments
	units    bson.RawValue // the array of unit identifiers
	rendered []byte        // the stored document; nil if there is none
}

// read reads the fields of an activity. It reports false if the activity does not belong to
// the spectrum: not affiliated or without topics.
func (s *Summary) read(record bson.Raw) (a activity, ok bool) {
	affiliated := false
	for e := range raw.All(record) {
		v := e.Value()
		switch string(e.Key) {
		case "_id":
			a.id = v
		case "affiliated":
			affiliated = is(v, true)
		case "year":
			a.year, a.dated = whole(v)
		case "units":
			a.units = v
		case "rendered":
			a.rendered = document(v)
		}
		if string(e.Key) == s.path[0] {
			for _, key := range s.path[1:] {
				v = raw.Get(document(v), key)
			}
			a.topics = v
		}
	}
	for range raw.Elements(a.topics) {
		return a, affiliated
	}
	return a, false
}

// rendering is the rendered document of the current activity, rendered on first use.
type rendering struct {
	render func(bson.Raw) (bson.Raw, error)
	record bson.Raw
	stored []byte

	done bool
	doc  []byte
	err  error
}

// users returns the array of usernames. Stored ones are used as they are, because
// rendering keeps them.
func (r *rendering) users() bson.RawValue {
	if users := raw.Get(r.stored, "users"); users.Type == bson.TypeArray {
		return users
	}
	return raw.Get(r.document(), "users")
}

// document returns the rendered document; nil if rendering failed, see err.
func (r *rendering) document() []byte {
	if !r.done {
		r.done = true
		r.doc = r.stored
		if r.render != nil {
			r.doc, r.err = r.render(r.record)
		}
	}
	return r.doc
}

// cite returns the entry of the current activity for the lists of its topics; nil if
// rendering failed.
func (r *rendering) cite(id string, year int64) *citation {
	doc := r.document()
	if r.err != nil {
		return nil
	}
	return &citation{
		id: id, year: year,
		html: text(raw.Get(doc, "web")), icon: text(raw.Get(doc, "icon")),
		kind: text(raw.Get(doc, "type")), subkind: text(raw.Get(doc, "subtype")),
	}
}
