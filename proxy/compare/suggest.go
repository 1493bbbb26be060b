package compare

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// suggested is a Rule as it is written.
type suggested struct {
	Reason   string  `yaml:"reason"`
	Endpoint names   `yaml:"endpoint"`
	Kind     Kind    `yaml:"kind"`
	Path     names   `yaml:"path"`
	Relation string  `yaml:"relation,omitempty"`
	Old      *string `yaml:"old,omitempty"`
	New      *string `yaml:"new,omitempty"`
}

// names are one text, or a list of several.
type names []string

// MarshalYAML implements yaml.Marshaler.
func (n names) MarshalYAML() (any, error) {
	if len(n) == 1 {
		return n[0], nil
	}
	return []string(n), nil
}

const (
	mostListed = 8 // endpoints that a suggested rule lists; of more it has what they begin with
	mostPairs  = 3 // pairs of values that it lists; beyond, it accepts any
)

// suggestion returns the rules that accept the differences of a cause, as text for the file of --accept, or "" if
// none should: the cause is accepted already, stands for answers that were not compared, or for places that are not
// told apart. The rules are as strict as one that accepts the cause can be: they name its endpoints, kind and paths,
// and the relation of its values or, if there is none, the values, as long as these are few.
func (c Cause) suggestion() string {
	if c.Reason != "" || c.Kind == Failed || c.Field == further {
		return ""
	}
	rule := suggested{Reason: c.Says, Kind: c.Kind, Relation: c.Relation}
	var values [][2]string
	few := c.Relation == ""
	for _, g := range c.Places {
		if !slices.Contains(rule.Endpoint, g.Endpoint) {
			rule.Endpoint = append(rule.Endpoint, g.Endpoint)
		}
		if path := globOf(g.Path); !slices.Contains(rule.Path, path) {
			rule.Path = append(rule.Path, path)
		}
		few = few && !g.Many
		for _, pair := range g.Pairs {
			if !slices.Contains(values, pair) {
				values = append(values, pair)
			}
		}
	}
	rule.Endpoint = common(rule.Endpoint)
	slices.Sort(rule.Path)
	if few = few && len(values) <= mostPairs; few {
		slices.SortFunc(values, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
		var rules []suggested
		for _, pair := range values {
			old, new := `^`+regexp.QuoteMeta(pair[0])+`$`, `^`+regexp.QuoteMeta(pair[1])+`$`
			rule.Old, rule.New = &old, &new
			rules = append(rules, rule)
		}
		return written("", rules...)
	}
	if c.Relation == "" {
		rule.Relation = noRelation
		was, is, _ := strings.Cut(c.Change, " → ")
		for _, t := range types {
			if t.kind == was {
				rule.Old = &t.expression
			}
			if t.kind == is {
				rule.New = &t.expression
			}
		}
		return written("# The values are too many to list: this accepts any two that have no known relation.\n", rule)
	}
	return written("", rule)
}

// written returns rules as text.
func written(comment string, rules ...suggested) string {
	text, err := yaml.Marshal(rules)
	if err != nil {
		panic(err) // texts alone
	}
	return comment + string(text)
}

// globOf returns the glob for the path of a place. What was shortened is any text.
func globOf(path string) string {
	if begin, cut := strings.CutSuffix(path, "…"); cut {
		return begin + "*"
	}
	return path
}

// common returns a list of endpoints in their order, or of many one glob for what all begin with.
func common(endpoints names) names {
	slices.Sort(endpoints)
	if len(endpoints) <= mostListed {
		return endpoints
	}
	first, last := endpoints[0], endpoints[len(endpoints)-1]
	n := 0
	for n < min(len(first), len(last)) && first[n] == last[n] {
		n++
	}
	return names{first[:strings.LastIndexByte(first[:n], '/')+1] + "*"}
}
