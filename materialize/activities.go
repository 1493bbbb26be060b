package materialize

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
	"vitrine/rules/views"
)

// Activities returns the job of the activities view: each stored record with its rendered document filled in.
// render keeps the parts that the record already has, and applies the allow-list of HTML to everything;
// several goroutines call it at once. fingerprint changes with everything else that render depends on.
func Activities(render RenderFunc, fingerprint string) Job {
	job := jobOf(rules.ViewActivities)
	job.Fingerprint = "activities/2 " + fingerprint
	job.Rows = func(Deps) (RowFunc, error) { return withRendered(render), nil }
	return job
}

// ActivitiesBy returns the same job with rules of rendering that may change between runs: rules returns the arguments
// of Activities for the documents of collections, twice in a run. A change of anything else requests a run.
func ActivitiesBy(collections []string, rules func(Deps) (render RenderFunc, fingerprint string)) Job {
	job := Activities(nil, "")
	job.Deps = collections
	job.Digest = func(deps Deps) string {
		_, fingerprint := rules(deps)
		return fingerprint
	}
	job.Rows = func(deps Deps) (RowFunc, error) {
		render, _ := rules(deps)
		return withRendered(render), nil
	}
	return job
}

// RenderFunc returns the whole "rendered" document of a record.
type RenderFunc = func(record bson.Raw) (bson.Raw, error)

// withRendered returns the RowFunc that sets the field "rendered" of records, and leaves their other fields as
// stored.
func withRendered(render RenderFunc) RowFunc {
	return func(_ context.Context, record bson.Raw) (bson.Raw, error) {
		rendered, err := render(record)
		if err != nil {
			return nil, err
		}
		return raw.SetField(record, "rendered", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: rendered})
	}
}

// Filled makes a job use the result of fill, which adds fields that the record lacks, in place of each record. fill
// is pure, and several goroutines call it at once; fingerprint changes with all that it depends on besides the
// record.
func Filled(job Job, fill func(record bson.Raw) bson.Raw, fingerprint string) Job {
	job.Fingerprint += " filled/3 " + fingerprint
	seen := job.prepare // the previous function, so as not to call itself
	job.fill = func(record bson.Raw) bson.Raw { return seen(fill(record)) }
	return job
}

// Marked makes a job write a mark (package rules/mark) into the rows of public records, unless its view has none. A
// row is stale if its mark would change, because of a record that it is made from, the options, or the day.
func Marked(job Job, options func() mark.Options) Job {
	return MarkedBy(job, nil, func(Deps) mark.Options { return options() })
}

// MarkedBy is Marked with options that also depend on the documents of collections, such as the settings in a
// database. For the key of everything else options gets no documents.
func MarkedBy(job Job, collections []string, options func(Deps) mark.Options) Job {
	v, _ := views.Named(job.View)
	if v.Marks == nil {
		return job
	}
	job.Related = slices.Concat(v.Marks, collections)
	job.Fingerprint += " marked/10"
	job.Outside = func(context.Context) (string, error) { return options(nil).Key(), nil }
	job.Mark = func(deps Deps) Marks {
		o := options(deps)
		d := mark.NewDirectory(o, deps["persons"], deps["groups"], deps["projects"])
		marks := Marks{Digest: d.Digest(), Rules: o.Rules}
		marks.Make = func(record bson.Raw) (bson.Raw, mark.Lack, error) {
			made, lacks, err := d.Make(job.View, record)
			if err != nil {
				return nil, lacks, fmt.Errorf("left out of lists: lists.public: %w", err)
			}
			return made, lacks, nil
		}
		if o.Finish != nil {
			marks.Finish = func(made bson.Raw) (bson.Raw, error) { return o.Finish(job.View, made) }
		}
		return marks
	}
	return job
}

// Searched makes a job publish with each row the words by which queries find it. words is pure; rules identifies it.
func Searched(job Job, words func(row bson.Raw) []string, rules string) Job {
	job.Fingerprint += " " + rules
	job.words = words
	return job
}
