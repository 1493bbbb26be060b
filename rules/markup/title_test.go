package markup_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"vitrine/rules/markup"
)

// TestRead: texts as publishers and reference managers deliver them, as HTML and as words.
func TestRead(t *testing.T) {
	const mathML = `xmlns:mml="http://www.w3.org/1998/Math/MathML" display="inline"`
	for _, tt := range []struct{ name, in, html, words string }{
		{"empty", "", "", ""},
		{"plain", "What's in a name?", "What's in a name?", "What's in a name?"},
		{"inline markup", "H<sub>2</sub>O <i>in vivo</i> <b>b</b> <em>e</em> <strong>s</strong> <sup>+</sup>",
			"H<sub>2</sub>O <i>in vivo</i> <b>b</b> <em>e</em> <strong>s</strong> <sup>+</sup>",
			"H2O in vivo b e s +"},
		{"attributes", "<i onclick='x()' class=y>a</i>", "<i>a</i>", "a"},
		{"capitals", "CO<SUB>2</SUB>", "CO<sub>2</sub>", "CO2"},
		{"left open", "<i>a <b>b", "<i>a <b>b</b></i>", "a b"},
		{"closing nothing", "a</i>b", "ab", "ab"},
		{"out of order", "<b><i>x</b>y</i>", "<b><i>x</i></b>y", "xy"},
		{"empty elements", "a <i/>b<sub></sub> <b><i></i></b>c", "a b c", "a b c"},
		{"space at the end of an element", "<i>a </i> b <b>c </b>", "<i>a</i> b <b>c</b>", "a b c"},

		{"MathML", "Itinerant moths in <mml:math " + mathML +
			"><mml:msub><mml:mi>RuO</mml:mi><mml:mn>2</mml:mn></mml:msub></mml:math> lamps",
			"Itinerant moths in RuO<sub>2</sub> lamps", "Itinerant moths in RuO2 lamps"},
		{"prescripts", "Owl decay of " +
			"<math><mmultiscripts><mi>Ca</mi><mprescripts/><none/><mn>38</mn></mmultiscripts></math> at dusk",
			"Owl decay of <sup>38</sup>Ca at dusk", "Owl decay of 38Ca at dusk"},
		{"scripts on both sides", "<mml:mmultiscripts><mml:mi>U</mml:mi><mml:mn>2</mml:mn><mml:mo>+</mml:mo>" +
			"<mml:mprescripts></mml:mprescripts><mml:mn>92</mml:mn><mml:mn>238</mml:mn></mml:mmultiscripts>",
			"<sub>92</sub><sup>238</sup>U<sub>2</sub><sup>+</sup>", "92238U2+"},
		{"both scripts",
			"<math><msubsup><mi>SO</mi><mn>4</mn><mrow><mn>2</mn><mo>&#8722;</mo></mrow></msubsup></math>",
			"SO<sub>4</sub><sup>2&#8722;</sup>", "SO42−"},
		{"scripts in scripts", "<math><msup><mi>e</mi><msup><mi>x</mi><mn>2</mn></msup></msup></math>",
			"e<sup>x<sup>2</sup></sup>", "ex2"},
		{"spaces of MathML", "at <mml:math>\n  <mml:mrow>\n <mml:msup>\n <mml:mn> 10 </mml:mn>\n <mml:mrow> " +
			"<mml:mo>-</mml:mo> <mml:mn>3</mml:mn> </mml:mrow>\n</mml:msup> </mml:mrow>\n</mml:math> lux",
			"at 10<sup>-3</sup> lux", "at 10-3 lux"},
		{"words in MathML",
			"<math><mi>x</mi><mtext> and </mtext><mi>sin&#8289;</mi><mspace width='1em'/><mi>a b</mi></math>",
			"x and sin a b", "x and sin a b"},
		{"TeX beside MathML", `a <jats:inline-formula><jats:alternatives><jats:tex-math>$$\alpha$$</jats:tex-math>` +
			`<mml:math><mml:mi>&#945;</mml:mi></mml:math></jats:alternatives></jats:inline-formula> ray`,
			"a &#945; ray", "a α ray"},
		{"TeX alone", `a <jats:tex-math>$\alpha$</jats:tex-math> ray`, `a $\alpha$ ray`, `a $\alpha$ ray`},
		{"annotation", `<math><semantics><mi>α</mi><annotation ` +
			`encoding="application/x-tex">\alpha</annotation></semantics></math>`, "α", "α"},
		{"TeX in dollars", `Spin $\alpha$ moths and $H_2O$ at 100% humidity`,
			`Spin $\alpha$ moths and $H_2O$ at 100% humidity`, `Spin $\alpha$ moths and $H_2O$ at 100% humidity`},

		{"JATS", "Night flight of <jats:italic>Bubo bubo</jats:italic> near CO<jats:sub>2</jats:sub> " +
			"<jats:bold>vents</jats:bold><jats:sup>a</jats:sup>",
			"Night flight of <i>Bubo bubo</i> near CO<sub>2</sub> <b>vents</b><sup>a</sup>",
			"Night flight of Bubo bubo near CO2 ventsa"},
		{"JATS without a prefix", "<italic>Bubo</italic> <bold>b</bold> <sc>Sc</sc>", "<i>Bubo</i> <b>b</b> Sc",
			"Bubo b Sc"},
		{"Elsevier", "CO<inf>2</inf> <ce:italic>in vivo</ce:italic> 5<ce:hsp sp='0.25'/>m",
			"CO<sub>2</sub> <i>in vivo</i> 5m", "CO2 in vivo 5m"},
		{"no effect", `<scp>Mothnet</scp>: a <span class="smallcaps">tool</span> for <u>dusk</u><br/>surveys`,
			"Mothnet: a tool for dusk surveys", "Mothnet: a tool for dusk surveys"},
		{"blocks", "<p>One</p><p>two</p><ul><li>three</li><li>four</li></ul>five<br>six",
			"One two three four five six",
			"One two three four five six"},
		{"script and style", "a<script>alert(1)</script> b<STYLE type='x'>*{}</style >c<script>d", "a bc", "a bc"},
		{"link", "<a href='javascript:x'>a</a>", "a", "a"},
		{"comment", "a<!-- <b>b --> c<!--> d", "a c d", "a c d"},
		{"comment left open", "a <!-- b", "a &lt;!-- b", "a <!-- b"},
		{"CDATA", "<![CDATA[Moths & <i>owls</i>]]> ]]>", "Moths &amp; <i>owls</i> ]]&gt;", "Moths & owls ]]>"},
		{"processing instruction", `<?xml version="1.0"?><!DOCTYPE html>a <? b`, "a &lt;? b", "a <? b"},
		{"closed unknown element", "a <foo>b</foo> <bar/>c <x y='z'>d</nosuch>", "a b c d", "a b c d"},

		{"comparison", "Lux below <i>x</i> &lt; 5 and p<0.05", "Lux below <i>x</i> &lt; 5 and p&lt;0.05",
			"Lux below x < 5 and p<0.05"},
		{"chain", "at 5<x<9 lux, a<b, c>d, 1 < <i>x</i>", "at 5&lt;x&lt;9 lux, a&lt;b, c&gt;d, 1 &lt; <i>x</i>",
			"at 5<x<9 lux, a<b, c>d, 1 < x"},
		{"words in angle brackets", "Owls <and> moths <sun@moon.example> <https://owl.example/> a<b and c>d",
			"Owls &lt;and&gt; moths &lt;sun@moon.example&gt; &lt;https://owl.example/&gt; a&lt;b and c&gt;d",
			"Owls <and> moths <sun@moon.example> <https://owl.example/> a<b and c>d"},
		{"names of elements as words", "The <title> of a <table> <title>",
			"The &lt;title&gt; of a &lt;table&gt; &lt;title&gt;", "The <title> of a <table> <title>"},
		{"half a tag", "a <i", "a &lt;i", "a <i"},
		{"hearts", "I <3 owls </3", "I &lt;3 owls &lt;/3", "I <3 owls </3"},

		{"references", "Search &amp; Rescue: Fern&#225;ndez&#39;s &#x2013; M&uuml;ller",
			"Search &amp; Rescue: Fern&#225;ndez&#39;s &#x2013; M&uuml;ller",
			"Search & Rescue: Fernández's – Müller"},
		{"references of tags", "the &lt;i&gt; tag", "the &lt;i&gt; tag", "the <i> tag"},
		{"encoded twice", "&amp;amp; &amp;lt;b&amp;gt;", "&amp;amp; &amp;lt;b&amp;gt;", "&amp; &lt;b&gt;"},
		{"no references", "Conditions;&conditions; AT&T &copy and &nosuch; &; &notit; &#; &#x;",
			"Conditions;&amp;conditions; AT&amp;T &amp;copy and &amp;nosuch; &amp;; &amp;notit; &amp;#; &amp;#x;",
			"Conditions;&conditions; AT&T &copy and &nosuch; &; &notit; &#; &#x;"},
		{"semicolons", "&semi;&#59;&#x3B;", "&semi;&#59;&#x3B;", ";;;"},
		{"references of spaces", "a&#10;&Tab; b&#0;c&nbsp;d", "a b\uFFFDc&nbsp;d", "a b\uFFFDc\u00a0d"},

		{"white space", "Spaced title\n      with line\tbreaks and <sub>\n 2 </sub> from XML ",
			"Spaced title with line breaks and <sub>2</sub> from XML",
			"Spaced title with line breaks and 2 from XML"},
		{"not UTF-8", "a\xffb\x00", "a\uFFFDb", "a\uFFFDb"},
		{"other control characters", "a\x01\u0085\u2028\ufffeb", "a b", "a b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := markup.Title(tt.in)
			if got != tt.html {
				t.Errorf("Title(%q)\n got %q\nwant %q", tt.in, got, tt.html)
			}
			if again := markup.Title(got); again != got {
				t.Errorf("Title is not stable: %q becomes %q", got, again)
			}
			if got := string(markup.AppendTitle([]byte("x "), tt.in)); got != "x "+tt.html {
				t.Errorf("AppendTitle(%q)\n got %q\nwant %q", tt.in, got, "x "+tt.html)
			}
			if got := markup.Plain(tt.in); got != tt.words {
				t.Errorf("Plain(%q)\n got %q\nwant %q", tt.in, got, tt.words)
			}
		})
	}
}

