package compare

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Cause is what many differences come from, which a person decides about once: the same kind of difference, of the
// same field, with the same relation of both values, whatever the endpoint and the row.
type Cause struct {
	CauseKey
	Extent
	Says     string  `json:"says"`             // a sentence for people
	Places   []Group `json:"places"`           // the most frequent first
	Accepted string  `json:"accept,omitempty"` // what to write into the file of --accept to agree with it
}

// CauseKey identifies a Cause. Differences on purpose have only a Reason, so that each reason is one cause.
type CauseKey struct {
	Kind     Kind   `json:"kind,omitempty"`
	Field    string `json:"field,omitempty"`    // from the row on, with the innermost element of HTML
	Change   string `json:"change,omitempty"`   // of a status, a media type, or the types of JSON: 200 → 404
	Relation string `json:"relation,omitempty"` // of both values
	Reason   string `json:"reason,omitempty"`   // why they are on purpose
}

// further is the Path of the groups that stand for all places beyond mostGroups.
const further = "…"

// causeKey returns the CauseKey of the differences at a place.
func (p Place) causeKey() CauseKey {
	if p.Reason != "" {
		return CauseKey{Reason: p.Reason}
	}
	return CauseKey{Kind: p.Kind, Field: fieldOf(p.Path), Change: p.Change, Relation: p.Relation}
}

var (
	// keyed matches members whose name is a key of the record or a year, and no name of a field.
	keyed = regexp.MustCompile(`\.(?:\d+|[0-9a-f]{24}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b`)
	// stem matches what is in front of a row's fields: the answer, its list, a row of it.
	stem = regexp.MustCompile(`^\$(?:\.data\b)?(?:\[\*\]|\.\*)?\.?`)
	// parted matches the elements of HTML behind a JSON path, or in a page all. Quoted names may have blanks.
	parted = regexp.MustCompile(`^((?:\$(?:\["(?:[^"\\]|\\.)*"\]|[^ "])*)?) ?(.*)$`)
)

// general returns a path of a difference without what belongs to one record alone: [*] stands for an index, and *
// for a key. It is shortened, and has no more than its beginning then.
func general(path string) string {
	return shorten(keyed.ReplaceAllString(index.ReplaceAllString(path, "[*]"), ".*"))
}

// change returns what has changed into what, if that is more telling than both values: the types of JSON, if these
// differ. A status and a media type are few.
func (d Difference) change() string {
	was, is := d.was.kind(), d.is.kind()
	switch {
	case d.Kind == Status || d.Kind == MediaType:
		return shorten(d.Old) + " → " + shorten(d.New)
	case was != is && was != "" && is != "":
		return was + " → " + is
	}
	return ""
}

// types has the words for the types of JSON values, by how they begin, and what matches such values in a rule. Of
// values of two types a Difference has the JSON.
var types = []struct{ begins, kind, expression string }{
	{`"`, "text", `^"`}, {"{", "an object", `^\{`}, {"[", "a list", `^\[`}, {"n", "null", "^null$"},
	{"tf", "a truth value", "^(true|false)$"}, {"-0123456789", "a number", `^-?[0-9][-+.0-9eE]*$`},
}

// kind returns the word for the type of a value, or "" if there is none.
func (v value) kind() string {
	for _, t := range types {
		if len(v) > 0 && strings.IndexByte(t.begins, v[0]) >= 0 {
			return t.kind
		}
	}
	return ""
}

// fieldOf returns the field that a general path leads to, from the row on: $.data[*].year and $.year are both year.
// The element of HTML is the innermost: $.data[*].print p>b is print b.
func fieldOf(path string) string {
	if path == further {
		return further
	}
	part := parted.FindStringSubmatch(path) // matches everything
	inner := part[2][strings.LastIndexByte(part[2], '>')+1:]
	return strings.TrimSpace(stem.ReplaceAllString(part[1], "") + " " + inner)
}

// sentences has a sentence for each kind, for causes without a relation. %s is the field.
var sentences = map[Kind]string{
	Location:     "redirections lead elsewhere",
	Count:        "%s differs",
	Order:        "%s are in another order",
	RowMissing:   "%s are missing in the new answers",
	RowAdded:     "%s are in the new answers only",
	FieldMissing: "%s is missing in the new answers",
	FieldAdded:   "%s is in the new answers only",
	FieldChanged: "%s has another value",
	Words:        "%s has other words",
	Tag:          "%s has other tags",
	Attribute:    "%s has another value",
	Text:         "lines of text differ",
	Failed:       "answers could not be compared",
}

