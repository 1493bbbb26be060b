package csl

import (
	"strings"
	"unicode"
)

// name renders one name (section Name-part Order). An inverted name begins with the family name: "Doe, Jane".
func (c *run) name(n *nameStyle, name *Name, inverted bool) *box {
	if c.step() {
		return nil
	}
	if name.Literal != "" {
		return c.part(&n.family, name.Literal)
	}
	given, dropping := name.Given, name.Dropping
	if n.hasInitials {
		if strings.IndexByte(given, '<') >= 0 {
			given = rich(&c.marks, dataLeaf, given).plain()
		}
		given = initials(given, n.initials, n.initialize, c.style.options.hyphen)
		if strings.IndexByte(name.Suffix, '.') >= 0 { // "Jr." is "Jr" where initials have no period
			own := *name
			own.Suffix = strings.TrimSpace(strings.ReplaceAll(name.Suffix, ".", n.initials))
			name = &own
		}
	}
	if script := scriptOf(name); script != latin {
		return eastern(c, n, name, given, script)
	}
	if n.form == "short" && inverted && name.NonDropping != "" && c.style.options.demote == "display-and-sort" {
		return join([]*box{c.part(&n.family, name.Family), c.part(&n.given, name.NonDropping)}, n.separator)
	}
	if n.form == "short" {
		return c.part(&n.family, glue(name.NonDropping, name.Family))
	}
	if !inverted || bool(name.Static) {
		return westernOrder(c, n, name, given, dropping)
	}
	var family, rest *box
	if c.style.options.demote == "display-and-sort" {
		family = c.part(&n.family, name.Family)
		rest = demoted(c, n, glue(given, dropping), name.NonDropping)
	} else {
		family = c.part(&n.family, glue(name.NonDropping, name.Family))
		rest = c.part(&n.given, glue(given, dropping))
	}
	return join([]*box{family, rest, c.data(name.Suffix)}, n.separator)
}

// demoted renders a given name and, after it, the non-dropping particle of the family name. The particle has the
// format of the family name, and is within the affixes of the given name.
func demoted(c *run, n *nameStyle, given, particle string) *box {
	if particle == "" {
		return c.part(&n.given, given)
	}
	family, first := n.family, n.given
	family.prefix, family.suffix, first.prefix, first.suffix = "", "", "", ""
	b := spacedParts(c.part(&first, given), c.part(&family, particle))
	return c.affix(&op{prefix: n.given.prefix, suffix: n.given.suffix}, b)
}

// westernOrder renders a name with the given name first. The affixes of the family name enclose everything after
// the given name.
func westernOrder(c *run, n *nameStyle, name *Name, given, dropping string) *box {
	family := glue(name.NonDropping, name.Family)
	if name.Suffix != "" {
		delim := " "
		if name.CommaSuffix {
			delim = ", "
		}
		family += delim + name.Suffix
	}
	o := n.family
	o.prefix, o.suffix = "", ""
	b := c.part(&o, family)
	if attaches(dropping) {
		b = c.part(&o, glue(dropping, family))
	} else if dropping != "" {
		b = spacedParts(c.part(&op{format: n.given.format, casing: n.given.casing}, dropping), b)
	}
	return spacedParts(c.part(&n.given, given), c.affix(&op{prefix: n.family.prefix, suffix: n.family.suffix}, b))
}

// eastern renders a name in a script that puts the family name first.
func eastern(c *run, n *nameStyle, name *Name, given string, s script) *box {
	if n.form == "short" || given == "" {
		return c.part(&n.family, name.Family)
	}
	if s == mixed {
		return spacedParts(c.part(&n.family, name.Family), c.part(&n.given, given))
	}
	return wrap(c.part(&n.family, name.Family), c.part(&n.given, name.Given))
}

// data returns a text of the item as a box, and counts its length.
func (c *run) data(s string) *box {
	c.started = true
	c.size += len(s)
	return rich(&c.marks, dataLeaf, s)
}

// part renders a part of a name with its format and affixes.
func (c *run) part(o *op, s string) *box {
	if s == "" {
		return nil
	}
	return c.decorate(o, c.data(s))
}

// spacedParts joins parts of a name with spaces.
func spacedParts(a, b *box) *box { return join([]*box{a, b}, " ") }

// glue joins two parts of a name, with a space unless the first ends in an apostrophe or a hyphen.
func glue(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	case attaches(a):
		return a + b
	}
	return a + " " + b
}

// attaches reports whether no space follows a particle ("d'", "al-").
func attaches(particle string) bool {
	for _, end := range [...]string{"'", "’", "-", "ʻ"} {
		if strings.HasSuffix(particle, end) {
			return true
		}
	}
	return false
}

// A script says in which order and with which spaces the parts of a name are written.
type script uint8

const (
	latin   script = iota
	mixed          // a family name of East Asia with a given name in another script
	chinese        // or Japanese or Korean
)

// scriptOf returns the script of a name.
func scriptOf(n *Name) script {
	switch {
	case strings.IndexFunc(n.Family, western) >= 0 || n.Family == "":
		return latin
	case n.Given != "" && western([]rune(n.Given)[0]):
		return mixed
	case strings.IndexFunc(n.Family, unicode.IsLetter) < 0:
		return latin
	}
	return chinese
}

// western reports whether r is a letter of a script that is written like Latin: given name first, with spaces.
func western(r rune) bool {
	return unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Bopomofo)
}