func TestParagraphs(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"One line.", []string{"One line."}},
		{"<jats:title>Abstract</jats:title><jats:p>Moths (<jats:italic>Agrotis</jats:italic>) fly at 5&lt;x&lt;9 " +
			"lux.</jats:p>", []string{"Moths (<i>Agrotis</i>) fly at 5&lt;x&lt;9 lux."}},
		{"<p>First paragraph &amp; more.</p>\n<p>Second <strong>bold</strong> one.</p>",
			[]string{"First paragraph &amp; more.", "Second <strong>bold</strong> one."}},
		{"<jats:sec><jats:title>Background</jats:title><jats:p>A.</jats:p></jats:sec>", []string{"Background", "A."}},
		{"<jats:sec>\n<jats:title> Abstract </jats:title>A<br>b.", []string{"A b."}},
		{"<title>ABSTRACT</title> A.", []string{"A."}},
		{"<jats:title>On abstracts</jats:title> A.", []string{"On abstracts", "A."}},
		{"A\nline.\r\n \r\nAnother.\n\n\n", []string{"A line.", "Another."}},
		{"<i>a<p>b <b>c</p></b> d</i>", []string{"<i>a</i>", "<i>b <b>c</b></i>", "<i>d</i>"}},
	} {
		if got := markup.Paragraphs(markup.Abstract(tt.in)); !slices.Equal(got, tt.want) {
			t.Errorf("Paragraphs(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// pieces are parts of stored texts.
var pieces = append([]string{
	"<mml:math>", "</mml:math>", "<msub>", "</msub>", "<mmultiscripts>", "</mmultiscripts>", "<mprescripts/>",
	"<none/>", "<mi>", "</mi>", "<mtext>", "</mtext>",
	"<mrow>", "</mrow>", "<jats:italic>", "</jats:italic>", "<jats:p>", "</jats:p>", "<sub>", "</sub>",
	"<alternatives>", "</alternatives>", "<tex-math>", "</tex-math>",
	"<annotation>", "</annotation>", "<foo>", "</foo>", "<and>", "<title>", "</title>", "\n\n", "  ", "&#32;",
	"&nbsp;",
	"&amp;lt;", "&#8290;", "&#xFFFE;", "&NotEqualTilde;", "<![CDATA[", "<?x ?>", "x y", "2",
}, fragments...)

var stored = rapid.Map(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String())),
	func(all []string) string { return strings.Join(all, "") })

// checkRead: Title is safe, Plain is what a browser shows of it, in one line, and so are paragraphs.
func checkRead(t interface{ Fatalf(string, ...any) }, in string) {
	shown := func(out string) string {
		safe(t, out)
		text := out
		for i := strings.IndexByte(text, '<'); i >= 0; i = strings.IndexByte(text, '<') {
			text = text[:i] + text[i+strings.IndexByte(text[i:], '>')+1:]
		}
		return strings.Join(strings.FieldsFunc(html.UnescapeString(text), func(c rune) bool { return c == ' ' }), " ")
	}
	title, words := markup.Title(in), markup.Plain(in)
	if got := shown(title); got != words {
		t.Fatalf("%q\nTitle %q\nshows %q\nPlain %q", in, title, got, words)
	}
	if got := shown(strings.Join(markup.Paragraphs(in), " ")); got != words {
		t.Fatalf("%q\nParagraphs show %q\nPlain %q", in, got, words)
	}
	if strings.ContainsAny(title+words, "\n\r\t\x00") {
		t.Fatalf("%q\nTitle %q\nPlain %q", in, title, words)
	}
	markup.Abstract(in)
}

func TestPlainIsWhatTitleShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkRead(t, stored.Draw(t, "stored")) })
}

