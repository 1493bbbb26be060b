// Package bolt is the embedded store: everything in one bbolt file, for a bare machine without a database server.
//
// # Layout
//
//	source/COLLECTION   key of _id → document
//	views/VIEW/rows     key of _id, generation → flags, hash, document
//	views/VIEW/index    generation, key of _id
//	views/VIEW (meta)   the view's meta
//	leases              name → lease
//	upstream/answers    key → kept answer of the other server without its body, and its claim; state → marks
//	upstream/bodies     key → its body
//	damaged             views and kept answers that could not be read, set aside
//
// Keys of _id are those of package idkey; generations are eight bytes, big end first.
// Every value but those of an index carries a checksum, see seal.
//
// # Promise
//
// Every write is one or more bbolt transactions, each synced before it is acknowledged, so that the file is sound
// after kill -9 or power loss at any point. Rows have versions: a reader pins a generation and sees it to the end.
// A publication writes versions above the committed generation, which no reader looks at, and one small transaction
// increments the generation. Then the store prunes, in bounded steps, versions that no reader can request any more.
//
// One process has the file open at a time. No read transaction is open while callers' code runs: a writer that must
// enlarge the mapping waits for all readers, so a reader that writes from its loop would wait for itself. The one
// exception, a copy of the file, gives way to such a writer (backup.go).
//
// # Damage
//
// Open checks the structure of the file first. The store never returns a record that is not what was written: Scan
// and Sift yield an origin.DamagedError in its place, Find leaves it out. Damaged rows are left out, and Hashes
// yields none or zero for them. Damage lists all damage beyond single records. If another program cuts, replaces or
// writes the file, every operation fails with rules.ErrUnavailable; so it does if a write is not found after its
// commit, because pages were damaged while the file was open.
package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	bbolt "go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/registry"
	"vitrine/cache/origin/internal/wrap"
)

// The way of an Open: examine reads all pages of the file before bbolt trusts any; openFile lets bbolt map and lock
// it; prepare creates missing buckets and sets aside what can be made anew. Damage of source records makes the
// store read-only, damage of anything else costs only a rebuild.

// Options tunes a store; the zero value works.
type Options struct {
	// KeepDeltas is how many generations back a delta reaches; older tombstones are pruned. If zero, 1000. A front
	// end that was away for longer loads the view anew.
	KeepDeltas uint64
	// Now is the clock of publication times. If nil, time.Now.
	Now func() time.Time
	// Elapsed is the monotonic clock by which other holders' leases run out. If nil, the process's own.
	Elapsed func() time.Duration
}

// Store is the embedded origin.Store.
// Its methods come from the embedded parts: Leases and Views from the rules that both stores share, source from
// source.go, find.go and import.go, views from views.go and select.go.
type Store struct {
	*registry.Leases
	*registry.Views
	source
	views
	file      *storeFile
	responses *registry.Responses
}

// storeFile is the file of a store. Its methods view and update give access to the data. All parts of the Store
// share it. What Open sets is not changed afterwards, but for pass; the last fields are for the transactions
// (door.go).
type storeFile struct {
	path    string
	now     func() time.Time
	db      *bbolt.DB
	file    *os.File         // the open file of db
	opened  os.FileInfo      // the state of file when it was opened
	page    int64            // bytes of a page
	damaged map[string]error // collections and views that cannot be read, as "source/NAME" and "views/NAME"
	oneHead bool             // one of the two meta pages is damaged
	unsafe  error            // why writes are refused, or nil
	notes   []string         // see Damage

	pass origin.Gate // the gate of view and update
	// The locks, in the order in which they are taken: writing, then gate.
	gate    sync.Mutex             // held while a transaction begins
	writing sync.Mutex             // held by the transaction that writes
	written atomic.Pointer[header] // header of the last committed transaction
	failure atomic.Pointer[error]  // why every operation fails from now on, or nil
}

var _ origin.Store = (*Store)(nil)

