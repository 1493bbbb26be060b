package bolt

import (
	"bytes"
	"errors"
	"slices"

	bbolt "go.etcd.io/bbolt"
)

// writeTx is a write transaction that remembers what it puts, so that write can look for it after the commit. bbolt
// checks the first page of a node only. If another of its pages is damaged while the store is open, keys may be out
// of order, and the commit may put a value where no search comes. A transaction deletes nothing that it has put.
type writeTx struct {
	Tx   *bbolt.Tx
	puts []written
}

// written is a value that a transaction has put, with its seal.
type written struct {
	in         place
	key, value []byte
}

// put stores a value with a seal. The bucket of its place exists.
func (tx *writeTx) put(in place, key, value []byte) error {
	return tx.store(written{in, key, in.seal(key, value)})
}

// putKey stores a key without a value.
func (tx *writeTx) putKey(in place, key []byte) error { return tx.store(written{in: in, key: key}) }

func (tx *writeTx) store(w written) error {
	tx.puts = append(tx.puts, w)
	return w.in.bucket(tx.Tx).Put(w.key, w.value)
}

// find returns errMisplaced unless a later transaction finds each value, or one that has replaced it since.
func (tx *writeTx) find(later *bbolt.Tx) error {
	buckets := map[place]*bbolt.Bucket{}
	for i, w := range tx.puts {
		if buckets[w.in] == nil {
			buckets[w.in] = w.in.bucket(later)
		}
		if buckets[w.in] == nil {
			return errMisplaced
		}
		value := buckets[w.in].Get(w.key)
		replaces := func(by written) bool { return by.in == w.in && bytes.Equal(by.key, w.key) }
		if (value == nil || !bytes.Equal(value, w.value)) && !slices.ContainsFunc(tx.puts[i+1:], replaces) {
			return errMisplaced
		}
	}
	return nil
}

var errMisplaced = errors.New("what was just written is not found: its keys are out of order")
