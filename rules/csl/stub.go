package csl

// A Locale has the terms, date forms and options of a language.
type Locale struct{}

// Locales has locales by language tag ("en-US").
type Locales map[string]*Locale

// A Style is a parsed style.
type Style struct{}

// A Renderer renders entries by a style in a language.
type Renderer struct{}

// An Item is a work to render.
type Item struct{}

// ParseLocale reads a locale file.
func ParseLocale(src []byte) (*Locale, error) { return &Locale{}, nil }

// Builtin returns the built-in locales.
func Builtin() Locales { return Locales{} }

// ParseStyle reads an independent style.
func ParseStyle(src []byte) (*Style, error) { return &Style{}, nil }

// Title returns the style's title.
func (s *Style) Title() string { return "" }

// Lang returns the style's default locale, or "".
func (s *Style) Lang() string { return "" }

// Numbered reports whether entries have numbers.
func (s *Style) Numbered() bool { return false }

// Suffixed reports whether years have suffixes.
func (s *Style) Suffixed() bool { return false }

// Renderer compiles the style for a language.
func (s *Style) Renderer(l Locales, lang string) *Renderer { return &Renderer{} }

// ReadItem reads one item of CSL-JSON.
func ReadItem(cslJSON []byte) (*Item, error) { return &Item{}, nil }

// Entry renders an item.
func (r *Renderer) Entry(it *Item) Entry { return Entry{} }

// Text returns the entry as plain text.
func (e Entry) Text(number int, suffix string) string { return "" }
