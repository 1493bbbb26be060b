package materialize

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/rules"
	"vitrine/rules/spectrum"
)

// SpectrumOptions configures the spectrum.
type SpectrumOptions struct {
	// Options.Render returns an activity's rendered document, as for Activities. One goroutine calls it.
	spectrum.Options
	// Catalogue reads the documents of the topic catalogue, which may be none, for every run. If nil, they are read
	// from the collection catalog_topics.
	Catalogue func(context.Context) ([]bson.Raw, error)
	// Fingerprint covers everything that Render's result depends on besides the record. May be nil.
	Fingerprint func() string
}

// topicCollection is the collection with the topic catalogue, unless SpectrumOptions.Catalogue reads it elsewhere.
const topicCollection = "catalog_topics"

// Spectrum returns the job of the spectrum view: a row for each topic and one with totals, which package spectrum
// makes from the activities. An activity that cannot be rendered is counted, and named in the view's health.
func Spectrum(o SpectrumOptions) Job {
	deps := []string{"groups", "persons"}
	if o.Catalogue == nil {
		deps = append(deps, topicCollection)
	}
	if o.Fingerprint == nil {
		o.Fingerprint = func() string { return "" }
	}
	job := jobOf(rules.ViewSpectrum)
	job.Deps, job.Outside, job.Summarize = deps, o.outside, o.summarize
	job.Fingerprint = fmt.Sprintf("spectrum/2 %q %q %s", o.Topics, o.CatalogURL, o.Fingerprint())
	return job
}

// outside is Job.Outside: the catalogue, if it is no collection, and what rendering depends on, may change between
// runs without a new job.
func (o SpectrumOptions) outside(ctx context.Context) (string, error) {
	digest := xxhash.New()
	digest.WriteString(o.Fingerprint())
	if o.Catalogue != nil {
		catalogue, err := o.Catalogue(ctx)
		if err != nil {
			return "", err
		}
		for _, doc := range catalogue {
			digest.Write(doc) // a document starts with its length
		}
	}
	return strconv.FormatUint(digest.Sum64(), 16), nil
}

// summarize is Job.Summarize. It reads every activity once, puts it into a new tally, and gives the tally to the
// input, so that later runs put only the changed activities into it (tally.go).
func (o SpectrumOptions) summarize(ctx context.Context, in Input) (iter.Seq[bson.Raw], error) {
	catalogue := in.Deps[topicCollection]
	if o.Catalogue != nil {
		var err error
		if catalogue, err = o.Catalogue(ctx); err != nil {
			return nil, fmt.Errorf("read topic catalogue: %w", err)
		}
		if err := in.Guard("catalog.file", len(catalogue)); err != nil {
			return nil, err
		}
	}
	if render := o.Render; render != nil { // a panic for one activity must not stop the whole summary
		o.Render = func(record bson.Raw) (bson.Raw, error) {
			return guard(func() (bson.Raw, error) { return render(record) })
		}
	}
	o.Rest = fair.Rest() // requests are answered meanwhile
	summary := spectrum.New(o.Options,
		spectrum.Sources{Catalogue: catalogue, Units: in.Deps["groups"], Persons: in.Deps["persons"]})
	for record, err := range in.Records {
		if err != nil {
			return nil, err
		}
		id := record.Lookup("_id")
		if err := summary.Put(in.place(id), record); err != nil {
			in.Skip(id, err)
		}
	}
	in.keep(summary)
	return summary.Rows(in.places, nil)
}
