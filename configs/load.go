package configs

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"vitrine/rules/suggest"
)

// Sources are the sources of settings. With the zero value, Load returns the defaults.
type Sources struct {
	Demo bool // start from the defaults of the demo, whose store cannot be changed
	// Environ is the environment in the form of os.Environ. Variables that do not begin with VITRINE_ are ignored.
	// VITRINE_CONFIG names a YAML file with settings, unless the flag --config does.
	Environ []string
	// Text is the content of a configuration file that counts instead of the file named by Environ or Flags, and
	// TextName is its name in mistakes. If Text is nil, the named file counts.
	Text     []byte
	TextName string
	Flags    *pflag.FlagSet // parsed flags of AddFlags, of which those count that are set; may be nil
	Checks   Checks         // of other packages; if nil, their settings are not checked
}

// Load returns the checked configuration, or all mistakes at once, each an *Error, sorted by place.
//
// The weakest source is applied first, and each stronger one replaces its values. The preset comes last, because
// any source may name it; it sets only what no source gives. With mistakes, the returned configuration is
// incomplete and must not be used, except to say more about the mistakes.
func Load(s Sources) (Config, error) {
	c := Default()
	if s.Demo {
		c.use(demoValues, "demo")
	}
	r := &reader{c: &c, checks: s.Checks}
	if name := s.File(); s.Text != nil { // the weakest source first
		r.text(Place{source: atFile, name: s.TextName}, s.Text)
	} else if name != "" {
		r.file(name)
	}
	r.environ(s.Environ)
	if s.Flags != nil {
		r.flags(s.Flags)
	}
	preset := maps.Clone(presets[c.Preset])
	if c.Upstream.URL == "" {
		delete(preset, "upstream.keep")
	}
	c.use(preset, "preset "+c.Preset)     // after the other sources, because one of them may name the preset
	if c.Materialize.ChangedField != "" { // edits show, so few of the other changes are missed
		c.use(bundle{"materialize.read_all_every": "1h"}, "materialize.changed_field")
	}
	mistakes := slices.Concat(r.mistakes, c.contradictions(),
		c.wrongEndpoints(s.Checks["path"]), c.wrongRules(s.Checks["unkept"]))
	if s.Demo && c.given("store") {
		mistakes = append(mistakes, c.mistake("store",
			"cannot be given with --demo, which fills a store of its own: leave out one of the two"))
	}
	return c, join(mistakes)
}

// File returns the name of the configuration file, or "".
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

// contradictions returns mistakes in combinations of valid values. They depend on several settings, so no check of
// one value can find them.
func (c *Config) contradictions() (mistakes []*Error) {
	if c.HTTP.CORS.Credentials && slices.Contains(c.HTTP.CORS.Origins, "*") {
		mistakes = append(mistakes, c.mistake("http.cors.credentials",
			"cannot be true while http.cors.origins has *: any site could act for your visitors"))
	}
	if c.Admin.Listen != "" && c.Admin.Listen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
		mistakes = append(mistakes, c.mistake("listen", "is the same as admin.listen"))
	}
	if len(c.Routes) > 0 && c.Upstream.URL == "" {
		mistakes = append(mistakes,
			c.mistake(first("routes", c.Routes), "needs upstream.url, the address of the other server"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Purge.Tokens)) {
		if targets := slices.Collect(maps.Keys(c.Purge.Targets)); len(targets) > 0 && c.Purge.Tokens[name] != "" &&
			c.Purge.Targets[name] == "" {
			mistakes = append(mistakes,
				c.mistake("purge.tokens."+name, "purge.targets has no such target"+suggest.Hint(name, targets)))
		}
	}
	owner := map[string]string{} // names of keys by hash
	for _, name := range slices.Sorted(maps.Keys(c.Auth.Keys)) {
		for _, digest := range c.Auth.Keys[name].SHA256 {
			if first := owner[digest]; first != "" && first != name {
				mistakes = append(mistakes, c.mistake("auth.keys."+name+".sha256", "has the key of auth.keys."+first))
			}
			owner[digest] = name
		}
	}
	return mistakes
}

