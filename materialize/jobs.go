package materialize

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/raw"
	"vitrine/rules/units"
)

// Jobs returns the jobs of all views, in the order of rules.Views. Those of activities
// and of the spectrum are given, since they depend on settings. The sources of the
// optional views may be empty.
func Jobs(activities, spectrum Job, optional []string) []Job {
	var jobs []Job
	for _, v := range rules.Views() {
		job := spectrum
		switch v.Name {
		case activities.View:
			job = activities
		case spectrum.View:
		default:
			job = Plain(v.Name)
		}
		job.Optional = slices.Contains(optional, v.Name)
		jobs = append(jobs, job)
	}
	return jobs
}

// plain are the jobs that depend on no settings, without their view and source.
var plain = map[string]Job{
	rules.ViewPersons:   stored, // for look-ups, display settings and roles
	rules.ViewUserUnits: memberships,
	rules.ViewProjects:  resolved,
	rules.ViewProposals: resolved,
	rules.ViewJournals:  stored,
	rules.ViewEvents:    stored,
	rules.ViewDeadlines: stored,
}

// Plain makes the job of a view that depends on no settings: any but those of activities
// and of the spectrum. It panics on other names.
func Plain(view string) Job {
	job, ok := plain[view]
	if !ok {
		panic(fmt.Sprintf("materialize: view %q has no plain job", view))
	}
	job.View, job.Source = view, sourceOf(view)
	return job
}

// sourceOf returns the collection that a view is made from.
func sourceOf(view string) string {
	v, _ := rules.ViewNamed(view)
	return v.Source
}

// stored makes rows that are the stored records, unchanged.
var stored = Job{
	Fingerprint: "record/1",
	Rows:        func(Deps) (RowFunc, error) { return asStored, nil },
}

// asStored is the RowFunc of rows that are their records.
func asStored(_ context.Context, record bson.Raw) (bson.Raw, error) { return record, nil }

// resolved makes rows that are stored records with the names of the people and
// organisations they refer to, under display.Reserved. Labels depend on the language of a
// request and are added when it is answered.
var resolved = Job{
	Deps:        []string{"organizations", "persons"},
	Fingerprint: "resolved/2",
	Rows: func(deps Deps) (RowFunc, error) {
		directory := display.NewDirectory(deps["organizations"], deps["persons"])
		return func(_ context.Context, record bson.Raw) (bson.Raw, error) {
			names := directory.Resolve(record)
			if names == nil {
				return display.Strip(record), nil
			}
			return raw.SetField(record, display.Reserved, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: names})
		}, nil
	},
}

// memberships makes a row for each person, as units.Names makes it. Whether a membership
// is past depends on the day of a request and is determined when it is answered.
var memberships = Job{
	Deps:        []string{"groups"},
	Fingerprint: "user_units/1",
	Rows: func(deps Deps) (RowFunc, error) {
		names := units.NewNames(deps["groups"])
		return func(_ context.Context, person bson.Raw) (bson.Raw, error) { return names.Row(person) }, nil
	},
}
