// Package notice reads what a record says of a work after its publication: that it was retracted, withdrawn or
// corrected, that its publisher has concerns, or that the work is itself the notice that says so of another one.
//
//	retracted: "1"                              retracted
//	retraction: "10.5555/n.1"                   retracted, says 10.5555/n.1
//	"correction of": "https://doi.org/10.5/a"   the correction of 10.5/a
//	update-to: [{DOI, type: "erratum"}]         the same, as Crossref has it
//	"RETRACTED: Lamps for moths"                retracted, as publishers title it
//	"Erratum to: Lamps for moths"               a correction; but "Correction of astigmatism" is none
//
// Which fields and words there are is for callers to say. All functions are pure, never panic, and take linear time.
package notice

import (
	"slices"

	"vitrine/rules/identifier"
)

// The codes of a work about which there is a notice, and of the notices, each at the same place.
const (
	Retracted = "retracted"
	Withdrawn = "withdrawn"
	Concern   = "concern" // of its publisher
	Corrected = "corrected"

	Retraction = "retraction"
	Withdrawal = "withdrawal"
	Expression = "expression-of-concern"
	Correction = "correction"
)

// mostNotices bounds the notices of a work, and mostSettled those that are compared with each other.
const mostNotices, mostSettled = 20, 1000

// states and kinds have the codes, the gravest first.
var (
	states = []string{Retracted, Withdrawn, Concern, Corrected}
	kinds  = []string{Retraction, Withdrawal, Expression, Correction}
)

// Notice is what a record says of its work, and at most one other work with which the first one has to do: the
// notice, or the work that a notice is about.
type Notice struct {
	Code string
	DOI  string // bare
	URL  string // without a DOI; http or https
	ID   string // with neither: perhaps the _id of a record, as text
}

// Equal reports whether two notices say the same of the same work.
func (n Notice) Equal(other Notice) bool {
	return n.Code == other.Code && n.URL == other.URL && n.ID == other.ID && n.Key() == other.Key()
}

// Key returns the DOI, in a form that is equal for equal ones, or else the id.
func (n Notice) Key() string {
	if n.DOI != "" {
		return identifier.DOIKey(n.DOI)
	}
	return n.ID
}

// IsCode reports whether a text is one of the codes.
func IsCode(code string) bool { return IsState(code) || slices.Contains(kinds, code) }

// IsState reports whether a code is of a work about which there is a notice, and not of the notice.
func IsState(code string) bool { return slices.Contains(states, code) }

// Reverse returns the code of the other work: "retracted" for "retraction", and "retraction" for "retracted".
func Reverse(code string) string {
	if i := slices.Index(states, code); i >= 0 {
		return kinds[i]
	}
	if i := slices.Index(kinds, code); i >= 0 {
		return states[i]
	}
	return ""
}

// State returns a code as that of a work about which there is a notice.
func State(code string) string {
	if IsState(code) {
		return code
	}
	return Reverse(code)
}

// Kind returns a code as that of a notice.
func Kind(code string) string { return Reverse(State(code)) }

// gravity returns the place of a code among all. A notice does not name what it does to other works before what was
// done to itself.
func gravity(code string) int {
	if i := slices.Index(states, code); i >= 0 && code != Corrected {
		return i
	}
	if i := slices.Index(kinds, code); i >= 0 {
		return len(states) + i
	}
	return len(states) + len(kinds)
}

// Settle returns notices without those that others make superfluous, the gravest first. A record that is the notice
// of a retraction and, without a further notice, marked as retracted, is only the notice: "retraction" may name the
// notice of a work, or the work that a notice retracts.
func Settle(all []Notice) []Notice {
	all = slices.Clone(all[:min(len(all), mostSettled)])
	for i, n := range all {
		if is := Reverse(n.Code); IsState(n.Code) && slices.Contains(all, Notice{Code: is}) {
			all[i].Code = is
		}
	}
	var kept []Notice
	for _, n := range all {
		bare := n == Notice{Code: n.Code}
		needless := slices.ContainsFunc(kept, n.Equal) || bare && slices.ContainsFunc(all, func(other Notice) bool {
			return other.Code == n.Code && other != n || IsState(n.Code) && other.Code == Reverse(n.Code)
		})
		if !needless && len(kept) < mostNotices {
			kept = append(kept, n)
		}
	}
	slices.SortStableFunc(kept, func(a, b Notice) int { return gravity(a.Code) - gravity(b.Code) })
	return kept
}
