package proxy

import (
	"strings"

	"vitrine/rules"
	"vitrine/rules/label"
)

// languageOf returns the language that an answer speaks: lang, or else the
// configured one (DESIGN.md: 15).
func (s *Server) languageOf(p params) (string, error) {
	lang, err := p.text("lang")
	switch {
	case err != nil:
		return "", err
	case lang == "":
		return s.language, nil
	case !label.Known(lang):
		return "", rules.Wrongf("lang", "", "want one of %s, got %s", strings.Join(label.Languages(), ", "), quoted(lang))
	}
	return lang, nil
}

// says returns what the API says itself in a language.
func (s *Server) says(text, lang string) string { return s.labels.Label(label.Text, text, lang) }
