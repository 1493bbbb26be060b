package osiris

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/snapfile"
	"vitrine/rules"
	"vitrine/rules/osiris"
)

// Keeper is a Source that keeps the collections in files, and yields them while the database is unavailable, so that
// a front end can start with the rights that it last read. It is safe for concurrent use.
type Keeper struct {
	source Source
	dir    string
	store  string
	log    *slog.Logger

	mu    sync.Mutex // guards files
	files map[string]file
}

// file is the state of a collection's file.
type file struct {
	hash uint64 // hash of the collection as last read
	err  error  // why the file does not have that version; nil if it has
}

// Keep returns a source that keeps files in a folder, which it creates if necessary, and uses those of the named
// store.
func Keep(source Source, dir, store string, log *slog.Logger) (*Keeper, error) {
	if err := snapfile.Prepare(dir); err != nil {
		return nil, err
	}
	return &Keeper{source: source, dir: dir, store: store, log: log, files: map[string]file{}}, nil
}

// Scan implements Source. It reads everything before it yields.
func (k *Keeper) Scan(ctx context.Context, name string) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		docs, err := k.read(ctx, name)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, doc := range docs {
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// read reads a collection, from its file if the database is unavailable.
func (k *Keeper) read(ctx context.Context, name string) (docs []bson.Raw, err error) {
	for doc, err := range k.source.Scan(ctx, name) {
		if errors.Is(err, rules.ErrUnavailable) {
			return k.recall(name, err)
		}
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	// One empty collection may be meant. If all are empty, the database itself is gone, and its rights with it:
	// without them all records would be public.
	if len(docs) == 0 && k.lost(ctx) {
		if docs, err := k.recall(name, errLost); err == nil {
			return docs, nil
		}
	}
	k.remember(name, docs)
	return docs, nil
}

// errLost reports that the settings of a database are gone. It was dropped, or is another one, and its views are
// held.
var errLost = errors.New("the database has lost its settings")

// lost reports whether all collections of settings that have a file are empty now.
func (k *Keeper) lost(ctx context.Context) bool {
	files, _ := filepath.Glob(k.path("*")) // fails only for malformed patterns
	for _, file := range files {
		name, _ := strings.CutSuffix(filepath.Base(file), filepath.Ext(file))
		if name = strings.TrimPrefix(name, keptPrefix); name == osiris.Groups {
			continue // units are no settings
		}
		for range k.source.Scan(ctx, name) {
			return false // also after an error, because then nothing is known
		}
	}
	return len(files) > 0
}

// recall returns the collection as last read, also by an earlier process, unless its file could not be replaced.
func (k *Keeper) recall(name string, away error) ([]bson.Raw, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.files[name].err; err != nil {
		return nil, fmt.Errorf("%w, and %w", away, err)
	}
	h, docs, err := snapfile.Read(k.path(name))
	if err == nil && (h.Store != k.store || h.View != name) {
		err = fmt.Errorf("%w: it is of %s in the store %s", snapfile.ErrRefused, h.View, h.Store)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, away
	case err != nil:
		return nil, fmt.Errorf("%w, and %w", away, err)
	}
	if now := hash(docs); k.files[name].hash != now {
		k.files[name] = file{hash: now}
		k.log.Info("settings read from a snapshot file", "collection", name, "records", len(docs), "confirmed",
			h.Confirmed)
	}
	return docs, nil
}

// remember keeps a collection. It logs once if it cannot write the file, and tries again at the next reading.
func (k *Keeper) remember(name string, docs []bson.Raw) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, now := k.files[name], file{hash: hash(docs)}
	if before == now {
		return
	}
	h := snapfile.Header{Store: k.store, Meta: origin.Meta{View: name, Rows: len(docs)}, Confirmed: time.Now()}
	now.err = snapfile.Write(k.path(name), h, slices.Values(docs))
	if now.err != nil && before.err == nil {
		k.log.Warn("settings not kept in a snapshot file", "collection", name, "error", now.err)
	}
	k.files[name] = now
}

// path returns the path of a collection's file. It differs from those of all views.
func (k *Keeper) path(name string) string { return snapfile.Path(k.dir, keptPrefix+name) }

// keptPrefix begins the names of files, so that a collection "activities" and the view of that name have two.
const keptPrefix = "source."

// hash tells versions of a collection apart. It includes the order of the documents, so the same documents in another
// order are written again, which does no harm.
func hash(docs []bson.Raw) uint64 {
	d := xxhash.New()
	for _, doc := range docs {
		_, _ = d.Write(doc) // never fails
	}
	return d.Sum64()
}
