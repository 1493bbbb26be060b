// Package origin is the store: the institute's source collections, which Vitrine reads and only imports write, and
// the side collections (view_*), which the materializer publishes and every front end loads.
//
// It has two implementations that behave the same, proven by one conformance suite (TestConformance): package mongo
// for MongoDB 6 to 8, and package bolt for an embedded, crash-safe store in one file. Documents cross the interface
// as bson.Raw and belong to the receiver: the store never reuses or unmaps them.
//
// # How a view is published
//
// Readers must see a view at one generation or at the next, never a mixture, whatever process is killed at any
// moment. A publication therefore has three phases: prepare writes new row versions where no reader looks; commit
// advances the view's Meta in one atomic, fenced step, and from then on readers see the new generation; settle folds
// the new versions in and deletes the replaced ones. The next Begin discards the leftovers of a publication killed
// before commit, and finishes settling one killed after it.
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
	// ErrNotFound: there is no document with that id.
	ErrNotFound = errors.New("document not found")
	// ErrLeaseHeld: another instance holds the lease and it has not run out.
	ErrLeaseHeld = errors.New("lease held by another instance")
	// ErrFenced: the lease was lost; a newer token exists and this writer must stop.
	ErrFenced = errors.New("lease lost: fenced off by a newer holder")
	// ErrStale: the store no longer has the changes since that generation: it was pruned, or the view was created
	// anew. The reader must load from generation 0.
	ErrStale = errors.New("generation too old: load the view anew")
	// ErrInconsistent: rows of a view are not those of its generation, because the store was restored or changed by
	// hand. The next run makes them again.
	ErrInconsistent = errors.New("rows of the view are not those of its generation")
	// ErrLocked: another process holds the embedded store open.
	ErrLocked = errors.New("store is in use by another process")
	// ErrDamaged: the store, or a collection or view in it, is damaged.
	ErrDamaged = errors.New("store is damaged")
	// ErrDamagedRecord: one record is damaged. See DamagedError.
	ErrDamagedRecord = errors.New("record is damaged")
	// ErrForeign: the views database has views of another source database. See ForeignError.
	ErrForeign = errors.New("views of another source database")
	// ErrTooLarge: the answer of the other server is larger than a document may be.
	ErrTooLarge = errors.New("larger than a document of the store may be")
	// ErrUnsupported: this store lacks the feature (a query operator, watching).
	ErrUnsupported = errors.New("not supported by this store")
)

// Store is the interface of a store. Methods are safe for concurrent use. Consumers take the smaller one they need.
type Store interface {
	Source
	Views
	Queries
	Leases
	Importer
	Versioner
	Watcher
	Indexer

	// Responses returns the kept answers of the other server. Their requests pass the gate, too.
	Responses() Responses
	// Name is the store's name for people, without secrets ("bolt://data/vitrine.db").
	Name() string
	// Ping reports whether the store answers. It does not pass the gate.
	Ping(ctx context.Context) error
	// Guard makes all later requests pass a gate. No other method may run at the same time.
	Guard(Gate)
	// Close releases the store; no method may be called afterwards.
	Close() error
}

// Gate calls request, whose context may end before the caller's, or returns an error without. Package circuit has
// one.
type Gate func(ctx context.Context, request func(context.Context) error) error

// NoGate lets every request pass.
func NoGate(ctx context.Context, request func(context.Context) error) error { return request(ctx) }

type refusalKey struct{}

// WithRefusalHook returns a context for a request. If a server refuses to serve the request, the store calls refused
// at once, although the driver may retry the request.
func WithRefusalHook(ctx context.Context, refused func()) context.Context {
	return context.WithValue(ctx, refusalKey{}, refused)
}

// ReportRefusal calls the function given to WithRefusalHook, if there is one.
func ReportRefusal(ctx context.Context) {
	if refused, ok := ctx.Value(refusalKey{}).(func()); ok {
		refused()
	}
}

// Source reads the institute's collections.
type Source interface {
	// Scan yields every document of a collection once, in any order. A missing collection is an empty one. The loop
	// body may call other methods of the store, writes included. An error ends the loop, unless it is
	// ErrDamagedRecord, which comes in place of a damaged record.
	Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error]
	// Sift is a Scan that yields only the documents that want accepts, and copies only
	// those. want gets the store's own memory: it may neither keep nor change a document,
	// nor call the store. It runs ahead of the loop body, in the same order.
	Sift(ctx context.Context, collection string, want func(doc bson.Raw) bool) iter.Seq2[bson.Raw, error]
	// Find yields the documents that match a query, in its order.
	Find(ctx context.Context, collection string, q Query) iter.Seq2[bson.Raw, error]
	// Collections lists the source collections by name, sorted.
	Collections(ctx context.Context) ([]string, error)
}

