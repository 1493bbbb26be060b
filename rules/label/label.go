package label

import (
	"cmp"
	"math"
	"slices"
)

// The sets that the API uses.
const (
	ProjectType     = "project-type"
	ActivityType    = "activity-type"
	ActivitySubtype = "activity-subtype" // codes of type and subtype, as in "publication/article"
	ProjectRole     = "project-role"
	ProjectStatus   = "project-status"
	Funder          = "funder"
	Topic           = "topic"
	Tag             = "tag"
	Text            = "text" // the API's own texts; their codes are the English texts
)

// names lists all sets, to detect a mistyped one.
var names = []string{ActivitySubtype, ActivityType, Funder, ProjectRole, ProjectStatus, ProjectType, Tag, Text, Topic}

// Languages returns the codes of the languages that labels are written in.
func Languages() []string { return []string{"en", "de"} }

// Known reports whether labels are written in a language.
func Known(lang string) bool { return slices.Contains(Languages(), lang) }

// Name is a code's name in every language. An empty name falls back to English, and English to German.
type Name struct {
	EN, DE string
	Rank   int `json:"-"` // place of the code in its set, from 1; 0 means behind all others
}

// in returns the name in a language. Any language but German counts as English.
func (n Name) in(lang string) string {
	if lang == "de" {
		return cmp.Or(n.DE, n.EN)
	}
	return cmp.Or(n.EN, n.DE)
}

// Sets are label sets by name; a set has labels by code. They are immutable. Nil Sets have no labels.
type Sets map[string]map[string]Name

// With returns s with other laid over it: a label of other replaces that of s,
// language by language. Codes keep the ranks of s; those that only other has are behind them.
func (s Sets) With(other Sets) Sets {
	joined := Sets{}
	for i, layer := range []Sets{s, other} {
		for name, set := range layer {
			if joined[name] == nil {
				joined[name] = make(map[string]Name, len(set))
			}
			for code, n := range set {
				below := joined[name][code]
				if n.Rank > 0 {
					n.Rank += i * len(s[name])
				}
				joined[name][code] = Name{EN: cmp.Or(n.EN, below.EN), DE: cmp.Or(n.DE, below.DE),
					Rank: cmp.Or(below.Rank, n.Rank)}
			}
		}
	}
	return joined
}

// Label returns the name of a code in a language ("en", "de"), or the code itself.
func (s Sets) Label(set, code, lang string) string {
	if text, ok := s.Lookup(set, code, lang); ok {
		return text
	}
	return code
}

// Rank returns the place of a code in a set. Codes without one have the same, behind all others.
func (s Sets) Rank(set, code string) int { return cmp.Or(s[set][code].Rank, math.MaxInt) }

// Lookup returns the name of a code in a language. It returns false if the code has no name.
func (s Sets) Lookup(set, code, lang string) (string, bool) {
	text := s[set][code].in(lang)
	return text, text != ""
}
