package spectrum

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// activity is what a summary reads of a record.
type activity struct {
	id       bsoncore.Value
	year     int64
	dated    bool   // whether there is a year
	topics   []byte // the array of assignments
	units    []byte // the array of unit identifiers
	rendered []byte // the stored document; nil if there is none
}

// read takes an activity apart. It reports false if the activity does not belong to
// the spectrum: not affiliated or without topics.
func (s *Summary) read(record bson.Raw) (a activity, ok bool) {
	affiliated := false
	for k, v := range fields(record) {
		switch string(k) {
		case "_id":
			a.id = v
		case "affiliated":
			affiliated = is(v, true)
		case "year":
			a.year, a.dated = whole(v)
		case "units":
			a.units = array(v)
		case "rendered":
			a.rendered, _ = v.DocumentOK()
		}
		if string(k) == s.path[0] {
			a.topics = array(at(v, s.path[1:]))
		}
	}
	if !affiliated {
		return a, false
	}
	for range fields(a.topics) {
		return a, true
	}
	return a, false
}

// rendering is the rendered document of the activity at hand, made when first needed.
type rendering struct {
	render func(bson.Raw) (bson.Raw, error)
	record bson.Raw
	stored []byte

	done bool
	doc  []byte
	err  error
}

// users returns the array of usernames. Stored ones are taken as they are, for
// rendering keeps them.
func (r *rendering) users() []byte {
	if users := array(field(r.stored, "users")); users != nil {
		return users
	}
	return array(field(r.document(), "users"))
}

// document returns the rendered document; nil if rendering went wrong, see err.
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

// cite makes the entry of the activity at hand in the lists of its topics; nil if
// rendering went wrong.
func (r *rendering) cite(id string, year int64) *citation {
	doc := r.document()
	if r.err != nil {
		return nil
	}
	return &citation{
		id: id, year: year,
		html: text(field(doc, "web")), icon: text(field(doc, "icon")),
		kind: text(field(doc, "type")), subkind: text(field(doc, "subtype")),
	}
}
