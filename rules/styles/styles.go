// Package styles has the citation styles of a site: those that settings name, and the built-in ones. They are
// written in CSL, the Citation Style Language, and package csl renders them.
//
// A row's mark has the citations of its record in each style and language (Set.Finish), made from the CSL-JSON that
// exports have (but see datesOnce), so that requests only read them: Style.Of. A stamp beside each citation identifies
// the style, its locale, the language and the rules of citing. A process with others, or with a row whose mark is
// older, renders the citation itself.
//
//	item in the mark ──AppendCSL──▶ csl.Item ──each style, language──▶ styled: [stamps, HTML, key]
//	                                                               └─▶ alike: numbers of keys, for year suffixes
//
// All functions are pure and safe for concurrent use.
package styles

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"vitrine/rules/csl"
	"vitrine/rules/label"
)

// codeVersion is part of stamps: raise it when package csl or cite.AppendCSL renders the same record differently.
// Without that, rows would keep their old citations.
const codeVersion = "2"

// tags are the tags of the locales for the languages of lists.
var tags = map[string]string{"en": "en-US", "de": "de-DE"}

// Plain are the values of the parameter style that name no style of a Set: citations as rows have them.
var Plain = []string{"web", "print"}

var (
	names     = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	languages = regexp.MustCompile(`^[a-z]{2,3}(-[A-Z]{2})?$`)
)

// CheckName returns an error if a style must not have a name. The error does not contain the path of the setting.
func CheckName(name string) error {
	switch {
	case slices.Contains(Plain, name):
		return errors.New("is built in, and no citation style: choose another name")
	case !names.MatchString(name):
		return fmt.Errorf("want a name of small letters, digits and hyphens such as apa, have %q", name)
	}
	return nil
}

// CheckTag returns an error if the language tag of a locale is not one.
func CheckTag(tag string) error {
	if !languages.MatchString(tag) {
		return fmt.Errorf("want a language tag such as fr-FR, have %q", tag)
	}
	return nil
}

// Source is a parsed style or locale, with a digest of its file.
type Source[T any] struct {
	Parsed T
	digest uint64 // of the file
}

// ParseStyle reads a style from a file. Its error has the name and the line.
func ParseStyle(name string, src []byte) (Source[*csl.Style], error) {
	return parse(name, src, csl.ParseStyle)
}

// ParseLocale reads a locale from a file. Its error has the name and the line.
func ParseLocale(name string, src []byte) (Source[*csl.Locale], error) {
	return parse(name, src, csl.ParseLocale)
}

// parse reads a source by a parser, with the name of its file and the line in errors.
func parse[T any](name string, src []byte, parser func([]byte) (T, error)) (s Source[T], err error) {
	s.digest = xxhash.Sum64(src)
	s.Parsed, err = parser(src)
	if wrong, ok := errors.AsType[*csl.SyntaxError](err); ok {
		return s, fmt.Errorf("%s:%d: %s", name, wrong.Line, wrong.Reason)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// Set has the styles of a site. It is immutable; nil has no styles.
type Set struct {
	fingerprint string

	byName map[string]*Style
	all    []*variant // of all styles, each once
}

// Style is a style of a Set.
type Style struct {
	*csl.Style
	languages map[string]*variant // by languages of lists
}

// variant is a style in a language.
type variant struct {
	lang string // the language tag of its words: "de", or that of the style's default locale
	// family identifies style, locales and rules; stamp also identifies the language. Four bytes are enough for a
	// stamp, because stamps are compared only within a row.
	family   uint64
	stamp    uint32
	renderer *csl.Renderer
	once     map[string]bool // see datesOnce
}

// LocaleError is the error for a style whose default locale is missing.
type LocaleError struct{ Style, Locale string }

func (e *LocaleError) Error() string {
	return fmt.Sprintf("its default-locale is %s, which is not built in: name its file in lists.locales", e.Locale)
}

// Builtin returns the built-in styles by name.
func Builtin() (map[string]Source[*csl.Style], error) {
	all := map[string]Source[*csl.Style]{}
	for name, src := range csl.BuiltinStyles() {
		one, err := ParseStyle(name+".csl", src)
		if err != nil {
			return nil, err
		}
		all[name] = one
	}
	return all, nil
}

// New returns a set of styles by name. locales, by language tag, go before the built-in ones. rules identifies the
// rules by which items are read. Its error is a *LocaleError.
func New(styles map[string]Source[*csl.Style], locales map[string]Source[*csl.Locale], rules string) (*Set, error) {
	known, common := maps.Clone(csl.BuiltinLocales()), codeVersion+" "+rules
	for _, tag := range slices.Sorted(maps.Keys(locales)) {
		known[tag] = locales[tag].Parsed
		// A style may fall back to any of them, so all are part of all stamps.
		common += fmt.Sprintf(" %s %x", tag, locales[tag].digest)
	}
	set := &Set{byName: map[string]*Style{}}
	for _, name := range slices.Sorted(maps.Keys(styles)) {
		s := &Style{Style: styles[name].Parsed, languages: map[string]*variant{}}
		if fixed := s.Lang(); fixed != "" && !hasLanguage(known, fixed) {
			return nil, &LocaleError{name, fixed}
		}
		// Styles with a default locale have one variant for all languages.
		byTag := map[string]*variant{}
		id := fmt.Sprintf("%s %s %x ", common, name, styles[name].digest)
		for _, lang := range label.Languages() {
			v := variant{lang: cmp.Or(s.Lang(), lang), family: xxhash.Sum64String(id)}
			tag := cmp.Or(s.Lang(), tags[lang])
			if byTag[tag] == nil {
				v.stamp, v.renderer = uint32(xxhash.Sum64String(id+tag)), s.Renderer(known, tag)
				v.once = datesOnce(v.renderer)
				byTag[tag], set.all = &v, append(set.all, &v)
				set.fingerprint += strconv.FormatUint(uint64(v.stamp), 36) + " "
			}
			s.languages[lang] = byTag[tag]
		}
		set.byName[name] = s
	}
	return set, nil
}

// hasLanguage reports whether there is a locale for a tag, or another one of its language.
func hasLanguage(known csl.Locales, tag string) bool {
	lang, _, _ := strings.Cut(tag, "-")
	for other := range known {
		if own, _, _ := strings.Cut(other, "-"); own == lang {
			return true
		}
	}
	return false
}

// Names returns the names of the styles, sorted.
func (s *Set) Names() []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.byName))
}

// Named returns the style of a name, or nil.
func (s *Set) Named(name string) *Style {
	if s == nil {
		return nil
	}
	return s.byName[name]
}

// Fingerprint returns a text that changes when a style is added, or when a record may have another citation in one.
func (s *Set) Fingerprint() string {
	if s == nil {
		return ""
	}
	return s.fingerprint
}
