package materialize

import (
	"context"
	"fmt"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/spectrum"
)

// SpectrumOptions says how the spectrum is summarised.
type SpectrumOptions struct {
	// Render of these makes an activity's rendered document, as it does for Activities. It is
	// called from one goroutine.
	spectrum.Options
	// Catalogue reads the documents of the topic catalogue, anew for every run; none
	// mean that there is no catalogue. If nil, they are in the collection catalog_topics.
	Catalogue func(context.Context) ([]bson.Raw, error)
	// Fingerprint stands for what Render's outcome depends on.
	Fingerprint string
}

// topicCollection holds the topic catalogue.
const topicCollection = "catalog_topics"

// Spectrum makes the spectrum view: a row for each topic and one of totals, as package
// spectrum summarises them from the activities. One that cannot be rendered counts all
// the same; the view's health names it.
func Spectrum(o SpectrumOptions) Job {
	deps := []string{"groups", "persons"}
	if o.Catalogue == nil {
		deps = append(deps, topicCollection)
	}
	return Job{
		View:        rules.ViewSpectrum,
		Source:      sourceOf(rules.ViewSpectrum),
		Deps:        deps,
		Fingerprint: fmt.Sprintf("spectrum/1 %q %q %s", o.Topics, o.CatalogURL, o.Fingerprint),
		Summarize:   o.summarize,
	}
}

// summarize adds up all activities.
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
	if render := o.Render; render != nil { // a panic does not stop the summary of all
		o.Render = func(record bson.Raw) (bson.Raw, error) {
			return guarded(func() (bson.Raw, error) { return render(record) })
		}
	}
	summary := spectrum.New(o.Options, spectrum.Sources{Catalogue: catalogue, Units: in.Deps["groups"], Persons: in.Deps["persons"]})
	for record, err := range in.Records {
		if err != nil {
			return nil, err
		}
		if _, err := guarded(func() (any, error) { return nil, summary.Add(record) }); err != nil {
			in.Skip(record.Lookup("_id"), err)
		}
	}
	return summary.Rows(), nil
}