func FuzzRead(f *testing.F) {
	for _, s := range pieces {
		f.Add(s + "x" + s)
	}
	f.Fuzz(func(t *testing.T, in string) { checkRead(t, in) })
}

// TestReadHostile: reading takes linear time.
func TestReadHostile(t *testing.T) {
	for _, piece := range []string{
		"<", "<b", "<!--", "<?x", "<i>", "<a b='", "<annotation>", "<annotation></x>", "<x1><x2>", "<script>",
		"<alternatives><tex-math>", "<mmultiscripts><mi>a</mi><mprescripts/>", "</", "<a b c=d ", "&", "&#", "<p><i>",
	} {
		in := strings.Repeat(piece, 200_000/len(piece))
		markup.Title(in)
		markup.Plain(in)
		markup.Paragraphs(markup.Abstract(in))
	}
}

// TestReadAllocatesNothing: most texts are returned as they are.
func TestReadAllocatesNothing(t *testing.T) {
	for _, s := range []string{"", "Of moths and lamps", " Of moths ", "Größe – 日本", "What's \"new\"?"} {
		if n := testing.AllocsPerRun(10, func() { markup.Plain(s); markup.Title(strings.TrimSpace(s)) }); n > 0 {
			t.Errorf("%q: %v allocations", s, n)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, bb := range []struct{ name, text string }{
		{"plain", "A day in the life of a moth: the long way to the lamp, in eight chapters"},
		{"beyond ASCII", "Ein Tag im Leben einer Motte: über die Straße – ein längerer Weg zur Lampe"},
		{"markup", "Night flight of <i>Bubo bubo</i> near CO<sub>2</sub> vents &amp; other places"},
		{"MathML", `Moths in <mml:math><mml:msub><mml:mi>RuO</mml:mi><mml:mn>2</mml:mn></mml:msub></mml:math> lamps`},
	} {
		b.Run(bb.name+"/Plain", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				markup.Plain(bb.text)
			}
		})
		b.Run(bb.name+"/Title", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				markup.Title(bb.text)
			}
		})
	}
}
