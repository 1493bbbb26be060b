package origin

import (
	"context"
	"iter"
	"time"
)

// Response is an answer of the other server (upstream.url) that is kept by rule, in the collection view_upstream.
// Times have a precision of a millisecond.
type Response struct {
	Key        string // path and parameters in the rule's canonical form: /portfolio/unit/BIO?limit=10
	Generation uint64 // greater than those of all earlier changes, which may yet arrive later
	// of everything that a client gets: status, header and body; empty if the answer has been dropped
	Digest   string
	Status   int // as it is sent: that of the envelope, if it has one
	Header   []ResponseField
	Body     []byte // nil where the method says that it reads no bodies; Size is set in any case
	Size     int    // of the body in bytes
	ETag     string // the other server's validators, to ask conditionally; empty if it sent none
	Modified string
	Fetched  time.Time        // when the request began whose answer this was first
	Checked  time.Time        // when the last request began that gave this answer; no earlier than Fetched
	Marks    map[string]int64 // of what the answer depends on (see Marks), when that request began
	Asked    time.Time        // when a client last asked for it, within a few minutes; zero if none did
	Requests int64            // about how many clients sent; at Asked, those of a day before count half
}

// ResponseField is a line of a response's header. Name is in canonical form.
type ResponseField struct {
	Name  string `bson:"n"`
	Value string `bson:"v"`
}

// Field returns the value of a header field, or "". A field with several lines has that of the first.
func (r *Response) Field(name string) string {
	for _, f := range r.Header {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Claim is the right to fetch the answer of a key and to store it, for one process at a time.
type Claim struct {
	Key    string
	Holder string        // names the process, with a random part
	Token  uint64        // fencing token: grows with every claim of the key, and is no other claim's
	Term   time.Duration // after it, others may take the claim; from 1 ms to MaxTerm
}

// MaxResponse bounds an answer with its header, in bytes: MongoDB accepts documents of 16 MiB.
const MaxResponse = 16<<20 - 64<<10

// Demand is how often clients asked for a key since it was last reported.
type Demand struct {
	Key      string
	Requests int64
	Last     time.Time
}

// Responses keeps answers of the other server for all processes. Unlike a view, they have no publication: each answer
// is replaced alone, in one atomic step that is fenced by its claim, since it depends on no other one.
//
// A document that cannot be read counts as missing, and the next Claim or Put replaces it. The error is
// ErrUnsupported if the store does not permit this process to write, and ErrForeign as for views.
type Responses interface {
	// Response returns the answer of a key with its body, or ErrNotFound if there is none. A dropped one is
	// ErrNotFound. So is one whose body is damaged; it is dropped, so that no Confirm keeps it.
	Response(ctx context.Context, key string) (Response, error)
	// Claim takes the right to fetch a key, and returns what is kept without its body (the zero Response if nothing
	// is), read after the claim was taken. It fails with an ErrLeaseHeld that names the holder. A claim has expired
	// when this Responses has seen it unchanged for its whole term, by the monotonic clock of this process (see
	// Leases). A claim that cannot be read, or whose term is out of range, is free. So is the holder's own, which the
	// new one replaces: the reply to the first may have been lost.
	Claim(ctx context.Context, key, holder string, term time.Duration) (Claim, Response, error)
	// Put stores the answer of a claimed key, with the next generation, and gives the claim back. Asked and Requests
	// stay. Put returns the answer without its body. The error is ErrFenced if the claim was taken, dropped or given
	// back since, and ErrTooLarge if the answer exceeds MaxResponse. After another error it may be stored or not.
	Put(ctx context.Context, c Claim, r Response) (Response, error)
	// Confirm records that a claimed key still has the kept answer: Checked and Marks, with the next generation, but
	// without writing its body; and gives the claim back. The error is ErrFenced if the claim was taken, dropped or
	// given back since, or if the answer does not have the digest any more.
	Confirm(ctx context.Context, c Claim, digest string, checked time.Time, marks map[string]int64) (Response, error)
	// Unclaim gives a claim back without an answer. A lost claim is not an error.
	Unclaim(ctx context.Context, c Claim) error
	// Drop removes the kept answers of keys: a document without status, header, and body stays in its place with the
	// next generation, so that other processes learn of it, until Sweep. Claims of the keys are lost, so that an
	// answer that is being fetched is not stored. Keys that are not kept are no error.
	Drop(ctx context.Context, keys []string) error
	// Changes yields all answers whose generation is greater than since, without bodies and in any order, dropped
	// ones included unless since is 0. latest is the greatest generation given out before the reading began, to a
	// change or a claim: a writer may be slow, so a reader asks again from an earlier generation for a while. The
	// error is ErrStale if since is greater than latest, because the store was restored: the reader must start from
	// 0.
	Changes(ctx context.Context, since uint64) (responses iter.Seq2[Response, error], latest uint64, err error)
	// AddDemand adds demand to kept answers. It changes no generation, and ignores keys that are not kept.
	AddDemand(ctx context.Context, demand []Demand) error
	// Sweep removes the documents of keys dropped before generation, and of keys that were only claimed before it.
	Sweep(ctx context.Context, generation uint64) error
	// Marks returns when what answers depend on last changed, by collection; without a mark, a collection has not
	// been looked at. It also returns latest, as Changes does, so that one cheap request tells a reader whether
	// anything is new.
	Marks(ctx context.Context) (marks Marks, latest uint64, err error)
	// SetMarks replaces the marks, under the lease that guarantees one writer at a time. The error is ErrFenced if
	// the lease was lost or a later one has written them.
	SetMarks(ctx context.Context, lease Lease, m Marks) error
}

// Marks say when source collections last changed, as far as the materializer knows: at, in Unix milliseconds, only
// grows. Version is the text by which the next materializer notices a change (see Versioner).
type Marks map[string]Mark

// Mark is one of Marks.
type Mark struct {
	At      int64  `bson:"at"`
	Version string `bson:"version"`
}
