// Package bolt is the embedded store: everything in one bbolt file, for a bare
// machine without a database server.
//
// # Layout
//
//	source/COLLECTION   key of _id → document
//	views/VIEW/rows     key of _id, generation → flags, hash, document
//	views/VIEW/index    generation, key of _id → flags
//	views/VIEW (meta)   the view's meta
//	leases              name → lease
//
// Keys of _id are those of package idkey; generations are eight bytes, big end first.
//
// # Promise
//
// Every write is one or more bbolt transactions, each synced to disk before it
// counts, so that the file is sound after kill -9 or power loss at any point.
// Rows are kept in versions: a reader pins a generation and sees it to the end,
// whatever is published meanwhile; a publication writes versions above the
// committed generation, which no reader looks at, and one small transaction moves
// the generation on. Versions that nobody can ask for any more are pruned after
// that commit, in bounded steps.
//
// One process has the file open at a time. No read transaction is ever held while
// foreign code runs: a writer that must enlarge the mapping waits for all readers,
// so a reader that writes from its loop would wait for itself.
package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	bbolt "go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/leasedoc"
)

// Options tunes a store; the zero value works.
type Options struct {
	// LockTimeout is how long to wait for another process to let go of the file.
	// If zero, 500 ms.
	LockTimeout time.Duration
	// KeepDeltas is how many generations back a reader can be and still be brought
	// up to date by a delta; older tombstones are pruned. If zero, 1000.
	KeepDeltas uint64
	// Now is the clock of publication times. If nil, time.Now.
	Now func() time.Time
	// Elapsed is the monotonic clock by which other holders' leases run out. If nil, the
	// process's own.
	Elapsed func() time.Duration
}

// Store is the embedded origin.Store.
type Store struct {
	path  string
	db    *bbolt.DB
	keep  uint64
	now   func() time.Time
	watch *leasedoc.Watch

	mu   sync.Mutex                   // guards pins; held when taking a pin and when deciding what to prune
	pins map[string]map[*pin]struct{} // readers under way, by view
}

var _ origin.Store = (*Store)(nil)

// The top-level buckets.
var (
	bucketSource = []byte("source")
	bucketViews  = []byte("views")
	bucketLeases = []byte("leases")
)

// Open opens the store in the file at path and creates it, with its folder, if it
// is not there. The error wraps origin.ErrLocked if another process has it open.
func Open(path string, o Options) (*Store, error) {
	if path == "" {
		return nil, errors.New("embedded store: no path given")
	}
	if o.LockTimeout == 0 {
		o.LockTimeout = 500 * time.Millisecond
	}
	if o.KeepDeltas == 0 {
		o.KeepDeltas = 1000
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{path: path, keep: o.KeepDeltas, now: o.Now, watch: leasedoc.NewWatch(o.Elapsed), pins: map[string]map[*pin]struct{}{}}
	if err := s.open(o.LockTimeout); err != nil {
		return nil, fmt.Errorf("open %s: %w", s.Name(), err)
	}
	return s, nil
}

// open opens the file, creates the buckets and leaves word of who holds it.
func (s *Store) open(wait time.Duration) error {
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	db, err := bbolt.Open(s.path, 0o600, fileOptions(wait))
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return fmt.Errorf("%w%s", origin.ErrLocked, s.heldBy())
	}
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{bucketSource, bucketViews, bucketLeases} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	s.db = db
	syncFolder(dir)
	s.sayHolder()
	return nil
}

// fileOptions are bbolt's options, chosen as follows. Commits are synced (NoSync
// stays off): what was acknowledged survives. The free list is written with each
// commit (NoFreelistSync stays off): that costs a commit a few pages, but a start
// after a crash need not walk the whole file to find the free ones. It is kept as
// a hash map, which stays fast when pruning leaves many gaps.
func fileOptions(wait time.Duration) *bbolt.Options {
	return &bbolt.Options{Timeout: wait, FreelistType: bbolt.FreelistMapType, NoStatistics: true}
}

// syncFolder makes a new file's directory entry durable. File systems that cannot
// sync a folder need no such thing, hence errors do not matter.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// holderPath is a text file that says which process holds the store. It is only a
// hint for people, read when the lock is found taken; the lock itself is the
// database file's.
func (s *Store) holderPath() string { return s.path + ".holder" }

// sayHolder writes the hint.
func (s *Store) sayHolder() {
	host, _ := os.Hostname()
	text := fmt.Sprintf("process %d on %s\n", os.Getpid(), host)
	_ = os.WriteFile(s.holderPath(), []byte(text), 0o600)
}

// heldBy returns the hint as the end of a sentence, or nothing.
func (s *Store) heldBy() string {
	text, err := os.ReadFile(s.holderPath())
	if err != nil {
		return ""
	}
	return " (" + strings.TrimSpace(string(text)) + ")"
}

// Name returns the store's URI.
func (s *Store) Name() string { return "bolt://" + s.path }

// Ping reports whether the file can be read.
func (s *Store) Ping(ctx context.Context) error {
	return s.view(ctx, func(*bbolt.Tx) error { return nil })
}

// Close waits for transactions under way and gives the file back.
func (s *Store) Close() error {
	_ = os.Remove(s.holderPath())
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close %s: %w", s.Name(), err)
	}
	return nil
}

// view runs a short read transaction.
func (s *Store) view(ctx context.Context, fn func(tx *bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.View(fn)
}

// update runs a write transaction; it is durable when update returns nil.
func (s *Store) update(ctx context.Context, fn func(tx *bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.db.Update(fn)
}
