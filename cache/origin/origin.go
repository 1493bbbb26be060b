// Package origin is the store behind everything: the institute's source
// collections, which Vitrine only ever reads, and the side collections
// (view_*), which the materializer publishes and every front end loads.
//
// There are two implementations with one behaviour, proven by one conformance
// suite (TestConformance): package mongo for MongoDB 6 to 8, and package bolt for an
// embedded, crash-safe store in one file. Documents cross the interface as
// bson.Raw and belong to the receiver: the store never reuses or unmaps them.
//
// # How a view is published
//
// Readers must see a view as it was at one generation or at the next, never a
// mixture, whatever is killed and whenever. A publication therefore has three
// phases: prepare writes new row versions where no reader looks; commit advances
// the view's Meta in one atomic, fenced step, and that is the moment readers
// change over; settle folds the new versions in and drops what they replace.
// Killed before commit, the view is whole at generation g and the leftovers are
// discarded by the next Begin; killed after, it is whole at g+1 and the next
// Begin finishes settling.
package origin

import (
	"context"
	"errors"
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Errors of a store. Compare with errors.Is.
var (
	// ErrNotFound: no document with that id.
	ErrNotFound = errors.New("document not found")
	// ErrLeaseHeld: another instance holds the lease and it has not run out.
	ErrLeaseHeld = errors.New("lease held by another instance")
	// ErrFenced: the lease was lost; a newer token exists and this writer must stop.
	ErrFenced = errors.New("lease lost: fenced off by a newer holder")
	// ErrStale: changes since the asked generation are no longer known (tombstones
	// were pruned, or the view was created anew); drop what was read and load from
	// generation 0.
	ErrStale = errors.New("generation too old: load the view anew")
	// ErrLocked: another process holds the embedded store open.
	ErrLocked = errors.New("store is in use by another process")
	// ErrDamaged: the store, or a collection or view in it, is not what was written.
	ErrDamaged = errors.New("store is damaged")
	// ErrDamagedRecord: one record is not what was written. See DamagedError.
	ErrDamagedRecord = errors.New("record is damaged")
	// ErrUnsupported: this store cannot do that (a query operator, watching).
	ErrUnsupported = errors.New("not supported by this store")
)

// Store is everything a store offers. Methods are safe for concurrent use.
// Consumers should ask for the smaller interface that they need.
type Store interface {
	Source
	Views
	Queries
	Leases
	Importer
	Watcher
	Indexer

	// Name describes the store for people, without secrets ("bolt://data/vitrine.db").
	Name() string
	// Ping reports whether the store answers. It passes no gate.
	Ping(ctx context.Context) error
	// Guard lets all requests from now on pass a gate. No other method may run meanwhile.
	Guard(Gate)
	// Close releases the store; no method may be called afterwards.
	Close() error
}

// Gate lets a request to a store pass, or returns why it does not. It may end the request's
// context before the caller's ends. Package circuit has one.
type Gate func(ctx context.Context, request func(context.Context) error) error

// NoGate lets every request pass.
func NoGate(ctx context.Context, request func(context.Context) error) error { return request(ctx) }

// Source reads the institute's collections.
type Source interface {
	// Scan yields every document of a collection once, in no promised order. A
	// missing collection is an empty one. It is safe to call other methods of the
	// store, writes included, from the loop body. After an error nothing follows, unless
	// it is ErrDamagedRecord: one comes for each record that is left out.
	Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error]
	// Sift is a Scan that yields only what want asks for. want sees every document as
	// the store has it in memory, to copy none in vain: it may neither keep nor change
	// it, nor call the store. It is called ahead of the loop body, in the same order.
	Sift(ctx context.Context, collection string, want func(doc bson.Raw) bool) iter.Seq2[bson.Raw, error]
	// Find yields the documents that answer a query, in its order.
	Find(ctx context.Context, collection string, q Query) iter.Seq2[bson.Raw, error]
	// Collections lists the source collections by name, sorted.
	Collections(ctx context.Context) ([]string, error)
}

// Query selects documents of a collection, in MongoDB's language.
type Query struct {
	Filter     bson.Raw // nil matches everything
	Sort       raw.Sort // nil leaves the order open
	Projection []string // top-level fields to keep beside _id, others may stay; nil keeps all
	Skip       int64
	Limit      int64 // 0 is no limit
}

// Row is one row of a view. Doc is the row as handlers and filters see it: the
// store keeps generation and hash beside it, not in it.
type Row struct {
	ID         bson.RawValue // the record's own _id
	Generation uint64        // the generation that brought this version
	Hash       uint64        // of the record and everything the row was made from
	Doc        bson.Raw      // with ID as its _id; nil: a tombstone, the row is gone
}

