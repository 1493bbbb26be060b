package response

import (
	"context"
	"time"

	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/rules/raw"
)

// Plan describes the answer to a request and how to make it.
type Plan struct {
	View string
	// Query is canonical: on the same snapshots, the same text means the same bytes.
	Query string
	Build Build
	// ContentType is the media type of the answer. If empty, it is JSON.
	ContentType string
	// Headers are set on every answer, also on 304. They are the plan's, so that equal bytes may have different ones.
	Headers []Header
	// Also has the other views that the answer depends on: Build gets their snapshots, too.
	Also []string
	// About has the subjects of the rows of the view that can alter the answer. If it is empty, any row can.
	About []Subject
	Caching
	// Ignored lists the parameters that the answer does not depend on.
	Ignored string
	// Restricted is the permission that the caller lacks to see the whole list. It is empty if the list is whole.
	Restricted string
	// Paths are the stored fields in the request. Unless the list is restricted, those that no record has are
	// reported.
	Paths []string
}

// Subject is something that records are about: a unit, person, project or topic, or a record itself, of the kind id.
type Subject struct{ Kind, ID string }

// Caching says how a plan and its answer may be cached, here and elsewhere.
type Caching struct {
	// Personal: the answer depends on the caller.
	Personal bool
	// Whole: the caller sees the rows with their hidden fields. Such a plan is also personal.
	Whole bool
	// Once: the plan is for this request only, because it depends on a record that no view has.
	Once bool
	// Negotiated are further request headers that this plan depends on, separated by commas.
	Negotiated string
	// Period is when the plan and its answer hold, as far as they depend on the clock.
	Period Period
}

// Header is a response header; Name is in canonical form.
type Header struct{ Name, Value string }

// servedPlan is a plan for a generation of settings, ready to be answered.
type servedPlan struct {
	Plan
	key        string       // Query, and everything else that the answer depends on beside the snapshots
	of         []result.Key // of the snapshots that the plan was made from and holds for
	generation int
	valid      Period // Period, but not before the plan was made if its beginning is not known
}

// holds reports whether a plan made now would be the same, unless a view in of has changed, see on.
func (p *servedPlan) holds(generation int, now time.Time) bool {
	return p.generation == generation && p.valid.contains(now)
}

// build evaluates the plan and finds the requested values and paths that no record has.
func (p *servedPlan) build(ctx context.Context, s Snapshots) (*Body, error) {
	b, err := p.Build(ctx, s)
	if err != nil {
		return nil, err
	}
	// Paths are looked up in all records of the view, not only in those that the caller may see.
	if p.Restricted != "" { // the caller would learn what others' records have
		b.Ignored = ""
		return b, nil
	}
	paths, err := missing(ctx, s.own, p.Paths)
	b.Ignored = query.JoinIgnored(b.Ignored, paths)
	return b, err
}

// missing lists the paths that no record of a snapshot has. It lists none for views that stay in the store.
func missing(ctx context.Context, s *view.Snapshot, paths []string) (string, error) {
	var all []string
	for _, path := range paths {
		parsed, err := raw.ParsePath(path)
		if err != nil {
			continue // the request was refused, or it names no field
		}
		has, err := s.Has(ctx, parsed)
		if err != nil {
			return "", err
		}
		if !has {
			all = append(all, path)
		}
	}
	return query.IgnoredPaths(all), nil
}
