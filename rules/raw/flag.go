package raw

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Flag is what a stored flag says. Forms, imports and migrations store the same flag as a boolean, a number or text.
type Flag uint8

// A value that is neither yes nor no, such as 2, " true" or a list, is FlagUnclear. A flag that hides then hides, and
// one that shows shows nothing: a mistake in the data must not make a record public.
const (
	FlagMissing Flag = iota // missing, null, or empty text
	FlagNo                  // false, 0, "0", "false"
	FlagYes                 // true, 1, "1", "true"
	FlagUnclear             // any other value
)

// FlagOf reads a flag. Numbers of all types count by their value. White space and capitals are not ignored, so that a
// filter with the same values, which compares exactly, agrees.
func FlagOf(v bson.RawValue) Flag {
	is := func(stored bson.RawValue) bool { return Compare(v, stored) == 0 }
	switch {
	case IsNone(v) || is(NewString("")):
		return FlagMissing
	case slices.ContainsFunc(yes, is):
		return FlagYes
	case slices.ContainsFunc(no, is):
		return FlagNo
	}
	return FlagUnclear
}

// Yes returns the values of FlagYes, for a filter.
func Yes() []bson.RawValue { return slices.Clone(yes) }

var (
	one  = bson.RawValue{Type: bson.TypeInt32, Value: []byte{1, 0, 0, 0}}
	zero = bson.RawValue{Type: bson.TypeInt32, Value: []byte{0, 0, 0, 0}}

	yes = []bson.RawValue{NewBool(true), one, NewString("1"), NewString("true")}
	no  = []bson.RawValue{NewBool(false), zero, NewString("0"), NewString("false")}
)

// Hides reports whether a flag such as hide keeps a record from being shown.
func (f Flag) Hides() bool { return f == FlagYes || f == FlagUnclear }

// Holds reports whether a flag such as is_active, which is set unless a record says otherwise, is set.
func (f Flag) Holds() bool { return f == FlagYes || f == FlagMissing }
