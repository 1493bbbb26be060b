package materialize

import (
	"context"
	"errors"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules/backoff"
)

// streamEvents are called for a change stream, one at a time.
type streamEvents struct {
	opened, closed func()
	changed        func(collection string)
	unsupported    string // logged if the store has no change streams
}

// watchStream watches collections until ctx ends or the store cannot watch. A broken stream is opened again.
func watchStream(ctx context.Context, o *Options, collections []string, on streamEvents) {
	for pauses := newPauses(); ctx.Err() == nil; {
		began := time.Now()
		err := o.Watcher.Watch(ctx, collections, on.opened, on.changed)
		on.closed()
		if errors.Is(err, origin.ErrUnsupported) {
			o.Log.InfoContext(ctx, on.unsupported, "reason", err)
			return
		}
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > maxWait {
			pauses.Reset() // the stream has worked for long
		}
		o.Log.WarnContext(ctx, "watch for changes", "error", err)
		_ = backoff.Sleep(ctx, pauses.NextBackOff()) // the loop ends if ctx has ended
	}
}
