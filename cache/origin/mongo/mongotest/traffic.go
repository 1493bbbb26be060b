package mongotest

import (
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/wiremessage"
)

// Traffic is what a client has exchanged with a server, besides the driver's own checks of the connection.
type Traffic struct {
	Up, Down int64          // bytes of messages without compression
	Commands map[string]int // by name and collection, as in "find view_meta"
	Written  map[string]int // documents and statements in insert and update commands, by collection
}

// traffic collects a Traffic.
type traffic struct {
	up, down atomic.Int64

	mu       sync.Mutex // guards the rest
	commands map[string]int
	written  map[string]int
}

// Traffic returns the traffic since the last call, or since the proxy started.
// Without commands, its maps are nil.
func (p *Proxy) Traffic() Traffic {
	t := &p.traffic
	t.mu.Lock()
	defer t.mu.Unlock()
	now := Traffic{t.up.Swap(0), t.down.Swap(0), t.commands, t.written}
	t.commands, t.written = nil, nil
	return now
}

// request counts a command. A getMore has its cursor first, and names its collection in a field.
func (t *traffic) request(message []byte, command bson.Raw) {
	t.up.Add(int64(len(message)))
	first := command.Index(0)
	collection, _ := first.Value().StringValueOK()
	if first.Key() == "getMore" {
		collection, _ = command.Lookup("collection").StringValueOK()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.commands == nil {
		t.commands, t.written = map[string]int{}, map[string]int{}
	}
	t.commands[first.Key()+" "+collection]++
	if first.Key() == "insert" || first.Key() == "update" {
		t.written[collection] += statements(message, command)
	}
}

// statements counts the documents or statements of a write command, in the command or in sections behind it.
func statements(message []byte, command bson.Raw) (n int) {
	for _, name := range []string{"documents", "updates"} {
		if list, ok := command.Lookup(name).ArrayOK(); ok {
			values, _ := list.Values()
			n += len(values)
		}
	}
	for rest := message[headerSize+4:]; len(rest) > 0; { // behind the flags
		kind, section, _ := wiremessage.ReadMsgSectionType(rest) // fails only for an empty rest
		var docs []bsoncore.Document
		ok := false
		if kind == wiremessage.SingleDocument {
			_, rest, ok = wiremessage.ReadMsgSectionSingleDocument(section)
		} else {
			_, docs, rest, ok = wiremessage.ReadMsgSectionDocumentSequence(section)
		}
		if !ok {
			break
		}
		n += len(docs)
	}
	return n
}
