package proxy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/proxy/api"
	"vitrine/proxy/lists"
	"vitrine/proxy/lists/params"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/osiris"
	"vitrine/rules/views"
)

// Membership says whether an answer has a record.
type Membership struct {
	ID       string `json:"id"`
	InAnswer bool   `json:"in_answer"`
	// Reason is selected, other page, clause, permission, hidden type, not public, skipped, held back, not
	// materialized, not in the source, or not a selection.
	Reason string `json:"reason"`
	// each of them alone keeps the record out of the answer, or all together in it
	Because []string `json:"because"`
	Notes   []string `json:"notes,omitempty"` // what else may change with the next run
}

// member finds out why an answer has a record or not.
type member struct {
	Membership
	trace   *view.Trace
	records api.Records   // the source collections; nil if they cannot be read
	views   []view.Status // of all views
	rule    mark.Rule     // by which records are public; its filter is nil if it is not known
}

// is sets the reason and adds an explanation.
func (m *member) is(reason, because string) {
	m.Reason, m.Because = reason, append(m.Because, because)
}

// explain sets the Membership.
func (m *member) explain(ctx context.Context) error {
	if m.trace.Row == nil {
		m.absent(ctx)
		return nil
	}
	v, _ := views.Named(m.trace.Snapshot.Meta().View)
	record, gone := m.source(ctx, v)
	if skipped, _ := m.skipped(v.Name); skipped != "" {
		m.Notes = append(m.Notes, "the last run skipped its present version: "+skipped)
	} else if gone {
		m.Notes = append(m.Notes, "it is no longer in the collection "+v.Source+": the next run takes it away")
	}
	if m.trace.Selected == nil {
		m.is("not a selection", "the answer is not made of single records")
		return nil
	}
	return m.judge(ctx, record)
}

// source reads the record from the source collection of a view. gone says that the collection lacks it.
func (m *member) source(ctx context.Context, v views.View) (record bson.Raw, gone bool) {
	if m.records == nil || v.Name == rules.ViewSpectrum { // whose rows are not records
		return nil, false
	}
	byID, _ := filter.Query(m.trace.Record.Root(), "")
	for doc, err := range m.records.Find(ctx, v.Source, origin.Query{Filter: byID, Limit: 1}) {
		if err != nil {
			m.Notes = append(m.Notes, "the source cannot be read: "+err.Error())
		}
		return doc, false
	}
	return nil, true
}

// skipped returns why the last run for a view skipped the record, or "", and the state of the view.
func (m *member) skipped(name string) (reason string, of view.Status) {
	if i := slices.IndexFunc(m.views, func(s view.Status) bool { return s.View == name }); i >= 0 {
		of = m.views[i]
	}
	for _, skip := range of.Meta.Health.Skips {
		if skip.ID == origin.SkipText(m.ID) {
			reason = skip.Reason
		}
	}
	return reason, of
}

// absent explains why none of the views that were searched has a row of the record.
func (m *member) absent(ctx context.Context) {
	var sources []string
	for _, name := range m.trace.Views {
		v, _ := views.Named(name)
		reason, of := m.skipped(name)
		_, gone := m.source(ctx, v)
		switch health := of.Meta.Health; {
		case reason != "":
			m.is("skipped", "the last run skipped it: "+reason)
		case gone:
			sources = append(sources, v.Source)
			continue
		case of.Held != nil:
			m.is("held back", of.Held.Error())
		case health.Error != "":
			m.is("held back", "the last run ended with: "+health.Error)
		default:
			m.is("not materialized", fmt.Sprintf("view %s has no row of it; a run last read the source at %s", name,
				health.Read.UTC().Format("2006-01-02 15:04:05 MST")))
			if more := health.Skipped - len(health.Skips); more > 0 {
				m.Notes = append(m.Notes, fmt.Sprintf("the last run skipped %d records that are not listed", more))
			}
		}
		return
	}
	m.is("not in the source", "no record in "+strings.Join(sources, ", ")+" has this _id")
}

// judge explains the membership of a record that the view has by the conditions of the selection.
func (m *member) judge(ctx context.Context, record bson.Raw) error {
	selected := m.trace.Selected
	listed, shown := m.trace.Shown()
	m.InAnswer, m.Reason = selected.Has && (shown || !listed), "selected"
	if selected.Has && !m.InAnswer {
		m.is("other page", "all conditions hold, but it is not on this page")
		return nil
	}
	for i := range selected.Clauses {
		c := &selected.Clauses[i]
		switch {
		case c.From == lists.FromPublic && c.Holds != nil && !*c.Holds:
			if err := m.unmarked(ctx, c); err != nil {
				return err
			}
		case mark.Of(m.trace.Row) == nil && onMark(*c):
			c.Holds = nil
			m.Notes = append(m.Notes, "clause `"+c.Clause+"` ("+c.From+") is decided once the record is public")
			continue
		}
		if c.Error == "" && (c.Holds == nil || *c.Holds != selected.Has) {
			continue
		}
		reason, text := sentence(*c)
		m.Because = append(m.Because, text)
		if m.Reason == "selected" || m.Reason == "clause" {
			m.Reason = reason
		}
		m.Notes = append(m.Notes, changed(*c, record)...)
	}
	if len(m.Because) == 0 {
		m.Because = []string{"the answer has all records of the view"}
	}
	return nil
}

