package configs

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// reader sets values of a configuration and collects mistakes.
//
// All sources use it one after the other on the same configuration. It is not safe for concurrent use.
type reader struct {
	c        *Config
	checks   Checks
	mistakes []*Error
	last     int // line on which the last value or key of the file begins
}

// mostMistakes are listed. A file of another kind could have a million, each with a search for the nearest name.
const mostMistakes = 100

func (r *reader) mistake(place Place, path, reason string) {
	switch n := len(r.mistakes); {
	case n < mostMistakes:
		r.mistakes = append(r.mistakes, newError(place, path, reason))
	case n == mostMistakes:
		r.mistakes = append(r.mistakes, newError(place, "", "more mistakes follow, which are not listed"))
	}
}

// full reports whether no further mistake would be listed.
func (r *reader) full() bool { return len(r.mistakes) > mostMistakes }

// set reads a value of a setting or of a map's entry, and reports whether it is valid and set. An invalid scalar or
// list leaves dst unchanged, so later checks see the value of a weaker source, which is valid.
func (r *reader) set(dst reflect.Value, s *Setting, path string, node *yaml.Node, place Place) bool {
	node = resolve(node)
	null, v, right := node.Tag == "!!null", reflect.New(dst.Type()).Elem(), true
	place.blank = null
	switch dst.Kind() {
	case reflect.Map:
		return r.setMap(dst, s, path, node, place)
	case reflect.Slice:
		if s.fields != nil {
			return r.setList(dst, s, path, node, place)
		}
		want := "want a list"
		if word, ok := s.word(); ok { // which may stand instead of a list
			want += " or the word " + word
			if node.Kind == yaml.ScalarNode && node.Value == word {
				v.Set(reflect.ValueOf([]string{EveryParameter}))
				break
			}
		}
		if !null && node.Kind != yaml.SequenceNode {
			r.mistake(place.of(node), path, want+", have "+kindName(node))
			return false
		}
		v.Set(reflect.MakeSlice(v.Type(), len(node.Content), len(node.Content)))
		for i, element := range node.Content {
			if word, ok := s.word(); ok && element.Kind == yaml.ScalarNode && element.Value == word {
				r.mistake(place.of(element), path, "the word "+word+" stands instead of the list, not in it")
				return false
			}
			right = !r.full() && r.setScalar(v.Index(i), s, path, element, place) && right
		}
	default:
		right = r.setScalar(v, s, path, node, place)
	}
	if right {
		dst.Set(v)
		r.c.record(path, place)
	}
	return right
}

// setMap adds entries to those of a map. An empty map clears the default entries. A file thus adds to the defaults,
// and {} says that there are none.
func (r *reader) setMap(dst reflect.Value, s *Setting, path string, node *yaml.Node, place Place) bool {
	if dst.IsNil() || len(node.Content) == 0 {
		dst.Set(reflect.MakeMap(dst.Type()))
	}
	switch {
	case node.Tag != "!!null" && node.Kind != yaml.MappingNode:
		r.mistake(place, path, "want keys with values, have "+kindName(node))
		return false
	case len(node.Content) == 0:
		// origins of its entries
		maps.DeleteFunc(r.c.origins, func(before string, _ Place) bool { return strings.HasPrefix(before, path+".") })
		r.c.record(path, place)
		return true
	}
	if r.c.ended == nil {
		r.c.ended = make(map[string]bool)
	}
	r.c.ended[path] = node.Style&yaml.FlowStyle != 0 || lastLine(node) < r.last
	r.eachKey(place, path, node, func(name, full string, place Place, value *yaml.Node) {
		err := s.checkEntry(name)
		if check := r.checks[s.Names]; err == nil && check != nil {
			err = check(name)
		}
		if err != nil {
			if errors.Is(err, errAddress) {
				full = path
			}
			r.mistake(place, full, err.Error())
			return
		}
		entry := reflect.New(dst.Type().Elem()).Elem()
		if s.fields != nil {
			entry = reflect.New(dst.Type().Elem().Elem())
			r.setSection(entry.Elem(), s, full, place, value)
		} else if !r.set(entry, s, full, value, place) {
			return
		}
		dst.SetMapIndex(reflect.ValueOf(name), entry)
	})
	return true
}

