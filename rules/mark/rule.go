package mark

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Rule decides which records are public: those for which all of it holds.
type Rule struct {
	Public *filter.Filter // the operator's filter; required
	Portal *Portal        // nil: the records' own system has no portal, or the operator does not follow it
}

// Portal is what the portal of the records' own system shows. With a Portal, also the empty one, hide hides
// activities, too, and marks follow the switches of persons. Persons who are not active are not in the lists of
// units. Persons who show only publications in their profile are not among the persons of other activities.
type Portal struct {
	Activities *filter.Filter // matches the activities that the portal shows; nil: all
}

// publication is the type of activities that a person's list has whatever the person has switched off.
const publication = "publication"

// Holds reports whether a record is public. If the rule cannot be evaluated, it returns an error, and the record is
// not public.
func (r Rule) Holds(view string, record bson.Raw) (bool, error) {
	if r.Hiding(view, record) != "" {
		return false, nil
	}
	for _, f := range r.filters(view) {
		if ok, err := f.Match(record); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// Of returns the filters of the rule for the records of a view as one. Its conditions keep their origins.
func (r Rule) Of(view string) *filter.Filter { return filter.And(r.filters(view)...) }

func (r Rule) filters(view string) []*filter.Filter {
	if r.Portal == nil || r.Portal.Activities == nil || view != rules.ViewActivities {
		return []*filter.Filter{r.Public}
	}
	return []*filter.Filter{r.Public, r.Portal.Activities}
}

// key identifies what a portal shows.
func (p *Portal) key() string {
	switch {
	case p == nil:
		return ""
	case p.Activities == nil:
		return "portal"
	}
	return "portal " + p.Activities.Key()
}

// Hiding returns the field by which a record of a view is not public whatever the filters say, or "".
func (r Rule) Hiding(view string, record bson.Raw) string {
	published, _ := raw.Get(record, ofProject.Public).BooleanOK()
	hiding := view == rules.ViewPersons || view == rules.ViewActivities && r.Portal != nil
	switch {
	case view == rules.ViewProjects && !published:
		return ofProject.Public
	case hiding && hides(record):
		return ofPerson.Hide
	}
	return ""
}

// hides reports whether a record says that it is not to be shown.
func hides(doc bson.Raw) bool { return raw.FlagOf(raw.Get(doc, ofPerson.Hide)).Hides() }

// holds reports whether a record does not deny a flag.
func holds(doc bson.Raw, field string) bool { return raw.FlagOf(raw.Get(doc, field)).Holds() }
