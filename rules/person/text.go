package person

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads the name of one person as Inverted writes it. It reads no markup.
func Parse(name string) Person { return parse(name) }

// parse reads a clean name of one person. Braces keep a name whole, as in BibTeX: {Insect Study Group}. A name with
// a comma has its family name first; without one it stays a literal, unless something in it says that it is a
// person's. A text without letters and digits, such as a dash for "unknown", names no person.
func parse(name string) Person {
	if !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return Person{}
	}
	if len(name) > 1 && name[0] == '{' && name[len(name)-1] == '}' &&
		!strings.ContainsAny(name[1:len(name)-1], "{}") {
		return Person{Literal: strings.TrimSpace(name[1 : len(name)-1])} // BibTeX does not divide it
	}
	if strings.IndexByte(name, ',') < 0 {
		return parseWhole(name)
	}
	segments := split(name, ",")
	if len(segments) < 2 || isOrganisation(name) {
		return Person{Literal: name}
	}
	given, suffix := cutSegments(segments[1:], true)
	switch {
	case len(given) > 1:
		return Person{Literal: name}
	case len(given) == 1:
		return inParts(segments[0], given[0], suffix)
	}
	p := Person{Suffix: suffix}
	whole := cutTitles(segments[0])
	if isVancouver(whole) {
		i := strings.LastIndexByte(whole, ' ')
		p.Family, p.Given = whole[:i], whole[i+1:]
	} else {
		p.Given, p.Family = divide(whole)
	}
	return p
}

// parseWhole reads a clean name without a comma. It is in parts if a title, a degree or a suffix says that it is a
// person's. "Dr. Ada Quill" has the parts Ada and Quill. "Ada Quill" is a literal: nothing says which is the family
// name.
func parseWhole(name string) Person {
	if strings.IndexByte(name, ' ') < 0 || isOrganisation(name) {
		return Person{Literal: name}
	}
	whole, suffix := cutSuffix(cutDegrees(name), clear)
	if whole = cutTitles(whole); whole == name || whole == "" {
		return Person{Literal: name}
	}
	p := Person{Suffix: suffix}
	if isVancouver(whole) {
		i := strings.LastIndexByte(whole, ' ')
		p.Family, p.Given = whole[:i], whole[i+1:]
	} else {
		p.Given, p.Family = divide(whole)
	}
	return p
}

// eachOf calls add for each person in a text, and reports whether the text says that there are others. A semicolon
// separates without doubt, so it is tried first; of whole names then all have to be names.
func eachOf(text string, add func(Person)) (others bool) {
	text = clean(text)
	if strings.IndexByte(text, ';') < 0 {
		return eachPart(text, add)
	}
	parts := splitSemicolons(text)
	for i, one := range parts {
		for _, link := range [...]string{"and ", "und ", "& "} {
			one = strings.TrimPrefix(one, link)
		}
		parts[i] = one
	}
	named := parts
	for n := len(named); n > 0; n = len(named) { // "Ada Quill; Bo Fern; et al."
		last, more := cutOthers(named[n-1])
		if others = others || more; last != "" {
			break
		}
		named = named[:n-1]
	}
	if all := wholeNames(named); all != nil {
		for _, p := range all {
			add(p)
		}
		return others
	}
	for _, one := range parts {
		others = eachPart(one, add) || others
	}
	return others
}

// splitSemicolons splits a text at semicolons, but not at those of character references, which a record had twice
// escaped. "M&amp;uuml;ller; Fern" has two names, although there are two semicolons.
func splitSemicolons(text string) (parts []string) {
	add := func(part string) {
		if part = trimNotes(part); part != "" {
			parts = append(parts, part)
		}
	}
	start := 0
	for i := range len(text) {
		if text[i] != ';' {
			continue
		}
		if last := text[start:i]; !isReference(last[strings.LastIndexAny(last, " &;")+1:], last) {
			add(last)
			start = i + 1
		}
	}
	add(text[start:])
	return parts
}

// isReference reports whether a word at the end of a text follows "&" without a space, so that a semicolon makes it a
// character reference.
func isReference(word, text string) bool {
	return word != "" && strings.HasSuffix(text[:len(text)-len(word)], "&")
}

// eachPart is eachOf for a clean text without semicolons. A part that says only that there are others names no
// person.
func eachPart(text string, add func(Person)) (others bool) {
	text, others = cutOthers(text)
	if text == "" {
		return others
	}
	if all := several(text); all != nil {
		for _, p := range all {
			add(p)
		}
		return others
	}
	if p := parse(text); !p.IsZero() {
		add(p)
	}
	return others
}

