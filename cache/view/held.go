package view

import (
	"errors"
	"fmt"

	"vitrine/cache/origin"
)

// HeldError says why a view keeps its snapshot instead of showing the store's generation: too many of its rows would
// disappear, or rows that the store counts are missing. Set.Force accepts what it describes.
type HeldError struct {
	Meta         origin.Meta // meta of the view in the store; Generation is 0 if the store does not have the view
	Missing      int         // rows that Meta counts but the store lacks
	inconsistent bool        // the store's rows are not those of Meta, see origin.ErrInconsistent
	reason       string
}

// Error names the view and the reason.
func (e *HeldError) Error() string { return fmt.Sprintf("view %s is held: %s", e.Meta.View, e.reason) }

// held returns the HeldError in an error, or nil.
func held(err error) *HeldError {
	e, _ := errors.AsType[*HeldError](err)
	return e
}
