package bench

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed cases.yaml
var casesSource []byte

// Case is one kind of request, as described in cases.yaml. Path and Filter are templates.
type Case struct {
	Name, Title, Path, Filter string
	Mixes                     []string
	Header                    map[string]string // headers of every request
	Fresh                     bool              // no answer may come from the result cache
	Revalidate                bool              // sends the answer's own tag, so that all answers are 304
	Kept                      bool              // the answer is measured once the result cache has it
	Costly                    bool              // others are also measured beside clients that ask this
	Conns                     int               // concurrent connections; if 0, one for a Fresh case and 16 for another
}

// cases returns all cases. It panics on a mistake in their file, which every test finds.
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

// caseNamed returns the case with a name, which must exist.
func caseNamed(name string) Case {
	return cases()[slices.IndexFunc(cases(), func(c Case) bool { return c.Name == name })]
}
