package bench

import (
	"fmt"
	"slices"
	"strings"

	"vitrine/cache/origin"
)

// Case is one kind of question.
type Case struct {
	Name string
	// Title says in a few words what is asked.
	Title string
	// Path returns path and query of the n-th request.
	Path func(n int) string
	// Header is sent along.
	Header map[string]string
	// Supply is how many different paths there are; 1 for the same question again
	// and again. Of a Fresh case no path is asked twice.
	Supply int
	// Fresh questions were never asked before: none of the answers may come from the
	// result cache. They are asked one after another, so that their times are those of
	// the evaluation and not of a queue.
	Fresh bool
	// Revalidate asks with the answer's own tag: all answers are 304.
	Revalidate bool
	// Conns, if not 0, is how many connections ask at a time.
	Conns int
	// Whole answers grow with the institute. They are asked by two connections.
	Whole bool
	// Query is the n-th question as a store takes it; nil if it cannot.
	Query func(n int) (origin.Query, error)
	// Collection is the one that Query is about; if empty, activities.
	Collection string
	// Index lists the paths that an index must be on for a store to answer the query
	// without looking at every document; none if there is no way around that.
	Index []string
}

// groups of steps that are no cases.
const (
	stepStart   = "start"
	stepMemory  = "memory"
	stepRefresh = "refresh"
)

// Steps lists what can be chosen: cases and the other steps, in the order in which
// they are measured.
func Steps() []string {
	names := []string{stepStart, stepMemory}
	for _, c := range (&vocabulary{}).every() {
		names = append(names, c.Name)
	}
	return append(names, stepRefresh)
}

// choice says which steps are wanted.
type choice []string

// newChoice checks names: each is a step, or what steps' names begin with up to a
// hyphen. None means all.
func newChoice(names []string) (choice, error) {
	all := Steps()
	for _, name := range names {
		if !slices.ContainsFunc(all, func(step string) bool { return covers(name, step) }) {
			return nil, fmt.Errorf("there is no case %q: choose of %s", name, strings.Join(all, ", "))
		}
	}
	return names, nil
}

func covers(name, step string) bool { return name == step || strings.HasPrefix(step, name+"-") }

// has reports whether a step is wanted.
func (c choice) has(step string) bool {
	return len(c) == 0 || slices.ContainsFunc(c, func(name string) bool { return covers(name, step) })
}

// cases returns those that the vocabulary has words for, and the names of the others.
func (v *vocabulary) cases() (possible []Case, missing []string) {
	for _, c := range v.every() {
		if c.Supply < 1 {
			missing = append(missing, c.Name)
			continue
		}
		possible = append(possible, c)
	}
	return possible, missing
}

// every lists all cases; those with a Supply of 0 lack words.
func (v *vocabulary) every() []Case {
	return slices.Concat(v.lists(), v.filters(), v.others())
}
