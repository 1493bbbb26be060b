package mongotest

import (
	"bytes"
	"context"
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
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// Tests of the network: the driver connects to a Proxy, which forwards the messages of the wire protocol to the
// server and applies the current Fault to each.
//
//	client ──accept──▶ connect ──▶ pump(request) ──▶ server
//	       ◀────────── pump(reply) ◀────────────────
//
// Set replaces the fault at any time; the connections notice by the channel changed. Cut ends an era, and with it
// all connections that began in it.

// Fault says how a Proxy disturbs connections. The zero value does nothing.
type Fault struct {
	Refuse   bool          // closes the listener: connections are refused, open ones break
	Reset    bool          // accepts and counts connections, and breaks them at once
	Hang     bool          // accepts connections and forwards nothing in either direction, until Set
	Delay    time.Duration // delays every message and connection, at most until Set
	ReadOnly bool          // the server refuses commands that write, as those of a user without that right
	// Request gets each command of the client itself, without documents to write that may be outside of it, and
	// reports whether to forward it; if not, the connection breaks. If nil, all commands pass.
	Request func(command bson.Raw) bool
	// Reply gets each reply, a message of the wire protocol, and returns the message to forward. If that is shorter
	// than its header says, the connection breaks. If nil, replies pass unchanged. Several goroutines call Request
	// and Reply at once.
	Reply func(message []byte) []byte
}

// Proxy stands between a client and a server and simulates failures of the network.
// Its methods may be called in parallel. Its address stays the same while it refuses connections, see hold.
type Proxy struct {
	t        testing.TB
	address  string
	accepted atomic.Int64
	commands atomic.Int64
	life     atomic.Int64 // incremented by Abandon: connections with an earlier number hang
	traffic  traffic
	wg       sync.WaitGroup

	mu       sync.Mutex   // guards the rest
	listener net.Listener // nil while connections are refused
	state
	end context.CancelFunc // cancels the era
}

// state is the state of the proxy that connections read.
type state struct {
	target  string
	fault   Fault
	changed chan struct{}   // closed when the fault changes
	era     context.Context // canceled when connections break
}

// NewProxy starts a proxy in front of a server. It ends with the test.
// server is a URI as Start returns it.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	address, release, err := hold()
	if err != nil {
		t.Fatalf("proxy: %v", err)
	}
	t.Cleanup(release)
	p := &Proxy{t: t, address: address, state: state{target: hostOf(server), changed: make(chan struct{})}}
	p.era, p.end = context.WithCancel(context.Background())
	p.Set(Fault{})
	t.Cleanup(func() {
		p.Set(Fault{Refuse: true})
		p.wg.Wait()
	})
	return p
}

// hostOf returns the host and port of a URI as Start returns it.
func hostOf(uri string) string { return strings.Trim(strings.TrimPrefix(uri, "mongodb://"), "/") }

// URI returns the URI of the proxy; it ends in "/".
func (p *Proxy) URI() string { return "mongodb://" + p.address + "/" }

// Accepted returns how many connections the proxy has accepted.
func (p *Proxy) Accepted() int64 { return p.accepted.Load() }

// Commands returns how many commands the client has sent itself.
// The driver's own checks of the connection do not count, so the number does not depend on time.
func (p *Proxy) Commands() int64 { return p.commands.Load() }

// Set changes the fault. Connections stay open unless the fault breaks them.
// It fails the test if the port cannot be opened again.
func (p *Proxy) Set(f Fault) {
	p.t.Helper()
	p.mu.Lock()
	p.fault = f
	close(p.changed)
	p.changed = make(chan struct{})
	switch {
	case f.Refuse && p.listener != nil:
		_ = p.listener.Close()
		p.listener = nil
	case !f.Refuse && p.listener == nil:
		ln, err := net.Listen("tcp", p.address)
		if err != nil {
			p.mu.Unlock()
			p.t.Fatalf("proxy: %v", err)
		}
		p.listener, p.address = ln, ln.Addr().String()
		p.wg.Go(func() { p.accept(ln) })
	}
	p.mu.Unlock()
	if f.Refuse || f.Reset {
		p.Cut()
	}
}

// Switch connects to another server from now on, and breaks the connections to the previous one.
func (p *Proxy) Switch(server string) {
	p.mu.Lock()
	p.target = hostOf(server)
	p.mu.Unlock()
	p.Cut()
}

// Abandon makes all open connections hang for ever, as when a machine loses power. New connections work.
func (p *Proxy) Abandon() { p.life.Add(1) }

// Cut breaks all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	p.era, p.end = context.WithCancel(context.Background())
}

