package mongo

import (
	"context"
	"errors"
	"fmt"

	driver "go.mongodb.org/mongo-driver/v2/mongo"
	xdriver "go.mongodb.org/mongo-driver/v2/x/mongo/driver"

	"vitrine/cache/origin"
	"vitrine/rules"
)

// The server's error codes that tell what kind of trouble it is.
const (
	codeNone                 = 0 // a failure without a code, which no server reports
	codeBadValue             = 2
	codeFailedToParse        = 9
	codeTypeMismatch         = 14
	codeTextIndexMissing     = 27
	codeInvalidOptions       = 72
	codeCommandNotFound      = 59
	codeCommandNotSupported  = 115
	codeNotImplemented       = 238
	codeHistoryLost          = 286
	codeUnknownStage         = 40324
	codeNoReplicaSet         = 40573
	codeInvalidRegex         = 51091
	codeDuplicateKey         = 11000
	codeNoQueryEvaluation    = 291
	codeUnrecognizedOperator = 168
)

// queryCodes mark a filter or sort at fault.
var queryCodes = []int{
	codeBadValue, codeFailedToParse, codeTypeMismatch, codeTextIndexMissing, codeInvalidRegex,
	codeNoQueryEvaluation, codeUnrecognizedOperator,
}

// unsupportedCodes mark something that this server does not have.
var unsupportedCodes = []int{
	codeCommandNotFound, codeCommandNotSupported, codeNotImplemented, codeUnknownStage, codeNoReplicaSet,
}

// storeError adds the kind to an error of the driver, whose own text stays.
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

// queryError is storeError for an operation whose filter or sort comes from outside.
func queryError(err error) error {
	if err != nil && hasCode(err, queryCodes) {
		return fmt.Errorf("%w: %w", rules.ErrWrongCall, err)
	}
	return storeError(err)
}

// unanswered reports whether the server could not be asked, did not answer in time or
// gave an answer that makes no sense. For the last the driver has no kind: it is all that
// is neither the server's own error nor about something that was not sent.
func unanswered(err error) bool {
	if driver.IsTimeout(err) || driver.IsNetworkError(err) || hasCode(err, []int{codeNone}) {
		return true
	}
	var server driver.ServerError
	var unmarshalled driver.MarshalError
	var invalid driver.InvalidArgumentError
	return !errors.As(err, &server) && !errors.As(err, &unmarshalled) && !errors.As(err, &invalid) &&
		!errors.Is(err, xdriver.ErrDocumentTooLarge)
}

// hasCode reports whether a server's error has one of the codes.
func hasCode(err error, codes []int) bool {
	var server driver.ServerError
	if !errors.As(err, &server) {
		return false
	}
	for _, code := range codes {
		if server.HasErrorCode(code) {
			return true
		}
	}
	return false
}

// onlyDuplicates returns the indexes at which a bulk write of so many documents met ids
// that exist, and whether that was all that went wrong.
func onlyDuplicates(err error, documents int) (indexes []int, ok bool) {
	var bulk driver.BulkWriteException
	if !errors.As(err, &bulk) || bulk.WriteConcernError != nil {
		return nil, false
	}
	for _, e := range bulk.WriteErrors {
		if e.Code != codeDuplicateKey || e.Index < 0 || e.Index >= documents {
			return nil, false
		}
		indexes = append(indexes, e.Index)
	}
	return indexes, true
}
