package fold_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vitrine/rules/fold"
	"vitrine/rules/markup"
)

// words returns the words by which an index finds a text, each once.
func words(text string) (all []string) {
	var f fold.Folder
	f.Each(text, func(word []byte) {
		if !slices.Contains(all, string(word)) {
			all = append(all, string(word))
		}
	})
	return all
}

func TestWords(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{" .,;:!? ", ""},
		{"Of moths and Lamps", "of moths and lamps"},
		{"the moth, the lamp", "the moth lamp"},
		{"Müller", "muller"}, {"Mueller", "muller"}, {"Muller", "muller"}, {"MU\u0308LLER", "muller"},
		{"Ärzte Aerzte", "arzte"}, {"Größe Groesse GRÖẞE", "grosse"}, {"Israël Israel", "isral"},
		{"Półcień", "polcien"}, {"Søren Soeren Soren", "soren"}, {"Æther aether ather", "ather"},
		{"Œuvre oeuvre", "ouvre"},
		{"Đorđe", "dorde"}, {"Ilhan ILHAN ılhan İlhan", "ilhan"}, {"Þór", "thor"},
		{"Çelik Ñandú Škoda Ő", "celik nandu skoda o"},
		{"ﬁnal ｗｉｄｅ", "final wide"}, {"x² H₂O 10½", "x2 h2o 101 2"},
		{"Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", "οδυσσευσ"}, {"Ёлка Елка", "елка"}, {"шир\u00adота\u200b", "широта"},
		{"日本語", "日 日本 本 本語 語"}, {"ﾊﾟﾝ", "ハ ハン ン"}, {"X線", "x 線"}, {"도서관", "도서관"},
		{"שָׁלוֹם", "שלום"}, {"مُحَمَّد", "محمد"}, {"हिन्दी", "हिन्दी"},
		{"O'Brien O’Brien", "o brien obrien"}, {"state-of-the-art", "state of the art stateoftheart"},
		{"O'Brien-Smith", "o brien smith obriensmith"}, {"'quoted' -minus- a--b", "quoted minus a b"},
		{"auto-electric autoelectric", "auto electric autolectric"},
		{"soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"},
		{"AT&T <x> &amp;", "at t x amp"}, {"p < 0.05 and a<b", "p 0 05 and a b"},
		{"a\x00b\xff c\u2028d", "a b c d"}, {"\xf0Ѐ", "е"},
	} {
		want := strings.Fields(norm.NFKD.String(tt.want))
		if got := words(tt.text); !slices.Equal(got, want) {
			t.Errorf("words(%q) = %q, want %q", tt.text, got, want)
		}
	}
}

func TestTerms(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil}, {" - ", nil},
		{"moth", []string{"moth"}},
		{"moth ", []string{"moth", ""}},
		{"Moth lamp\u00a0", []string{"moth", "lamp", ""}},
		{"moths moth", []string{"moths", "moth"}},
		{"moth lamp moth", []string{"moth", "lamp", "moth"}},
		{"O'Br", []string{"o", "br"}},
		{"state-of-th", []string{"state", "of", "th"}},
		{"日", []string{"日"}},
		{"H<sub>2</sub>O &amp; ", []string{"h2o", ""}}, {"p<0.05", []string{"p", "0", "05"}},
		{"<mml:mi>RuO</mml:mi>", []string{"ruo"}},
		{"日本語 x", []string{"日本", "本語", "x"}},
	} {
		if got := fold.Terms(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("Terms(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestSpellings: each spelling finds the other, whichever is in the record.
func TestSpellings(t *testing.T) {
	for _, alike := range [][]string{
		{"Müller", "Mueller", "Muller", "MÜLLER", "Mu\u0308ller", "mULLER"},
		{"Bäcker", "Baecker", "Backer"}, {"Größe", "Groesse", "Grosse", "GRÖẞE"}, {"Übung", "Uebung", "ubung"},
		{"Półcień", "Polcien"}, {"Ørsted", "Oersted", "Orsted"}, {"Łódź", "Lodz"}, {"Æsir", "Aesir", "Asir"},
		{"O'Brien", "O’Brien", "O Brien"}, {"e-mail", "e\u2010mail", "e mail"}, {"H<sub>2</sub>O", "H₂O", "h2o"},
		{"Ζεύς", "ΖΕΥΣ", "ζευσ"}, {"Ёж", "еж"}, {"도서관", norm.NFD.String("도서관")},
	} {
		for _, stored := range alike {
			for _, typed := range alike {
				if !found(words(markup.Plain(stored)), fold.Terms(typed)) ||
					!found(words(markup.Plain(stored)), fold.Terms(typed+" ")) {
					t.Errorf("%q is not found by %q", stored, typed)
				}
			}
		}
	}
	if !found(words("O'Brien sends e-mail"), fold.Terms("obrien email")) {
		t.Error("compounds are not found as whole words")
	}
}

// found reports whether the words contain all terms, the last one as a prefix.
func found(words, terms []string) bool {
	for i, term := range terms {
		if !slices.ContainsFunc(words, func(word string) bool {
			return word == term || i == len(terms)-1 && strings.HasPrefix(word, term)
		}) {
			return false
		}
	}
	return true
}

// FuzzWords: words are short and valid and fold to themselves, and a search with any part of a text
// finds the text.
func FuzzWords(f *testing.F) {
	for _, text := range []string{
		"Müller-Lüdenscheidt's <i>E. coli</i>", "日本語の本 X線", "שָׁלוֹם मन्त्र ภาษาไทย", "a--b 'c' \u00ad\u200d\xff",
		strings.Repeat("aé", 99), "e-e o-eé",
		"\u0915\u094d\u200d\u093c", "가각\u11a8", "ŉ ǆ ﷺ ℡ ½ ⅷ", "&lt;b&gt; a&b <b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		stored := words(text)
		for _, word := range stored {
			if word == "" || len(word) > 64 || !utf8.ValidString(word) {
				t.Fatalf("%q has the word %q", text, word)
			}
		}
		again := words(strings.Join(stored, " "))
		slices.Sort(again)
		if slices.Sort(stored); !slices.Equal(again, stored) {
			t.Fatalf("%q has the words %q, and these %q", text, stored, again)
		}
		if len(text) > 200 || strings.ContainsAny(text, "<&") || !norm.NFC.IsNormalString(text) ||
			strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Cf, r) }) {
			return // such characters may change the words before them
		}
		for end := range text {
			if terms := fold.Terms(text[:end]); !found(stored, terms) {
				t.Fatalf("%q has the words %q, and %q, which has the terms %q, does not find it", text, stored,
					text[:end], terms)
			}
		}
	})
}
