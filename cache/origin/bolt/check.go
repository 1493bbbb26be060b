package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules/raw"
)

// The check of a store, for `vitrine check` and the operator. examine (open.go) has judged the pages when this file
// comes to the values: check visits each bucket, recomputes the checksum of each value and counts what does not
// match. A flaw of a single record is a number in a Part; a flaw of pages makes a whole Part unreadable.

// Part is the result of Check for a collection or a view.
type Part struct {
	Name       string   // "source/activities", "views/persons", "upstream/answers"
	Records    int      // records or rows, in all their versions
	Damaged    int      // damaged records
	IDs        []string // ids of the first origin.MaxSkips damaged records whose id is readable
	Unreadable string   // why the part cannot be read; empty if it can
}

// Head is the name of the part with the two meta pages. If one of them is damaged, the last commit may be missing.
// bbolt writes them in turn, so that the other one still describes the commit before.
const Head = "head"

// Source reports whether the part holds source records, which Vitrine cannot rebuild. An operator restores or
// imports them anew.
func (p Part) Source() bool { return strings.HasPrefix(p.Name, string(bucketSource)+"/") }

// Kept reports whether the part holds kept answers of the other server, which Vitrine fetches again.
func (p Part) Kept() bool { return strings.HasPrefix(p.Name, string(bucketUpstream)+"/") }

// Sound reports whether the part is undamaged.
func (p Part) Sound() bool { return p.Damaged == 0 && p.Unreadable == "" }

// Check examines every page of the store in the file at path, and the values of collections, views and kept answers,
// and changes nothing. The error wraps origin.ErrDamaged if the file is damaged so much that it cannot be opened, and
// origin.ErrLocked if another process has it open. The error of ctx ends it early; the parts before it are then
// returned, too. Check opens the file read-only and with bbolt's lock, so it cannot run beside a Store of another
// process.
func Check(ctx context.Context, path string) (parts []Part, err error) {
	f := &storeFile{path: path}
	defer wrap.Error(&err, "check %s", f.Name())
	// bbolt would take an empty file for a new one and initialise it, which Check must not.
	if at, err := os.Stat(path); err != nil {
		return nil, err
	} else if at.Size() == 0 {
		return nil, fmt.Errorf("%w: the file is empty", origin.ErrDamaged)
	}
	if err := f.examine(); err != nil {
		return nil, err
	}
	// All reads of the mapping are inside guard: pages that examine has passed can still become unreadable, on a
	// failing disk.
	_, err = f.guard(func() (err error) {
		if f.db, err = f.openFile(true); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.db.Close()) }()
		return f.db.View(func(tx *bbolt.Tx) error {
			parts, err = f.check(ctx, tx)
			return err
		})
	})
	return parts, err
}

// Check examines every value of the open store, while others read and write it; it examined the pages when it was
// opened. It does not pass the gate: an operator may check a store whose circuit is open. One read transaction
// lasts for the whole check, so the file grows by what is written meanwhile.
func (s *Store) Check(ctx context.Context) (parts []Part, err error) {
	defer wrap.Error(&err, "check %s", s.Name())
	err = s.file.read(ctx, func(tx *bbolt.Tx) (err error) {
		parts, err = s.file.check(ctx, tx)
		return err
	})
	return parts, err
}

// check examines all collections and views.
func (f *storeFile) check(ctx context.Context, tx *bbolt.Tx) (parts []Part, err error) {
	// The meta pages come first, because damage there explains missing records everywhere else.
	if f.oneHead {
		parts = append(parts, Part{Name: Head, Records: 2, Damaged: 1})
	}
	err = tx.ForEach(func(top []byte, bucket *bbolt.Bucket) error {
		if bytes.Equal(top, bucketLeases) || bytes.Equal(top, bucketAside) {
			return nil
		}
		// An empty part of the kept answers is left out: a store without upstream has both parts, empty, and they
		// tell the operator nothing.
		return bucket.ForEachBucket(func(name []byte) error {
			p, err := f.checkPart(ctx, tx, top, string(name))
			if p.Records > 0 || !p.Sound() || !p.Kept() {
				parts = append(parts, p)
			}
			return err
		})
	})
	return parts, err
}

// checkPart examines a collection, a view with its meta, or a part of the kept answers. It returns an error only if
// ctx ends.
func (f *storeFile) checkPart(ctx context.Context, tx *bbolt.Tx, top []byte, name string) (Part, error) {
	p := Part{Name: pathOf(top, name)}
	if err := f.damaged[p.Name]; err != nil {
		p.Unreadable = err.Error()
		return p, nil
	}
	// Source records and kept answers lie directly in their bucket. Rows are one level deeper, beside the meta of
	// their view, and the meta has to be readable for the rows to be of any use.
	values := tx.Bucket(top).Bucket([]byte(name))
	if p.Source() {
		return p, p.examine(ctx, values, placeOf(top, name), idOf)
	}
	if p.Kept() {
		keyOf := func(key, _ []byte) bson.RawValue { return raw.NewString(string(key)) }
		return p, p.examine(ctx, values, placeOf(top, name), keyOf)
	}
	if _, err := f.readMeta(tx, name); err != nil {
		p.Unreadable = err.Error()
		return p, nil
	}
	if values = values.Bucket(bucketRows); values == nil {
		return p, nil
	}
	return p, p.examine(ctx, values, placeOf(top, name), rowID)
}

// examine checks the values of a bucket; idOf finds the _id in a damaged value. examine names the first damaged
// records only, because a damaged disk may spoil millions.
func (p *Part) examine(ctx context.Context, values *bbolt.Bucket, in place,
	idOf func(key, value []byte) bson.RawValue) error {
	return values.ForEach(func(key, sealed []byte) error {
		p.Records++
		if _, err := in.open(key, sealed); err != nil {
			p.Damaged++
			if id := idOf(key, sealed); !id.IsZero() && len(p.IDs) < origin.MaxSkips {
				p.IDs = append(p.IDs, origin.SkipText(id.String()))
			}
		}
		return ctx.Err()
	})
}
