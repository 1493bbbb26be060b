package bolt

import (
	"bytes"
	"errors"
	"slices"

	bbolt "go.etcd.io/bbolt"
)

// writeTx is a write transaction that remembers what it writes, so that write can look for it after the commit. All
// keys are written by its methods put, putKey and delete.
//
// The reason: bbolt checks the first page of a node only. If another of its pages is damaged while the store is open,
// keys may be out of order, and the commit may put a value where no search comes.
type writeTx struct {
	Tx      *bbolt.Tx
	changes []change
}

// change is what a transaction has done to a key: its value with its seal, or gone.
type change struct {
	in         place
	key, value []byte
	gone       bool
}

// put stores a value with a seal. The bucket of its place exists.
func (tx *writeTx) put(in place, key, value []byte) error {
	return tx.putAs(change{in: in, key: key, value: in.seal(key, value)})
}

// putKey stores a key without a value.
func (tx *writeTx) putKey(in place, key []byte) error { return tx.putAs(change{in: in, key: key}) }

func (tx *writeTx) putAs(c change) error {
	tx.changes = append(tx.changes, c)
	return c.in.bucket(tx.Tx).Put(c.key, c.value)
}

// delete deletes a key, if it is there.
func (tx *writeTx) delete(in place, key []byte) error {
	tx.changes = append(tx.changes, change{in: in, key: key, gone: true})
	return in.bucket(tx.Tx).Delete(key)
}

// find returns errMisplaced unless a later transaction finds each key as the last change of it has left it.
func (tx *writeTx) find(later *bbolt.Tx) error {
	buckets := map[place]*bbolt.Bucket{}
	for i, c := range tx.changes {
		if buckets[c.in] == nil {
			buckets[c.in] = c.in.bucket(later)
		}
		if buckets[c.in] == nil {
			return errMisplaced
		}
		value := buckets[c.in].Get(c.key)
		replaces := func(by change) bool { return by.in == c.in && bytes.Equal(by.key, c.key) }
		if ((value == nil) != c.gone || !bytes.Equal(value, c.value)) &&
			!slices.ContainsFunc(tx.changes[i+1:], replaces) {
			return errMisplaced
		}
	}
	return nil
}

var errMisplaced = errors.New("what was just written is not found: its keys are out of order")
