package proxy

import (
	"strings"

	"vitrine/rules"
	"vitrine/rules/label"
)

// languageOf returns the language that an answer speaks: lang, or else the
// configured one (DESIGN.md: 15).
func (s *Server) languageOf(p params) (string, error) {
	if err := checkLanguage(p); err != nil {
		return "", err
	}
	lang, err := p.text("lang")
	return or(lang, s.language), err
}

// checkLanguage refuses a lang that there is none of, also where an answer has no
// labels: what is accepted in one place is accepted everywhere.
func checkLanguage(p params) error {
	lang, err := p.text("lang")
	if err != nil || lang == "" || label.Known(lang) {
		return err
	}
	return rules.Wrongf("lang", "", "want one of %s, got %s", strings.Join(label.Languages(), ", "), quoted(lang))
}

// says returns what the API says itself in a language.
func (s *Server) says(text, lang string) string { return s.labels.Label(label.Text, text, lang) }