// wrongRules returns mistakes in the rules of upstream.keep, and records what gives a warning.
func (c *Config) wrongRules(own func(path string) error) (mistakes []*Error) {
	for _, f := range checkRules(c, own, settingAt("materialize.schedule").Entries) {
		if f.harmless {
			c.warned = append(c.warned, fmt.Sprintf("%s (%s): %s", f.path, c.placeOf(f.path), f.reason))
		} else {
			mistakes = append(mistakes, c.mistake(f.path, f.reason))
		}
	}
	return mistakes
}

// wrongEndpoints returns mistakes in endpoints of keys, which would open nothing: paths of neither this server nor
// the other one, and of lists that do not exist. known may be nil.
func (c *Config) wrongEndpoints(known func(path string) error) (mistakes []*Error) {
	for _, name := range slices.Sorted(maps.Keys(c.Auth.Keys)) {
		for _, endpoint := range c.Auth.Keys[name].Endpoints {
			path, err := "auth.keys."+name+".endpoints", c.wrongEndpoint(endpoint, known)
			switch {
			case err == nil:
			case c.forwards(endpoint):
				c.warned = append(c.warned,
					path+": "+err.Error()+" It is a path of the other server, where requests now need a key.")
			default:
				mistakes = append(mistakes, c.mistake(path, err.Error()))
			}
		}
	}
	return mistakes
}

// wrongEndpoint returns why an endpoint of a key would open nothing, or nil. A path that is near one of this
// server's is reported even if the other server might answer it.
func (c *Config) wrongEndpoint(endpoint string, known func(path string) error) error {
	if !strings.HasPrefix(endpoint, "/") || placeholder(endpoint) != "" {
		return nil // a mistake already
	}
	if rest, isList := strings.CutPrefix(endpoint, "/lists/"); isList && rest != "" {
		slug, _, _ := strings.Cut(rest, "/")
		slug, _, _ = strings.Cut(slug, ".")
		if lists := append(slices.Sorted(maps.Keys(c.Lists.Named)), builtIn...); !slices.Contains(lists, slug) {
			return fmt.Errorf("there is no list %q%s", slug, suggest.Hint(slug, lists))
		}
		return nil
	}
	if known == nil {
		return nil
	}
	err := known(endpoint)
	if err != nil && c.forwards(endpoint) && !strings.Contains(err.Error(), "did you mean") {
		return nil
	}
	return err
}

// forwards reports whether the other server answers a path for which this one has no route. A list is never such a
// path.
func (c *Config) forwards(path string) bool {
	below := func(prefix string) bool { return strings.HasPrefix(path, prefix) }
	return c.Upstream.URL != "" && !strings.HasPrefix(path, "/lists/") && slices.ContainsFunc(c.Upstream.Paths, below)
}

// first returns the path of the first entry of a map that has some.
func first[T any](path string, entries map[string]T) string {
	return path + "." + slices.Min(slices.Collect(maps.Keys(entries)))
}

// CheckServing returns all reasons, each an *Error, for which a server must not start with the configuration: others
// could reach the operator's listener without a token, or a file that a setting names cannot be read.
func (c Config) CheckServing() error {
	return errors.Join(c.checkAdmin(), c.CheckFiles())
}

func (c Config) checkAdmin() error {
	if c.Admin.Listen == "" || c.Admin.Token != "" || c.Admin.Open || isLoopback(c.Admin.Listen) {
		return nil
	}
	return c.mistake("admin.listen", "others can reach "+c.Admin.Listen+
		", and no token is asked for: set admin.token, or admin.open where that is meant")
}

// isLoopback reports whether only this machine can reach a listener with an address.
func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	ip, _ := netip.ParseAddr(host)
	return err == nil && (host == "localhost" || ip.Unmap().IsLoopback())
}

// Stored are the settings in an institute's database. A zero value means that the database has none.
type Stored struct {
	StartYear            int
	Language             string
	Portfolio            *bool
	APIKey, PortfolioKey Secret
	Roles, Types         map[string][]string
}

// inDatabase is the place of stored settings.
var inDatabase = Place{name: "database"}

