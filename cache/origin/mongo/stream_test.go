package mongo_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/mongo"
)

// idleTimeout is the time for one request in TestWatchIdle: long enough for a busy machine. The stream is quiet for
// longer.
const idleTimeout = 10 * time.Second

// TestWatchIdle: a stream without changes stays open, however short the timeout of one request is.
// The store reports it as open only if it delivers all changes of the sources, which it does not
// for MongoDB's views and for reads from a secondary.
func TestWatchIdle(t *testing.T) {
	for name, tt := range map[string]struct {
		options string
		views   []any // in the database
		field   string
		opens   int64
	}{
		"changed": {field: "ns", opens: 1},
		"renamed": {field: "to", options: "&readPreference=primary", opens: 1},
		"a view": {field: "ns",
			views: []any{bson.D{{Key: "name", Value: "things"}, {Key: "type", Value: "view"}}}},
		"from the secondary": {field: "ns", options: "&readPreference=secondaryPreferred"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replica := &replica{quiet: idleTimeout + time.Second, views: tt.views, field: tt.field}
			s := openAt(t, fmt.Sprintf("mongodb://%s/db?directConnection=true&timeoutMS=%d%s", replica.listen(t),
				idleTimeout.Milliseconds(), tt.options), mongo.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			var opened atomic.Int64
			changed := ""
			err := s.Watch(ctx, []string{"things"}, func() { opened.Add(1) }, func(collection string) {
				changed = collection
				cancel()
			})
			if err != nil || changed != "things" {
				t.Errorf("Watch = %v, changed %q", err, changed)
			}
			if replica.streams.Load() != 1 || opened.Load() != tt.opens {
				t.Errorf("%d streams, reported as open %d times, want 1 and %d", replica.streams.Load(),
					opened.Load(), tt.opens)
			}
		})
	}
}

// replica is a server that only serves a change stream: after some time with empty batches it sends one change
// of "things".
type replica struct {
	quiet   time.Duration             // the time of empty batches
	views   []any                     // answer to listCollections
	field   string                    // the field that names the collection
	opened  atomic.Pointer[time.Time] // when the last stream was
	changed atomic.Bool               // the change was sent
	streams atomic.Int64
}

// listen serves until the test ends, and returns the address. The store is closed before.
func (r *replica) listen(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() {
		_ = ln.Close()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				for r.answer(conn) == nil {
				}
			})
		}
	})
	return ln.Addr().String()
}

// The two kinds of requests: drivers send the second one first, because any server understands it.
const (
	opMsg   = 2013
	opQuery = 2004
)

// answer reads a request and answers it.
func (r *replica) answer(conn net.Conn) error {
	header := make([]byte, 16)
	if _, err := io.ReadFull(conn, header); err != nil {
		return err
	}
	body := make([]byte, binary.LittleEndian.Uint32(header)-16)
	if _, err := io.ReadFull(conn, body); err != nil {
		return err
	}
	code, lead, answer := uint32(opMsg), make([]byte, 5), r.reply("hello")
	if binary.LittleEndian.Uint32(header[12:]) == opQuery {
		code, lead = 1, make([]byte, 20)
		lead[16] = 1 // one document
	} else if first, err := bson.Raw(body[5:]).IndexErr(0); err == nil {
		answer = r.reply(first.Key())
	}
	doc, err := bson.Marshal(answer)
	if err != nil {
		return err
	}
	reply := binary.LittleEndian.AppendUint32(nil, uint32(16+len(lead)+len(doc)))
	reply = append(reply, 0, 0, 0, 0)
	reply = append(reply, header[4:8]...) // the number of the request
	reply = binary.LittleEndian.AppendUint32(reply, code)
	_, err = conn.Write(append(append(reply, lead...), doc...))
	return err
}

// reply returns the answer to a command.
func (r *replica) reply(command string) bson.D {
	d := func(key string, value any) bson.D { return bson.D{{Key: key, Value: value}} }
	cursor := func(batch string, events ...any) bson.D {
		return append(d("cursor", bson.D{
			{Key: "id", Value: int64(1)}, {Key: "ns", Value: "db.$cmd.aggregate"},
			{Key: batch, Value: append(bson.A{}, events...)},
			{Key: "postBatchResumeToken", Value: d("_data", "82")},
		}), bson.E{Key: "ok", Value: 1})
	}
	switch command {
	case "aggregate":
		now := time.Now()
		r.opened.Store(&now)
		r.streams.Add(1)
		return cursor("firstBatch")
	case "listCollections":
		closed := cursor("firstBatch", r.views...)
		closed[0].Value.(bson.D)[0].Value = int64(0)
		return closed
	case "getMore":
		time.Sleep(20 * time.Millisecond) // a server waits for changes, too
		if time.Since(*r.opened.Load()) > r.quiet && r.changed.CompareAndSwap(false, true) {
			return cursor("nextBatch",
				bson.D{{Key: "_id", Value: d("_data", "83")}, {Key: r.field, Value: d("coll", "things")}})
		}
		return cursor("nextBatch")
	}
	return bson.D{
		{Key: "ismaster", Value: true}, {Key: "helloOk", Value: true}, {Key: "minWireVersion", Value: 0},
		{Key: "maxWireVersion", Value: 21},
		{Key: "maxBsonObjectSize", Value: 16 << 20}, {Key: "maxMessageSizeBytes", Value: 48 << 20},
		{Key: "maxWriteBatchSize", Value: 1000}, {Key: "ok", Value: 1},
	}
}
