package configs

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// assignment is one value for one setting, or for one entry of a setting that
// is a map, as a source gave it.
type assignment struct {
	key   *Key
	place Place
	// entry names the entry of a map; empty with a map means the map was given
	// as empty, which clears it.
	entry string
	// items is the value: one for a scalar, any number for a list.
	items []item
}

// item is one scalar as written, with the YAML tag it resolves to ("!!int") or
// "" if it comes from where everything is text.
type item struct {
	text  string
	tag   string
	place Place
}

// reader collects the values that sources give, the weakest source first, and what is wrong
// with them.
type reader struct {
	given    []assignment
	mistakes []*Error
}

// mistake adds a mistake.
func (r *reader) mistake(place Place, key, reason string) {
	r.mistakes = append(r.mistakes, &Error{Place: place, Key: key, Reason: reason})
}

// apply sets all values in c.
func (r *reader) apply(c *Config) {
	for i := range r.given {
		r.mistakes = append(r.mistakes, r.given[i].apply(c)...)
	}
}

// path returns the dotted name of what is assigned to.
func (a *assignment) path() string {
	if a.entry == "" {
		return a.key.Path
	}
	return a.key.Path + "." + a.entry
}

// apply sets the value in c and records its origin. If the value is wrong, apply returns
// the mistakes and c keeps what it had.
func (a *assignment) apply(c *Config) []*Error {
	dst := a.key.field(c)
	switch isMap := dst.Kind() == reflect.Map; {
	case isMap && a.entry == "":
		dst.Set(reflect.MakeMap(dst.Type()))
	case a.key.fields != nil:
		c.addSection(a.key, a.entry)
		return nil // its settings have origins, it has none
	case isMap:
		v, mistakes := a.value(dst.Type().Elem(), c.checks)
		if len(mistakes) > 0 {
			return mistakes
		}
		if dst.IsNil() {
			dst.Set(reflect.MakeMap(dst.Type()))
		}
		dst.SetMapIndex(reflect.ValueOf(a.entry), v)
	default:
		v, mistakes := a.value(dst.Type(), c.checks)
		if len(mistakes) > 0 {
			return mistakes
		}
		dst.Set(v)
	}
	c.record(a)
	return nil
}

// record records the origin of a value.
func (c *Config) record(a *assignment) {
	if c.origins == nil {
		c.origins = make(map[string]Place)
	}
	if a.entry == "" {
		// The whole value is replaced, and with it what its entries were.
		for path := range c.origins {
			if strings.HasPrefix(path, a.key.Path+".") {
				delete(c.origins, path)
			}
		}
	}
	c.origins[a.path()] = a.place
}

// value reads the items as a value of type t, a scalar or a list.
func (a *assignment) value(t reflect.Type, checks Checks) (v reflect.Value, mistakes []*Error) {
	v = reflect.New(t).Elem()
	isList := t.Kind() == reflect.Slice
	if isList {
		v.Set(reflect.MakeSlice(t, len(a.items), len(a.items)))
	}
	for i, it := range a.items {
		scalar := v
		if isList {
			scalar = v.Index(i)
		}
		if err := a.key.setScalar(scalar, it, checks); err != nil {
			mistakes = append(mistakes, &Error{Place: it.place, Key: a.path(), Reason: err.Error()})
		}
	}
	return v, mistakes
}

// setScalar reads and checks one item. An empty item is the zero value.
func (k *Key) setScalar(v reflect.Value, it item, checks Checks) error {
	required := k.typ.Kind() == reflect.Slice || slices.Contains(strings.Fields(k.check), "required")
	switch empty := it.text == "" || it.tag == "!!null"; {
	case !empty:
		if err := parseScalar(v, it); err != nil {
			return err
		}
	case v.Kind() == reflect.String && required:
		return errors.New("may not be empty")
	case v.Kind() == reflect.String:
		return nil
	}
	return k.checkScalar(v, checks)
}

// parseScalar reads an item that is not empty into v by v's type.
func parseScalar(v reflect.Value, it item) (err error) {
	want, tags := "", []string{"!!int"}
	switch p := v.Addr().Interface().(type) {
	case *bool:
		want, tags = "true or false", []string{"!!bool"}
		*p, err = strconv.ParseBool(it.text)
	case *int:
		want = "a whole number"
		*p, err = strconv.Atoi(it.text)
	case *float64:
		want, tags = "a number", []string{"!!int", "!!float"}
		*p, err = strconv.ParseFloat(it.text, 64)
	case *time.Duration:
		want, tags = "a duration such as 30s or 2h", []string{"!!int", "!!str"}
		*p, err = time.ParseDuration(it.text)
	case *Size:
		want, tags = "a size such as 512MB or 64KiB", []string{"!!int", "!!str"}
		*p, err = parseSize(it.text)
	default:
		// Numbers and dates are text as they are written: a key made of digits needs no
		// quotes. The reason names no value, which may be secret.
		if !it.is("!!str", "!!int", "!!float", "!!timestamp") {
			return errors.New("want text; put it in quotes")
		}
		v.SetString(it.text)
		return nil
	}
	switch {
	case err == nil && it.is(tags...):
		return nil
	case it.tag == "!!str" && !it.is(tags...):
		return fmt.Errorf("want %s, have the text %q", want, it.text)
	}
	return fmt.Errorf("want %s, have %q", want, it.text)
}

// is reports whether the item may be read as one of the tags: it has the tag, or
// comes from where everything is text.
func (it item) is(tags ...string) bool { return it.tag == "" || slices.Contains(tags, it.tag) }
