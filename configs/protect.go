package configs

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// The words of Setting.Protects: what a setting keeps callers from, and what would take it away.
const (
	byValue   = "value"   // the setting: any other value
	byGrants  = "grants"  // what it does not grant: a value that grants more
	byEntries = "entries" // each entry of a map: its absence
)

// Protecting returns a configuration that was read anew, next, in which the protections that are in force in c stay
// unless next says otherwise, and the dotted paths of those that stay. Only a file can lose a setting while a program
// runs, and an editor or a copy may just be writing it: what it has not written yet must not open what was closed. To
// end a protection, a file says so: "", [] or {}. A key with nothing after it says nothing.
func (c Config) Protecting(next Config) (_ Config, stay []string) {
	next.origins = maps.Clone(next.origins)
	p := protection{before: &c, next: &next}
	for i := range settings {
		p.setting(&settings[i])
	}
	p.keys()
	p.rules()
	slices.Sort(p.stay)
	return next, p.stay
}

// protection compares two configurations, and changes the second. It reads origins of both: a value alone does not
// say whether a file left it out or repeats the default.
type protection struct {
	before, next *Config
	stay         []string
}

func (p *protection) setting(s *Setting) {
	was, will := s.field(p.before), s.field(p.next)
	switch {
	case s.Protects == byGrants && s.typ.Kind() == reflect.Map:
		p.roles(s.Path, was.Interface().(map[string][]string), will.Interface().(map[string][]string))
	case s.Protects == byEntries:
		p.entries(s.Path, was, will)
	case s.Protects == "" || !p.before.given(s.Path) || p.next.sets(s.Path):
	case reflect.DeepEqual(was.Interface(), will.Interface()):
	case s.Protects == byGrants && contains(was.Interface().([]string), will.Interface().([]string)):
	default:
		will.Set(was)
		p.keep(s.Path)
	}
}

// roles keeps the rights of roles that would get more.
func (p *protection) roles(path string, was, will map[string][]string) {
	for _, role := range slices.Sorted(maps.Keys(will)) {
		if entry := path + "." + role; !p.next.sets(entry) && !contains(was[role], will[role]) {
			will[role] = was[role]
			p.keep(entry)
		}
	}
}

// entries keeps the entries of a map that next lacks although it may not be written to its end.
func (p *protection) entries(path string, was, will reflect.Value) {
	if p.next.complete(path) {
		return
	}
	names := was.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, name := range names {
		if !will.MapIndex(name).IsValid() {
			will.SetMapIndex(name, was.MapIndex(name))
			p.keep(path + "." + name.String())
		}
	}
}

// keys keeps named keys: all if next does not name the setting, or else those without which a part of the API would
// be open to all callers; and the limits of those that both have.
func (p *protection) keys() {
	const path = "auth.keys"
	complete, named := p.next.complete(path), p.next.hasEntry(path)
	open := func(part string) bool { return p.before.closed(part) && !p.next.closed(part) }
	opened := slices.DeleteFunc([]string{"/api", "/portfolio"}, func(part string) bool { return !open(part) })
	for _, name := range slices.Sorted(maps.Keys(p.before.Auth.Keys)) {
		key, next := p.before.Auth.Keys[name], p.next.Auth.Keys[name]
		switch {
		case next != nil:
			p.limits(path+"."+name, key, next)
		case !complete && (!named || slices.ContainsFunc(opened, key.covers)):
			p.next.Auth.Keys[name] = key
			p.keep(path + "." + name)
		}
	}
}

// closed reports whether a part of the API needs a key.
func (c *Config) closed(part string) bool {
	single := map[string]Secret{"/api": c.Auth.APIKey, "/portfolio": c.Auth.PortfolioKey}[part]
	for _, key := range c.Auth.Keys {
		if key.covers(part) {
			return true
		}
	}
	return single != ""
}

// covers reports whether a key is for a part of the API, or for some path in it.
func (k *Key) covers(part string) bool {
	return len(k.Endpoints) == 0 || slices.ContainsFunc(k.Endpoints, func(path string) bool {
		return path == "/" || path == part || strings.HasPrefix(path, part+"/")
	})
}

// limits keeps what limits a key, unless next says otherwise.
func (p *protection) limits(path string, was, will *Key) {
	before, next := reflect.ValueOf(was).Elem(), reflect.ValueOf(will).Elem()
	for i := range settingAt("auth.keys").fields {
		f := &settingAt("auth.keys").fields[i]
		old, own := before.FieldByIndex(f.index), path+"."+f.Path
		none := old.IsZero() || old.Kind() == reflect.Slice && old.Len() == 0
		if f.Protects != "" && !none && !p.next.sets(own) {
			next.FieldByIndex(f.index).Set(old)
			p.keep(own)
		}
	}
}

// rules keeps who may request the answers of a rule in upstream.keep, if next has a rule for the same paths that says
// nothing about it.
func (p *protection) rules() {
	const path = "upstream.keep"
	for i, rule := range p.next.Upstream.Keep {
		own := entryPath(path, i) + ".auth"
		j := slices.IndexFunc(p.before.Upstream.Keep, func(was *Keep) bool {
			return slices.Equal(was.Paths, rule.Paths)
		})
		if j < 0 || p.next.sets(own) || p.before.Upstream.Keep[j].Auth == rule.Auth {
			continue
		}
		rule.Auth = p.before.Upstream.Keep[j].Auth
		place := p.before.origins[entryPath(path, j)+".auth"]
		place.gone = true
		p.next.record(own, place)
		p.stay = append(p.stay, own)
	}
}

// keep records that a setting keeps its value, with its place or those of its entries.
func (p *protection) keep(path string) {
	p.stay = append(p.stay, path)
	for at, place := range p.before.origins {
		if isAt(at, path) {
			place.gone = true
			p.next.record(at, place)
		}
	}
}

// sets reports whether a source gives a value or an entry, be it an explicitly empty one.
func (c *Config) sets(path string) bool {
	return c.origins[path].isExplicit() || c.origins[parentOf(path)].isExplicit()
}

// isExplicit reports whether a value was given here, and is not only kept or left blank.
func (p Place) isExplicit() bool { return p.source > atDefault && !p.blank && !p.gone }

// hasEntry reports whether a source gives an entry of a map.
func (c *Config) hasEntry(path string) bool {
	for at, place := range c.origins {
		if strings.HasPrefix(at, path+".") && place.isExplicit() {
			return true
		}
	}
	return false
}

// complete reports whether a map has all the entries that are meant: it is empty on purpose, or its file does not end
// with it.
func (c *Config) complete(path string) bool { return c.origins[path].isExplicit() || c.ended[path] }

// contains reports whether all has every one of some.
func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}
