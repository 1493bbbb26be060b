package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"vitrine/proxy/upstream/gate"
	"vitrine/proxy/upstream/traffic"
	"vitrine/rules"
)

// counted says where a request is counted: under its rule, or else under its path if that has counts of its own, or
// else under the prefix in the settings by which it is forwarded.
type counted struct {
	rule   string // name of the rule of upstream.keep; empty without one
	path   string // as the client sent it; empty if only the prefix counts
	prefix string
}

// outcomes records the outcomes of requests.
type outcomes struct {
	*traffic.Recorder
	down func() bool // reports whether the other server gets probes alone
}

// countsOf returns the counts for a request.
func (o outcomes) countsOf(at counted) *traffic.Counts {
	if at.rule != "" {
		return o.ByRule(at.rule)
	}
	if at.path != "" {
		if own := o.At(at.path); own != nil {
			return own
		}
	}
	return o.Below(at.prefix)
}

// sent is a request that was sent, for record. The outcome is the head of the response, or why there is none.
type sent struct {
	counts  *traffic.Counts
	opens   string // the path that gets counts of its own after a good answer; empty if none does
	recheck string // the path that may be asked for again if this failed; empty if none may
	took    time.Duration
}

// record records an outcome. It returns the counts of the path, which may have been opened by this answer.
func (o outcomes) record(s sent, resp *gate.Response, err error) *traffic.Counts {
	switch {
	case err != nil:
		o.failed(s.counts, err, traffic.Recheck{Target: s.recheck}, s.took)
	case failsBy(resp.StatusCode):
		failure := traffic.StatusFailure(resp.StatusCode)
		failure.Recheck.Target = s.recheck
		o.Failed(s.counts, failure, s.took)
	default:
		if resp.StatusCode < http.StatusBadRequest && s.opens != "" {
			s.counts = o.Open(s.opens)
		}
		o.Answered(s.counts, s.took)
	}
	return s.counts
}

// failsBy reports whether a status says that the server fails. 501 is about the method of the request.
func failsBy(status int) bool {
	return status >= http.StatusInternalServerError && status != http.StatusNotImplemented
}

// failed records that there was no response, unless the client is the cause: it has left, or has too many requests
// under way. recheck is what may be asked for again.
func (o outcomes) failed(counts *traffic.Counts, err error, recheck traffic.Recheck, took time.Duration) {
	if failure, is := failureOf(err); is {
		failure.Recheck = recheck
		o.Failed(counts, failure, took)
	} else if _, refused := errors.AsType[*rules.RetryError](err); refused && o.down() {
		o.Refused(counts)
	}
}

// errUnfit is ErrBadGateway for a whole answer that no rule could keep.
var errUnfit = fmt.Errorf("%w", gate.ErrBadGateway)

// failureOf returns the failure of the other server in an error, if it is one.
func failureOf(err error) (f traffic.Failure, is bool) {
	f.Err = err
	switch {
	case errors.Is(err, gate.ErrTimeout):
		f.Reason = traffic.Timeout
	case errors.Is(err, errUnfit):
		f.Reason = traffic.Unusable
	case !errors.Is(err, gate.ErrBadGateway) || errors.Is(err, context.Canceled):
		return f, false
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Reason = traffic.Refused
	case isTLS(err):
		f.Reason = traffic.TLS
	default:
		f.Reason = traffic.Broken
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
			f.Reason = traffic.Unreachable
		}
	}
	return f, true
}

// isTLS reports whether an error is about a certificate or the TLS handshake.
func isTLS(err error) bool {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	return certificate || record || alert || name
}