// Query selects documents of a collection, in MongoDB's language.
type Query struct {
	Filter     bson.Raw // nil matches everything
	Sort       raw.Sort // nil means any order
	Projection []string // the top-level fields that the caller needs, beside _id; more may come; nil needs all
	Skip       int64
	Limit      int64 // 0 means no limit
	// AtOnce says that the caller uses no row before it has all. The store may yield rows of another generation, if
	// the loop then ends with ErrStale, and check them once instead of after each batch.
	AtOnce bool
}

// Row is one row of a view. Doc is the row as handlers and filters see it.
type Row struct {
	ID         bson.RawValue // the record's own _id
	Generation uint64        // the generation that published this version
	Hash       uint64        // hash of the record and of everything else that the row was made from
	Doc        bson.Raw      // has ID as its _id; nil in a tombstone, which means that the row is deleted
	// Words are texts by which Queries find the row at WordsPath, in a store with indexes. Readers do not get them.
	Words []string
}

// WordsPath is the path at which a store has the Words of its rows.
const WordsPath = "_view.words"

// Meta describes a published view, in the form that stores keep. Times have a precision of a millisecond, as in BSON.
type Meta struct {
	View string `bson:"_id"`
	// changes when the view is created anew; generations of two epochs are not comparable
	Epoch      string    `bson:"epoch"`
	Generation uint64    `bson:"gen"`       // 0 if never published
	Rows       int       `bson:"rows"`      // live rows
	Rules      string    `bson:"rules"`     // fingerprint of the rules that made the rows
	Published  time.Time `bson:"published"` // when Generation was committed; in a later second than the one before
	Pruned     uint64    `bson:"pruned"`    // deltas reach back to this generation, not further
	Checked    time.Time `bson:"checked"`   // when a job last completed with health "ok", with or without changes
	Health     Health    `bson:"health"`
	Err        error     `bson:"-"` // why Metas could not read the meta; only View and Health are set then
	// Forced is when a forced run last succeeded. Front ends then show views that they hold back.
	Forced time.Time `bson:"forced,omitempty"`
	// Source names the database with the records that the rows were made from. It is empty in an embedded store, and
	// if an older program wrote the meta.
	Source string `bson:"source,omitempty"`
	// Past are the publication times of the last generations, ending with Generation. Older programs left it empty.
	Past []time.Time `bson:"past,omitempty"`
}

// Unreadable returns what Metas returns for a view whose meta cannot be read. err is the reason.
func Unreadable(view string, err error) Meta {
	return Meta{View: view, Err: err, Health: Health{Status: HealthError, Error: err.Error()}}
}

// MaxPublishedTimes bounds Meta.Past.
const MaxPublishedTimes = 64

// Follows reports whether only publications lie between another Meta and this one. A store that was restored from a
// backup has another epoch, an earlier generation, or publishes generations a second time. sure is false if Past does
// not reach back far enough to tell.
func (m Meta) Follows(from Meta) (follows, sure bool) {
	if m.Epoch != from.Epoch || m.Generation < from.Generation {
		return false, true
	}
	if back := m.Generation - from.Generation; back < uint64(len(m.Past)) {
		return m.Past[len(m.Past)-1-int(back)].Equal(from.Published), true
	}
	return true, len(m.Past) == 0
}

// Is returns ErrStale unless the view is at the generation of another Meta.
func (m Meta) Is(at Meta) error {
	if m.Epoch != at.Epoch || m.Generation != at.Generation {
		return ErrStale
	}
	return nil
}

// Reaches returns ErrStale unless a delta can bring a reader from generation since to this one, or since is 0.
func (m Meta) Reaches(since uint64) error {
	if since > m.Generation || (since > 0 && since < m.Pruned) {
		return ErrStale
	}
	return nil
}

// The values of Health.Status; it is empty before the first run.
const (
	HealthOK = "ok"
	// not published: the view or a collection behind it would shrink too much, or a record is damaged
	HealthHeld  = "held"
	HealthError = "error"
)