// Meta describes a published view; there is one per view. It is stored as it is here, as
// one document. Times have a millisecond's precision, as BSON has.
type Meta struct {
	View       string    `bson:"_id"`
	Epoch      string    `bson:"epoch"`     // changes when the view is created anew, so that generations of two lives are never compared
	Generation uint64    `bson:"gen"`       // 0: never published
	Rows       int       `bson:"rows"`      // live rows
	Rules      string    `bson:"rules"`     // fingerprint of the rules the rows were made by
	Published  time.Time `bson:"published"` // when Generation was committed; in a later second than the one before
	Pruned     uint64    `bson:"pruned"`    // deltas reach back to this generation, not further
	Checked    time.Time `bson:"checked"`   // when a job last completed with health "ok", with or without changes
	Health     Health    `bson:"health"`
	// Forced is when a forced run last ended well: what front ends hold, they show then.
	Forced time.Time `bson:"forced,omitempty"`
	// Past is when the last generations were published, Generation's last. Earlier versions
	// leave it empty.
	Past []time.Time `bson:"past,omitempty"`
}

// MaxPast bounds Meta.Past.
const MaxPast = 64

// Follows reports whether publications alone lead from another Meta to this one. A store
// that was restored from a backup has generations a second time, and loses an epoch or goes
// back. It is not sure if Past does not reach back that far.
func (m Meta) Follows(from Meta) (follows, sure bool) {
	if m.Epoch != from.Epoch || m.Generation < from.Generation {
		return false, true
	}
	if back := m.Generation - from.Generation; back < uint64(len(m.Past)) {
		return m.Past[len(m.Past)-1-int(back)].Equal(from.Published), true
	}
	return true, len(m.Past) == 0
}

// Is returns nil if the view is at the generation of another Meta, and ErrStale otherwise.
func (m Meta) Is(at Meta) error {
	if m.Epoch != at.Epoch || m.Generation != at.Generation {
		return ErrStale
	}
	return nil
}

// Reaches returns nil if a reader can come from generation since to this one by a delta,
// and ErrStale otherwise. From 0 every reader can.
func (m Meta) Reaches(since uint64) error {
	if since > m.Generation || (since > 0 && since < m.Pruned) {
		return ErrStale
	}
	return nil
}

// The values of Health.Status; it is empty before the first run.
const (
	HealthOK    = "ok"
	HealthHeld  = "held" // not published: the view, or what its rows are made from, would shrink too much, or a record of that is damaged
	HealthError = "error"
)

// Health is how the last run of a view's job went.
type Health struct {
	Status  string        `bson:"status"`           // HealthOK, HealthHeld or HealthError
	Error   string        `bson:"error"`            // why, for "held" and "error"
	Forced  bool          `bson:"forced,omitempty"` // the last run was forced
	Started time.Time     `bson:"started"`          // of the last run
	Took    time.Duration `bson:"took"`             // of the last run; stored as nanoseconds
	Scanned int           `bson:"scanned"`          // source records read
	Changed int           `bson:"changed"`          // rows published
	Removed int           `bson:"removed"`          // rows taken away
	Skipped int           `bson:"skipped"`          // records left out because no row could be made of them
	Skips   []Skip        `bson:"skips,omitempty"`  // the first of those, at most MaxSkips
	Counts  []Count       `bson:"counts,omitempty"` // of the view's rows and of the collections that they are made from
}

// Views reads and publishes side collections.
type Views interface {
	// Meta returns a view's meta; a view never published has Generation 0 and no error.
	Meta(ctx context.Context, view string) (Meta, error)
	// Metas returns every known view's meta, sorted by name.
	Metas(ctx context.Context) ([]Meta, error)
	// Rows calls fn for the rows that bring a reader from generation since to the
	// returned Meta's generation: with since 0 every live row, otherwise the rows
	// changed after since, tombstones included. The rows together are exactly the
	// view at that generation, even if publications go on meanwhile; an id may
	// come more than once, then the one with the highest generation counts, and
	// that one comes last. So with since 0 a tombstone may follow a row that was
	// taken away during the call. ErrStale asks the caller to start from 0, anew if
	// it did already. fn may keep the row and may call the store.
	Rows(ctx context.Context, view string, since uint64, fn func(Row) error) (Meta, error)
	// Hashes calls fn with id and hash of every live row at the current generation. It is
	// for publishers, behind Begin: should another one begin meanwhile, what it says is
	// worth as little as their Commit.
	Hashes(ctx context.Context, view string, fn func(id bson.RawValue, hash uint64) error) error
	// RowCount counts the live rows that the store has of the current generation, and reads
	// none of them. It is exact behind Begin, like Hashes, and where Settled holds.
	RowCount(ctx context.Context, view string) (int, error)
	// Begin starts a publication under a lease, after repairing what an interrupted
	// one left. One publication of a view at a time: the lease guarantees it, hence
	// a view is always published under leases of one name. ErrFenced if the lease is
	// no longer the newest; a Begin fences off every publication begun earlier.
	Begin(ctx context.Context, view string, lease Lease) (Publication, error)
	// SetHealth records how a run went, fenced by the lease. It never touches rows or generation.
	SetHealth(ctx context.Context, view string, lease Lease, h Health) error
}