// onMark reports whether a condition tests the mark of a public record, or its words, other than for its presence.
func onMark(c view.Clause) bool {
	return c.From == params.Words || strings.HasPrefix(c.Path, mark.Field) || slices.ContainsFunc(c.Clauses, onMark)
}

// unmarked adds the failing part of the rule to the condition that a record is public.
func (m *member) unmarked(ctx context.Context, c *view.Clause) error {
	name := m.trace.Snapshot.Meta().View
	// the rule may test a field that callers do not see
	doc, err := m.trace.Snapshot.Whole().First(ctx, m.trace.Record)
	if err != nil || doc == nil {
		return err
	}
	c.Path, c.Values = "", nil
	if field := m.rule.Hiding(name, doc); field != "" {
		own := view.ClauseOf(filter.OneOf(field, field == "public").Root(), doc, nil, nil)
		own.Holds = new(bool)
		c.Clauses = append(c.Clauses, own)
	}
	if m.rule.Public == nil {
		return nil
	}
	rule := m.rule.Of(name)
	for _, n := range rule.Conditions() {
		from := func(part *view.Clause) { part.From = rule.Origin(n) }
		c.Clauses = append(c.Clauses, view.ClauseOf(n, doc, nil, from))
	}
	if public, err := m.rule.Holds(name, doc); public && err == nil {
		m.Notes = append(m.Notes, "lists.public holds for it: the next run marks its row")
	}
	return nil
}

// sentence says that a condition holds or fails, and on which values; reason is why a record that fails it is left
// out.
func sentence(c view.Clause) (reason, text string) {
	reason, text = "clause", "clause `"+c.Clause+"`"
	if c.From != "" {
		text += " (" + c.From + ")"
	}
	switch {
	case c.Holds == nil:
		return reason, text + " cannot be decided: " + c.Error
	case *c.Holds:
		reason, text = "selected", text+" holds"
	case strings.HasPrefix(c.From, "permission "):
		reason, text = "permission", "the caller lacks the "+c.From+", and the record does not name the caller's user"
	case c.From == access.Types:
		reason, text = "hidden type", "the caller may not see this type ("+c.From+")"
	case c.From == lists.FromPublic:
		reason, text = "not public", "the record is not public ("+c.From+")"
	default:
		text += " fails"
	}
	var facts []string
	for _, leaf := range deciding(c) {
		if fact := factOf(leaf); leaf.Path != "" && !slices.Contains(facts, fact) {
			facts = append(facts, fact)
		}
	}
	if len(facts) > 0 {
		text += ": " + strings.Join(facts, "; ")
	}
	return reason, text
}

// deciding returns the conditions without parts by which a condition holds or fails.
func deciding(c view.Clause) (all []view.Clause) {
	if len(c.Clauses) == 0 || c.Path != "" || c.Holds == nil {
		return []view.Clause{c}
	}
	for _, part := range c.Clauses {
		if part.Holds != nil && (len(c.Clauses) == 1 || *part.Holds == *c.Holds) {
			// a single part may be the opposite
			all = append(all, deciding(part)...)
		}
	}
	return all
}

// factOf says what a record has at the path of a condition.
func factOf(c view.Clause) string {
	fact := strings.TrimPrefix(c.Path, mark.Field+".") + " is " + cmp.Or(strings.Join(c.Values, ", "), "missing")
	if osiris.FromPortal(c.From) {
		fact += ", kept from the portal by " + c.From
	}
	return fact
}

// changed lists the values that a condition tests and that differ between the source and the row.
func changed(c view.Clause, record bson.Raw) (notes []string) {
	for _, leaf := range deciding(c) {
		now := leaf
		if name, _, _ := strings.Cut(leaf.Path, "."); name == "rendered" || rules.Reserved(name) || leaf.Node == nil {
			continue // the run makes it
		}
		if _, now.Values = filter.Values(leaf.Node, record); len(now.Values) > 0 && factOf(now) != factOf(leaf) {
			notes = append(notes, "in the source "+factOf(now)+": not materialized yet")
		}
	}
	return notes
}
