package main

import "go.mongodb.org/mongo-driver/v2/bson"

// institute is the whole of the demo, in the order in which it comes about.
type institute struct {
	units         []unit
	people        []person
	topics        []topic
	organizations []organization
	journals      []journal
	conferences   []conference
	projects      []project
	proposals     []project
	activities    []*activity
}

// collection is a collection of the database.
type collection struct {
	name string
	docs []bson.D
}

func newInstitute() *institute {
	in := &institute{units: allUnits, topics: newTopics(), organizations: newOrganizations()}
	in.people = newPeople(in.units)
	in.journals = newJournals()
	in.conferences = newConferences()
	in.proposals = in.newProjects("proposals", proposalPlans)
	in.projects = in.newProjects("projects", projectPlans)
	in.activities = in.newActivities()
	in.plantOddities()
	in.renderActivities()
	return in
}

// collections returns the institute as it is stored.
func (in *institute) collections() []collection {
	return []collection{
		{"activities", docs(in.activities)},
		{"catalog_topics", append(docs(in.topics), topicWithoutText())},
		{"conferences", docs(in.conferences)},
		{"deadlines", newDeadlines(in.conferences)},
		{"groups", docs(in.units)},
		{"journals", docs(in.journals)},
		{"organizations", docs(in.organizations)},
		{"persons", append(docs(in.people), guests()...)},
		{"projects", docs(in.projects)},
		{"proposals", docs(in.proposals)},
	}
}

// stored is what can be written as a document.
type stored interface{ doc() bson.D }

func docs[T stored](records []T) []bson.D {
	all := make([]bson.D, len(records))
	for i, r := range records {
		all[i] = r.doc()
	}
	return all
}

// fields collects the fields of a document in order.
type fields struct{ d bson.D }

// add adds a field.
func (f *fields) add(name string, value any) { f.d = append(f.d, bson.E{Key: name, Value: value}) }

// addIf adds a field unless its value is empty: many fields are only there
// when they hold something.
func addIf[T comparable](f *fields, name string, value T) {
	var zero T
	if value != zero {
		f.add(name, value)
	}
}

// addList adds a list unless it is nil.
func addList[T any](f *fields, name string, list []T) {
	if list != nil {
		f.add(name, array(list))
	}
}

// array returns a list as BSON has it.
func array[T any](list []T) bson.A {
	a := make(bson.A, len(list))
	for i, v := range list {
		a[i] = v
	}
	return a
}

// orNull returns the text, or null for none.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