// Health is the outcome of the last run of a view's job.
type Health struct {
	Status  string        `bson:"status"`           // HealthOK, HealthHeld or HealthError
	Error   string        `bson:"error"`            // the reason, if the status is "held" or "error"
	Forced  bool          `bson:"forced,omitempty"` // the last run was forced
	Started time.Time     `bson:"started"`          // when the last run began
	Took    time.Duration `bson:"took"`             // how long the last run took; stored as nanoseconds
	Scanned int           `bson:"scanned"`          // records in the source
	Unread  bool          `bson:"unread,omitempty"` // the run ended before it had read its source
	Changed int           `bson:"changed"`          // rows published
	Removed int           `bson:"removed"`          // rows deleted
	Skipped int           `bson:"skipped"`          // records that gave no row because of an error
	Skips   []Skip        `bson:"skips,omitempty"`  // the first Skipped ones, at most MaxSkips
	// Findings are what records lack, in words, one line for each.
	Findings []string  `bson:"findings,omitempty"`
	Read     time.Time `bson:"read,omitempty"`   // when the last run began that read all records, not only changes
	Counts   []Count   `bson:"counts,omitempty"` // counts of the view's rows and of the collections that it reads
}

// SourceEmpty reports whether the run found no records in its source, also where it was held because of that. A run
// that was held for another collection has not looked.
func (h Health) SourceEmpty() bool {
	return h.Scanned == 0 && !h.Unread && (h.Status == HealthOK || h.Status == HealthHeld)
}

// Views reads and publishes side collections.
type Views interface {
	// Meta returns a view's meta. For a view that was never published, Generation is 0, without an error.
	Meta(ctx context.Context, view string) (Meta, error)
	// Metas returns every known view's meta, sorted by name. If one cannot be read, its Err and Health have the
	// reason, and Metas still returns the others.
	Metas(ctx context.Context) ([]Meta, error)
	// Rows calls fn for the rows that take a reader from generation since to the returned Meta's: with since 0 every
	// live row, otherwise the rows changed after since, tombstones included. Together they are exactly the view at
	// that generation, even if publications go on meanwhile. An id may come more than once; its last row is the valid
	// one, and may be a tombstone even with since 0. On ErrStale the caller must start from 0, even if it did. fn may
	// keep the row and may call the store. Rows leaves out damaged rows. If other processes can write to the store,
	// Rows may find only at the end that the rows are not those of the generation. It has then called fn with all
	// rows, and returns ErrInconsistent beside the meta.
	Rows(ctx context.Context, view string, since uint64, fn func(Row) error) (Meta, error)
	// Hashes calls fn with id and hash of every live row at the current generation. It is for publishers, after
	// Begin: if another publication begins meanwhile, the hashes may be wrong, and Commit fails. The hash of a
	// damaged row is 0.
	Hashes(ctx context.Context, view string, fn func(id bson.RawValue, hash uint64) error) error
	// RowCount counts the live rows without reading them. It is exact after Begin, and when the view is Settled. The
	// error is ErrInconsistent if they are not those of the generation, see Rows.
	RowCount(ctx context.Context, view string) (int, error)
	// Fingerprint returns a text that changes whenever the view loses rows; with an empty name, whenever any view
	// does. It may also change without a loss. A store makes it from numbers that it keeps anyway, so it is cheap. A
	// reader that reads it before RowCount need not count again until it changes. The error is ErrUnsupported if the
	// store has no such numbers.
	Fingerprint(ctx context.Context, view string) (string, error)
	// Begin repairs the leftovers of an interrupted publication, fences off all earlier ones, and starts one under a
	// lease, which guarantees one at a time: a view is always published under leases of one name. The error is
	// ErrFenced if the lease is no longer the newest.
	Begin(ctx context.Context, view string, lease Lease) (Publication, error)
	// SetHealth records the outcome of a run, fenced by the lease. Rows and generation stay.
	SetHealth(ctx context.Context, view string, lease Lease, h Health) error
}

// Publication collects the changes of a view's next generation, unread before Commit. It is for one goroutine.
type Publication interface {
	// Put stages new versions of rows, each id once. It ignores Row.Generation; a nil Doc deletes the row. The
	// publication may keep the rows, so they must not change afterwards.
	Put(ctx context.Context, rows []Row) error
	// Commit publishes the staged rows and returns the new meta, or ErrFenced if the lease is no longer the newest.
	// rows is the number of live rows afterwards, rules the fingerprint to record.
	Commit(ctx context.Context, rows int, rules string) (Meta, error)
	// Abort discards the staged rows. After Commit it does nothing.
	Abort(ctx context.Context) error
}