// several returns the persons of a text if it can only be several, or nil. It tries, from the certain to the
// doubtful: conjunctions with names in parts, commas as in reference lists, and whole names. "Quill and Fern Ltd."
// stays one.
func several(text string) (all []Person) {
	if strings.IndexByte(text, ' ') < 0 {
		return nil
	}
	parts := splitConjunctions(text)
	if len(parts) == 1 {
		return listed(split(text, ","))
	}
	persons := 0
	for _, part := range parts {
		if p := parse(part); p.Given != "" || part[0] == '{' {
			all, persons = append(all, p), persons+1
		} else if list := listed(split(part, ",")); list != nil {
			all, persons = append(all, list...), persons+1
		} else if first, _, found := strings.Cut(part, " "); found && isInitials(first) && !isOrganisation(part) &&
			strings.IndexByte(part, ',') < 0 {
			var p Person
			p.Given, p.Family = divideInitials(part)
			all, persons = append(all, p), persons+1
		} else {
			all = append(all, p)
		}
	}
	if persons == len(parts) || persons >= 2 && persons >= len(parts)-1 {
		return all
	}
	all = listed(append(split(strings.Join(parts[:len(parts)-1], ","), ","), parts[len(parts)-1]))
	if all == nil && !strings.Contains(text, " y ") && !strings.Contains(text, " e ") { // are in family names, too
		all = wholeNames(parts)
	}
	return all
}

// divideInitials divides a name that begins with initials after all of them. "P. T. Costa" becomes "P. T." and
// Costa.
func divideInitials(name string) (given, family string) {
	at := 0
	for {
		end := strings.IndexByte(name[at:], ' ')
		if end < 0 || !isInitials(name[at:at+end]) {
			break
		}
		at += end + 1
	}
	return strings.TrimRight(name[:at], " "), name[at:]
}

// splitConjunctions splits a text at the words between names, outside of braces. A conjunction at either end of the
// text is part of a name.
func splitConjunctions(text string) (parts []string) {
	start, depth := 0, 0
	for i := 0; i < len(text); {
		end := strings.IndexByte(text[i:], ' ')
		if end < 0 {
			end = len(text) - i
		}
		one := text[i : i+end]
		if depth == 0 && i > start && i+end < len(text) && isConjunction(one) {
			if part := trimNotes(text[start:i]); part != "" {
				parts = append(parts, part)
			}
			start = i + end + 1
		}
		depth += strings.Count(one, "{") - strings.Count(one, "}")
		i += end + 1
	}
	if part := trimNotes(text[start:]); part != "" || len(parts) == 0 {
		parts = append(parts, part)
	}
	return parts
}

// listed returns the persons of a list that has commas between them, or nil if they may also be within the names:
//
//	Quill, A., Fern, B.                     family names and initials in turn
//	Quill A, Fern BC                        as in Vancouver style
//	Ada Quill, Bo Fern, Cy Plus             at least three whole names
//
// An organisation among them makes the whole text doubtful: its own name may have the commas.
func listed(segments []string) []Person {
	if len(segments) < 2 {
		return nil
	}
	for _, s := range segments {
		if isOrganisation(s) {
			return nil
		}
	}
	if all := inTurn(segments); all != nil {
		return all
	}
	all, vancouver, whole := make([]Person, len(segments)), true, len(segments) > 2
	for i, s := range segments {
		name, suffix := cutSuffix(s, clear)
		vancouver = vancouver && isVancouver(name)
		whole = whole && isFullName(name)
		if !vancouver && !whole {
			return nil
		}
		all[i].Suffix = suffix
		if vancouver {
			at := strings.LastIndexByte(name, ' ')
			all[i].Family, all[i].Given = name[:at], name[at+1:]
		} else {
			all[i].Given, all[i].Family = divide(cutTitles(name))
		}
	}
	if !vancouver && whole { // the first ones may have looked like the other form
		for i, s := range segments {
			name, _ := cutSuffix(s, clear)
			all[i].Given, all[i].Family = divide(cutTitles(name))
		}
	}
	return all
}

// inTurn reads family names and initials in turn, with suffixes after the initials. It returns nil if one of them
// is not in its place.
func inTurn(segments []string) (all []Person) {
	for i := 0; i < len(segments); {
		if len(all) > 0 && suffixOf(segments[i]) == clear && all[len(all)-1].Suffix == "" {
			all[len(all)-1].Suffix = segments[i]
			i++
			continue
		}
		if i+1 == len(segments) || isInitials(segments[i]) || !isInitials(segments[i+1]) {
			return nil
		}
		all = append(all, inParts(segments[i], segments[i+1], ""))
		i += 2
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// isVancouver reports whether a name is a family name and up to three initials without stops. "Quill A" and "van
// den Berg ABC" are; four capitals are an abbreviation.
func isVancouver(name string) bool {
	i := strings.LastIndexByte(name, ' ')
	if i < 1 || utf8.RuneCountInString(name[i+1:]) > 3 || strings.Count(name, " ") > 3 {
		return false
	}
	if strings.ContainsFunc(name[i+1:], func(r rune) bool { return !isCapital(r) }) {
		return false
	}
	return strings.ContainsFunc(name[:i], unicode.IsLower) && !strings.ContainsFunc(name[:i], unicode.IsDigit)
}

// isCapital reports whether a character may be an initial.
func isCapital(r rune) bool { return unicode.IsUpper(r) }

// isFullName reports whether a text looks like a whole name: two to five words, each with a capital or a particle.
// Digits and braces are in no name; six words are a phrase.
func isFullName(name string) bool {
	count := 0
	for one := range strings.FieldsSeq(cutTitles(name)) {
		first, _ := utf8.DecodeRuneInString(one)
		if !unicode.IsUpper(first) && !particles.has(one) || strings.ContainsAny(one, "0123456789{}") {
			return false
		}
		count++
	}
	return 2 <= count && count <= 5
}
