// Package materialize turns source records into the rows of the views that front
// ends serve: it reads the institute's collections, renders what changed, and
// publishes the result as the next generation of a side collection.
//
// # The data's way
//
// A Job says how one view is made. One run of it goes like this:
//
//  1. Begin a publication, which also repairs what an interrupted one left.
//  2. Load id and hash of every row that is published now, unless the run before knows
//     them and the store still counts as many.
//  3. Scan the source. A record's hash covers its BSON, the fingerprint of the
//     rules and the collections its row depends on; equal hash, nothing to do.
//     What its row takes of related collections is part of it, too, and is only
//     computed again if the record, or anything in those that rows show, has changed.
//  4. Render what changed on all cores, batch by batch, and put it aside.
//  5. Put a tombstone for every row whose record is gone.
//  6. Commit, which is the moment readers change over. If nothing changed there is
//     no new generation, only a newer word on the view's health.
//
// A run that would take away more than the permitted share of a view publishes
// nothing and is "held": an emptied source must not empty the portals. A record
// that cannot be rendered, or whose rendering panics, keeps its last good row, or
// is left out if there never was one; it is counted, named in the view's health,
// and tried again by every run. A run that fails leaves the view as it was.
//
// A full run does not trust the hashes: it renders every record and compares the
// outcome with the rows as they are stored. Only true differences are published,
// so that a nightly full run of a sound view brings front ends nothing to load,
// and one of a view that drifted brings exactly the repairs.
//
// # Who works, and when
//
// A Runner runs jobs one after another, under a lease of which there is one per
// store; all that it writes carries the lease's token, so a runner that lost its
// lease without noticing is refused by the store. Run works on schedules until
// its context ends; RunOnce runs chosen jobs once. Both return only when every
// goroutine they started has ended.
package materialize