// Queries runs queries on views in the store, for readers that do not hold them in memory. Every method takes the
// view's Meta, waits until its generation is settled, and answers from exactly that. ErrStale means that the view was
// published again, and the caller should start over with the new Meta.
type Queries interface {
	// Select yields the rows that match a query, in its order, ties by _id. It holds no more than a batch of rows,
	// except that without an index for the order a store may hold the sort keys up to the end of the page. An error
	// ends the loop; after ErrStale the caller must discard the rows that it has.
	Select(ctx context.Context, at Meta, q Query) iter.Seq2[bson.Raw, error]
	// Count returns the number of rows that match a filter; nil matches all.
	Count(ctx context.Context, at Meta, filter bson.Raw) (int, error)
	// Distinct calls fn with the distinct values of some fields in the rows that match a filter, as a document of
	// these fields, and with the number of rows that have them. A field is a path through documents, not arrays.
	// Several calls may have equal values, and documents more fields. After an error the caller must discard what it
	// has.
	Distinct(ctx context.Context, at Meta, filter bson.Raw, fields []string,
		fn func(doc bson.Raw, rows int) error) error
	// Settled reports whether queries need not wait.
	Settled(ctx context.Context, at Meta) (bool, error)
}

// Indexer makes indexes for queries on views.
type Indexer interface {
	// Index creates the missing indexes of a view for the given orders, if the store supports indexes.
	Index(ctx context.Context, view string, orders []raw.Sort) error
}

// Lease is the right to materialize, held by one process at a time, even expired until another holder takes it.
type Lease struct {
	Name    string    `bson:"_id,omitempty"`
	Holder  string    `bson:"holder"`  // names the holder for people: host, process id, random part
	Token   uint64    `bson:"token"`   // fencing token: grows with every change of holder; every write carries it
	Expires time.Time `bson:"expires"` // by the holder's clock, for people; no decision depends on it
}

// MaxTerm is the longest term of a lease. A stored lease with a longer term counts as damaged: all instances would
// have to wait for its end.
const MaxTerm = 24 * time.Hour

// Leases grants leases. A lease has expired when this Leases has seen it unchanged for its whole term, by the
// monotonic clock of this process: clocks of hosts are never compared. So the first Acquire for another holder starts
// the wait and fails, and frequent calls find the end early. A lease that cannot be read, or whose term is not from 1
// ns to MaxTerm, is free.
type Leases interface {
	// Acquire takes or renews the lease for ttl, its term, or fails with an ErrLeaseHeld that names the holder. If
	// the lease was free or lost, or its token is less than a meta's, the new token is greater than those of all
	// metas.
	Acquire(ctx context.Context, name, holder string, ttl time.Duration) (Lease, error)
	// Renew extends a held lease, or fails with ErrFenced. The caller counts ttl from before the call, monotonically.
	Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error)
	// Release gives the lease back. Releasing a lost lease is not an error.
	Release(ctx context.Context, l Lease) error
	// Holder returns the current holder, whose process may have ended, or "" if the lease is free. It only reads.
	Holder(ctx context.Context, name string) (string, error)
}

// Importer fills source collections; only imports and the demo use it. CheckCollection must accept the names.
type Importer interface {
	// Upsert stores documents, each with its own _id, replacing those that exist. All are durable when it returns
	// nil.
	Upsert(ctx context.Context, collection string, docs []bson.Raw) (UpsertCounts, error)
	// Retain deletes the documents whose _id keep refuses, and returns their number.
	Retain(ctx context.Context, collection string, keep func(id bson.RawValue) bool) (int, error)
}

// UpsertCounts counts what an Upsert did.
type UpsertCounts struct{ Inserted, Replaced int }

// Versioner identifies states of collections without reading them.
type Versioner interface {
	// Version returns the present version of a source collection. The path of a field may be empty.
	Version(ctx context.Context, collection, field string) (Version, error)
}

// Version identifies a state of a collection.
type Version struct {
	Text string // differs between states
	// Exact says that only this process writes to the store, and that every write to the collection changes Text.
	// Otherwise Text covers only the count of documents, the greatest _id and the greatest value of the field.
	Exact bool
	// ID is the greatest _id, and Field the greatest value of the field, in MongoDB's order. Both are zero if Exact
	// is set or the collection is empty. Field is also zero if no path was given.
	ID, Field bson.RawValue
	// Count counts the documents that match a filter at the time of the call; nil matches all. It is exact, but
	// slower than the estimate in Text. Count is nil if Exact is set.
	Count func(ctx context.Context, filter bson.Raw) (int, error)
}

// Watcher reports changes as they happen.
type Watcher interface {
	// Watch calls opened as soon as it will notice every further change, and then changed, at most once per
	// collection and burst of changes, until ctx ends. It returns ErrUnsupported if the store cannot watch.
	Watch(ctx context.Context, collections []string, opened func(), changed func(collection string)) error
}
