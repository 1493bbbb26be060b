package configs

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v3"
)

// Place is where a value was given. One of File, Env, Flag and Built is set.
type Place struct {
	// File is the configuration file, Line the line in it (from 1; 0 for the whole file).
	File string
	Line int
	// Env is an environment variable.
	Env string
	// Flag is a flag on the command line, without its dashes.
	Flag string
	// Built names a built-in bundle of defaults ("demo", "preset osiris").
	Built string
}

// String returns the place as people write it: "vitrine.yml:12", "VITRINE_STORE",
// "--store", "preset osiris".
func (p Place) String() string {
	switch {
	case p.Flag != "":
		return "--" + p.Flag
	case p.Env != "":
		return p.Env
	case p.File != "" && p.Line > 0:
		return p.File + ":" + strconv.Itoa(p.Line)
	case p.File != "":
		return p.File
	default:
		return p.Built
	}
}

// line returns the place of a node in the same source.
func (p Place) line(node *yaml.Node) Place {
	p.Line = node.Line
	return p
}

// Error is one mistake in the configuration. Its text never holds a secret.
type Error struct {
	// Place is where the value was given; zero for what no one place is to blame for.
	Place Place
	// Key is the dotted name of the setting; empty if no setting is concerned.
	Key string
	// Reason says what is wrong.
	Reason string
}

// Error returns place, key and reason, without those that are empty.
func (e *Error) Error() string {
	s := e.Reason
	if e.Key != "" {
		s = e.Key + ": " + s
	}
	if p := e.Place.String(); p != "" {
		s = p + ": " + s
	}
	return s
}

// joined returns the mistakes as one error, sorted by place: the file from top
// to bottom, then variables and flags by name. It returns nil if there are none.
func joined(mistakes []*Error) error {
	slices.SortStableFunc(mistakes, func(a, b *Error) int {
		return cmp.Or(
			cmp.Compare(a.Place.Flag, b.Place.Flag),
			cmp.Compare(a.Place.Env, b.Place.Env),
			cmp.Compare(a.Place.File, b.Place.File),
			cmp.Compare(a.Place.Line, b.Place.Line),
			cmp.Compare(a.Key, b.Key),
		)
	})
	errs := make([]error, len(mistakes))
	for i, m := range mistakes {
		errs[i] = m
	}
	return errors.Join(errs...)
}

// didYouMean returns ", did you mean X?" with the word nearest to text, or
// nothing if none is near.
func didYouMean(text string, words []string) string {
	best, distance := "", len(text)/3+2
	for _, w := range words {
		if d := levenshtein.ComputeDistance(strings.ToLower(text), strings.ToLower(w)); d < distance {
			best, distance = w, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}
