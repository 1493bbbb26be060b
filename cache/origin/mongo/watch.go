package mongo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
)

// Watch implements origin.Watcher by a change stream, until that breaks: what the driver
// cannot resume is left to the caller, who watches again. Then every collection counts as
// changed, since what happened in between is not known.
func (s *Store) Watch(ctx context.Context, collections []string, changed func(collection string)) (err error) {
	defer wrap.Error(&err, "watch %s", s.source.Name())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := s.stream(ctx, collections)
	if err != nil {
		s.broken.Store(true)
		return err
	}
	defer closeCursor(ctx, stream)
	seen := make(chan string)
	result := make(chan error, 1)
	go func() {
		defer close(seen)
		if s.broken.Swap(false) {
			send(ctx, seen, collections...)
		}
		more, err := s.next(ctx, stream, streamError)
		for ; more; more, err = s.next(ctx, stream, streamError) {
			if name, ok := stream.Current.Lookup("ns", "coll").StringValueOK(); ok {
				send(ctx, seen, name)
			}
		}
		result <- err
	}()
	debounce(seen, debouncePause, time.After, changed) // returns when the stream has ended
	err = <-result
	if ctx.Err() != nil {
		return nil
	}
	s.broken.Store(true)
	return err
}

// stream opens a change stream.
func (s *Store) stream(ctx context.Context, collections []string) (*driver.ChangeStream, error) {
	return request(ctx, s.gate, streamError, func(ctx context.Context) (*driver.ChangeStream, error) {
		return s.source.Watch(ctx, driver.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "ns.coll", Value: bson.D{{Key: "$in", Value: collections}}}}}},
			{{Key: "$project", Value: bson.D{{Key: "ns", Value: 1}}}}, // the documents themselves are not needed
		})
	})
}

// streamError is storeError for a change stream. Our pipeline is well-formed: a
// server that cannot parse it has no change streams.
func streamError(err error) error {
	if hasCode(err, []int{codeFailedToParse}) {
		return fmt.Errorf("%w: %w", origin.ErrUnsupported, err)
	}
	return storeError(err)
}

// send sends names unless ctx ends first.
func send(ctx context.Context, seen chan<- string, names ...string) {
	for _, name := range names {
		select {
		case seen <- name:
		case <-ctx.Done():
			return
		}
	}
}

// debouncePause is how long Watch waits for more changes before it reports them.
const debouncePause = 250 * time.Millisecond

// debounce calls changed for each name that came over seen, once seen has been
// silent for the pause or, lest a steady stream hold it up for ever, for every ten
// pauses. It returns when seen is closed.
func debounce(seen <-chan string, pause time.Duration, after func(time.Duration) <-chan time.Time, changed func(string)) {
	var silence, limit <-chan time.Time // nil while nothing is pending
	var pending []string
	for {
		select {
		case name, open := <-seen:
			if !open {
				return
			}
			if limit == nil {
				limit = after(10 * pause)
			}
			silence = after(pause)
			if !slices.Contains(pending, name) {
				pending = append(pending, name)
			}
			continue
		case <-silence:
		case <-limit:
		}
		for _, name := range pending {
			changed(name)
		}
		silence, limit, pending = nil, nil, nil
	}
}