// Open opens the store in the file at path, and creates it with its folder if necessary. The error wraps
// origin.ErrLocked if another process has the file open. It wraps origin.ErrDamaged if no part of the file can be
// used. Damage of single parts is no error: see Damage.
func Open(path string, o Options) (*Store, error) {
	if path == "" {
		return nil, errors.New("store bolt://: no path given: want one such as bolt://data/vitrine.db")
	}
	// Everything below shares the file; only the file has state, besides the pins of readers and the sightings of
	// leases.
	f := &storeFile{path: path, now: time.Now, pass: origin.NoGate}
	if o.Now != nil {
		f.now = o.Now
	}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("open %s: %w", f.Name(), err)
	}
	metas := table[registry.View]{f, f.readMeta, placeMeta}
	readers := &pins{byView: map[string]map[*pin]struct{}{}}
	p := publisher{f, metas, readers, cmp.Or(o.KeepDeltas, 1000)}
	leases := registry.NewLeases(table[registry.Lease]{f, readLease, placeLease}, f.newestToken, f.now, o.Elapsed)
	return &Store{
		Leases: leases,
		Views:  registry.NewViews(metas, leases, registry.Rows{Put: p.put, Settle: p.prune, Discard: p.discard}),
		source: source{f},
		views:  views{f, metas, readers},
		file:   f,

		responses: registry.NewResponses(leases,
			func(func() time.Time) registry.ResponseTable { return responses{f} }),
	}, nil
}

// open leaves nothing open if it fails.
func (f *storeFile) open() error {
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := f.examine(); err != nil {
		return err
	}
	panicked, err := f.guard(func() (err error) {
		f.db, err = f.openFile(false)
		return err
	})
	// bbolt holds its locks after a panic, so its Close would wait for ever; closing the file releases the lock of
	// the file.
	if panicked {
		_ = f.file.Close()
	}
	if err != nil {
		return err
	}
	f.page = int64(f.db.Info().PageSize)
	if f.opened, err = f.file.Stat(); err == nil {
		release(mapping(f.db, f.opened.Size()))
		err = f.prepare()
	}
	if err != nil {
		return errors.Join(err, f.release())
	}
	syncFolder(dir)
	return nil
}

