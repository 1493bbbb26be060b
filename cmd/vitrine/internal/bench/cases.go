package bench

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed cases.yaml
var casesSource []byte

// Case is one kind of question, as cases.yaml describes it. Path and Filter are templates.
type Case struct {
	Name, Title, Path, Filter string
	Mixes                     []string
	Header                    map[string]string // of every request
	Fresh                     bool              // none of the answers may come from the result cache
	Revalidate                bool              // asks with the answer's own tag: all answers are 304
	Conns                     int               // connections that ask at a time; if 0, one for a Fresh case, 16 for another
}

// cases returns all cases. A mistake in their file is a panic, which every test finds.
var cases = sync.OnceValue(func() (all []Case) {
	decoder := yaml.NewDecoder(bytes.NewReader(casesSource))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		panic(fmt.Errorf("cases.yaml: %w", err))
	}
	for i, c := range all {
		usual := 16
		if c.Fresh {
			usual = 1
		}
		all[i].Conns = cmp.Or(c.Conns, usual)
	}
	return all
})

// caseNamed returns the case of that name, which must exist.
func caseNamed(name string) Case {
	return cases()[slices.IndexFunc(cases(), func(c Case) bool { return c.Name == name })]
}

// Steps that are no cases.
const stepStart, stepMemory, stepRefresh = "start", "memory", "refresh"

// Steps lists what can be chosen: cases and the other steps, in the order in which they are measured.
func Steps() []string {
	names := []string{stepStart, stepMemory}
	for _, c := range cases() {
		names = append(names, c.Name)
	}
	return append(names, stepRefresh)
}

// checkCases checks that each chosen name covers a step.
func (o Options) checkCases() error {
	for _, name := range o.Cases {
		if !slices.ContainsFunc(Steps(), Options{Cases: []string{name}}.wants) {
			return fmt.Errorf("there is no case %q: choose of %s", name, strings.Join(Steps(), ", "))
		}
	}
	return nil
}

// wants reports whether a step is chosen, by its name or the beginning of it up to a hyphen.
func (o Options) wants(step string) bool {
	return len(o.Cases) == 0 || slices.ContainsFunc(o.Cases, func(name string) bool { return name == step || strings.HasPrefix(step, name+"-") })
}
