// Package keyword reads the keywords of a record, which are stored as a list or in one text, and compares them.
//
//	"owls; Moths (night, day)"     owls | Moths (night, day)      semicolons before commas, none of them in brackets
//	"Keywords: 1,2-diol, owls."    1,2-diol | owls                as publishers print them; a comma in a number stays
//	["Owls, Barn", "*Bats; Moths"] Owls, Barn | Bats | Moths      an element may be a term with a comma
//	[{"tag": "owls"}]              owls                           as Zotero, OpenAlex, DataCite and others have them
//
// The asterisks by which MeSH marks a major topic (NLM, "Principles of MEDLINE Subject Indexing") are no part of a
// keyword. Markup is read as in titles (package markup). Keywords that differ only in case are one, the first.
//
// All functions are pure, never panic, and take linear time. A text without markup is not copied.
package keyword

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/display"
	"vitrine/rules/fold"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

const (
	most     = 200   // keywords of a record
	mostRead = 2_000 // parts of a stored value; the others are ignored
	maxKey   = 200   // bytes of a key, as of a value of a parameter
)

// names are the fields that have the keyword in an element that is a document: of OpenAlex, Zotero, DataCite, and
// schema.org.
var names = []string{"display_name", "tag", "subject", "name"}

// Append appends to all the keywords of a stored value that it does not have yet.
func Append(all []string, v bson.RawValue) []string {
	l := list{all, mostRead}
	switch {
	case raw.IsText(v.Type):
		l.addText(raw.Text(v))
	case v.Type == bson.TypeArray:
		for e := range raw.Elements(v) {
			if !l.addElement(e) {
				break
			}
		}
	}
	return l.all
}

// list collects keywords, and counts down the parts that it may still read.
type list struct {
	all  []string
	left int
}

// add adds a keyword, unless it is empty or there, and reports whether to go on.
func (l *list) add(word string) bool {
	l.left--
	word = tidy(word)
	isSame := func(other string) bool { return strings.EqualFold(other, word) }
	if word != "" && !slices.ContainsFunc(l.all, isSame) {
		l.all = append(l.all, word)
	}
	return l.left > 0 && len(l.all) < most
}

// addElement adds the keywords of an element of an array. A comma in it is part of a keyword, as in MeSH.
func (l *list) addElement(e bson.RawValue) bool {
	text := ""
	switch e.Type {
	case bson.TypeString, bson.TypeSymbol:
		text = raw.Text(e)
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble:
		text = display.Text(e)
	case bson.TypeEmbeddedDocument:
		doc := e.Document()
		for i := 0; i < len(names) && text == ""; i++ {
			text = raw.StringField(doc, names[i])
		}
	}
	plain := markup.Plain(text)
	if strongest(plain) == semicolon {
		return l.split(plain, semicolon)
	}
	return l.add(plain)
}

// addText adds the keywords of a text. Only one without other separators is a list of lines.
func (l *list) addText(text string) {
	plain, labelled := withoutLabel(markup.Plain(text))
	if labelled {
		plain = strings.TrimSuffix(plain, ".")
	}
	if s := strongest(plain); s != none || !strings.Contains(text, "\n") {
		l.split(plain, s)
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		if word, _ := withoutLabel(markup.Plain(line)); !l.add(word) {
			return
		}
	}
}

// labels are what texts with keywords begin with, in small letters.
var labels = []string{
	"keywords", "key words", "keyword", "index terms", "schlagwörter", "schlüsselwörter", "stichwörter", "mots-clés",
	"palabras clave",
}

// withoutLabel returns a text without a label such as "Keywords:", and whether it had one.
func withoutLabel(text string) (rest string, labelled bool) {
	for _, label := range labels {
		if len(text) <= len(label) || !strings.EqualFold(text[:len(label)], label) {
			continue
		}
		rest := strings.TrimSpace(text[len(label):])
		for _, end := range [...]string{":", "—", "–"} {
			if after, ok := strings.CutPrefix(rest, end); ok {
				return strings.TrimSpace(after), true
			}
		}
	}
	return text, false
}

// separator is a class of characters between keywords.
type separator int

const (
	none      separator = iota
	bullet              // only between spaces: without, it is part of a name
	comma               // not between digits
	semicolon           // the strongest
)

func separatorOf(r rune) separator {
	switch r {
	case ';', '；', '؛':
		return semicolon
	case ',', '，', '、', '،':
		return comma
	case '|', '•', '·':
		return bullet
	}
	return none
}

// scan yields the separators of a text outside of brackets, or all if the brackets do not match: where each begins
// and ends, and its class.
func scan(s string, yield func(from, to int, class separator)) {
	nested, depth := matched(s), 0
	for i, r := range s {
		if nested {
			depth += bracket(r)
		}
		class := separatorOf(r)
		end := i + utf8.RuneLen(r)
		switch {
		case class == none || depth > 0:
			continue
		case class == comma && digitAt(s, i-1) && digitAt(s, end):
			continue
		case class == bullet && !(blankAt(s, i-1) && blankAt(s, end)):
			continue
		}
		yield(i, end, class)
	}
}

// bracket returns 1 for an opening bracket, -1 for a closing one, and 0 for other characters.
func bracket(r rune) int {
	switch r {
	case '(', '[', '{':
		return 1
	case ')', ']', '}':
		return -1
	}
	return 0
}

// matched reports whether each bracket has its counterpart, whatever its form.
func matched(s string) bool {
	depth := 0
	for i := 0; i < len(s) && depth >= 0; i++ {
		depth += bracket(rune(s[i]))
	}
	return depth == 0
}

func digitAt(s string, i int) bool { return 0 <= i && i < len(s) && '0' <= s[i] && s[i] <= '9' }

func blankAt(s string, i int) bool { return 0 <= i && i < len(s) && s[i] == ' ' }

// strongest returns the class by which a text is split.
func strongest(s string) (class separator) {
	scan(s, func(_, _ int, found separator) { class = max(class, found) })
	return class
}

// split adds the parts of a text between separators of a class, and reports whether to go on.
func (l *list) split(s string, class separator) bool {
	start, more := 0, true
	scan(s, func(from, to int, found separator) {
		if found == class && more {
			more, start = l.add(s[start:from]), to
		}
	})
	return more && l.add(s[start:])
}

// tidy returns a keyword without what is no part of it, or "" for a text without letters and digits.
func tidy(word string) string {
	word = strings.TrimLeft(strings.TrimPrefix(strings.TrimSpace(word), "- "), "*• ")
	if strings.Contains(word, "/*") { // Owls/*physiology
		word = strings.ReplaceAll(word, "/*", "/")
	}
	if strings.IndexFunc(word, isWord) < 0 {
		return ""
	}
	return word
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// Join returns keywords in one text, from which Append and reference managers read them again: separated by commas,
// or by semicolons if one of them has a comma.
func Join(words []string) string {
	for _, word := range words {
		if strings.ContainsAny(word, ",，、،") {
			return strings.Join(words, "; ")
		}
	}
	return strings.Join(words, ", ")
}

// Key returns the text by which keywords are compared: the words as search compares them (package fold), separated by
// spaces, and signs at the end that make another name, as in C++, C# and CD8+. It is its own key. Keywords that are
// too long to be asked for have none.
func Key(word string) string {
	word = strings.TrimSpace(word)
	key := strings.TrimSpace(fold.Key(word))
	if key == "" {
		key = strings.ToLower(word)
	} else {
		key += word[len(strings.TrimRight(word, "+#")):]
	}
	if len(key) > maxKey {
		return ""
	}
	return key
}