// examine checks the structure of the file, which it locks meanwhile, before bbolt reads it. It opens the file
// read-only, for bbolt to lock and map it, and reads nothing by bbolt. It sets damaged, oneHead, unsafe and notes.
// Between this and the next openFile the lock is free for a moment; another process that writes meanwhile is a
// vitrine, which leaves a sound file.
func (f *storeFile) examine() error {
	if at, err := os.Stat(f.path); err != nil || at.Size() == 0 {
		return nil // open creates it
	}
	db, err := f.openFile(true)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = f.guard(func() error {
		at, err := f.file.Stat()
		if err == nil {
			file := mapping(db, at.Size())
			release(file)
			f.damaged, f.oneHead, err = examine(file, int64(db.Info().PageSize))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: %w; vitrine check says what to do", origin.ErrDamaged, err)
	}
	if f.oneHead {
		f.notes = append(f.notes, "one of its two meta pages is damaged: what the last commit wrote may be missing")
	}
	// Only source records cannot be made anew. Their damage forbids all writes, so that an operator can still save
	// what the file has.
	for _, name := range slices.Sorted(maps.Keys(f.damaged)) {
		f.notes = append(f.notes, fmt.Sprintf("%s cannot be read: %v", name, f.damaged[name]))
		if strings.HasPrefix(name, string(bucketSource)) {
			f.unsafe = fmt.Errorf("%s: %w: the store is read-only: %s: %w; vitrine check says what to do",
				f.Name(), origin.ErrDamaged, name, f.damaged[name])
		}
	}
	return nil
}

// lockTimeout is how long to wait for another process to close the file. It is enough for a process that is just
// ending. A longer one would only delay the message that names the problem.
const lockTimeout = 500 * time.Millisecond

// openFile opens the file with bbolt. Commits are synced (NoSync stays off) and write the free list (NoFreelistSync
// stays off), so that a start after a crash need not walk the whole file to find free pages. The free list is a
// hash map, which stays fast when pruning leaves many gaps. The permissions 0600 keep other users from the
// institute's records.
func (f *storeFile) openFile(readOnly bool) (*bbolt.DB, error) {
	db, err := bbolt.Open(f.path, 0o600, &bbolt.Options{
		Timeout: lockTimeout, ReadOnly: readOnly, FreelistType: bbolt.FreelistMapType, NoStatistics: true,
		OpenFile: func(name string, flag int, mode os.FileMode) (opened *os.File, err error) {
			opened, err = os.OpenFile(name, flag, mode)
			f.file = opened
			return opened, err
		},
	})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, origin.ErrLocked
	}
	if errors.Is(err, bbolterrors.ErrInvalid) || errors.Is(err, bbolterrors.ErrChecksum) ||
		errors.Is(err, bbolterrors.ErrVersionMismatch) {
		return nil, fmt.Errorf("%w: its first two pages are not those of a store, or both are damaged: %w",
			origin.ErrDamaged, err)
	}
	return db, err
}

// prepare creates the buckets and sets aside the views that cannot be read: the next run rebuilds them. While a
// collection is damaged it writes nothing, because the collection's pages may also belong to others. The headers
// are read first: update compares them with those on disk after its own commit.
func (f *storeFile) prepare() error {
	last, _, err := readHeaders(f.file, f.page)
	f.written.Store(&last)
	if err != nil || f.unsafe != nil {
		return err
	}
	return f.update(context.Background(), func(tx *writeTx) error {
		for _, name := range [][]byte{bucketSource, bucketViews, bucketLeases} {
			if _, err := tx.Tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return cmp.Or(f.setAside(tx.Tx), f.prepareResponses(tx.Tx))
	})
}

// asideBucket returns this transaction's bucket for what is set aside. Its name is the transaction's number, so
// that damage of another day does not meet it. Nothing reads what is set aside; moving a bucket writes only the
// page that names it, while deleting one would walk through damaged pages.
func (f *storeFile) asideBucket(tx *bbolt.Tx) (*bbolt.Bucket, error) {
	aside, err := tx.CreateBucketIfNotExists(bucketAside)
	if err != nil {
		return nil, err
	}
	return aside.CreateBucketIfNotExists(fmt.Appendf(nil, "%d", tx.ID()))
}

// setAside moves the views whose meta or pages cannot be read to the bucket for damage, and notes each.
func (f *storeFile) setAside(tx *bbolt.Tx) error {
	views := tx.Bucket(bucketViews)
	var damaged []string
	err := views.ForEachBucket(func(key []byte) error {
		path := pathOf(bucketViews, string(key))
		_, err := f.readMeta(tx, string(key))
		if err != nil && f.damaged[path] == nil { // examine has noted the damaged ones
			f.notes = append(f.notes, fmt.Sprintf("%s: its meta: %v", path, err))
		}
		if err != nil {
			// Move them after the loop: a bucket must not change while ForEachBucket iterates over it.
			damaged = append(damaged, string(key))
		}
		return nil
	})
	for _, name := range damaged {
		if err != nil {
			break
		}
		var aside *bbolt.Bucket
		if aside, err = f.asideBucket(tx); err == nil {
			err = views.MoveBucket([]byte(name), aside)
		}
		delete(f.damaged, pathOf(bucketViews, name))
		f.notes = append(f.notes, pathOf(bucketViews, name)+" was set aside: the next run makes it anew")
	}
	return err
}

// Damage lists the damage that Open found, except damaged single records, in sentences for the operator.
func (s *Store) Damage() []string { return s.file.notes }

// syncFolder makes a new file's entry durable. File systems that cannot sync a folder do not need it.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Name returns the store's URI.
func (f *storeFile) Name() string { return "bolt://" + f.path }

// Responses implements origin.Store.
func (s *Store) Responses() origin.Responses { return s.responses }

// Name implements origin.Store. A path has no secrets.
func (s *Store) Name() string { return s.file.Name() }

// Ping reports whether the file can be read. It reads the headers and nothing else, so it also notices a file that
// was replaced, cut or written by another program.
func (s *Store) Ping(ctx context.Context) error {
	return s.file.read(ctx, func(*bbolt.Tx) error { return nil })
}

// Guard implements origin.Store. The field has no lock: it is set before the first request.
func (s *Store) Guard(g origin.Gate) { s.file.pass = g }

// Close waits for running transactions and closes the file.
func (s *Store) Close() (err error) {
	defer wrap.Error(&err, "close %s", s.Name())
	return s.file.release()
}

// release closes the file. After a failure bbolt would wait for ever, so its mapping stays.
func (f *storeFile) release() error {
	if f.failure.Load() != nil {
		return f.file.Close()
	}
	return f.db.Close()
}
