// Package materialize turns source records into the rows of the views that front ends serve: it renders changed
// records, and publishes the result as the next generation of a side collection.
//
// # Data flow
//
// A Job says how to make one view. One run of it has these steps:
//
//  1. Begin a publication, which also repairs what an interrupted one left.
//  2. Load id and hash of every published row, unless the previous run's are still
//     known and the store still counts as many.
//  3. If the schedule alone requested the run, and nothing that it would read has
//     changed since the last run that did, end.
//  4. Scan the source, or if Options.ChangedField is set, read only the records that
//     have changed since then. A record's hash covers its BSON, the fingerprint of the
//     rules and the collections that its row depends on; an equal hash means that there
//     is nothing to do. The hash also covers what the row takes from related
//     collections; that part is only computed again if the record, or anything in them
//     that rows show, has changed.
//  5. Render changed records on several processors, batch by batch, and stage them.
//  6. Stage a tombstone for every row whose record is gone.
//  7. Commit: now readers get the new generation. If nothing has changed there is
//     no new generation, only the view's health is updated.
//
// A run that would remove more than the permitted share of a view publishes nothing and is "held": an emptied source
// must not empty the portals. If a record cannot be rendered, or rendering panics, its last good row stays; it is
// counted, named in the view's health, and tried again by every run. A run that fails leaves the view unchanged.
//
// A full run does not trust the hashes: it renders every record, compares the result with the stored row, and
// publishes only differences. After that of a sound view front ends have nothing to load.
//
// # Who runs jobs, and when
//
// A Runner runs jobs one after another, under the one lease of the store. Everything that it writes carries the
// lease's token, so the store refuses the writes of a runner that has lost it without noticing. Run works on
// schedules until its context ends; RunOnce runs chosen jobs once. Both return when every goroutine that they started
// has ended.
//
// # Kept answers of another server
//
// Under the same lease, the Runner records when collections that kept answers depend on (kept.Rule.Until) have
// changed: front ends compare these marks, and the generations of views, with those in the answers. Beside the jobs
// it asks the Keeper to fetch again what is stale or due under each rule, by the rule's schedule.
package materialize
