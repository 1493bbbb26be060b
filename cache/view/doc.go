// Package view shows the current generation of each view.
//
// Data flow: a Set loads each view's rows from the store and keeps them fresh by deltas. A reader gets a Snapshot:
// the rows of one generation, immutable, read without locks, replaced as a whole by an atomic swap. A request loads
// the snapshot once, selects rows by a filter, and counts, pages, groups and joins prepared fragments on that one
// value.
//
// The rows are in memory, where package index answers any filter from them, or stay in the store, which is then
// queried at the snapshot's generation. Selection is the same for both. Files keeps the snapshots in memory also on
// disk, so that a front end can start while the store is unavailable.
package view
