package mongo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
)

// Watch implements origin.Watcher by a change stream. It returns when the stream breaks for good. The next call
// reports every collection as changed, because it does not know the changes in between.
func (s *Store) Watch(ctx context.Context, collections []string, opened func(),
	changed func(collection string)) (err error) {
	defer wrap.Error(&err, "watch %s", s.source.Name())
	stream, err := openStream(ctx, s, collections)
	if err != nil {
		s.broken.Store(true)
		return err
	}
	defer closeCursor(ctx, stream)
	if complete(ctx, s, collections) {
		opened()
	}
	found := burst{changed: changed}
	defer found.drop()
	if s.broken.Swap(false) {
		found.add(collections...)
	}
	for err == nil {
		more, failed := next(ctx, s.gate, patient{stream}, streamError)
		if err = failed; more {
			for _, field := range []string{"ns", "to"} {
				if name, ok := stream.Current.Lookup(field, "coll").StringValueOK(); ok {
					found.add(name)
				}
			}
		} else if err == nil && stream.ID() == 0 {
			err = errors.New("the server closed the stream")
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	s.broken.Store(true)
	return err
}

// patient is a change stream whose Next returns false without an error when there were no changes for a while. That
// of a ChangeStream fails if there are none within the time for one request.
type patient struct{ *driver.ChangeStream }

// Next is TryNext.
func (p patient) Next(ctx context.Context) bool { return p.TryNext(ctx) }

func openStream(ctx context.Context, s *Store, collections []string) (*driver.ChangeStream, error) {
	return request(ctx, s.gate, streamError, func(ctx context.Context) (*driver.ChangeStream, error) {
		return s.source.Watch(ctx, driver.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "$or", Value: bson.A{
				bson.D{{Key: "ns.coll", Value: bson.D{{Key: "$in", Value: collections}}}},
				// a collection was renamed to one of them
				bson.D{{Key: "to.coll", Value: bson.D{{Key: "$in", Value: collections}}}},
			}}}}},
			// the documents themselves are not needed
			{{Key: "$project", Value: bson.D{{Key: "ns", Value: 1}, {Key: "to", Value: 1}}}},
		})
	})
}

// complete reports whether a stream reports all changes of collections: none is a MongoDB view, whose changes are
// those of other collections, and reads, which come from the primary, are not older than the stream's reports.
func complete(ctx context.Context, s *Store, collections []string) bool {
	others := bson.D{
		{Key: "name", Value: bson.D{{Key: "$in", Value: collections}}},
		{Key: "type", Value: bson.D{{Key: "$ne", Value: "collection"}}},
	}
	found, err := request(ctx, s.gate, storeError, func(ctx context.Context) ([]string, error) {
		return s.source.ListCollectionNames(ctx, others)
	})
	return err == nil && len(found) == 0 && s.primary
}

// streamError is storeError for a change stream: a server that cannot parse our pipeline has none.
func streamError(err error) error {
	if hasCode(err, []int{codeFailedToParse}) {
		return fmt.Errorf("%w: %w", origin.ErrUnsupported, err)
	}
	return storeError(err)
}

// pause is how long a burst waits for a further change. An import changes a collection in many commands: one run
// after it is enough.
const pause = 250 * time.Millisecond

// burst collects names. It reports them when none has come for a pause, and at the latest ten pauses after the first,
// so that a steady stream does not delay them for ever.
type burst struct {
	changed func(name string)

	mu    sync.Mutex // guards the rest, and is held while names are reported
	names []string
	limit time.Time // when the names are reported at the latest
	timer *time.Timer
}

func (b *burst) add(names ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.names) == 0 {
		b.limit = time.Now().Add(10 * pause)
	} else {
		b.timer.Stop()
	}
	for _, name := range names {
		if !slices.Contains(b.names, name) {
			b.names = append(b.names, name)
		}
	}
	b.timer = time.AfterFunc(min(pause, time.Until(b.limit)), b.report)
}

func (b *burst) report() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range b.names {
		b.changed(name)
	}
	b.names = nil
}

// drop discards the names, so that none is reported from now on.
func (b *burst) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names = nil
}
