package spectrum

import (
	"encoding/binary"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// member is what a summary keeps of an activity: few bytes.
type member struct {
	hash uint64 // of the record
	refs []byte // see encode; nil if the activity is outside the spectrum
}

// encode returns what an activity adds to counts, as integers: year, whether there is one, how many units and
// persons, their numbers, and for each assignment twice the topic's number, plus one if the topic may list the
// activity.
func (s *Summary) encode(a *activity, topics bson.RawValue) []byte {
	flag := map[bool]int{true: 1}
	list := []int{int(a.year), flag[a.dated], len(a.units), len(a.persons)}
	for _, r := range slices.Concat(a.units, a.persons) {
		list = append(list, s.number(r.key))
	}
	for assignment := range raw.Elements(topics) {
		doc := document(assignment)
		if id := raw.StringField(doc, "id"); id != "" {
			_, listed := a.listed(doc)
			list = append(list, 2*s.number(id)+flag[listed])
		}
	}
	refs := make([]byte, 0, 24)
	for _, n := range list {
		refs = binary.AppendVarint(refs, int64(n))
	}
	return refs
}

func (s *Summary) number(name string) int {
	n, known := s.numbers[name]
	if !known {
		n = len(s.names)
		s.numbers[name], s.names = n, append(s.names, name)
	}
	return n
}

// decode is the inverse of encode. It appends to dst.
func (m member) decode(dst []int) (moment, units, persons, topics []int) {
	for refs := m.refs; len(refs) > 0; {
		n, size := binary.Varint(refs)
		dst, refs = append(dst, int(n)), refs[size:]
	}
	of := dst[4:]
	return dst[:2], of[:dst[2]], of[dst[2]:][:dst[3]], of[dst[2]+dst[3]:]
}

// touch makes Rows return the rows of a member's topics. If they count it as before, Rows returns only those that
// show it.
func (s *Summary) touch(m member, counted bool) {
	if m.refs == nil {
		return
	}
	_, _, _, topics := m.decode(nil)
	for _, ref := range topics {
		t := s.touched[ref/2]
		if t == nil {
			t = &topic{timeline: map[int64]int{}, units: tally{}, persons: tally{}}
			s.touched[ref/2] = t
		}
		t.counted = t.counted || counted
	}
}

// count counts the members. Unless all records are at hand, it returns the activities whose records the rows of
// touched topics need: their numbers by key. It drops topics whose rows stay the same.
func (s *Summary) count(at map[string]int) (missing map[string]int) {
	var list []int
	live := map[int]bool{}
	s.activities = 0
	for key, n := range at {
		if n >= len(s.members) || s.members[n].refs == nil {
			continue
		}
		s.activities++
		s.rest()
		when, units, persons, topics := s.members[n].decode(list[:0])
		list = when
		var a *activity
		for _, ref := range topics {
			live[ref/2] = true
			t := s.touched[ref/2]
			if t == nil {
				continue
			}
			if a == nil {
				a = &activity{moment: moment{key, ejson.IDText(raw.KeyValue(key)), int64(when[0]), when[1] == 1}}
				for _, n := range units {
					a.units = append(a.units, s.units[s.names[n]])
				}
				for _, n := range persons {
					a.persons = append(a.persons, s.persons[s.names[n]])
				}
			}
			t.add(a, !s.noting, ref%2 == 1)
		}
	}
	s.live, missing = len(live), map[string]int{}
	for n, t := range s.touched {
		if s.noting || t.count == 0 {
			continue
		}
		edited := func(key string) bool { return s.edited[at[key]] }
		shows := func(e entry) bool { return edited(e.key) }
		if !t.counted && !edited(t.latest.key) && !slices.ContainsFunc(t.recent, shows) {
			delete(s.touched, n) // its row shows none of the edited activities, and counts them as before
			continue
		}
		for _, key := range t.reuse(s.listings[n], edited) {
			missing[key] = at[key]
		}
	}
	return missing
}

// reuse takes the contents of activities from the topic's last listing, unless they were edited. It removes all other
// activities from l, and returns their keys: their records must be fetched.
func (l *listing) reuse(last listing, edited func(key string) bool) (missing []string) {
	if last.latest.key == l.latest.key && !edited(l.latest.key) {
		l.labels = last.labels
	} else {
		missing = append(missing, l.latest.key)
	}
	var known newest
	for _, e := range l.recent {
		if i, found := last.recent.place(e.moment); found && !edited(e.key) {
			known = append(known, last.recent[i])
		} else {
			missing = append(missing, e.key)
		}
	}
	l.recent = known
	return missing
}

// add counts an assignment of an activity. If its record is needed later, add decides whether the row shows it.
func (t *topic) add(a *activity, later, listed bool) {
	if later && (t.count == 0 || a.after(t.latest)) {
		t.latest = a.moment
	}
	if later && listed {
		t.recent = t.recent.add(entry{citation: &citation{moment: a.moment}})
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