// says returns the sentence for a cause: its field, and the relation of the values, or what the kind says.
func (s CauseKey) says() string {
	old, new, changed := strings.Cut(s.Change, " → ")
	known := relationNamed(s.Relation)
	switch {
	case s.Reason != "":
		return s.Reason
	case s.Field == further:
		return fmt.Sprintf("differences of the kind %q at further places, beyond the first %d", s.Kind, mostGroups)
	case s.Kind == Failed && (s.Field == "old" || s.Field == "new"):
		return "the " + s.Field + " server gave no answer that can be compared"
	case s.Kind == Status && s.Field == "HTTP":
		return became("the HTTP status", old, new) + "; the envelope's is the same"
	case changed && known != nil:
		return became(s.subject(), old, new) + " (" + known.name + ")"
	case changed:
		return became(s.subject(), old, new)
	case known != nil:
		return s.subject() + ": " + known.says
	}
	if sentence := sentences[s.Kind]; strings.Contains(sentence, "%s") {
		return fmt.Sprintf(sentence, s.subject())
	}
	return sentences[s.Kind]
}

// became returns the sentence for a value that is old on one side and new on the other.
func became(subject, old, new string) string {
	return subject + " is " + old + " in the old answers, " + new + " in the new ones"
}

// subject returns the words for a field with which a sentence begins.
func (s CauseKey) subject() string {
	field, rows := s.Field, ""
	if s.Kind == Status || s.Kind == MediaType {
		return "the " + string(s.Kind)
	}
	if s.Kind == Order || s.Kind == RowMissing || s.Kind == RowAdded {
		rows = "rows"
		if field = strings.TrimSuffix(field, "[*]"); field != "" {
			rows += " of "
		}
	}
	if field == "" {
		return cmp.Or(rows, "the answer")
	}
	return rows + "`" + field + "`"
}

// arrange returns groups of places as causes: first those that a person must decide about, then what failed, then
// what is on purpose, the most frequent first. counts has the counts of each, since groups that the same answers
// have part in do not add up.
func arrange(groups []Group, counts map[CauseKey]Extent) (all []Cause) {
	places := map[CauseKey][]Group{}
	for _, g := range groups {
		places[g.causeKey()] = append(places[g.causeKey()], g)
	}
	for s, n := range counts {
		c := Cause{CauseKey: s, Extent: n, Says: s.says(), Places: places[s]}
		slices.SortFunc(c.Places, func(a, b Group) int {
			return cmp.Or(cmp.Compare(b.Answers, a.Answers), cmp.Compare(b.Values, a.Values),
				strings.Compare(a.Endpoint, b.Endpoint), strings.Compare(string(a.Kind), string(b.Kind)),
				strings.Compare(a.Path, b.Path), strings.Compare(a.Change, b.Change),
				strings.Compare(a.Relation, b.Relation))
		})
		c.Accepted = c.suggestion()
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Answers, a.Answers),
			cmp.Compare(b.Values, a.Values), strings.Compare(a.Says, b.Says), strings.Compare(a.Field, b.Field),
			strings.Compare(a.Change, b.Change), strings.Compare(string(a.Kind), string(b.Kind)),
			strings.Compare(a.Relation, b.Relation))
	})
	return all
}

// The parts of a report, in their order.
const (
	toDecide = iota
	failed
	onPurpose
)

// rank returns the part of a report that a cause is in.
func (c Cause) rank() int {
	switch {
	case c.Reason != "":
		return onPurpose
	case c.Kind == Failed:
		return failed
	}
	return toDecide
}

// Where names the endpoints of a cause, the most frequent first, and how many they are.
func (c Cause) Where() string {
	var all []string
	for _, g := range c.Places {
		if !slices.Contains(all, g.Endpoint) {
			all = append(all, g.Endpoint)
		}
	}
	named := strings.Join(all[:min(len(all), mostNamed)], ", ")
	if len(all) > mostNamed {
		named += ", …"
	}
	return counted(len(all), "endpoint") + ": " + named
}

const mostNamed = 3 // endpoints that a line names

// InAnswers returns the number of answers in words.
func (n Extent) InAnswers() string { return counted(n.Answers, "answer") }

// InValues returns the number of values in words.
func (n Extent) InValues() string { return counted(n.Values, "value") }

// counted returns a number of things in words.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// Example returns the first example of the most frequent place, or nil.
func (c Cause) Example() *Difference {
	for _, g := range c.Places {
		if len(g.Examples) > 0 {
			return &g.Examples[0]
		}
	}
	return nil
}
