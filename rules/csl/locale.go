package csl

import (
	"maps"
	"strings"
)

// A Locale has the terms, date forms and options of a language. It is immutable.
type Locale struct {
	lang     string
	terms    map[termKey]term
	dates    map[string]*dateOp // by form: "text", "numeric"
	formats  map[string]op      // affixes and delimiters of the dates, by form
	options  map[string]string
	ordinals bool // whether it has all ordinal terms, which replace the inherited ones
}

// Locales has locales by language tag ("en-US").
type Locales map[string]*Locale

// A termKey identifies a term. Its form is "long" by default, and gender is that of the variant ("feminine").
type termKey struct{ name, form, gender string }

// A term is a text in two numbers.
type term struct {
	single, multiple string
	gender           string // of the word itself
	match            string // of ordinals
}

// ParseLocale reads a locale file. The error is a *SyntaxError.
func ParseLocale(src []byte) (*Locale, error) {
	root, err := readXML(src, "locale")
	if err != nil {
		return nil, err
	}
	if err := root.check(); err != nil {
		return nil, err
	}
	if root.attrs["xml:lang"] == "" {
		return nil, root.errorf("<locale> has no xml:lang")
	}
	return readLocale(root)
}

// Lang returns the language tag of the locale, or "" if it stands in a style for all languages.
func (l *Locale) Lang() string { return l.lang }

// readLocale compiles a checked cs:locale.
func readLocale(root *node) (*Locale, error) {
	l := &Locale{lang: root.attrs["xml:lang"], terms: map[termKey]term{}, dates: map[string]*dateOp{},
		formats: map[string]op{}, options: map[string]string{}}
	for _, n := range root.kids {
		switch n.name {
		case "style-options":
			maps.Copy(l.options, n.attrs)
		case "date":
			form := n.attrs["form"]
			if form == "" {
				return nil, n.errorf("<date> has no form")
			}
			l.dates[form], l.formats[form] = newDate(n), newOp(n, opDate)
		case "terms":
			for _, kid := range n.kids {
				if err := l.addTerm(kid); err != nil {
					return nil, err
				}
			}
		}
	}
	return l, nil
}

// addTerm adds a cs:term.
func (l *Locale) addTerm(n *node) error {
	name := n.attrs["name"]
	if name == "" {
		return n.errorf("<term> has no name")
	}
	t := term{gender: n.attrs["gender"], match: n.attrs["match"]}
	t.single = n.text
	t.multiple = n.text
	if len(n.kids) > 0 {
		t.single, t.multiple = "", ""
		for _, kid := range n.kids {
			if kid.name == "single" {
				t.single = kid.text
			} else {
				t.multiple = kid.text
			}
		}
	}
	form := n.attrs["form"]
	if form == "" {
		form = "long"
	}
	l.ordinals = l.ordinals || name == "ordinal"
	l.terms[termKey{name, form, n.attrs["gender-form"]}] = t
	return nil
}

// primaryDialects are the primary dialects of languages, unless they repeat the language ("de-DE").
var primaryDialects = map[string]string{"en": "en-US", "zh": "zh-CN", "pt": "pt-PT", "cs": "cs-CZ", "da": "da-DK",
	"el": "el-GR", "et": "et-EE", "fa": "fa-IR", "he": "he-IL", "ja": "ja-JP", "ko": "ko-KR", "nb": "nb-NO",
	"nn": "nn-NO", "sl": "sl-SI", "sr": "sr-RS", "sv": "sv-SE", "uk": "uk-UA", "vi": "vi-VN", "af": "af-ZA",
	"ar": "ar", "ca": "ca-AD", "eu": "eu", "km": "km-KH"}

// language returns the language of a tag: "de" of "de-AT".
func language(tag string) string {
	base, _, _ := strings.Cut(tag, "-")
	return strings.ToLower(base)
}

// primaryDialect returns the primary dialect of the language of a tag: "de-DE" of "de-AT".
func primaryDialect(tag string) string {
	base := language(tag)
	if main, ok := primaryDialects[base]; ok {
		return main
	}
	return base + "-" + strings.ToUpper(base)
}

// resolve returns the locale of a style in a language (section Locale Fallback). Later locales override earlier
// ones: US English, the primary dialect of the language, the language itself, and then those of the style in the
// same order.
func (s *Style) resolve(all Locales, lang string) *Locale {
	merged := &Locale{lang: lang, terms: map[termKey]term{}, dates: map[string]*dateOp{}, formats: map[string]op{},
		options: map[string]string{}}
	order := [...]string{"en-US", primaryDialect(lang), language(lang), lang}
	done := map[*Locale]bool{}
	merge := func(l *Locale) {
		if l == nil || done[l] {
			return
		}
		done[l] = true
		if l.ordinals {
			maps.DeleteFunc(merged.terms, func(k termKey, _ term) bool {
				return strings.HasPrefix(k.name, "ordinal")
			})
		}
		maps.Copy(merged.terms, l.terms)
		maps.Copy(merged.dates, l.dates)
		maps.Copy(merged.formats, l.formats)
		maps.Copy(merged.options, l.options)
	}
	for _, tag := range order {
		merge(all[tag])
	}
	for _, tag := range [...]string{"", language(lang), lang} {
		for _, l := range s.locales {
			if l.lang == tag {
				merge(l)
			}
		}
	}
	return merged
}

// fallbackForms are the forms to try when a term lacks one (section Terms).
var fallbackForms = map[string]string{"verb-short": "verb", "symbol": "short", "verb": "long", "short": "long"}

// term returns a term in a form, or in the first of its fallback forms that there is.
func (l *Locale) term(name, form string) (term, bool) {
	if form == "" {
		form = "long"
	}
	for ; form != ""; form = fallbackForms[form] {
		if t, ok := l.terms[termKey{name, form, ""}]; ok {
			return t, true
		}
	}
	return term{}, false
}

// text returns a term's text, or "" if the locale lacks the term.
func (l *Locale) text(name, form string, plural bool) string {
	t, _ := l.term(name, form)
	if plural {
		return t.multiple
	}
	return t.single
}
