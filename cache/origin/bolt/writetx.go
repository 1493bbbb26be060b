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
	changes map[place][]change
}

// change is what a transaction has done to a key: its value with its seal, or gone.
type change struct {
	key, value []byte
	gone       bool
}

// put stores a value with a seal. The bucket of its place exists.
func (tx *writeTx) put(in place, key, value []byte) error {
	return tx.putAs(in, change{key: key, value: in.seal(key, value)})
}

// putKey stores a key without a value.
func (tx *writeTx) putKey(in place, key []byte) error { return tx.putAs(in, change{key: key}) }

func (tx *writeTx) putAs(in place, c change) error {
	tx.remember(in, c)
	return in.bucket(tx.Tx).Put(c.key, c.value)
}

// delete deletes a key, if it is there.
func (tx *writeTx) delete(in place, key []byte) error {
	tx.remember(in, change{key: key, gone: true})
	return in.bucket(tx.Tx).Delete(key)
}

func (tx *writeTx) remember(in place, c change) {
	if tx.changes == nil {
		tx.changes = map[place][]change{}
	}
	tx.changes[in] = append(tx.changes[in], c)
}

// find returns errMisplaced unless a later transaction finds each value that was put, or what came in its place. It
// does not look for deleted keys: the search that would not find them is the one by which they were deleted.
func (tx *writeTx) find(later *bbolt.Tx) error {
	for in, changes := range tx.changes {
		bucket := in.bucket(later)
		if bucket == nil {
			return errMisplaced
		}
		for i, c := range changes {
			if c.gone {
				continue
			}
			value := bucket.Get(c.key)
			replaces := func(by change) bool { return bytes.Equal(by.key, c.key) }
			if (value == nil || !bytes.Equal(value, c.value)) && !slices.ContainsFunc(changes[i+1:], replaces) {
				return errMisplaced
			}
		}
	}
	return nil
}

var errMisplaced = errors.New("what was just written is not found: its keys are out of order")
