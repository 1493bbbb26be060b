package configs

import (
	"errors"
	"fmt"
	"math"
	"reflect"
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

// path returns the dotted name of what is assigned to.
func (a *assignment) path() string {
	if a.entry == "" {
		return a.key.Path
	}
	return a.key.Path + "." + a.entry
}

// apply sets the value in c and notes where it came from. What is wrong with it
// comes back as mistakes, and then c keeps what it had.
func (a *assignment) apply(c *Config) []*Error {
	dst := a.key.field(c)
	if dst.Kind() == reflect.Map && (a.entry == "" || dst.IsNil()) {
		dst.Set(reflect.MakeMap(dst.Type()))
	}
	if dst.Kind() == reflect.Map && a.entry == "" {
		c.note(a)
		return nil
	}
	typ := dst.Type()
	if dst.Kind() == reflect.Map {
		typ = typ.Elem()
	}
	v, mistakes := a.value(typ)
	if len(mistakes) > 0 {
		return mistakes
	}
	if dst.Kind() == reflect.Map {
		dst.SetMapIndex(reflect.ValueOf(a.entry), v)
	} else {
		dst.Set(v)
	}
	c.note(a)
	return nil
}

// note remembers where a value came from.
func (c *Config) note(a *assignment) {
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
func (a *assignment) value(t reflect.Type) (reflect.Value, []*Error) {
	if t.Kind() != reflect.Slice {
		v, err := a.scalar(t, a.items[0])
		if err != nil {
			return v, []*Error{{Place: a.place, Key: a.path(), Reason: err.Error()}}
		}
		return v, nil
	}
	list := reflect.MakeSlice(t, 0, len(a.items))
	var mistakes []*Error
	for _, it := range a.items {
		v, err := a.scalar(t.Elem(), it)
		if err != nil {
			mistakes = append(mistakes, &Error{Place: it.place, Key: a.path(), Reason: err.Error()})
			continue
		}
		list = reflect.Append(list, v)
	}
	return list, mistakes
}

// scalar reads and checks one item.
func (a *assignment) scalar(t reflect.Type, it item) (reflect.Value, error) {
	v := reflect.New(t).Elem()
	empty := it.text == "" || it.tag == "!!null"
	if !empty {
		if err := setScalar(v, it); err != nil {
			return v, err
		}
	} else if t.Kind() == reflect.String {
		if a.key.required() || a.key.typ.Kind() == reflect.Slice {
			return v, errors.New("may not be empty")
		}
		return v, nil
	}
	return v, a.key.checkValue(v)
}

// setScalar reads an item into v by v's type.
func setScalar(v reflect.Value, it item) error {
	switch v.Interface().(type) {
	case time.Duration:
		return setDuration(v, it)
	case Size:
		return setSize(v, it)
	}
	switch v.Kind() {
	case reflect.Bool:
		return setBool(v, it)
	case reflect.Int:
		return setInt(v, it)
	case reflect.Float64:
		return setFloat(v, it)
	default:
		return setString(v, it)
	}
}

// mistyped reports that an item is not what the setting holds.
func mistyped(want string, it item) error {
	if it.tag == "!!str" {
		return fmt.Errorf("want %s, have the text %q", want, it.text)
	}
	return fmt.Errorf("want %s, have %q", want, it.text)
}

// is tells that the item may be read as one of the tags: it has the tag, or
// comes from where everything is text.
func (it item) is(tags ...string) bool {
	for _, tag := range tags {
		if it.tag == tag {
			return true
		}
	}
	return it.tag == ""
}

// setString takes numbers and dates too, as they are written: a key made of
// digits needs no quotes. The reason given names no value, which may be secret.
func setString(v reflect.Value, it item) error {
	if !it.is("!!str", "!!int", "!!float", "!!timestamp") {
		return errors.New("want text; put it in quotes")
	}
	v.SetString(it.text)
	return nil
}

func setBool(v reflect.Value, it item) error {
	b, err := strconv.ParseBool(it.text)
	if err != nil || !it.is("!!bool") {
		return mistyped("true or false", it)
	}
	v.SetBool(b)
	return nil
}

func setInt(v reflect.Value, it item) error {
	n, err := strconv.ParseInt(it.text, 10, 0)
	if err != nil || !it.is("!!int") {
		return mistyped("a whole number", it)
	}
	v.SetInt(n)
	return nil
}

func setFloat(v reflect.Value, it item) error {
	f, err := strconv.ParseFloat(it.text, 64)
	if err != nil || !it.is("!!int", "!!float") || math.IsNaN(f) || math.IsInf(f, 0) {
		return mistyped("a number", it)
	}
	v.SetFloat(f)
	return nil
}

func setDuration(v reflect.Value, it item) error {
	d, err := time.ParseDuration(it.text)
	if err != nil || !it.is("!!str", "!!int") {
		return fmt.Errorf("want a duration such as 30s or 2h, have %q", it.text)
	}
	v.SetInt(int64(d))
	return nil
}

func setSize(v reflect.Value, it item) error {
	s, err := parseSize(it.text)
	if err != nil || !it.is("!!str", "!!int") {
		return fmt.Errorf("want a size such as 512MB or 64KiB, have %q", it.text)
	}
	v.SetInt(int64(s))
	return nil
}
