package kept

// Outcome says where an answer came from.
type Outcome string

// The outcomes.
const (
	Hit       Outcome = "hit"       // fresh, from memory
	Fetched   Outcome = "fetched"   // from the other server, by this request or one that it joined
	Confirmed Outcome = "confirmed" // the other server, or another process, gave the same answer
	Shared    Outcome = "shared"    // another process had fetched it
	Stale     Outcome = "stale"     // kept, while the new one is fetched or the other server fails
	Passed    Outcome = "passed"    // from the other server, and not of a kind that is kept
)

// The reasons for sending a stale answer.
const (
	revalidating   = "revalidating"
	upstreamFailed = "upstream-failed"
)

// Found is the result of Get.
type Found struct {
	Entry  *Entry // nil if Outcome is Passed
	Body   []byte // of a Passed answer, or where it was just fetched; otherwise Keeper.Body has it
	Passed Answer // where Outcome is Passed, with the status of an error in a JSON envelope
	// Outcome says where the answer came from, and so which of the other fields are set.
	Outcome Outcome
	// Reason says in a few words why a stale answer is sent, for Cache-Status ("revalidating", "upstream-failed"), or
	// why a Passed one is not kept.
	Reason string
}
