package osiris

import (
	"cmp"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Portal is what OSIRIS's own portal shows of activities. An activity has a page there if its
// subtype is in Subtypes and its workflow suits Visibility. docs/osiris.md describes what follows
// from it for lists.
type Portal struct {
	Subtypes   []string // the subtypes that the portal shows, sorted
	Known      int      // the number of subtypes in the database
	Workflow   *bool    // whether activities have workflows; nil if the database does not say, which means no
	Visibility string   // which workflows the portal shows; "" if the database does not say, which means all
}

// Values of Portal.Visibility. As in OSIRIS, they count only with Workflow.
const (
	VisibleAll        = "all"
	VisibleApproved   = "only-approved"
	VisibleUnrejected = "approved-or-empty" // also activities that have no workflow
)

const (
	visibilityKey   = "portfolio-workflow-visibility"
	workflowFeature = "quality-workflow"
)

// Where conditions of Portal.Shown come from.
const (
	FromTypes    = Types + ".portfolio"
	FromWorkflow = General + "." + visibilityKey
)

// String describes what the portal shows: "7 of 9 subtypes, only-approved".
func (p Portal) String() string {
	text := fmt.Sprintf("%d of %d subtypes", len(p.Subtypes), p.Known)
	if p.Workflow != nil && *p.Workflow {
		text += ", " + cmp.Or(p.Visibility, VisibleAll)
	}
	return text
}

// FromPortal reports whether a condition with an origin (filter.Filter.Origin) is one of Portal.Shown.
func FromPortal(origin string) bool { return origin == FromTypes || origin == FromWorkflow }

// Filters by which OSIRIS selects what its portal shows. They compare as MongoDB does, so portfolio: "1" shows
// nothing.
var (
	inPortal   = filter.OneOf("portfolio", true, 1, "true")
	approved   = filter.OneOf("workflow.status", "verified")
	noWorkflow = filter.Not(filter.Has("workflow.status"))
)

// Shown returns the filter for the activities that the portal shows. The parts have names
// (filter.Filter.As), so that an explanation can say which of them hides a record. Without subtypes
// it matches nothing.
func (p Portal) Shown() *filter.Filter {
	subtypes := make([]any, len(p.Subtypes))
	for i, id := range p.Subtypes {
		subtypes[i] = id
	}
	shown := filter.OneOf("subtype", subtypes...).As(FromTypes)
	if p.Workflow == nil || !*p.Workflow {
		return shown
	}
	switch p.Visibility {
	case VisibleApproved:
		return filter.And(shown, approved.As(FromWorkflow))
	case VisibleUnrejected:
		return filter.And(shown, filter.Or(noWorkflow, approved).As(FromWorkflow))
	}
	return shown
}

// Keeping returns the settings with the last known ones in place of those that are gone, whose
// names it returns. OSIRIS deletes and inserts such a record to change it: a run between the two
// would publish what it hides. It cannot tell a setting that was removed for good, so it returns
// the names for the caller to report.
func (p Portal) Keeping(last Portal) (kept Portal, gone []string) {
	if p.Visibility == "" && last.Visibility != "" {
		p.Visibility, gone = last.Visibility, append(gone, FromWorkflow)
	}
	if p.Workflow == nil && last.Workflow != nil {
		p.Workflow, gone = last.Workflow, append(gone, Features+"."+workflowFeature)
	}
	return p, gone
}

// portal reads {id, portfolio} of the subtypes. If several records have the same id, all must be in
// the portal. One record that hides the subtype is enough, because a filter cannot know which of
// them an activity means.
func (r *reader) portal() {
	shown := map[string]bool{}
	for rec := range r.records(Types) {
		id, ok := raw.Get(rec.doc, "id").StringValueOK() // unchanged: activities refer to exactly this text
		if !ok {
			continue
		}
		before, known := shown[id]
		shown[id] = (before || !known) && matches(inPortal, rec.doc)
	}
	p := &r.settings.Portal
	for id, on := range shown {
		if p.Known++; on {
			p.Subtypes = append(p.Subtypes, id)
		}
	}
	slices.Sort(p.Subtypes)
}

// matches reports whether a filter that cannot fail matches. A filter without $expr and
// backtracking expressions never fails.
func matches(f *filter.Filter, doc bson.Raw) bool {
	ok, err := f.Match(doc)
	return ok && err == nil
}

// visibility reads which workflows the portal shows. A value that OSIRIS does not know must not publish anything.
func visibility(rec record) string {
	switch v := rec.text("value"); v {
	case VisibleAll, VisibleApproved, VisibleUnrejected:
		return v
	case "":
		if raw.FlagOf(raw.Get(rec.doc, "value")) == raw.FlagMissing {
			return VisibleAll
		}
	}
	rec.warn("%s is not all, only-approved or approved-or-empty: only approved activities are public until it is",
		visibilityKey)
	return VisibleApproved
}
