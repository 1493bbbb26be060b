package fold_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"vitrine/rules/fold"
)

func TestWords(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{" .,;:!? ", ""},
		{"Of moths and Lamps", "of moths and lamps"},
		{"the moth, the lamp", "the moth lamp"},
		{"Müller", "muller"}, {"Mueller", "muller"}, {"Muller", "muller"}, {"MU\u0308LLER", "muller"},
		{"Ärzte Aerzte", "arzte"}, {"Größe Groesse GRÖẞE", "grosse"}, {"Israël Israel", "isral"},
		{"Półcień", "polcien"}, {"Søren Soeren Soren", "soren"}, {"Æther aether ather", "ather"}, {"Œuvre oeuvre", "ouvre"},
		{"Đorđe", "dorde"}, {"Ilhan ILHAN ılhan İlhan", "ilhan"}, {"Þór", "thor"}, {"Çelik Ñandú Škoda Ő", "celik nandu skoda o"},
		{"ﬁnal ｗｉｄｅ", "final wide"}, {"x² H₂O 10½", "x2 h2o 101 2"},
		{"Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", "οδυσσευσ"}, {"Ёлка Елка", "елка"}, {"шир\u00adота\u200b", "широта"},
		{"日本語", "日 日本 本 本語 語"}, {"ﾊﾟﾝ", "ハ ハン ン"}, {"X線", "x 線"}, {"도서관", "도서관"},
		{"שָׁלוֹם", "שלום"}, {"مُحَمَّد", "محمد"}, {"हिन्दी", "हिन्दी"},
		{"O'Brien O’Brien", "o brien obrien"}, {"state-of-the-art", "state of the art stateoftheart"},
		{"O'Brien-Smith", "o brien obrien smith obriensmith"}, {"'quoted' -minus- a--b", "quoted minus a b"},
		{"auto-electric autoelectric", "auto electric autolectric"},
		{"soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"},
		{"<i>E. coli</i> in H<sub>2</sub>O", "e coli in h2o"}, {"AT&amp;T &lt;x&gt; M&uuml;ller", "at t x muller"},
		{"p < 0.05 and a<b", "p 0 05 and a b"}, {"<script>alert(1)</script>", "script alert 1"},
		{"a\x00b\xff c\u2028d", "a b c d"},
	} {
		want := strings.Fields(norm.NFKD.String(tt.want))
		if got := fold.Words(tt.text); !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", tt.text, got, want)
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
		{"O'Br", []string{"obr"}},
		{"state-of-th", []string{"state", "of", "th"}},
		{"日", []string{"日"}},
		{"日本語 x", []string{"日本", "本語", "x"}},
	} {
		if got := fold.Terms(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("Terms(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}
