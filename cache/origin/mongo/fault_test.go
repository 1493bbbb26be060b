package mongo_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
)

// TestCutOffAfterEveryCommand lets a publisher's connection break after its first
// command, after its second, and so on through a whole publication, both before
// the server gets the next command and after it, with the answer lost. Each time
// the view must be whole, and the next publisher must get on.
func TestCutOffAfterEveryCommand(t *testing.T) {
	server := mongotest.Start(t)
	for _, tc := range []struct {
		name   string
		answer bool // the last command reaches the server, only its answer is lost
	}{{"command lost", false}, {"answer lost", true}} {
		t.Run(tc.name, func(t *testing.T) {
			direct := open(t, server, mongo.Options{})
			database := strings.TrimPrefix(direct.Name(), strings.TrimSuffix(server, "/"))
			publishWhole(t, direct)
			for commands := int64(1); ; commands++ {
				wire := newProxy(t, server, commands, tc.answer)
				victim := openAt(t, "mongodb://"+wire.address()+database, mongo.Options{
					ServerSelectionTimeout: time.Second, Timeout: 5 * time.Second,
				})
				before := wholeGeneration(t, direct)
				err := publish(t, victim, "victim", before+1)
				after := wholeGeneration(t, direct)
				if after != before && after != before+1 {
					t.Fatalf("cut after %d commands: generation %d after %d", commands, after, before)
				}
				if err == nil && after != before+1 {
					t.Fatalf("cut after %d commands: acknowledged, but generation %d after %d", commands, after, before)
				}
				if wire.left.Load() > 0 {
					return // it got through without being cut
				}
				publishWhole(t, direct)
			}
		})
	}
}

// parts is how many rows a generation has.
const parts = 4

// publish publishes a generation whose rows all carry its number; in even
// generations the last one is missing.
func publish(t *testing.T, s *mongo.Store, holder string, g uint64) error {
	t.Helper()
	l, err := s.Acquire(t.Context(), "materialize", holder, time.Nanosecond)
	if err != nil {
		return err
	}
	p, err := s.Begin(t.Context(), "parts", l)
	if err != nil {
		return err
	}
	var rows []origin.Row
	for i := range parts {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: string(rune('a' + i))}, {Key: "g", Value: int64(g)}})
		if err != nil {
			t.Fatal(err)
		}
		r := origin.Row{ID: bson.Raw(doc).Lookup("_id"), Doc: doc}
		if i == parts-1 && g%2 == 0 {
			r.Doc = nil
		}
		rows = append(rows, r)
	}
	if err := p.Put(t.Context(), rows); err != nil {
		return err
	}
	_, err = p.Commit(t.Context(), parts, "")
	return err
}

// publishWhole publishes the next generation, which must succeed.
func publishWhole(t *testing.T, s *mongo.Store) {
	t.Helper()
	before := wholeGeneration(t, s)
	if err := publish(t, s, "direct", before+1); err != nil {
		t.Fatal(err)
	}
	if after := wholeGeneration(t, s); after != before+1 {
		t.Fatalf("generation %d after %d", after, before)
	}
}

// wholeGeneration reads the view, checks it and returns its generation.
func wholeGeneration(t *testing.T, s *mongo.Store) uint64 {
	t.Helper()
	rows := map[string]origin.Row{}
	meta, err := s.Rows(t.Context(), "parts", 0, func(r origin.Row) error {
		if rows[r.ID.String()] = r; r.Doc == nil {
			delete(rows, r.ID.String())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := parts
	if meta.Generation%2 == 0 {
		want--
	}
	if meta.Generation == 0 {
		want = 0
	}
	for id, r := range rows {
		if got := uint64(r.Doc.Lookup("g").AsInt64()); got != meta.Generation {
			t.Errorf("generation %d: row %s is of %d", meta.Generation, id, got)
		}
	}
	if len(rows) != want {
		t.Errorf("generation %d: %d rows, want %d", meta.Generation, len(rows), want)
	}
	return meta.Generation
}

// proxy stands between a store and its server and breaks all connections, for
// good, after so many commands.
type proxy struct {
	listener net.Listener
	target   string
	answer   bool
	left     atomic.Int64

	wg    sync.WaitGroup
	mu    sync.Mutex // guards conns
	conns []net.Conn
}

// newProxy starts a proxy that ends with the test.
func newProxy(t *testing.T, server string, commands int64, answer bool) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := strings.Trim(strings.TrimPrefix(server, "mongodb://"), "/")
	p := &proxy{listener: listener, target: target, answer: answer}
	p.left.Store(commands)
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		p.cut()
		p.wg.Wait()
	})
	return p
}

// address is where the proxy listens.
func (p *proxy) address() string { return p.listener.Addr().String() }

// cut breaks everything.
func (p *proxy) cut() {
	_ = p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
}

// accept connects clients to the server.
func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			return
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		p.wg.Go(func() { p.requests(client, server) })
		p.wg.Go(func() { p.replies(server, client) })
	}
}

// requests passes messages on until the commands are used up.
func (p *proxy) requests(client, server net.Conn) {
	for {
		message, err := readMessage(client)
		if err != nil {
			_ = server.Close()
			return
		}
		last := isCommand(message) && p.left.Add(-1) <= 0
		if last && !p.answer {
			p.cut()
			return
		}
		if _, err := server.Write(message); err != nil {
			return
		}
		if last {
			return // replies does the cutting, once the server has done its work
		}
	}
}

// replies passes answers back, save the one to the last command.
func (p *proxy) replies(server, client net.Conn) {
	for {
		message, err := readMessage(server)
		if err != nil {
			_ = client.Close()
			return
		}
		if p.left.Load() <= 0 {
			p.cut()
			return
		}
		if _, err := client.Write(message); err != nil {
			return
		}
	}
}

// The wire protocol as far as it is needed: each message begins with its length,
// the fourth number is its kind, and commands are of one kind.
const (
	headerSize = 16
	opMessage  = 2013
)

// readMessage reads one message.
func readMessage(r io.Reader) ([]byte, error) {
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(header)
	if size < headerSize || size > 64<<20 {
		return nil, errors.New("not a message")
	}
	message := append(header, make([]byte, size-headerSize)...)
	_, err := io.ReadFull(r, message[headerSize:])
	return message, err
}

// isCommand reports whether a message is a command of the store's own and not of
// the driver's, which looks after its connections by itself.
func isCommand(message []byte) bool {
	if binary.LittleEndian.Uint32(message[12:]) != opMessage || len(message) < headerSize+5 {
		return false
	}
	first, err := bson.Raw(message[headerSize+5:]).IndexErr(0) // after flags and the kind of section
	if err != nil {
		return false
	}
	switch first.Key() {
	case "hello", "isMaster", "ismaster", "ping", "endSessions":
		return false
	}
	return true
}
