package bolt

import (
	"bytes"
	"context"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/internal/idkey"
)

// maxLogged is how many ids of a collection are logged. Reading as many documents one by one takes about as long as
// reading a large collection as a whole.
const maxLogged = 10_000

// changeLog has the ids of the documents that were written or deleted since the file was opened.
type changeLog struct {
	mu   sync.Mutex
	logs map[string]*logged // by collection
}

// logged has ids, each with the version of the collection that the write made, in order. It has all after a version.
type logged struct {
	after    uint64
	versions []uint64
	ids      []bson.RawValue
}

// add logs ids within the transaction that makes a version. If it fails, the ids only cost time. If one is unknown, or
// there are too many, the log of the collection begins anew.
func (c *changeLog) add(collection string, version uint64, ids ...bson.RawValue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logs == nil {
		c.logs = map[string]*logged{}
	}
	l := c.logs[collection]
	if l == nil {
		l = &logged{after: version - 1}
		c.logs[collection] = l
	}
	for _, id := range ids {
		if id.IsZero() || len(l.ids) == maxLogged {
			*l = logged{after: version}
		} else if l.after < version {
			l.versions, l.ids = append(l.versions, version), append(l.ids, id)
		}
	}
}

// since returns the ids after a version.
func (c *changeLog) since(collection string, version uint64) (ids []bson.RawValue, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.logs[collection]
	if l == nil {
		return nil, true
	}
	at, _ := slices.BinarySearch(l.versions, version+1)
	return slices.Clone(l.ids[at:]), version >= l.after
}

// Changes implements origin.Versioner for versions that this Store has returned.
func (s source) Changes(ctx context.Context, collection, since string) ([]bson.RawValue, iter.Seq2[bson.Raw, error], bool) {
	version, _ := strconv.ParseUint(since, 10, 64) // 0 before the collection exists
	ids, ok := s.file.log.since(collection, version)
	var keys [][]byte
	for _, id := range ids {
		key, _ := idkey.Of(id) // it was stored
		keys = append(keys, key)
	}
	slices.SortFunc(keys, bytes.Compare)
	keys = slices.CompactFunc(keys, bytes.Equal)
	return ids, func(yield func(bson.Raw, error) bool) {
		for _, key := range keys {
			for doc, err := range s.scan(ctx, collection, key, nil, runtime.Gosched) {
				if !yield(doc, err) {
					return
				}
			}
		}
	}, ok
}
