package materialize

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// change is one record whose row is stale, with the results of each step.
type change struct {
	record   bson.Raw
	prepared bson.Raw // see prepare
	checked  bool     // see check
	hash     uint64
	plain    uint64   // see storedRow
	mark     bson.Raw // see Job.Mark; finished once the row is rendered
	lacks    mark.Lack
	at       int // position of the record in the index

	row bson.Raw // nil if the record has no row
	err error    // why the record could not be rendered
}

// check sets err if the record is malformed, unless an earlier step has checked it.
func (c *change) check() {
	if c.checked || c.err != nil {
		return
	}
	c.checked = true
	if err := raw.Check(c.record); err != nil {
		c.err = fmt.Errorf("malformed record: %w", err)
	}
}

// prepare brings the record into the form that the functions of the job get, unless an earlier step has: the tally,
// the mark and the row are made from the same prepared record.
func (c *change) prepare(form func(record bson.Raw) bson.Raw) {
	if c.prepared == nil && c.err == nil {
		c.prepared = form(c.record)
	}
}

// own replaces the record, which was the store's memory, by the caller's copy.
func (c *change) own(record bson.Raw) {
	if c.isRecord(c.prepared) { // the job takes records as they are
		c.prepared = record
	}
	c.record = record
}

// isRecord reports whether a document is the record itself, in the same memory.
func (c *change) isRecord(doc bson.Raw) bool {
	return len(doc) == len(c.record) && len(doc) > 0 && &doc[0] == &c.record[0]
}

// size returns the bytes that the change holds before it is rendered.
func (c *change) size() int {
	if c.isRecord(c.prepared) {
		return len(c.record) + len(c.mark)
	}
	return len(c.record) + len(c.prepared) + len(c.mark)
}

// id returns the _id of the record. compare has skipped records without one.
func (c *change) id() bson.RawValue { return c.record.Lookup("_id") }
