package bench

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.yaml.in/yaml/v3"

	"vitrine/cache/origin"
)

//go:embed cases.yaml
var casesSource []byte

// Case is one kind of question, as cases.yaml describes it.
type Case struct {
	Name       string
	Title      string            // says in a few words what is asked
	Header     map[string]string // of every request
	Fresh      bool              // none of the answers may come from the result cache
	Revalidate bool              // asks with the answer's own tag: all answers are 304
	Conns      int               // how many connections ask at a time; 0 means Options.Conns
	Index      []string          // paths of the index that a server needs

	// PathText and FilterText are templates. At most one of them names lists.
	PathText   string `yaml:"path"`
	FilterText string `yaml:"filter"`
	Mixes      string
	Server     *serverQuery

	// Supply is how many different paths there are; 1 for the same question again
	// and again, 0 if the records lack the words for any. Of a Fresh case no path is
	// asked twice.
	Supply int `yaml:"-"`
	// Path returns path and query of the n-th request.
	Path func(n int) string `yaml:"-"`
	// Query is the n-th question as another server is asked it; nil if it is not.
	Query func(n int) (origin.Query, error) `yaml:"-"`

	filter questions // of all that FilterText makes
}

// serverQuery says how another server is asked the question of a case.
type serverQuery struct {
	Collection string   // if empty, a page of activities is asked for
	Filter     string   // template; if empty, that of the case
	Fields     []string // of a page; if none, those that the default row of a list is made from
	Skip       string   // template
	Limit      int64
}

// Steps that are no cases.
const (
	stepStart   = "start"
	stepMemory  = "memory"
	stepRefresh = "refresh"
)

// Steps lists what can be chosen: cases and the other steps, in the order in which
// they are measured.
func Steps() []string {
	names := []string{stepStart, stepMemory}
	for _, c := range (&vocabulary{}).cases() {
		names = append(names, c.Name)
	}
	return append(names, stepRefresh)
}

// checkCases checks that each chosen name covers a step.
func (o Options) checkCases() error {
	all := Steps()
	for _, name := range o.Cases {
		if !slices.ContainsFunc(all, func(step string) bool { return covers(name, step) }) {
			return fmt.Errorf("there is no case %q: choose of %s", name, strings.Join(all, ", "))
		}
	}
	return nil
}

// covers reports whether the name chooses the step: it is the step's, or its beginning up
// to a hyphen.
func covers(name, step string) bool { return name == step || strings.HasPrefix(step, name+"-") }

// wants reports whether a step is chosen.
func (o Options) wants(step string) bool {
	return len(o.Cases) == 0 || slices.ContainsFunc(o.Cases, func(name string) bool { return covers(name, step) })
}

const (
	// pageSize is the number of rows of a page.
	pageSize = 20
	// listPath asks for the first page of activities.
	listPath = "/api/activities?limit=20"
)

// newestFirst is the order of lists (DESIGN.md: What API.md leaves open, 3).
func newestFirst() bson.D { return bson.D{{Key: "year", Value: -1}, {Key: "_id", Value: 1}} }

// cases lists all cases, those with a Supply of 0 included. A mistake in their file is a
// panic, which every test finds.
func (v *vocabulary) cases() []Case {
	var all []Case
	decoder := yaml.NewDecoder(bytes.NewReader(casesSource))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		panic(fmt.Errorf("cases.yaml: %w", err))
	}
	for i := range all {
		v.complete(&all[i], all[:i])
	}
	return all
}

// complete gives a case its questions. Fresh cases of a filter ask the first half of those
// that there are, the other is for the case that mixes them.
func (v *vocabulary) complete(c *Case, before []Case) {
	paths := v.questions(c.PathText, url.QueryEscape)
	c.Supply, c.Path = paths.supply, paths.at
	switch {
	case c.Mixes != "":
		c.filter = mixed(slices.DeleteFunc(slices.Clone(before), func(b Case) bool { return !strings.HasPrefix(b.Name, c.Mixes) }))
	case c.FilterText != "":
		c.filter = v.questions(c.FilterText, quote)
	}
	if c.filter.at != nil {
		c.Supply, c.Path = c.filter.supply, func(n int) string { return c.PathText + "&json=" + url.QueryEscape(c.filter.at(n)) }
		if c.Fresh {
			c.Supply /= 2
		}
	}
	if c.Fresh && c.Conns == 0 {
		c.Conns = 1
	}
	if c.Server != nil {
		filter, skip := c.filter, v.questions(c.Server.Skip, strings.Clone)
		if c.Server.Filter != "" {
			filter = v.questions(c.Server.Filter, quote)
		}
		c.Query = func(n int) (origin.Query, error) { return c.Server.query(filter.at, skip.at(n), n) }
	}
}

// mixed takes filters of some cases in turn, from the far end of each: only the first half
// of them is asked, so that it does not reach what the cases themselves ask.
func mixed(cases []Case) questions {
	least := cases[0].filter.supply
	for _, c := range cases {
		least = min(least, c.filter.supply)
	}
	return questions{least * len(cases), func(n int) string {
		of := cases[n%len(cases)].filter
		return of.at(of.supply - 1 - n/len(cases))
	}}
}

// query is the n-th query of a case with these filters, if it has any.
func (s *serverQuery) query(filter func(n int) string, skip string, n int) (q origin.Query, err error) {
	if s.Collection == "" {
		q = origin.Query{Sort: newestFirst(), Limit: pageSize, Projection: slices.Concat(s.Fields, []string{"rendered", "year"})}
	} else {
		q.Limit = s.Limit
	}
	if skip != "" {
		if q.Skip, err = strconv.ParseInt(skip, 10, 64); err != nil {
			return q, err
		}
	}
	if filter != nil {
		text := filter(n)
		if err := bson.UnmarshalExtJSON([]byte(text), false, &q.Filter); err != nil {
			return q, fmt.Errorf("filter %s: %w", text, err)
		}
	}
	return q, nil
}

// quote makes a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}
