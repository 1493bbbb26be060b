package mongo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules"
)

// Watch implements origin.Watcher by a change stream. A stream that breaks is
// resumed where it was; where that is no longer possible every collection counts
// as changed, since what happened in between is not known.
func (r records) Watch(ctx context.Context, collections []string, changed func(collection string)) (err error) {
	defer wrap.Error(&err, "watch %s", r.db.Name())
	seen := make(chan string)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	result := make(chan error, 1)
	go func() {
		defer close(seen)
		result <- r.follow(ctx, collections, seen)
	}()
	debounce(seen, debouncePause, time.After, changed) // returns when follow has
	return <-result
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

// A broken stream is tried again after minPause, and ever later up to maxPause.
const (
	minPause = time.Second
	maxPause = time.Minute
)

// follow sends the name of every changed collection until ctx ends, which is no
// error, or the server refuses to open a change stream at all, which is.
func (r records) follow(ctx context.Context, collections []string, seen chan<- string) error {
	w := watching{db: r.db, collections: collections, seen: seen}
	pause := minPause
	for ctx.Err() == nil {
		heard, err := w.stream(ctx)
		if ctx.Err() != nil {
			break
		}
		if !w.opened && !errors.Is(err, rules.ErrUnavailable) {
			return err // it would be the same the next time
		}
		if heard {
			pause = minPause
		}
		_ = sleep(ctx, pause) // its error ends the loop
		pause = min(2*pause, maxPause)
	}
	return nil
}

// sleep waits, unless ctx ends before: then it returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// streamError is storeError for a change stream. Our pipeline is well-formed: a
// server that cannot parse it has no change streams.
func streamError(err error) error {
	if hasCode(err, []int{codeFailedToParse}) {
		return fmt.Errorf("%w: %w", origin.ErrUnsupported, err)
	}
	return storeError(err)
}

// watching is a succession of change streams.
type watching struct {
	db          *driver.Database
	collections []string
	seen        chan<- string
	resume      bson.Raw // where the next stream goes on; nil: now
	missed      bool     // something may have happened that no stream reports
	opened      bool     // the server has given us a stream
}

// stream reads one change stream to its end and reports whether anything came.
func (w *watching) stream(ctx context.Context) (heard bool, err error) {
	only := driver.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "ns.coll", Value: bson.D{{Key: "$in", Value: w.collections}}}}}},
		{{Key: "$project", Value: bson.D{{Key: "ns", Value: 1}}}}, // the documents themselves are not needed
	}
	o := options.ChangeStream()
	if w.resume != nil {
		o.SetResumeAfter(w.resume)
	}
	stream, err := w.open(ctx, only, o)
	if err != nil {
		w.missed = true
		if hasCode(err, []int{codeHistoryLost}) {
			w.resume = nil
		}
		return false, err
	}
	defer closeCursor(ctx, stream)
	if w.missed && w.resume == nil {
		w.send(ctx, w.collections...)
	}
	w.missed, w.opened = false, true
	more, err := next(ctx, stream, streamError)
	for ; more; more, err = next(ctx, stream, streamError) {
		heard = true
		if name, ok := stream.Current.Lookup("ns", "coll").StringValueOK(); ok {
			w.send(ctx, name)
		}
	}
	if w.resume = stream.ResumeToken(); w.resume == nil || hasCode(err, []int{codeHistoryLost}) {
		w.resume, w.missed = nil, true
	}
	return heard, err
}

// open opens a change stream.
func (w *watching) open(ctx context.Context, only driver.Pipeline, o *options.ChangeStreamOptionsBuilder) (stream *driver.ChangeStream, err error) {
	defer answered(&err, streamError)
	return w.db.Watch(ctx, only, o)
}

// send sends names unless ctx ends first.
func (w *watching) send(ctx context.Context, names ...string) {
	for _, name := range names {
		select {
		case w.seen <- name:
		case <-ctx.Done():
			return
		}
	}
}
