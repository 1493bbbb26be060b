package traffic

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The reasons why a request failed, as metrics have them.
const (
	Refused     = "refused"     // the connection was refused
	Unreachable = "unreachable" // there was no connection for another reason, such as an unknown name
	TLS         = "tls"         // the certificate, or the handshake
	Timeout     = "timeout"     // no answer in time
	Broken      = "broken"      // the answer is no HTTP, or incomplete
	HTTPStatus  = "status"      // an answer of status 500 or more
	Unusable    = "unusable"    // the rule for the path cannot keep the answer, such as a login
)

var reasons = []string{Refused, Unreachable, TLS, Timeout, Broken, HTTPStatus, Unusable}

// texts are the reasons in words. HTTPStatus has none: its Failure has a Text.
var texts = map[string]string{
	Refused: "connection refused", Unreachable: "no connection", TLS: "TLS error",
	Timeout: "no answer in time", Broken: "incomplete answer", Unusable: "an answer that may not be kept",
}

// Failure says why a request brought no usable answer.
type Failure struct {
	Reason  string // one of the constants
	Text    string // in words, without hosts and keys, as /readyz is public; if empty, those of Reason
	Err     error  // for the operator; nil if Text says it all
	Recheck Recheck
}

// Recheck is what Vitrine may ask for again, to find out whether a failure has ended. The zero Recheck is nothing, as
// of a page that only its user may see.
type Recheck struct {
	Target string
	Rule   bool // Target is the key of an answer that is kept by rule, otherwise a path
}

// StatusFailure returns the failure of an answer with a status of 500 or more.
func StatusFailure(status int) Failure {
	return Failure{Reason: HTTPStatus, Text: "status " + strconv.Itoa(status)}
}

// State says whether the other server answers. The zero State is that of one that was not asked yet. Times are those
// of this process.
type State struct {
	Since       time.Time // of the first failure after an answer, or of the first answer after a failure
	LastSuccess time.Time
	LastFailure time.Time
	Failing     bool
	Last        Failure // the last one; only while it fails
	Failures    int     // requests that failed since Since
}

// The names of states, as operators see them.
const (
	Answering = "answering"
	Failing   = "failing"
	NotAsked  = "not asked"
)

// Name returns one of the names.
func (s State) Name() string {
	switch {
	case s.Failing:
		return Failing
	case s.LastSuccess.IsZero():
		return NotAsked
	}
	return Answering
}

// Why says in a sentence since when the other server fails, and why; "" if it does not. It is public.
func (s State) Why() string {
	if !s.Failing {
		return ""
	}
	return "The other server has failed since " + s.Since.UTC().Format(time.DateTime) + " UTC: " + s.Last.words() + "."
}

// words returns the reason in words.
func (f Failure) words() string {
	if f.Text != "" {
		return f.Text
	}
	return texts[f.Reason]
}

// detail returns what the error says beyond the reason.
func (f Failure) detail() string {
	if f.Err == nil {
		return ""
	}
	return strings.ToValidUTF8(f.Err.Error(), "?")
}

// answered returns the state after an answer.
func (s State) answered(now time.Time) State {
	if s.Failing || s.LastSuccess.IsZero() {
		s.Since = now
	}
	s.Failing, s.Last, s.Failures, s.LastSuccess = false, Failure{}, 0, now
	return s
}

// failed returns the state after a failure. If this failure names nothing to ask for again, the last one counts.
func (s State) failed(f Failure, now time.Time) State {
	if f.Recheck == (Recheck{}) {
		f.Recheck = s.Last.Recheck
	}
	if !s.Failing {
		s.Failing, s.Since = true, now
	}
	s.Last, s.LastFailure = f, now
	s.Failures++
	return s
}

// Unreached reports whether an answer to any request at all, whatever it says, ends the failure.
func (f Failure) Unreached() bool {
	switch f.Reason {
	case Refused, Unreachable, TLS:
		return true
	}
	return false
}

// RuleFailure returns the failure of an answer that the rule for its path cannot keep, by the status of the answer.
func RuleFailure(status int, reason string) Failure {
	if status >= http.StatusInternalServerError {
		return StatusFailure(status)
	}
	return Failure{Reason: Unusable, Text: reason}
}
