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
//
// How a view moves on (refresh.go), in the one goroutine of each view:
//
//	poll or Notify ─▶ refresh ─▶ advance ─┬▶ load       the whole view, at first or if it was made anew
//	                                      ├▶ delta      the changes since the snapshot, in memory
//	                                      ├▶ follow     the next generation in the store
//	                                      └▶ recount    the same generation: are its rows still there?
//	                                  └─▶ swap          warm, prepare, show
//
// A view is held (hold.go) rather than shown with rows that have disappeared by mistake, and read again if mapped
// rows are lost (lost.go). In both cases requests go on getting the last good snapshot, or wait, or get
// rules.ErrUnavailable. They get no answer from too few rows unless an operator accepts the loss (Set.Force).
package view
