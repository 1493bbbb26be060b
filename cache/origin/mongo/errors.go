package mongo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	driver "go.mongodb.org/mongo-driver/v2/mongo"
	xdriver "go.mongodb.org/mongo-driver/v2/x/mongo/driver"

	"vitrine/cache/origin"
	"vitrine/rules"
)

// Error codes of the server.
const (
	codeNone          = 0 // a failure without a code; servers do not report it
	codeFailedToParse = 9
	codeDuplicateKey  = 11000
)

// ownCodes are the codes of the server's own failures. All other codes that a query can get concern the query: there
// are thousands of them, more with each version.
var ownCodes = slices.Concat(
	[]int{1, 8, 96, 125, 245},                                      // internal and unspecified errors
	[]int{6, 7, 89, 145, 172, 173, 174, 202, 279, 317, 384, 9001},  // the network
	[]int{11, 13, 18, 391, 8000},                                   // users and their permissions
	[]int{24, 46, 50, 107, 112, 117, 208, 262, 290, 462},           // locks, time and load
	[]int{26, 43, 73, 136, 143, 166, 175, 206, 215, 221, 237, 251}, // collections, cursors and sessions that are gone
	[]int{63, 70, 83, 133, 134, 149, 150, 203, 249, 250, 13388},    // shards
	[]int{239, 246}, // snapshots
	[]int{91, 94, 95, 109, 189, 216, 10058, 10107, 11600, 11601, 11602, 13435, 13436, 14031}, // the server's state
)

// unauthorizedCodes report that a user lacks a permission, or that a hosted server does not permit the command.
var unauthorizedCodes = []int{13, 8000}

// notServingCodes are the codes of a server that refuses queries now: it is not the primary (10058, 10107, 13435), is
// neither primary nor secondary (13436), shuts down (91, 11600), has just changed its role (189, 11602), or finds no
// member of the replica set to read from (133).
var notServingCodes = []int{91, 133, 189, 10058, 10107, 11600, 11602, 13435, 13436}

// unsupportedCodes report what this server lacks: a command (59, 115, 238), a stage (40324), a replica set (40573).
var unsupportedCodes = []int{59, 115, 238, 40324, 40573}

// storeError adds to an error of the driver the error of package origin or rules that callers compare with.
func storeError(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, driver.ErrNoDocuments):
		return origin.ErrNotFound
	case hasCode(err, unsupportedCodes):
		return fmt.Errorf("%w: %w", origin.ErrUnsupported, err)
	case unanswered(err):
		return fmt.Errorf("%w: %w", rules.ErrUnavailable, err)
	}
	return err
}

// queryError is storeError for an operation that may come from a client: a server's rejection becomes a wrong call.
func queryError(err error) error {
	refused, ok := errors.AsType[driver.CommandError](err)
	if !ok || unanswered(err) || hasCode(err, ownCodes) {
		return storeError(err)
	}
	return fmt.Errorf("%w: %w", rules.Wrongf("", "", "%.*s", maxReason, printable(refused.Message)), err)
}

// maxReason bounds the server's message in an answer, in runes: it repeats the client's filter, which may be long.
const maxReason = 300

// printable replaces characters that do not belong in a line of text by question marks.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// unanswered reports whether the server was not reached, did not answer in time, does not serve now, or gave a
// malformed answer. The driver has no type for the last: it is every error that neither the server sent nor concerns
// an unsent request.
func unanswered(err error) bool {
	if driver.IsTimeout(err) || driver.IsNetworkError(err) ||
		hasCode(err, []int{codeNone}) || hasCode(err, notServingCodes) {
		return true
	}
	_, server := errors.AsType[driver.ServerError](err)
	_, unmarshalled := errors.AsType[driver.MarshalError](err)
	_, invalid := errors.AsType[driver.InvalidArgumentError](err)
	return !server && !unmarshalled && !invalid && !errors.Is(err, xdriver.ErrDocumentTooLarge)
}

// hasCode reports whether the server sent the error with one of the codes, also as part of a bulk write.
func hasCode(err error, codes []int) bool {
	server, ok := errors.AsType[driver.ServerError](err)
	return ok && slices.ContainsFunc(codes, server.HasErrorCode)
}

// onlyDuplicates reports whether a bulk write failed only on ids that exist.
func onlyDuplicates(err error) bool {
	bulk, ok := errors.AsType[driver.BulkWriteException](err)
	return ok && bulk.WriteConcernError == nil &&
		!slices.ContainsFunc(bulk.WriteErrors,
			func(e driver.BulkWriteError) bool { return e.Code != codeDuplicateKey })
}

// damaged adds origin.ErrDamaged to an error from decoding one of our own documents.
func damaged(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", origin.ErrDamaged, err)
}

// denied adds origin.ErrUnsupported to the error of a command that the user lacks the permission for.
func denied(err error) error {
	if hasCode(err, unauthorizedCodes) {
		return fmt.Errorf("%w: %w", origin.ErrUnsupported, err)
	}
	return err
}
