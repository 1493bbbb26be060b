package configs

import (
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Sources are the places that settings come from. The zero value has none, and
// Load then returns the defaults.
type Sources struct {
	// Demo starts from the defaults of the demo, whose store cannot be given.
	Demo bool
	// Environ is the environment as os.Environ gives it. Variables that do not
	// begin with VITRINE_ are ignored. VITRINE_CONFIG names a YAML file with settings,
	// unless the flag --config does.
	Environ []string
	// Flags are flags that AddFlags added, parsed; only those given count. Nil: none.
	Flags *pflag.FlagSet
	// Checks are those of other packages. Nil: their settings are not checked.
	Checks Checks
}

// Checks are the parsers of packages that use a setting, by the word for them in settings.yaml:
// "cron", "field" and "filter".
type Checks map[string]func(text string) error

// Load returns the configuration that the sources add up to, checked. All
// mistakes come back at once, each an *Error, joined and sorted by place.
func Load(s Sources) (Config, error) {
	c := Default()
	if s.Demo {
		c.use(demoValues, "demo")
	}
	r := &reader{c: &c, checks: s.Checks}
	if name := s.File(); name != "" { // the weakest first
		r.file(name)
	}
	r.environ(s.Environ)
	if s.Flags != nil {
		r.flags(s.Flags)
	}
	c.use(presets[c.Preset], "preset "+c.Preset) // its name was among what is given
	mistakes := append(r.mistakes, c.contradictions()...)
	if s.Demo && c.Given("store") {
		mistakes = append(mistakes, c.mistake("store", "cannot be given with --demo, which fills a store of its own: leave out one of the two"))
	}
	return c, joined(mistakes)
}

// File returns the name of the configuration file, empty if there is none.
func (s Sources) File() string {
	if s.Flags != nil && s.Flags.Changed(FlagConfig) {
		return s.Flags.Lookup(FlagConfig).Value.String()
	}
	for _, variable := range s.Environ {
		if name, ok := strings.CutPrefix(variable, envConfig+"="); ok {
			return name
		}
	}
	return ""
}

// mistake returns a mistake in a value, at the place that gave it.
func (c *Config) mistake(path, reason string) *Error {
	return &Error{Place: c.origins[path], Key: path, Reason: reason}
}

// contradictions returns mistakes in combinations of valid values.
func (c *Config) contradictions() (mistakes []*Error) {
	if c.HTTP.CORS.Credentials && slices.Contains(c.HTTP.CORS.Origins, "*") {
		mistakes = append(mistakes, c.mistake("http.cors.credentials", "cannot be true while http.cors.origins has *: any site could act for your visitors"))
	}
	if c.Admin.Listen != "" && c.Admin.Listen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
		mistakes = append(mistakes, c.mistake("listen", "is the same as admin.listen"))
	}
	return mistakes
}

// CheckServing returns an *Error if a server must not start with the configuration: others can
// reach the operator's listener without a token.
func (c Config) CheckServing() error {
	if c.Admin.Listen == "" || c.Admin.Token != "" || c.Admin.Open || isLoopback(c.Admin.Listen) {
		return nil
	}
	return c.mistake("admin.listen", "others can reach "+c.Admin.Listen+", and no token is asked for: set admin.token, or admin.open where that is meant")
}

// isLoopback reports whether only this machine reaches a listener with an address.
func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	ip, _ := netip.ParseAddr(host)
	return err == nil && (host == "localhost" || ip.Unmap().IsLoopback())
}

// Given reports whether a file, variable or flag sets a value, or an entry of a map
// ("access.roles.admin"), rather than the defaults or a preset. It is true for every entry
// of a map that is set to be empty.
func (c Config) Given(path string) bool {
	return max(c.origins[path].source, c.origins[parentOf(path)].source) > atDefault
}

// Changed returns the dotted paths of the settings, not of a map's entries, whose values in
// another configuration are not those of c.
func (c Config) Changed(other Config) (paths []string) {
	before, after := reflect.ValueOf(c), reflect.ValueOf(other)
	for _, k := range keys {
		if !reflect.DeepEqual(before.FieldByIndex(k.index).Interface(), after.FieldByIndex(k.index).Interface()) {
			paths = append(paths, k.Path)
		}
	}
	return paths
}

// bundle is a set of built-in values by dotted path, as the environment would give them.
type bundle map[string]string

// demoValues are what the demo changes: a store of its own, so that the made-up institute
// never mixes with real records, and everything on show.
var demoValues = bundle{
	"store":            "bolt://data/demo.db",
	"access.anonymous": "portfolio-spectrum, projects.view, proposals.view",
}

// presets are the values that each preset changes.
var presets = map[string]bundle{
	"osiris": {"catalog.topics_path": "openalex.topics", "affiliation.fields": "aoi"},
}

// Default returns the configuration of a start without any settings.
func Default() Config {
	var c Config
	values := bundle{}
	for _, k := range keys {
		if k.Default != "" || k.typ.Kind() == reflect.Map {
			values[k.Path] = k.Default
		}
	}
	c.use(values, "")
	return c
}

// use sets the values of a bundle that no other source gives. A mistake in a bundle is a panic.
func (c *Config) use(values bundle, name string) {
	r := &reader{c: c}
	for i := range keys {
		if text, ok := values[keys[i].Path]; ok && !c.Given(keys[i].Path) {
			r.setText(&keys[i], text, Place{name: name})
		}
	}
	if len(r.mistakes) > 0 {
		panic(fmt.Sprint("configs: built-in value: ", r.mistakes[0]))
	}
}
