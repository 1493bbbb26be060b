package mongo_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/rules"
	"vitrine/rules/raw"
)

// TestGarbledReplies changes one name, or the type of one field, in all of the server's replies, as
// if bytes were damaged on their way. Every request ends then, with an error or without; the
// program does not crash.
func TestGarbledReplies(t *testing.T) {
	server := mongotest.Start(t)
	wire := mongotest.NewProxy(t, server)
	direct := open(t, server, mongo.Options{})
	publishWhole(t, direct)
	if _, err := direct.Upsert(t.Context(), "things", document(t, "a")); err != nil {
		t.Fatal(err)
	}
	database := strings.TrimPrefix(direct.Name(), strings.TrimSuffix(server, "/"))
	s := openAt(t, strings.TrimSuffix(wire.URI(), "/")+database+
		"?serverSelectionTimeoutMS=100&connectTimeoutMS=100&timeoutMS=5000", mongo.Options{})
	faults := map[string]mongotest.Fault{
		"operationTime": {Reply: extended(t, bson.D{{Key: "operationTime", Value: int64(1)}})}}
	for _, word := range []string{"cursor", "firstBatch", "id\x00", "ns\x00", "ok\x00", "n\x00", "value",
		"lastErrorObject", "upserted", "_id", "gen"} {
		faults[strings.TrimSuffix(word, "\x00")] = mongotest.Fault{Reply: garbled(word)}
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			for s.Ping(t.Context()) != nil { // until the driver has checked the server again
			}
			wire.Set(fault)
			failed := callAll(t.Context(), s, document(t, name))
			_, err := s.Meta(t.Context(), "parts")
			wire.Set(mongotest.Fault{})
			t.Logf("failed: %s", strings.Join(failed, ", "))
			if broken := slices.Contains([]string{"cursor", "firstBatch", "ok", "operationTime"}, name); broken &&
				!errors.Is(err, rules.ErrUnavailable) {
				t.Errorf("the error does not report the store as unavailable: %v", err)
			}
			publishWhole(t, direct) // the stored view is whole, and publishers can go on
		})
	}
}

// garbled changes a word in every reply.
func garbled(word string) func([]byte) []byte {
	return func(message []byte) []byte {
		return bytes.ReplaceAll(message, []byte(word), []byte(strings.Repeat("?", len(word))))
	}
}

// extended adds fields to the document of a reply, which consists of a header (16 bytes, whose
// fourth number is the kind), flags, the kind of section and the document.
func extended(t *testing.T, extra bson.D) func([]byte) []byte {
	t.Helper()
	fields, err := bson.Marshal(extra)
	if err != nil {
		t.Fatal(err)
	}
	fields = fields[4 : len(fields)-1]
	const kindAt, bodyAt, command = 12, 21, 2013
	return func(message []byte) []byte {
		if binary.LittleEndian.Uint32(message[kindAt:]) != command || len(message) < bodyAt+4 {
			return message
		}
		size := int(binary.LittleEndian.Uint32(message[bodyAt:]))
		message = slices.Insert(message, bodyAt+size-1, fields...)
		binary.LittleEndian.PutUint32(message[bodyAt:], uint32(size+len(fields)))
		binary.LittleEndian.PutUint32(message, uint32(len(message)))
		return message
	}
}

// document is a document with only an id.
func document(t *testing.T, id string) []bson.Raw {
	t.Helper()
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: id}})
	if err != nil {
		t.Fatal(err)
	}
	return []bson.Raw{doc}
}