// Publication collects the changes that make up a view's next generation. It is
// used by one goroutine. Until Commit returns nil no reader sees anything of it.
type Publication interface {
	// Put stages new versions of rows of the next generation; Row.Generation is ignored, a nil Doc takes the
	// row away. An id is put once.
	Put(ctx context.Context, rows []Row) error
	// Commit publishes everything put so far and returns the new meta. ErrFenced if
	// the lease is no longer the newest. rows is the number of live rows afterwards,
	// rules the fingerprint to record.
	Commit(ctx context.Context, rows int, rules string) (Meta, error)
	// Abort discards what was put. After Commit it does nothing.
	Abort(ctx context.Context) error
}

// Queries runs queries on views in the store, for readers that do not hold them in
// memory. Every method takes the generation of the view from its Meta, and answers from
// exactly that generation or fails with ErrStale: the view was published again, and the
// caller should start over with the new Meta. If a generation is published but not yet
// settled, the method waits for it.
type Queries interface {
	// Select yields the rows that answer a query, in its order, ties by _id. It holds
	// no more than a batch of rows, except that a store without an index for the
	// order may hold the sort keys of all rows before the query's end. After an error
	// nothing follows; ErrStale may come after rows, which then are to be discarded.
	Select(ctx context.Context, at Meta, q Query) iter.Seq2[bson.Raw, error]
	// Count returns the number of rows that a filter matches; nil matches all.
	Count(ctx context.Context, at Meta, filter bson.Raw) (int, error)
	// Settled reports whether queries need not wait.
	Settled(ctx context.Context, at Meta) (bool, error)
}

// Indexer makes indexes for queries on views.
type Indexer interface {
	// Index makes sure that a view has an index for each of the given orders, if the store
	// has indexes. What is there already costs nothing.
	Index(ctx context.Context, view string, orders []raw.Sort) error
}

// Lease is the right to materialize, held by one process at a time. One that has
// run out still holds until another holder takes it.
type Lease struct {
	Name    string    `bson:"_id,omitempty"`
	Holder  string    `bson:"holder"`  // names the holder for people: host, process id, random part
	Token   uint64    `bson:"token"`   // grows with every change of holder; writes carry it
	Expires time.Time `bson:"expires"` // by the holder's clock: for people alone, nothing is decided by it
}

// Leases hands out leases. A lease has run out when the store that is asked for it has
// seen it unchanged for its whole term, by the monotonic clock of this process: what the
// clocks of hosts show is never compared. So the first Acquire for another holder begins
// the wait and fails, and asking again often finds the end early.
type Leases interface {
	// Acquire takes the lease for ttl, its term, or fails with an ErrLeaseHeld that names
	// the holder. Taking it again as the same holder renews it.
	Acquire(ctx context.Context, name, holder string, ttl time.Duration) (Lease, error)
	// Renew extends a held lease, or fails with ErrFenced. The caller counts ttl from
	// before the call, by a monotonic clock.
	Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error)
	// Release gives the lease back; releasing a lost lease is no error.
	Release(ctx context.Context, l Lease) error
	// Holder returns the holder that took the lease last and did not give it back; it may
	// have died since. If the lease is free, it is empty. Holder only reads.
	Holder(ctx context.Context, name string) (string, error)
}

// Importer fills source collections; only `vitrine import` and the demo use it.
// Names that CheckCollection refuses are errors.
type Importer interface {
	// Upsert stores documents by _id, replacing those that exist. All documents of
	// a call are durable when it returns nil. Each has an _id of its own.
	Upsert(ctx context.Context, collection string, docs []bson.Raw) (Upserted, error)
	// Retain deletes the documents whose _id keep refuses and returns how many.
	Retain(ctx context.Context, collection string, keep func(id bson.RawValue) bool) (int, error)
}

// Upserted counts what an Upsert did.
type Upserted struct{ Inserted, Replaced int }

// Watcher reports changes as they happen.
type Watcher interface {
	// Watch calls changed, at most once per collection and change burst, until ctx
	// ends. ErrUnsupported if the store cannot, as a server without change streams.
	Watch(ctx context.Context, collections []string, changed func(collection string)) error
}
