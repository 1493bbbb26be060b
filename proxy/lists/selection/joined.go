package selection

import (
	"cmp"
	"slices"
	"strings"

	"vitrine/rules/fold"
	"vitrine/rules/keyword"
)

// Bounds of joined: the texts of a label, and the steps of its search. The search tries texts in every order, so a
// request of hundreds of texts could otherwise take exponential time.
const mostJoined, mostSteps = 8, 10_000

// joined returns the values for which several texts stand together, because a label has commas, and which texts these
// are. found has the values of each text alone.
//
//	topic=Categorization, perception, and language      one topic, though there is a topic Perception
//	person=Müller, Jörg, Jr.                            one person
//	person=Moe, Anna, Moe, Bo                           two persons; Parse drops the second Moe
//	type=poster,lecture                                 no text is unknown, so none are joined
//
// Labels of more texts win. The values of a parameter are sorted, so that the order of texts tells nothing.
func (t *table) joined(texts []string, found [][]string) (values []string, used []bool) {
	used = make([]bool, len(texts))
	known := func(values []string) bool { return len(values) > 0 }
	// Only an unknown text starts the search. So lists of proper values cost nothing, and a label with commas never
	// replaces values that are all known.
	if len(texts) < 2 || !slices.ContainsFunc(found, func(values []string) bool { return !known(values) }) {
		// No text is used, so each stands for its own values.
		return nil, used
	}
	j := joiner{table: t, texts: texts, steps: mostSteps}
	for i, text := range texts {
		j.keys, j.known = append(j.keys, fold.Key(text)), append(j.known, known(found[i]))
	}
	j.extend(nil, "")
	slices.SortStableFunc(j.runs, func(a, b run) int { return cmp.Compare(len(b.texts), len(a.texts)) })
	before := slices.Clone(used) // by longer labels: those of one length may share texts
	for i, r := range j.runs {
		if i > 0 && len(r.texts) < len(j.runs[i-1].texts) {
			copy(before, used)
		}
		if !slices.ContainsFunc(r.texts, func(at int) bool { return !j.known[at] && !before[at] }) {
			continue
		}
		values = append(values, r.values...)
		for _, at := range r.texts {
			used[at] = true
		}
	}
	return values, used
}

// run is a sequence of texts that is a label of values.
// A run is a candidate: joined decides which runs count.
type run struct {
	texts  []int
	values []string
}

// joiner looks for the runs of some texts.
type joiner struct {
	*table
	texts []string
	keys  []string // fold.Key of each text
	known []bool   // the text stands for a value alone
	steps int      // left
	runs  []run
}

// extend adds the runs that begin with some texts, whose keys make a prefix. It follows only what phrases begin
// with: phrases are sorted, so the first one from a prefix on tells whether any begins with it.
func (j *joiner) extend(texts []int, prefix string) {
	for i, key := range j.keys {
		if j.steps--; j.steps < 0 || len(texts) == mostJoined {
			return
		}
		if slices.Contains(texts, i) {
			continue
		}
		longer := prefix + key
		at, whole := slices.BinarySearch(j.phrases, longer)
		if at == len(j.phrases) || !strings.HasPrefix(j.phrases[at], longer) {
			continue
		}
		next := append(slices.Clip(texts), i)
		if whole {
			j.add(next, longer)
		}
		j.extend(next, longer)
	}
}

// add adds a run, if it has an unknown text. A known one may be meant by itself, unless the label has commas, too.
func (j *joiner) add(at []int, phrase string) {
	var parts []string
	known := 0
	for _, i := range at {
		parts = append(parts, j.texts[i])
		if j.known[i] {
			known++
		}
	}
	// A single text stands for its own values, which table.of has found.
	if len(at) < 2 || known == len(at) || known > 0 && !j.commas[phrase] {
		return
	}
	whole := strings.Join(parts, ", ")
	if j.keywords {
		whole = keyword.Key(whole)
	}
	if values := j.of(whole); len(values) > 0 {
		j.runs = append(j.runs, run{at, values})
	}
}