// With returns the configuration with stored settings where no file, variable or flag sets a value. For roles and
// types that counts one by one.
func (c Config) With(s Stored) Config {
	c.origins = maps.Clone(c.origins)
	for path, value := range map[string]any{
		"start_year": s.StartYear, "language": s.Language, "portfolio.enabled": s.Portfolio,
		"auth.api_key": s.APIKey, "auth.portfolio_key": s.PortfolioKey,
	} {
		if v := reflect.ValueOf(value); !v.IsZero() && !c.given(path) {
			settingAt(path).field(&c).Set(reflect.Indirect(v))
			c.record(path, inDatabase)
		}
	}
	c.Access.Roles = c.merge("access.roles", c.Access.Roles, s.Roles)
	c.Access.Types = c.merge("access.types", c.Access.Types, s.Types)
	return c
}

// merge returns the entries of the map at a path, and the stored entries that no source gives.
func (c *Config) merge(path string, own, stored map[string][]string) map[string][]string {
	all := maps.Clone(own)
	for name, values := range stored {
		if !c.given(path + "." + name) {
			all[name] = values
			c.record(path+"."+name, inDatabase)
		}
	}
	return all
}

// Changed returns the dotted paths of the settings that differ between c and another configuration. It does not
// list entries of maps. Both have the same struct, so the comparison needs no list of settings that could be out of
// date.
func (c Config) Changed(other Config) (paths []string) {
	before, after := reflect.ValueOf(c), reflect.ValueOf(other)
	for _, s := range settings {
		if !reflect.DeepEqual(before.FieldByIndex(s.index).Interface(), after.FieldByIndex(s.index).Interface()) {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// Keeping returns another configuration with the values and origins that c has for the settings that fixed names, and
// the dotted paths of the settings that differ otherwise, and of those kept.
func (c Config) Keeping(next Config, fixed func(path string) bool) (_ Config, adopted, kept []string) {
	adopted, kept = []string{}, []string{}
	next.origins = maps.Clone(next.origins)
	for _, changed := range c.Changed(next) {
		if !fixed(changed) {
			adopted = append(adopted, changed)
			continue
		}
		kept = append(kept, changed)
		s := settingAt(changed)
		s.field(&next).Set(s.field(&c))
		of := func(path string, _ Place) bool { return isAt(path, changed) }
		maps.DeleteFunc(next.origins, of)
		for path, place := range c.origins {
			if of(path, place) {
				next.record(path, place)
			}
		}
	}
	return next, adopted, kept
}

// bundle is a set of built-in values by dotted path, in the form of the environment.
type bundle map[string]string

// demoValues give the demo a store of its own, which never mixes with real records, and all features.
var demoValues = bundle{
	"store":            "bolt://data/demo.db",
	"access.anonymous": "portfolio-spectrum, projects.view, proposals.view",
	"site.title":       "en=Halden Institute of Night Sciences",
	"lists.photo_url":  "/lists/list.portrait.svg?{id}", // made up, like the persons
}

// presets has the values that each preset changes.
var presets = map[string]bundle{
	"osiris": {"catalog.topics_path": "openalex.topics", "affiliation.fields": "aoi", "upstream.keep": osirisRules},
}

// Default returns the configuration without any settings.
func Default() Config {
	var c Config
	values := bundle{}
	for _, s := range settings {
		if s.Default != "" || s.typ.Kind() == reflect.Map {
			values[s.Path] = s.Default
		}
	}
	c.use(values, "")
	return c
}

// use sets the values of a bundle that no other source gives. It panics on a mistake in a bundle. Its values count
// as defaults: a source replaces them, and With does, too.
func (c *Config) use(values bundle, name string) {
	r := &reader{c: c}
	for i := range settings {
		if text, ok := values[settings[i].Path]; ok && !c.given(settings[i].Path) {
			r.setText(&settings[i], text, Place{name: name})
		}
	}
	if len(r.mistakes) > 0 {
		panic(fmt.Sprint("configs: built-in value: ", r.mistakes[0]))
	}
}

// NewList returns a list with the defaults of its settings.
func NewList() NamedList {
	var l NamedList
	r := &reader{c: &Config{}}
	r.defaults(reflect.ValueOf(&l).Elem(), settingAt("lists.named"), "")
	return l
}
