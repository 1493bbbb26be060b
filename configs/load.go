package configs

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Sources are the places that settings come from. The zero value has none, and
// Load then returns the defaults.
type Sources struct {
	// Demo starts from the defaults of the demo, whose store cannot be given.
	Demo bool
	// File is a YAML file. Empty: the one that --config, then VITRINE_CONFIG,
	// names; if none does, no file is read.
	File string
	// Environ is the environment as os.Environ gives it. Variables that do not
	// begin with VITRINE_ are passed over.
	Environ []string
	// Flags are flags that AddFlags added, parsed; only those given count. Nil: none.
	Flags *pflag.FlagSet
}

// Load returns the configuration that the sources add up to, checked. All
// mistakes come back at once, each an *Error, joined and sorted by place.
func Load(s Sources) (Config, error) {
	keys := Keys()
	given, mistakes := s.read(keys)

	c := Default()
	if s.Demo {
		c = Demo()
	}
	c.origins = make(map[string]Place)
	defaults := Default()
	c.noteChanges(&defaults, keys, Place{Built: "demo"})

	// The preset is a layer below what is given but its name is among that, so
	// it is found first.
	for i := range given {
		if given[i].key.Path == "preset" {
			given[i].apply(&c) // a mistake in it is reported below
		}
	}
	before := c
	c.usePreset(c.Preset)
	c.noteChanges(&before, keys, Place{Built: "preset " + c.Preset})

	for i := range given {
		mistakes = append(mistakes, given[i].apply(&c)...)
	}
	mistakes = append(mistakes, c.contradictions()...)
	if s.Demo && c.Given("store") {
		mistakes = append(mistakes, &Error{Place: c.origins["store"], Key: "store",
			Reason: "cannot be given with --demo, which fills a store of its own: leave out one of the two"})
	}
	return c, joined(mistakes)
}

// read gathers what all sources give, the weakest first.
func (s Sources) read(keys []Key) (given []assignment, mistakes []*Error) {
	add := func(as []assignment, wrong []*Error) {
		given, mistakes = append(given, as...), append(mistakes, wrong...)
	}
	if name := s.file(); name != "" {
		add(readFile(name, keys))
	}
	add(readEnviron(s.Environ, keys))
	if s.Flags != nil {
		add(readFlags(s.Flags, keys))
	}
	return given, mistakes
}

// file returns the name of the configuration file, empty if there is none.
func (s Sources) file() string {
	if s.File != "" {
		return s.File
	}
	if s.Flags != nil {
		if f := s.Flags.Lookup(FlagConfig); f != nil && f.Changed {
			return f.Value.String()
		}
	}
	return configFile(s.Environ)
}

// noteChanges remembers a place for every value that differs from before.
func (c *Config) noteChanges(before *Config, keys []Key, place Place) {
	for i := range keys {
		if display(keys[i].field(c)) != display(keys[i].field(before)) {
			c.origins[keys[i].Path] = place
		}
	}
}

// contradictions returns what is wrong with values that are right one by one.
func (c *Config) contradictions() []*Error {
	var mistakes []*Error
	mistake := func(path, reason string) {
		mistakes = append(mistakes, &Error{Place: c.origins[path], Key: path, Reason: reason})
	}
	if c.HTTP.CORS.Credentials && slices.Contains(c.HTTP.CORS.Origins, "*") {
		mistake("http.cors.credentials", "cannot be true while http.cors.origins has *: any site could act for your visitors")
	}
	if c.Admin.Listen != "" && c.Admin.Listen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
		mistake("listen", "is the same as admin.listen")
	}
	return mistakes
}

// CheckServing returns an *Error if a server must not start with the configuration: its
// operator's listener can be reached by others, and asks them for nothing.
func (c Config) CheckServing() error {
	host, _, err := net.SplitHostPort(c.Admin.Listen)
	ip, _ := netip.ParseAddr(host)
	if c.Admin.Listen == "" || c.Admin.Token != "" || c.Admin.Open || err == nil && (host == "localhost" || ip.Unmap().IsLoopback()) {
		return nil
	}
	return &Error{Place: c.origins["admin.listen"], Key: "admin.listen",
		Reason: "others can reach " + c.Admin.Listen + ", and no token is asked for: set admin.token, or admin.open where that is meant"}
}

// Location returns the zone in which days begin and schedules run.
func (c Config) Location() (*time.Location, error) { return time.LoadLocation(c.Timezone) }
