// Package fields finds settings that name fields which no record has. Such a setting is valid, since a record may
// come that has the field; but more often its name is misspelt, and a list is empty or shows too much.
package fields

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/rules/fault"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
	"vitrine/rules/suggest"
)

// Use says that a setting names a field of records, or one of its values. For example, a setting may name the path
// authors.orcid, or the value publication of type.
type Use struct {
	Setting string   // its dotted path
	Path    string   // of the field
	Value   string   // of the field, at the top of a record; if empty, only the field matters
	Views   []string // those whose records may have it
}

// Views has the snapshots that are shown; *view.Set implements it. An error means that the view is not loaded yet.
type Views interface {
	Snapshot(view string) (*view.Snapshot, error)
}

// Checker finds uses of fields that no record has. Its methods are safe for concurrent use. A check walks all
// rows, so it runs in the background and in a turn, like any costly request. Its findings are hints for the
// operator: a check that cannot be made leaves what the last one has found.
type Checker struct {
	Views Views
	// Begin waits for a turn among requests, for walking all rows.
	// The caller ends the turn.
	Begin func(context.Context) (context.Context, *fair.Turn, error)
	Log   *slog.Logger // gets each finding once

	running sync.WaitGroup
	mu      sync.Mutex        // guards the rest
	era     int               // number of Forget calls; a check drops its findings if it has changed
	missing map[string]string // hints by setting, path and value
}

// patience bounds how long a check may take, with the wait for its turn. A check that does not get its turn in
// time is made for the next snapshot.
const patience = time.Minute

// Check starts a check, in the background, of all uses, or of those in a view. Wait waits for it.
func (c *Checker) Check(ctx context.Context, all []Use, viewName string) {
	var uses []Use
	for _, use := range all {
		if viewName == "" || slices.Contains(use.Views, viewName) {
			uses = append(uses, use)
		}
	}
	if len(uses) == 0 {
		return
	}
	c.mu.Lock()
	// A check of former settings may end after Forget: its findings are about settings that are gone.
	era := c.era
	c.mu.Unlock()
	c.running.Go(func() {
		defer fault.Panics()()
		defer func() { // if rows are lost, their view is read again, and then checked again
			if r := recover(); r != nil && !fault.Report(r) {
				panic(r)
			}
		}()
		c.check(ctx, era, uses)
	})
}

// check looks for the fields of uses in a turn.
func (c *Checker) check(ctx context.Context, era int, uses []Use) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, turn, err := c.Begin(ctx)
	if err != nil {
		return // the next snapshot is checked again
	}
	defer turn.End()
	for _, use := range uses {
		hint, known, err := c.hint(ctx, use)
		if err == nil && known {
			c.record(era, use, hint)
		}
	}
}

// record records the hint for a use. An empty hint removes the finding. The log gets a finding once, although each
// generation of a view is checked: only a new hint is news.
func (c *Checker) record(era int, use Use, hint string) {
	key := strings.TrimSuffix(use.Setting+": "+use.Path+" "+use.Value, " ")
	c.mu.Lock()
	defer c.mu.Unlock()
	if era != c.era {
		return
	}
	if hint == "" {
		delete(c.missing, key)
		return
	}
	if c.missing[key] != hint {
		c.Log.Warn("a setting names what no record has", "setting", use.Setting, "field", use.Path, "value",
			use.Value,
			"hint", hint)
	}
	if c.missing == nil {
		c.missing = map[string]string{}
	}
	c.missing[key] = hint
}

// Wait waits for running checks. The cache whose turns checks use may be freed only after it.
func (c *Checker) Wait() { c.running.Wait() }

// Forget drops all findings, because the settings have changed. Checks that still run drop what they find.
func (c *Checker) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.era, c.missing = c.era+1, nil
}

// Unknown returns the findings of the last checks, for people.
func (c *Checker) Unknown() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, hint := range c.missing {
		all = append(all, key+": "+hint)
	}
	slices.Sort(all)
	return all
}

// hint returns a message about a field that no record has, or "". known is false if not all its views are in
// memory. A view in the store would have to be read from it as a whole, which is too much for a hint.
func (c *Checker) hint(ctx context.Context, use Use) (hint string, known bool, err error) {
	path, err := raw.ParsePath(use.Path)
	if err != nil {
		return "", false, err
	}
	var all []*view.Snapshot
	for _, name := range use.Views {
		snapshot, err := c.Views.Snapshot(name)
		if err != nil {
			return "", false, nil // it is not loaded yet
		}
		if _, resident := snapshot.Resident(); !resident {
			return "", false, nil
		}
		if snapshot.Len() == 0 {
			// An empty view may be filled later.
			continue // it says nothing about names
		}
		// One record that has the field is enough, in any of the views.
		has, err := snapshot.Has(ctx, path)
		if has && use.Value != "" {
			var selected view.Selection
			if selected, err = snapshot.Select(ctx, filter.OneOf(use.Path, use.Value)); err == nil {
				has = selected.Count() > 0
			}
		}
		if has || err != nil {
			return "", err == nil, err
		}
		all = append(all, snapshot)
	}
	if len(all) == 0 {
		return "", true, nil
	}
	fields, values := sampleNames(all, use.Path)
	if use.Value != "" {
		return "no record has it" + suggest.Hint(use.Value, values), true, nil
	}
	return "no record has it, or it is hidden" + suggest.Hint(use.Path, fields), true, nil
}

// mostSampled is how many rows of a view give names to suggest, and deepest how many steps these have. More rows
// would hardly have other names, and the names are only for a suggestion.
const mostSampled, deepest = 200, 4

// sampleNames returns the paths of the fields of some rows, and the texts that the rows have in one field. It
// reads the first rows of each view: their names are as good as those of others.
func sampleNames(snapshots []*view.Snapshot, field string) (fields, texts []string) {
	found, values := map[string]bool{}, map[string]bool{}
	for _, snapshot := range snapshots {
		table, _ := snapshot.Resident()
		left := mostSampled
		for row := range table.Docs() {
			addFields(found, "", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: row}, deepest)
			if text, ok := row.Lookup(field).StringValueOK(); ok {
				values[text] = true
			}
			if left--; left == 0 {
				break
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(values))
}

// addFields adds the paths of the fields below a value. Elements of arrays have the path of their array. depth
// bounds the recursion, because records may nest as deep as their source lets them.
func addFields(found map[string]bool, prefix string, v bson.RawValue, depth int) {
	if v.Type != bson.TypeEmbeddedDocument && v.Type != bson.TypeArray || depth == 0 {
		return
	}
	elements, err := bson.Raw(v.Value).Elements()
	if err != nil {
		return
	}
	for _, e := range elements {
		path := prefix
		if v.Type == bson.TypeEmbeddedDocument {
			path = strings.TrimPrefix(prefix+"."+e.Key(), ".")
			if strings.HasPrefix(path, "_") && path != "_id" {
				continue // marks of ours
			}
			found[path] = true
		}
		addFields(found, path, e.Value(), depth-1)
	}
}
