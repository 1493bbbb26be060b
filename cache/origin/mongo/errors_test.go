package mongo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	driver "go.mongodb.org/mongo-driver/v2/mongo"

	"vitrine/cache/origin"
	"vitrine/rules"
)

// kinds are all kinds of error that a caller can distinguish.
var kinds = []error{origin.ErrNotFound, origin.ErrUnsupported, rules.ErrUnavailable, rules.ErrWrongCall}

// TestErrorKinds: an error of the driver has one kind after the store's own requests, and may have
// another after a client's query.
func TestErrorKinds(t *testing.T) {
	refused := func(code int32) error { return driver.CommandError{Code: code, Message: "no \x00 such\noperator"} }
	for _, c := range []struct {
		name         string
		err          error
		store, query error // nil: no kind
	}{
		{"no document", driver.ErrNoDocuments, origin.ErrNotFound, origin.ErrNotFound},
		{"the caller has gone", context.Canceled, nil, nil},
		{"no time left", context.DeadlineExceeded, rules.ErrUnavailable, rules.ErrUnavailable},
		{"an answer that makes no sense", errors.New("invalid length"), rules.ErrUnavailable, rules.ErrUnavailable},
		{"an unknown command", refused(59), origin.ErrUnsupported, rules.ErrWrongCall},
		{"a bad value", refused(2), nil, rules.ErrWrongCall},
		{"an unknown code", refused(51091), nil, rules.ErrWrongCall},
		{"not allowed", refused(13), nil, nil},
		{"shutting down", refused(91), rules.ErrUnavailable, rules.ErrUnavailable},
		{"not the primary", refused(10107), rules.ErrUnavailable, rules.ErrUnavailable},
		{"a failure without a code", refused(codeNone), rules.ErrUnavailable, rules.ErrUnavailable},
		{"a network error", driver.CommandError{Code: 6, Labels: []string{"NetworkError"}}, rules.ErrUnavailable,
			rules.ErrUnavailable},
		{"a document that cannot be sent", driver.MarshalError{Err: errors.New("x")}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantKind(t, storeError(c.err), c.err, c.store)
			wantKind(t, queryError(c.err), c.err, c.query)
		})
	}
	for _, kind := range []func(error) error{storeError, queryError} {
		if err := kind(nil); err != nil {
			t.Errorf("nil became %v", err)
		}
	}
}

// wantKind checks that an error is of one kind and, unless that replaces it, still wraps the cause.
func wantKind(t *testing.T, got, cause, want error) {
	t.Helper()
	for _, kind := range kinds {
		if errors.Is(got, kind) != (kind == want) {
			t.Errorf("%v: is %v: %t", got, kind, errors.Is(got, kind))
		}
	}
	if want != origin.ErrNotFound && !strings.Contains(got.Error(), cause.Error()) {
		t.Errorf("%v does not contain its cause, %v", got, cause)
	}
}

// TestReasons: the reason of a refused query is one line of bounded length.
func TestReasons(t *testing.T) {
	for message, want := range map[string]string{
		"unknown operator: $x":    "unknown operator: $x",
		"two\nlines and \x00":     "two?lines and ?",
		"äöü €":                   "äöü €",
		strings.Repeat("x", 1000): strings.Repeat("x", maxReason),
	} {
		var fault *rules.Error
		if err := queryError(driver.CommandError{Code: 2, Message: message}); !errors.As(err, &fault) ||
			fault.Reason != want {
			t.Errorf("reason of %q: %v, want %q", message, err, want)
		}
	}
}

func TestOnlyDuplicates(t *testing.T) {
	bulk := func(codes ...int) error {
		var e driver.BulkWriteException
		for i, code := range codes {
			e.WriteErrors = append(e.WriteErrors,
				driver.BulkWriteError{WriteError: driver.WriteError{Index: i, Code: code}})
		}
		return fmt.Errorf("wrapped: %w", e)
	}
	for _, c := range []struct {
		name string
		err  error
		ok   bool
	}{
		{"two duplicates", bulk(codeDuplicateKey, codeDuplicateKey), true},
		{"and another error", bulk(codeDuplicateKey, 121), false},
		{"no bulk write", errors.New("x"), false},
		{"no error", nil, false},
	} {
		if got := onlyDuplicates(c.err); got != c.ok {
			t.Errorf("%s: %t, want %t", c.name, got, c.ok)
		}
	}
}

// TestPanicsBecomeErrors: a reply that the driver cannot read makes the store unavailable.
func TestPanicsBecomeErrors(t *testing.T) {
	read := func() (err error) {
		defer recoverReply(&err, storeError)
		panic("index out of range")
	}
	if err := read(); !errors.Is(err, rules.ErrUnavailable) || !strings.Contains(err.Error(), "index out of range") {
		t.Errorf("error = %v", err)
	}
}
