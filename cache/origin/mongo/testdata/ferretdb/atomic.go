package main

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
)

// relay stands between clients and the server, and lets it execute one writing command at a time. MongoDB compares and
// changes a document in one step. FerretDB 1.24 reads, compares and writes in three, so that of two clients that change
// a document under the same condition both may succeed.
type relay struct {
	listener net.Listener
	server   string     // address
	writing  sync.Mutex // held while the server executes a writing command
}

func newRelay() (*relay, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	return &relay{listener: ln}, err
}

// uri returns the relay's own address in a server's URI.
func (r *relay) uri(server string) string {
	address := strings.Trim(strings.TrimPrefix(server, "mongodb://"), "/")
	r.server = address
	return strings.Replace(server, address, r.listener.Addr().String(), 1)
}

func (r *relay) run() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		go r.connect(client)
	}
}

func (r *relay) connect(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", r.server)
	if err != nil {
		return
	}
	defer server.Close()
	for err == nil {
		err = r.exchange(client, server)
	}
}

// exchange forwards a command and its reply. A client sends no command before it has the reply to the last.
func (r *relay) exchange(client, server net.Conn) error {
	message, err := readMessage(client)
	if err != nil {
		return err
	}
	reply, err := r.execute(server, message)
	if err == nil {
		_, err = client.Write(reply)
	}
	return err
}

func (r *relay) execute(server net.Conn, message []byte) ([]byte, error) {
	if writes(message) {
		r.writing.Lock()
		defer r.writing.Unlock()
	}
	if _, err := server.Write(message); err != nil {
		return nil, err
	}
	return readMessage(server)
}

const headerSize = 16

func readMessage(from io.Reader) ([]byte, error) {
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(from, header); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(header)
	if size < headerSize || size > 64<<20 {
		return nil, errors.New("not a message")
	}
	message := append(header, make([]byte, size-headerSize)...)
	_, err := io.ReadFull(from, message[headerSize:])
	return message, err
}

// writes reports whether a message is a command that changes documents. Its name is the first field of the document
// behind the flags, the kind of section, the document's length and the field's type.
func writes(message []byte) bool {
	const nameAt = headerSize + 4 + 1 + 4 + 1
	if len(message) < nameAt {
		return false
	}
	name, _, _ := strings.Cut(string(message[nameAt:min(len(message), nameAt+20)]), "\x00")
	switch name {
	case "insert", "update", "delete", "findAndModify":
		return true
	}
	return false
}
