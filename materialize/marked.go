package materialize

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/mark"
)

// related are the views whose rows have marks, with the collections that marks refer to.
var related = map[string][]string{
	rules.ViewActivities: {"groups", "persons", "projects"},
	rules.ViewProjects:   {"groups", "persons"},
	rules.ViewPersons:    {"groups"},
	rules.ViewEvents:     {"groups", "persons"},
}

// Marked makes a job write a mark into the rows of public records (package rules/mark). It
// returns jobs of views without marks as they are. options is called in each run. A row
// is stale when its own mark would be another one, by whatever cause: the record, a person,
// a unit or a project that it refers to, the options, or the day.
func Marked(job Job, options func() mark.Options) Job {
	if job.Related = related[job.View]; job.Related == nil {
		return job
	}
	job.Fingerprint += " marked/2"
	directory := func(deps Deps) *mark.Directory {
		return mark.NewDirectory(options(), deps["persons"], deps["groups"], deps["projects"])
	}
	job.Part = func(deps Deps) (func(bson.Raw) ([]byte, error), uint64) {
		d := directory(deps)
		return func(record bson.Raw) ([]byte, error) {
			made, err := d.Make(job.View, record)
			if err != nil {
				return nil, fmt.Errorf("left out of lists: lists.public: %w", err)
			}
			return made, nil
		}, d.Digest()
	}
	rows := job.Rows
	job.Rows = func(deps Deps) (RowFunc, error) {
		d := directory(deps)
		row, err := rows(deps)
		return func(ctx context.Context, record bson.Raw) (bson.Raw, error) {
			r, err := row(ctx, record)
			if err != nil || r == nil {
				return r, err
			}
			made, _ := d.Make(job.View, record) // Part has reported the error
			if len(r)+len(made)+len(mark.Field)+2 > maxRow {
				made = nil // the API must not lose a row to the lists
			}
			return mark.Set(r, made)
		}, err
	}
	return job
}
