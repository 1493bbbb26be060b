package lists

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/osiris"
)

// Difference is what a change of settings would hide in a list, and show. An operator reads it before the change;
// nothing is built for it.
type Difference struct {
	List   string  `json:"list"` // the name of a list or, for all lists of a view's records, of the view
	Before int     `json:"before"`
	After  int     `json:"after"`
	Hidden Changes `json:"hidden"`
	Shown  Changes `json:"shown"`
	// NotJudged names what the change may change beyond this, which only the views show that are built by it.
	NotJudged []string `json:"not_judged,omitempty"`

	was, will *filter.Filter // the list's own conditions; nil if there is no such list
	selects   bool           // will compares marks, which records that are not public do not have
}

// Changes are the records that a change hides or shows.
type Changes struct {
	Count    int            `json:"count"`
	Fields   map[string]int `json:"fields,omitempty"`   // numbers of records by Example.Field
	Examples []Example      `json:"examples,omitempty"` // the first ones, up to mostExamples
}

// Example is a record. Field has the paths of the fields that decide, separated by commas, or names another reason.
type Example struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Field string `json:"field"`
}

// mostExamples is the most examples of the records that a change hides, and of those that it shows. Fields has the
// reasons of all.
const mostExamples = 5

// Present is what Diff compares lists by: the views, and the time.
type Present struct {
	Views interface {
		Snapshot(view string) (*view.Snapshot, error)
	}
	Now time.Time
}

// Diff compares the lists with others, next, and reads the rows of all views for it. was and will are the rules by
// which records are public before and after the change. unjudged is for NotJudged.
//
// It applies the new rule to the rows of the present views. So it cannot judge what only another build of the views
// would show, such as records that a new filter of a view admits.
func (l *Lists) Diff(
	ctx context.Context, on Present, next *Lists, was, will mark.Rule, unjudged []string,
) (all []Difference, err error) {
	var failed error
	was.Public, err = l.seen(was.Public)
	will.Public, failed = next.seen(will.Public)
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	for _, view := range views {
		snap, err := on.Views.Snapshot(view)
		if err != nil {
			return nil, err
		}
		// The first entry is for all lists of the view's records, and the others are for the lists of the
		// configuration. A list that only one side has compares with nil, by which no row holds.
		lists := []Difference{{List: view, was: filter.All(), will: filter.All(), NotJudged: unjudged}}
		for i, side := range []*Lists{l, next} {
			for _, one := range side.lists[:len(side.o.Named)] {
				if one.def.View != view {
					continue
				}
				at := slices.IndexFunc(lists, func(d Difference) bool { return d.List == one.def.slug })
				if at < 0 {
					at, lists = len(lists), append(lists, Difference{List: one.def.slug, NotJudged: unjudged})
				}
				rows, err := side.fixed(ctx, snap, one.rows)
				if err != nil {
					return nil, err
				}
				rows.Year = on.Now.In(l.shared.Zone).Year()
				*[]**filter.Filter{&lists[at].was, &lists[at].will}[i] = rows.Own()
				lists[at].selects = i == 1 && len(one.rows.Fixed) > 0
			}
		}
		if err := l.compare(ctx, snap, lists, was, will, next.o.Enabled); err != nil {
			return nil, err
		}
		all = append(all, lists...)
	}
	return all, nil
}

// compare counts the rows of a view in its lists before and after the change. It reads each row once for all lists,
// and gives way to other requests, because an operator can wait.
func (l *Lists) compare(
	ctx context.Context, snap *view.Snapshot, lists []Difference, was, will mark.Rule, enabled bool,
) error {
	name := snap.Meta().View
	// whole, because a rule may test a field that callers do not see
	selected, err := snap.Whole().Select(ctx, filter.All())
	if err != nil {
		return err
	}
	for e, err := range selected.Rows(ctx, 0, 0) {
		if err = cmp.Or(err, fair.TurnOf(ctx).Check(ctx)); err != nil {
			return err
		}
		row := e.Doc()
		before := holds(l.public, row)
		after, _ := will.Holds(name, row) // false if the rule cannot decide
		for i := range lists {
			lists[i].count(before, after, row, func(shown bool) Example {
				it := &item{}
				l.o.Cite.View(name).Read(row, &it.Item)
				field := "lists.enabled: lists are disabled"
				if shown {
					field = deciding(name, row, was, lists[i].was)
				} else if enabled {
					field = deciding(name, row, will, lists[i].will)
				}
				return Example{ID: it.ID, Title: titleOf(&it.Item), Field: field}
			})
		}
	}
	return nil
}

// holds reports whether a row satisfies a filter. It is false if there is none, or if it cannot decide.
func holds(f *filter.Filter, row bson.Raw) bool {
	if f == nil {
		return false
	}
	ok, err := f.Match(row)
	return ok && err == nil
}

// count counts a row that is public before and after the change, or not.
func (d *Difference) count(before, after bool, row bson.Raw, example func(shown bool) Example) {
	if d.selects && after && mark.Of(row) == nil {
		d.selects, d.NotJudged = false, append(slices.Clip(d.NotJudged), "select, on records that are not public yet")
	}
	before, after = before && holds(d.was, row), after && holds(d.will, row)
	if before {
		d.Before++
	}
	if after {
		d.After++
	}
	switch {
	case before && !after:
		d.Hidden.add(example(false))
	case after && !before:
		d.Shown.add(example(true))
	}
}

func (c *Changes) add(e Example) {
	if c.Fields == nil {
		c.Fields = map[string]int{}
	}
	if c.Count++; c.Count <= mostExamples {
		c.Examples = append(c.Examples, e)
	}
	c.Fields[e.Field]++
}

// deciding names the fields by which a rule and a list's own conditions refuse a row: "public, hide" for example. A
// condition that a setting of OSIRIS's portal made has the stored value and the name of that setting, because the
// operator changes it there.
func deciding(view string, row bson.Raw, rule mark.Rule, own *filter.Filter) string {
	if own == nil {
		return "the list itself"
	}
	fields := refusing(own.Root(), row)
	if field := rule.Hiding(view, row); field != "" {
		fields = append(fields, field)
	}
	whole := rule.Of(view)
	for _, n := range whole.Conditions() {
		because := refusing(n, row)
		if from := whole.Origin(n); osiris.FromPortal(from) && len(because) > 0 {
			// the value says which of OSIRIS's settings
			_, values := filter.Values(filter.Has(because[0]).Root(), row)
			because = []string{because[0] + " " + cmp.Or(strings.Join(values, ", "), "missing") + " (" + from + ")"}
		}
		fields = append(fields, because...)
	}
	for i, field := range fields {
		fields[i] = strings.TrimPrefix(field, mark.Field+".")
	}
	slices.Sort(fields)
	// The rule shows the row and the list has it, so only the build that adds the mark is missing.
	return cmp.Or(strings.Join(slices.Compact(fields), ", "), "not built yet")
}

// refusing returns the paths of the conditions that a row does not satisfy. It looks into conjunctions only: each
// of their conditions must hold, while of a disjunction no single one is the reason.
func refusing(n filter.Node, row bson.Raw) (paths []string) {
	if ok, err := filter.Match(n, row, nil); ok && err == nil {
		return nil
	}
	and, several := n.(*filter.AndNode)
	if !several {
		paths, all := filter.Paths(n)
		if !all {
			paths = append(paths, "$expr")
		}
		return paths
	}
	for _, c := range and.Nodes {
		paths = append(paths, refusing(c, row)...)
	}
	return paths
}