// now returns a copy of the state, which stays valid until changed is closed.
func (p *Proxy) now() state {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// accept serves connections until the listener closes.
func (p *Proxy) accept(ln net.Listener) {
	for {
		client, err := ln.Accept()
		if err != nil {
			return
		}
		p.accepted.Add(1)
		p.wg.Go(func() { p.connect(client) })
	}
}

// connect forwards one connection in both directions, until either end or the era closes it. It dials the target of
// the moment, see Switch.
func (p *Proxy) connect(client net.Conn) {
	defer client.Close()
	era := p.now().era
	defer context.AfterFunc(era, func() { _ = client.Close() })()
	if f := p.heldUp(); f.Reset || f.Refuse {
		return
	}
	server, err := net.Dial("tcp", p.now().target)
	if err != nil {
		return
	}
	defer server.Close()
	defer context.AfterFunc(era, func() { _ = server.Close() })()
	var both sync.WaitGroup
	both.Go(func() { p.pump(client, server, p.request) })
	both.Go(func() { p.pump(server, client, p.reply) })
	both.Wait()
}

// heldUp waits as long as the current fault demands, and then returns the fault.
func (p *Proxy) heldUp() Fault {
	for {
		s := p.now()
		var over <-chan time.Time // nil, which never fires, if connections hang
		if !s.fault.Hang {
			over = time.After(s.fault.Delay)
		}
		select {
		case <-over:
			return s.fault
		case <-s.changed:
		}
	}
}

// pump forwards messages as treat returns them, until treat returns a shorter one.
// After Abandon it goes on reading, so that the sender notices nothing, and forwards nothing.
func (p *Proxy) pump(from, to net.Conn, treat func(message []byte, f Fault) []byte) {
	defer from.Close()
	defer to.Close()
	for born := p.life.Load(); ; {
		message, err := readMessage(from)
		if err != nil {
			return
		}
		if p.life.Load() != born {
			continue
		}
		rest := treat(message, p.heldUp())
		_, err = to.Write(rest)
		if err != nil || len(rest) < headerSize || len(rest) < int(binary.LittleEndian.Uint32(rest)) {
			return
		}
	}
}

// request counts a message of the client and applies the fault. Without a command in it, it passes.
func (p *Proxy) request(message []byte, f Fault) []byte {
	command, ok := commandIn(message)
	if !ok {
		return message
	}
	p.commands.Add(1)
	p.traffic.request(message, command)
	if f.Request != nil && !f.Request(command) {
		return nil
	}
	if f.ReadOnly {
		refuseWrite(message, command)
	}
	return message
}

// refuseWrite changes the name of a command that writes, so that the server knows none of that name and does
// nothing.
func refuseWrite(message []byte, command bson.Raw) {
	first, err := command.IndexErr(0)
	if err != nil {
		return
	}
	switch name := first.Key(); name {
	case "insert", "update", "delete", "findAndModify", "create", "drop", "createIndexes":
		if at := bytes.Index(message, append([]byte(name), 0)); at >= 0 {
			message[at] = 'X'
		}
	}
}

// reply counts a message of the server and applies the fault.
func (p *Proxy) reply(message []byte, f Fault) []byte {
	p.traffic.down.Add(int64(len(message)))
	if f.Reply == nil {
		return message
	}
	return f.Reply(message)
}

// Refusal returns a Fault.Reply that replaces replies to queries and writes by an error. It acts as a server that
// answers pings but serves no queries.
func Refusal(code int32, name string) func(message []byte) []byte {
	return func(message []byte) []byte {
		_, _, _, kind, rest, _ := wiremessage.ReadHeader(message)
		if kind != wiremessage.OpMsg || len(rest) < 5 {
			return message
		}
		reply, _, _ := wiremessage.ReadMsgSectionSingleDocument(rest[5:])
		if !has(bson.Raw(reply), "cursor") && !has(bson.Raw(reply), "n") { // of hello, ping and the like
			return message
		}
		return Refuse(message, code, name)
	}
}

// Refuse returns an error in place of any reply.
func Refuse(message []byte, code int32, name string) []byte {
	refused, err := bson.Marshal(bson.D{
		{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: name},
		{Key: "code", Value: code}, {Key: "codeName", Value: name},
	})
	if err != nil { // cannot fail
		panic(err)
	}
	const before = headerSize + 5 // the flags and the kind of section
	message = append(message[:before:before], refused...)
	binary.LittleEndian.PutUint32(message, uint32(len(message)))
	return message
}

// has reports whether a document has a field at its top level.
func has(doc bson.Raw, field string) bool {
	_, err := doc.LookupErr(field)
	return err == nil
}

// headerSize is the length of a message's header: its size, its number, the number that it answers, and its kind, 4
// bytes each (MongoDB Wire Protocol, Standard Message Header).
const headerSize = 16

// readMessage reads one message with its header. A size beyond 64 MiB, more than the protocol's 48 MB, is no
// message.
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

// commandIn returns the command in a message, unless the driver sent it to check a connection.
func commandIn(message []byte) (bson.Raw, bool) {
	_, _, _, kind, rest, _ := wiremessage.ReadHeader(message)
	if kind != wiremessage.OpMsg || len(rest) < 5 {
		return nil, false
	}
	// the command follows the flags and the kind of section
	command, _, _ := wiremessage.ReadMsgSectionSingleDocument(rest[5:])
	first, err := bson.Raw(command).IndexErr(0)
	if err != nil {
		return nil, false
	}
	switch first.Key() {
	case "hello", "isMaster", "ismaster", "ping", "endSessions":
		return nil, false
	}
	return bson.Raw(command), true
}
