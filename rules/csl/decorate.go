package csl

import "strings"

// formatSize is about the length of the tags around a formatted text.
const formatSize = 40

// decorate puts the quotes, the format, the case and the affixes of o around a box.
func (c *run) decorate(o *op, b *box) *box {
	if b == nil {
		return nil
	}
	if o.strip && c.steps <= maxSteps {
		b.leaves(func(l *box) {
			c.steps++
			l.text = strings.ReplaceAll(l.text, ".", "")
		})
	}
	if o.casing != "" {
		recase(b, o.casing, c.english(b.leaf == styleLeaf))
	}
	return c.affix(o, b)
}

// affix puts the quotes, the format and the affixes of o around a box.
func (c *run) affix(o *op, b *box) *box {
	slot := b.slot
	if o.format != (format{}) || o.quotes {
		b = &box{kids: []*box{b}, format: o.format, quoted: o.quotes}
		c.size += formatSize
	}
	if o.prefix != "" || o.suffix != "" {
		before, after := leaf(styleLeaf, o.prefix), leaf(styleLeaf, o.suffix)
		c.size += len(o.prefix) + len(o.suffix)
		if slot {
			b = optional(nonNil(before, b, after)...)
		} else {
			b = wrap(before, b, after)
		}
	}
	if o.display != "" {
		b = &box{kids: []*box{b}, display: o.display}
		c.size += formatSize
	}
	b.slot = b.slot || slot
	return b
}

// english reports whether a text is written in title case: if it is English. Texts of the item are in its language,
// terms and texts of items that name none in that of the list.
func (c *run) english(term bool) bool {
	if lang := c.it.texts["language"]; lang != "" && !term {
		return language(strings.ReplaceAll(lang, "_", "-")) == "en" || strings.HasPrefix(strings.ToLower(lang), "en")
	}
	return language(c.locale.lang) == "en"
}
