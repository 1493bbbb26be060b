package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/proxy/api"
	"vitrine/proxy/lists"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/views"
)

// Membership says whether an answer has a record.
type Membership struct {
	// the _id as Request or the URL of the item has it
	ID       string `json:"id"`
	InAnswer bool   `json:"in_answer"`
	// Reason is selected, other page, clause, permission, hidden type, not public, skipped, held back, not
	// materialized, not in the source, or not a selection.
	Reason string `json:"reason"`
	// each of them alone keeps the record out of the answer, or all together in it
	Because []string `json:"because"`
	Notes   []string `json:"notes,omitempty"` // what else may change with the next run
}

// member finds out why an answer has a record or not. It is made for one record and one answer.
type member struct {
	Membership
	*asked
	records api.Records   // the source collections; nil if they cannot be read
	states  []view.Status // of all views
	rule    mark.Rule     // by which records are public; its filter is nil if it is not known
}

// membership says whether an answer has the record in question, and why.
func (o Options) membership(ctx context.Context, a *asked) (*Membership, error) {
	m := &member{
		Membership: Membership{ID: a.id}, asked: a,
		records: o.Records, states: o.Views.Status(), rule: o.Lists.Rule(),
	}
	err := m.explain(ctx)
	return &m.Membership, err
}

// is sets the reason and adds an explanation.
func (m *member) is(reason, because string) {
	m.Reason, m.Because = reason, append(m.Because, because)
}

// explain sets the Membership.
func (m *member) explain(ctx context.Context) error {
	if m.row == nil {
		m.absent(ctx)
		return nil
	}
	// The row exists. What the source says now goes into notes: it counts only from the next run on.
	v, _ := views.Named(m.snapshot.Meta().View)
	record, gone := m.source(ctx, v)
	if skipped, _ := m.skipped(v.Name); skipped != "" {
		m.Notes = append(m.Notes, "the last run skipped its present version: "+skipped)
	} else if gone {
		m.Notes = append(m.Notes, "it is no longer in the collection "+v.Source+": the next run takes it away")
	}
	if m.selected == nil {
		m.is("not a selection", "the answer is not made of single records")
		return nil
	}
	return m.judge(ctx, record)
}

// source reads the record from the source collection of a view. gone says that the collection lacks it. An error
// of the source is a note and no error: the rest of the explanation does not need the source.
func (m *member) source(ctx context.Context, v views.View) (record bson.Raw, gone bool) {
	if m.records == nil || v.Name == rules.ViewSpectrum { // whose rows are not records
		return nil, false
	}
	byID, _ := filter.Query(m.record.Root(), "")
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
	if i := slices.IndexFunc(m.states, func(s view.Status) bool { return s.View == name }); i >= 0 {
		of = m.states[i]
	}
	for _, skip := range of.Meta.Health.Skips {
		if skip.ID == origin.SkipText(m.ID) {
			reason = skip.Reason
		}
	}
	return reason, of
}

// absent explains why none of the views that were searched has a row of the record. The causes are tried from the
// most certain one to the least: a reason that the run itself has recorded, then the lack of the record in the
// source, then a run that was held back or failed.
func (m *member) absent(ctx context.Context) {
	var sources []string
	for _, name := range m.views {
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
			m.is("not materialized", fmt.Sprintf("view %s has no row of it; a run last read the source at %s",
				name, health.Read.UTC().Format("2006-01-02 15:04:05 MST")))
			if more := health.Skipped - len(health.Skips); more > 0 {
				m.Notes = append(m.Notes, fmt.Sprintf("the last run skipped %d records that are not listed", more))
			}
		}
		return
	}
	m.is("not in the source", "no record in "+strings.Join(sources, ", ")+" has this _id")
}

// judge explains the membership of a record that the view has by the clauses of the selection.
func (m *member) judge(ctx context.Context, record bson.Raw) error {
	has := m.selected.Has
	m.InAnswer, m.Reason = has && !m.elsewhere, "selected"
	if m.elsewhere {
		m.is("other page", "all conditions hold, but it is not on this page")
		return nil
	}
	for i := range m.selected.Clauses {
		c := &m.selected.Clauses[i]
		switch {
		case c.From == lists.FromPublic && c.Holds != nil && !*c.Holds:
			if err := m.unmarked(ctx, c); err != nil {
				return err
			}
		// A row without a mark fails every clause on marks, which says nothing about the record.
		case mark.Of(m.row) == nil && c.onMark():
			c.Holds = nil
			m.Notes = append(m.Notes, "clause `"+c.Clause+"` ("+c.From+") is decided once the record is public")
			continue
		}
		// A record outside fails at least one clause, which then explains it; one inside satisfies all of them.
		if c.Holds == nil && c.Error == "" || c.Holds != nil && *c.Holds != has {
			continue
		}
		reason, text := c.sentence()
		m.Because = append(m.Because, text)
		if m.Reason == "selected" || m.Reason == "clause" {
			m.Reason = reason
		}
		m.Notes = append(m.Notes, c.changed(record)...)
	}
	if len(m.Because) == 0 {
		m.Because = []string{"the answer has all records of the view"}
	}
	return nil
}

// unmarked adds the failing part of the rule to the clause that a record is public. It needs the whole row, which
// callers may not see; only values that the rule tests are shown, and only to the operator.
func (m *member) unmarked(ctx context.Context, c *Clause) error {
	name := m.snapshot.Meta().View
	doc, err := m.snapshot.Whole().First(ctx, m.record) // the rule may test a field that callers do not see
	if err != nil || doc == nil {
		return err
	}
	c.Path, c.Values = "", nil
	// A field of the record may hide it, whatever lists.public says.
	if field := m.rule.Hiding(name, doc); field != "" {
		own := clauseOf(filter.OneOf(field, field == "public").Root(), doc, nil, nil)
		own.Holds = new(bool)
		c.Clauses = append(c.Clauses, own)
	}
	if m.rule.Public == nil {
		return nil
	}
	rule := m.rule.Of(name)
	// Each condition of lists.public becomes a part of the clause, so that deciding finds the one that fails.
	for _, n := range rule.Conditions() {
		c.Clauses = append(c.Clauses, clauseOf(n, doc, nil, func(part *Clause) { part.From = rule.Origin(n) }))
	}
	// The rule may have changed since the run that made the mark.
	if public, err := m.rule.Holds(name, doc); public && err == nil {
		m.Notes = append(m.Notes, "lists.public holds for it: the next run marks its row")
	}
	return nil
}