// callAll calls every operation of a store and returns those that failed.
func callAll(ctx context.Context, s *mongo.Store, docs []bson.Raw) (failed []string) {
	note := func(what string, err error) {
		if err != nil {
			failed = append(failed, what)
		}
	}
	kept := bson.RawValue{Type: bson.TypeString, Value: []byte("\x02\x00\x00\x00a\x00")}
	note("ping", s.Ping(ctx))
	_, err := s.Upsert(ctx, "things", docs)
	note("upsert", err)
	_, err = s.Retain(ctx, "things", func(bson.RawValue) bool { return true })
	note("retain", err)
	_, err = s.Retain(ctx, "things", func(id bson.RawValue) bool { return id.Equal(kept) })
	note("retain but one", err)
	for _, err := range s.Scan(ctx, "things") {
		note("scan", err)
	}
	id, err := bson.Marshal(bson.D{{Key: "_id", Value: kept}})
	note("filter", err)
	for _, err := range s.Find(ctx, "things", origin.Query{Filter: id}) {
		note("find", err)
	}
	_, err = s.Collections(ctx)
	note("collections", err)
	m, err := s.Meta(ctx, "parts")
	note("meta", err)
	_, err = s.Metas(ctx)
	note("metas", err)
	_, err = s.Rows(ctx, "parts", 0, func(origin.Row) error { return nil })
	note("rows", err)
	note("hashes", s.Hashes(ctx, "parts", func(bson.RawValue, uint64) error { return nil }))
	for _, err := range s.Select(ctx, m, origin.Query{}) {
		note("select", err)
	}
	_, err = s.Count(ctx, m, nil)
	note("count", err)
	_, err = s.Settled(ctx, m)
	note("settled", err)
	note("index", s.Index(ctx, "nothing", []raw.Sort{{raw.ByID}}))
	l, err := s.Acquire(ctx, "garbled", "garbled", time.Minute)
	note("acquire", err)
	l, err = s.Renew(ctx, l, time.Nanosecond)
	note("renew", err)
	note("health", s.SetHealth(ctx, "nothing", l, origin.Health{Status: origin.HealthOK}))
	note("abort", withPublication(ctx, s, l, origin.Publication.Abort))
	note("commit", withPublication(ctx, s, l, func(p origin.Publication, ctx context.Context) error {
		_, err := p.Commit(ctx, 0, "")
		return err
	}))
	note("release", s.Release(ctx, l))
	failed = append(failed, callResponses(ctx, s.Responses())...)
	watched, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	note("watch", s.Watch(watched, []string{"things"}, func() {}, func(string) {}))
	return failed
}

// callResponses calls the operations on kept answers and returns those that failed.
func callResponses(ctx context.Context, s origin.Responses) (failed []string) {
	note := func(what string, err error) {
		if err != nil {
			failed = append(failed, what)
		}
	}
	c, _, err := s.Claim(ctx, keptKey, "garbled", time.Minute)
	note("claim", err)
	_, err = s.Put(ctx, c, numberedAnswer(1))
	note("put", err)
	_, err = s.Response(ctx, keptKey)
	note("response", err)
	c, _, err = s.Claim(ctx, keptKey, "garbled", time.Minute)
	note("claim again", err)
	_, err = s.Confirm(ctx, c, "1", time.Now(), nil)
	note("confirm", err)
	all, _, err := s.Changes(ctx, 0)
	note("changes", err)
	if err == nil {
		for _, err := range all {
			note("changes", err)
		}
	}
	_, _, err = s.Marks(ctx)
	note("marks", err)
	note("ask", s.AddDemand(ctx, []origin.Demand{{Key: keptKey, Requests: 1, Last: time.Now()}}))
	note("drop", s.Drop(ctx, []string{keptKey}))
	note("sweep", s.Sweep(ctx, 1))
	note("unclaim", s.Unclaim(ctx, c))
	return failed
}

// withPublication begins an empty publication and ends it.
func withPublication(ctx context.Context, s *mongo.Store, l origin.Lease,
	end func(origin.Publication, context.Context) error) error {
	p, err := s.Begin(ctx, "nothing", l)
	if err != nil {
		return err
	}
	if err := p.Put(ctx, nil); err != nil {
		return err
	}
	return end(p, ctx)
}
