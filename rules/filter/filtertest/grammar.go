package filtertest

import (
	_ "embed"
	"strings"
)

// grammar makes Extended JSON. A line is a name and its alternatives, the simplest first
// and likely ones several times; behind || stand those that nest. "-" makes nothing. A line
// that begins with a tab goes on with the one before.
//
//go:embed grammar.txt
var grammar string

// rule has the alternatives for a name. Those that nest count against maxDepth.
type rule struct{ flat, nesting []string }

// rules are those of the grammar, by name.
var rules = parse(grammar)

// parse reads the lines of a grammar.
func parse(grammar string) map[string]rule {
	rules := map[string]rule{}
	for line := range strings.Lines(strings.ReplaceAll(grammar, "\n\t", " ")) {
		name, alternatives, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
		if !ok {
			continue
		}
		flat, nesting, nests := strings.Cut(alternatives, " || ")
		r := rule{flat: strings.Split(flat, " | ")}
		for i, text := range r.flat {
			if text == "-" {
				r.flat[i] = ""
			}
		}
		if nests {
			r.nesting = strings.Split(nesting, " | ")
		}
		rules[name] = r
	}
	return rules
}
