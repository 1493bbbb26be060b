package materialize

import (
	"fmt"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// hasher hashes records under one seed, of what the rows of a run have in common: fingerprint and dependencies. Only
// one goroutine may use it.
type hasher struct {
	seed   uint64
	digest *xxhash.Digest
	mark   MarkFunc                              // see Marks.Make; nil if rows have no marks
	finish func(mark bson.Raw) (bson.Raw, error) // see Marks.Finish
	// seed of plain hashes, which also covers everything else that marks depend on
	marks uint64
}

func newHasher(fingerprint string, job Job, deps Deps) *hasher {
	h := &hasher{digest: xxhash.New()}
	if job.Mark != nil {
		m := job.Mark(deps)
		h.mark, h.marks, h.finish = m.Make, m.Digest, m.Finish
		fingerprint += m.Rules // sum gets marks that are not finished
	}
	h.seed = xxhash.Sum64String(fingerprint)
	h.marks ^= h.seed
	return h
}

// basis identifies what hashes depend on, except the records.
func (h *hasher) basis() string { return fmt.Sprintf("%x %x", h.seed, h.marks) }

// plain returns the hash of a record alone. While it does not change, neither does sum. It is 0 for jobs without
// marks.
func (h *hasher) plain(record bson.Raw) uint64 {
	if h.mark == nil {
		return 0
	}
	h.digest.ResetWithSeed(h.marks)
	h.digest.Write(record) // Write never fails
	return h.digest.Sum64()
}

// sum returns the hash of a record and its mark, and the mark, and sets what the record lacks. The hash is valid even
// with an error of Job.Mark. With marks, the record must be prepared; one that was found malformed has none.
func (h *hasher) sum(c *change) (_ uint64, mark bson.Raw, err error) {
	h.digest.ResetWithSeed(h.seed)
	h.digest.Write(c.record)
	if h.mark != nil && c.err == nil {
		mark, c.lacks, err = h.mark(c.prepared)
		h.digest.Write(mark)
	}
	return h.digest.Sum64(), mark, err
}