// setList replaces a list of sections.
func (r *reader) setList(dst reflect.Value, s *Setting, path string, node *yaml.Node, place Place) bool {
	if node.Tag != "!!null" && node.Kind != yaml.SequenceNode {
		r.mistake(place.of(node), path, "want a list, have "+kindName(node))
		return false
	}
	list := reflect.MakeSlice(dst.Type(), 0, len(node.Content))
	for i, element := range node.Content {
		if r.full() {
			break
		}
		entry, full, at := reflect.New(dst.Type().Elem().Elem()), entryPath(path, i), place
		if at.source == atFile {
			at = at.of(resolve(element))
		}
		before := len(r.mistakes)
		r.setSection(entry.Elem(), s, full, at, element)
		for j := range s.fields {
			f := &s.fields[j]
			list := f.typ.Kind() == reflect.Slice && slices.Contains(strings.Fields(f.Check), "required")
			if list && entry.Elem().FieldByIndex(f.index).Len() == 0 && len(r.mistakes) == before {
				r.mistake(at, full, "lacks "+f.Path)
			}
		}
		list = reflect.Append(list, entry)
	}
	dst.Set(list)
	r.c.record(path, place)
	return true
}

// setSection reads a section in a map or list of sections over its defaults.
func (r *reader) setSection(dst reflect.Value, s *Setting, path string, place Place, node *yaml.Node) {
	r.defaults(dst, s, path)
	r.section(dst, s.fields, path+".", path, place, node)
}

// defaults sets the defaults of a section in a map or list of sections.
func (r *reader) defaults(dst reflect.Value, s *Setting, path string) {
	for i := range s.fields {
		// Lists in a list are never nil, so that those that are left out equal empty ones at a reload.
		field := &s.fields[i]
		list := s.typ.Kind() == reflect.Slice && field.typ.Kind() == reflect.Slice
		if list || field.Default != "" || field.typ.Kind() == reflect.Map {
			r.set(dst.FieldByIndex(field.index), field, path+"."+field.Path, r.node(field, field.Default, Place{}),
				Place{})
		}
	}
}

// setScalar reads and checks one scalar. An empty scalar is the zero value.
func (r *reader) setScalar(v reflect.Value, s *Setting, path string, node *yaml.Node, place Place) bool {
	node = resolve(node)
	place = place.of(node)
	if node.Kind != yaml.ScalarNode {
		r.mistake(place, path, "want a single value, have "+kindName(node))
		return false
	}
	required := s.typ.Kind() == reflect.Slice || slices.Contains(strings.Fields(s.Check), "required")
	var err error
	switch empty := node.Value == "" || node.ShortTag() == "!!null"; {
	case !empty:
		err = parseScalar(v, node)
	case v.Kind() == reflect.String && required:
		err = errors.New("may not be empty")
	case v.Kind() == reflect.String:
		return true
	}
	if err == nil {
		err = s.checkScalar(v, r.checks)
	}
	if err != nil {
		r.mistake(place, path, err.Error())
	}
	return err == nil
}

// parseScalar parses a non-empty scalar into v, according to v's type.
func parseScalar(v reflect.Value, node *yaml.Node) (err error) {
	text, tag := node.Value, node.ShortTag()
	// is reports whether the scalar may be read as a value with one of the tags.
	is := func(tags ...string) bool { return tag == textTag || slices.Contains(tags, tag) }
	want, tags := "", []string{"!!int"}
	switch p := v.Addr().Interface().(type) {
	case *bool:
		want, tags = "true or false", []string{"!!bool"}
		*p, err = strconv.ParseBool(text)
	case *int:
		want = "a whole number"
		*p, err = strconv.Atoi(text)
	case *float64:
		want, tags = "a number", []string{"!!int", "!!float"}
		*p, err = strconv.ParseFloat(text, 64)
	case *time.Duration:
		want, tags = "a duration such as 30s or 2h", []string{"!!int", "!!str"}
		*p, err = time.ParseDuration(text)
	case *Size:
		want, tags = "a size such as 512MB or 64KiB", []string{"!!int", "!!str"}
		*p, err = parseSize(text)
	default:
		// Numbers and dates are text as written: a key of digits needs no quotes. The value may be secret.
		if !is("!!str", "!!int", "!!float", "!!timestamp") {
			return errors.New("want text; put it in quotes")
		}
		v.SetString(text)
		return nil
	}
	switch {
	case err == nil && is(tags...):
		return nil
	case tag == "!!str" && !is(tags...):
		return fmt.Errorf("want %s, have the text %q", want, text)
	}
	return fmt.Errorf("want %s, have %q", want, text)
}
