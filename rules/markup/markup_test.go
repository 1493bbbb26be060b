package markup_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"

	"vitrine/rules"
	"vitrine/rules/markup"
)

// webForm is a citation as OSIRIS and our own templates write it.
const webForm = `<a class='colorless' href='/activities/view/7d752062dad867dc44abbf0a'>A <i>Title</i> &amp; more</a><br>` +
	`<small class='text-muted d-block'>Szymczak,&nbsp;A. A., <a href='/profile/mae86b'><b>Małecki,&nbsp;D.</b></a> ` +
	`<i>Book</i> (2021)</small>`

func TestCleanKeepsSimpleForm(t *testing.T) {
	for _, in := range []string{
		"", "text", "Code & data", "a > b", "Zürich – 東京", webForm,
		`<span data-toggle='tooltip' data-title='Lecture'><i class='ph text-lecture ph-chalkboard-teacher'></i></` +
			`span>`,
		`<a href="https://doi.org/10.1/x?a=b&amp;c=d" target="_blank" rel="noopener noreferrer">x</a>`,
		"a<br>b<br/>c<br />d",
		"<p><u>x</u><strong>y</strong><em>z</em><sub>1</sub><sup>2</sup></p><div title='it\"s'>t</div>",
	} {
		if got := markup.Clean(in); got != in {
			t.Errorf("Clean(%q) = %q, want it unchanged", in, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { markup.Clean(webForm) }); n != 0 {
		t.Errorf("Clean of the simple form allocates %v times, want 0", n)
	}
}

func TestCleanTakesAway(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"script", `a<script>alert(1)</script>b`, "ab"},
		{"script in capitals", `a<SCRIPT SRC=//x></SCRIPT>b`, "ab"},
		{"event handler", `<b onclick="x()">b</b>`, "<b>b</b>"},
		{"javascript link", `<a href="javascript:alert(1)">x</a>`, "<a>x</a>"},
		{"javascript link in references", `<a href="&#106;avascript&colon;alert(1)">x</a>`, "<a>x</a>"},
		{"javascript link with a tab", "<a href='java\tscript:alert(1)'>x</a>", "<a>x</a>"},
		{"data link", `<a href='data:text/html,x'>x</a>`, "<a>x</a>"},
		{"style attribute", `<i style='position:fixed'>x</i>`, "<i>x</i>"},
		{"style element", `<style>b{}</style>x`, "x"},
		{"iframe", `<iframe src='/x'>y</iframe>z`, "z"},
		{"svg", `<svg><a href='javascript:x'>y</a></svg>z`, "z"},
		{"form", `<form action='/x'><input name='y'>z</form>`, "z"},
		{"image", `<img src=x onerror=alert(1)>z`, "z"},
		{"comment", `a<!-- b -->c`, "ac"},
		{"left open", `<b>x`, "<b>x</b>"},
		{"closing nothing", `x</small></div>`, "x"},
		{"out of order", `<b><i>x</b></i>`, "<b><i>x</i></b>"},
		{"half a tag", `x<b`, "x"},
		{"less-than", `1 < 2`, "1 &lt; 2"},
		{"capitals", `<B>x</B>`, "<b>x</b>"},
		{"control characters", "a\x00b\x07c", "abc"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
		{"class with code", `<b class='"><script>'>x</b>`, "<b>x</b>"},
		{"unquoted attribute", `<b class=ph>y</b>`, `<b class="ph">y</b>`},
		{"a class that is not listed", `<a class='ph modal vw-100' href='/x'>y</a>`, `<a href="/x">y</a>`},
		{"a class that only begins like one", `<b class='phx'>y</b><b class='text'>z</b>`,
			`<b>y</b><b class="text">z</b>`},
		{"a relation that gives the page away", `<a href='/x' target='_blank' rel='opener'>y</a>`,
			`<a href="/x" target="_blank">y</a>`},
		{"together with a good one", `<a href='/x' rel='noopener opener'>y</a>`, `<a href="/x">y</a>`},
		{"link with spaces", `<a class='colorless' href=' /profile/name with space '>x</a>`,
			`<a class="colorless" href="/profile/name%20with%20space">x</a>`},
		{"link with spaces, in double quotes", `<A HREF = "https://a.org/b c?d e">x</A>`,
			`<a href="https://a.org/b%20c?d%20e">x</a>`},
		{"javascript link with spaces", `<a href=" java script:alert( 1 )">x</a>`, "<a>x</a>"},
		{"javascript link with spaces behind", `<a href="javascript :alert(1)">x</a>`, "<a>x</a>"},
		{"data link with spaces", `<a href='data: text/html, x'>x</a>`, "<a>x</a>"},
		{"link of text", `1 < 2 href='a b'`, "1 &lt; 2 href=&#39;a b&#39;"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := markup.Clean(tt.in); got != tt.want {
				t.Errorf("Clean(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestCleanDeepNesting(t *testing.T) {
	in := strings.Repeat("<b>", 10_000) + "x" + strings.Repeat("</b>", 10_000)
	got := markup.Clean(in)
	if n := strings.Count(got, "<b>"); n > 40 || n != strings.Count(got, "</b>") || !strings.Contains(got, "x") {
		t.Errorf("Clean keeps %d nested elements of 10,000", n)
	}
}

func TestRestrict(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "What's in a name?", "What's in a name?"},
		{"inline markup", "H<sub>2</sub>O <i>in vivo</i> <b>b</b> <em>e</em> <strong>s</strong> <sup>+</sup>",
			"H<sub>2</sub>O <i>in vivo</i> <b>b</b> <em>e</em> <strong>s</strong> <sup>+</sup>"},
		{"script shown", "a <script>alert(1)</script>", "a &lt;script&gt;alert(1)&lt;/script&gt;"},
		{"attributes dropped", "<i onclick='x()' class=y>a</i>", "<i>a</i>"},
		{"capitals", "<SUB>2</SUB>", "<sub>2</sub>"},
		{"left open", "<i>a <b>b", "<i>a <b>b</b></i>"},
		{"closing nothing", "a</i>b", "ab"},
		{"out of order", "<b><i>x</b>y</i>", "<b><i>x</i></b>y"},
		{"link escaped", "<a href='javascript:x'>a</a>", "&lt;a href='javascript:x'&gt;a&lt;/a&gt;"},
		{"ampersand", "AT&T & co", "AT&amp;T &amp; co"},
		{"references kept", "Schr&ouml;dinger &amp; &#8211; &#x2013;", "Schr&ouml;dinger &amp; &#8211; &#x2013;"},
		{"unknown reference", "&foo; &;", "&amp;foo; &amp;;"},
		{"comparison", "P < 0.05 and x<y, a>b", "P &lt; 0.05 and x&lt;y, a&gt;b"},
		{"less-than before a tag", "1 < <i>x</i>", "1 &lt; <i>x</i>"},
		{"half a tag", "a <i", "a &lt;i"},
		{"self-closing", "a <i/>b", "a &lt;i/&gt;b"},
		{"not UTF-8", "a\xffb\x00", "a\uFFFDb"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := markup.Restrict(tt.in)
			if got != tt.want {
				t.Errorf("Restrict(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			if again := markup.Restrict(got); again != got {
				t.Errorf("Restrict is not stable: %q becomes %q", got, again)
			}
		})
	}
}

func TestStored(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"text", "AT&T, P < 0.05, a->b, 1<2, x <= y <", "AT&T, P < 0.05, a->b, 1<2, x <= y <"},
		{"markup of the allow-list", "H<sub>2</sub>O & <a href='/x'>x</a>", "H<sub>2</sub>O & <a href='/x'>x</a>"},
		{"script", "a & <sub>2</sub><script>alert(1)</script>",
			"a &amp; <sub>2</sub>&lt;script&gt;alert(1)&lt;/script&gt;"},
		{"event handler", "<b onclick='x()'>b</b>", "<b>b</b>"},
		{"half a tag", "<img src=x onerror=x()", "&lt;img src=x onerror=x()"},
		{"left open", "1 < 2 <i>a", "1 &lt; 2 <i>a</i>"},
		{"comment", "a<!-- b", "a&lt;!-- b"},
		{"control character", "<\x00script>", "&lt;script&gt;"},
	} {
		if got := markup.Stored(tt.in); got != tt.want || markup.Stored(got) != got {
			t.Errorf("%s: Stored(%q)\n got %q\nwant %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain", "plain"},
		{"<b>Małecki,&nbsp;D.</b>", "Małecki,\u00a0D."},
		{"a<br>b<p>c</p>", "a b c"},
		{"x<script>alert(1)</script>y<style>z</style>", "xy"},
		{"&lt;b&gt; &amp; &#x27;", "<b> & '"},
		{"1 < 2", "1 < 2"},
		{" padded ", "padded"},
	} {
		if got := markup.Text(tt.in); got != tt.want {
			t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestLinkBases(t *testing.T) {
	for _, tt := range []struct{ path, activity, person string }{
		{"", "/activity", "/person"},
		{"/", "/activity", "/person"},
		{"/portal", "/portal/activity", "/portal/person"},
		{"https://example.org/en/", "https://example.org/en/activity", "https://example.org/en/person"},
		{"sub/site", "sub/site/activity", "sub/site/person"},
	} {
		activity, person, err := markup.LinkBases(tt.path)
		if err != nil || activity != tt.activity || person != tt.person {
			t.Errorf("LinkBases(%q) = %q, %q, %v, want %q, %q", tt.path, activity, person, err, tt.activity,
				tt.person)
		}
	}
	for _, path := range []string{
		"javascript:alert(1)", "JavaScript://x/%0aalert(1)", "data:text/html,x", "//evil.example", "///evil.example",
		"////evil.example/x", "https:", "https:///x",
		"https://u:p@example.org", "/x?y=1", "/x#y", "/x'onclick=", `/x"`, "/x<y", "/x y", "/x\\y", "/x\n", "/ü",
		"%zz", "x:y",
	} {
		if _, _, err := markup.LinkBases(path); !errors.Is(err, rules.ErrWrongCall) {
			t.Errorf("LinkBases(%q) error = %v, want a wrong call", path, err)
		}
	}
}

func TestRewriteLinks(t *testing.T) {
	const activity, person = "https://p.example/activity", "https://p.example/person"
	for _, tt := range []struct{ name, in, want string }{
		{"activity", `<a class='colorless' href='/activities/view/1'>x</a>`,
			`<a class='colorless' href='https://p.example/activity/1'>x</a>`},
		{"person, double quotes", `<a href="/profile/u">x</a>`, `<a href="https://p.example/person/u">x</a>`},
		{"both", `<a href='/activities/view/1'>x</a><a href='/profile/u'>y</a>`,
			`<a href='https://p.example/activity/1'>x</a><a href='https://p.example/person/u'>y</a>`},
		{"text stays", `href='/profile/u' /activities/view/1`, `href='/profile/u' /activities/view/1`},
		{"other attribute stays", `<a title=" href='/profile/u'" href='/x'>y</a>`,
			`<a title=" href='/profile/u'" href='/x'>y</a>`},
		{"longer word stays", `<a href='/profiles/u'>y</a>`, `<a href='/profiles/u'>y</a>`},
		{"elsewhere in the URL stays", `<a href='https://x.example/profile/u'>y</a>`,
			`<a href='https://x.example/profile/u'>y</a>`},
		{"bare link", `<a href='/profile'>y</a>`, `<a href='https://p.example/person'>y</a>`},
		{"broken", `<a href='/profile/u`, `<a href='/profile/u`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := markup.RewriteLinks(tt.in, activity, person); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
	stored := markup.Clean(`<a href='/profile/name with space'>x</a>`)
	if got, want := markup.RewriteLinks(stored, activity, person), `<a href="`+person+
		`/name%20with%20space">x</a>`; got != want {
		t.Errorf("a link stored with spaces: got %s, want %s", got, want)
	}
	got := markup.RewriteLinks(`<a href='/profile/u'>x</a>`, "", `/p'q"&`)
	if want := `<a href='/p&#x27;q&quot;&amp;/u'>x</a>`; got != want {
		t.Errorf("base is not escaped: got %q, want %q", got, want)
	}
}

func TestWebURL(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{" https://example.org/a?b=c&d ", "https://example.org/a?b=c&d"},
		{"http://example.org/it's", "http://example.org/it%27s"},
		{"javascript:alert(1)", ""}, {"//example.org", ""}, {"/x", ""}, {"ftp://x", ""}, {"https://", ""}, {"", ""},
		{"%", ""},
	} {
		if got := markup.WebURL(tt.in); got != tt.want {
			t.Errorf("WebURL(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// safe parses HTML as a browser would and reports content that the allow-list forbids.
func safe(t interface{ Fatalf(string, ...any) }, out string) {
	if !utf8.ValidString(out) {
		t.Fatalf("not UTF-8: %q", out)
	}
	nodes, err := html.ParseFragment(strings.NewReader(out),
		&html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body})
	if err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	for len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		nodes = nodes[:len(nodes)-1]
		switch n.Type {
		case html.TextNode:
		case html.ElementNode:
			checkElement(t, n, out)
		default:
			t.Fatalf("node type %v in %q", n.Type, out)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			nodes = append(nodes, c)
		}
	}
}

func checkElement(t interface{ Fatalf(string, ...any) }, n *html.Node, out string) {
	if !strings.Contains(" a b br div em i p small span strong sub sup u ", " "+n.Data+" ") {
		t.Fatalf("element %q in %q", n.Data, out)
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "class", "title", "data-title", "data-toggle", "target", "rel":
		case "href":
			u := strings.ToLower(strings.Map(func(r rune) rune {
				if r <= ' ' {
					return -1
				}
				return r
			}, a.Val))
			scheme, _, found := strings.Cut(u, ":")
			if found && !strings.ContainsAny(scheme, "/?#") && scheme != "http" && scheme != "https" {
				t.Fatalf("href %q in %q", a.Val, out)
			}
		default:
			t.Fatalf("attribute %q in %q", a.Key, out)
		}
	}
}

func checkClean(t interface{ Fatalf(string, ...any) }, in string) {
	out := markup.Clean(in)
	safe(t, out)
	if again := markup.Clean(out); again != out {
		t.Fatalf("not idempotent:\nin    %q\nonce  %q\ntwice %q", in, out, again)
	}
}

// fragments are parts of hostile HTML; random strings rarely contain them.
var fragments = []string{
	"<a href='", "<a href=\"", "javascript:", "JAVA\tSCRIPT:", "data:", "'>", "\">", ">", "<", "</a>", "<b>", "</b>",
	"<i/>", "<br>", "<p>",
	"<script>", "</script>", "<style>", "<!--", "-->", "<![CDATA[", "]]>", "<svg>", "<math>", "<title>", "</title>",
	"<textarea>", "<plaintext>", "<noscript>",
	" onclick=", "x", "'", "\"", "&", "&#106;", "&colon;", "&lt;", "&amp;", "\x00", "\r", "\xff", "/", "=", " ",
	"<small class='small'>", "<span data-title='", "%", "é", "http://", "//",
}

func TestCleanIsSafeAndIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.SampledFrom(fragments), rapid.String())
		checkClean(t, strings.Join(rapid.SliceOf(piece).Draw(t, "html"), ""))
	})
}

func TestTitlesAndEscapeAreSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom(fragments)).Draw(t, "title"), "")
		for _, out := range []string{markup.Title(s), markup.Restrict(s), markup.Escape(s)} {
			safe(t, out)
			safe(t, markup.RewriteLinks(out, "/a", "/p"))
		}
	})
}

func FuzzClean(f *testing.F) {
	f.Add(webForm)
	for _, s := range fragments {
		f.Add(s + "x" + s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		checkClean(t, in)
		safe(t, markup.Title(in))
		safe(t, markup.Restrict(in))
		safe(t, markup.Escape(in))
		markup.Text(in)
	})
}

func BenchmarkClean(b *testing.B) {
	for _, bb := range []struct{ name, html string }{
		{"simple", webForm},
		{"rewritten", webForm + "<script>x</script>"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.html)))
			for b.Loop() {
				markup.Clean(bb.html)
			}
		})
	}
}

func BenchmarkRewriteLinks(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		markup.RewriteLinks(webForm, "/activity", "/person")
	}
}

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"text", "Zürich 1", "Zürich 1"},
		{"tags", "<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"},
		{"both quotes", `a'b"c`, "a&#x27;b&quot;c"},
		{"references are text", "&amp; &", "&amp;amp; &amp;"},
		{"control characters", "a\x00\x07\rb\tc\n", "ab\tc\n"},
		{"not UTF-8", "a\xff", "a\uFFFD"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := markup.Escape(tt.in); got != tt.want {
				t.Errorf("Escape(%q) = %q, want %q", tt.in, got, tt.want)
			}
			if got := string(markup.AppendEscape([]byte("x"), tt.in)); got != "x"+tt.want {
				t.Errorf("AppendEscape(%q) = %q, want %q", tt.in, got, "x"+tt.want)
			}
		})
	}
}

func TestPathSegment(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""}, {"ada", "ada"}, {".", ""}, {"..", ""}, {"...", "..."}, {"a/b", "a%2Fb"},
		{"a b?c#d", "a%20b%3Fc%23d"}, {"ü", "%C3%BC"}, {"\xff", "%EF%BF%BD"},
	} {
		if got := markup.PathSegment(tt.in); got != tt.want {
			t.Errorf("PathSegment(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestCleanBalances: elements are closed in order, whatever their order in the input.
func TestCleanBalances(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"several unclosed elements", "<p><b><i>x", "<p><b><i>x</i></b></p>"},
		{"outer closed first", "<div><b>x</div>y</b>", "<div><b>x</b></div>y"},
		{"the innermost of two", "<b>1<b>2</b>3", "<b>1<b>2</b>3</b>"},
		{"closed twice", "<b>x</b></b>y", "<b>x</b>y"},
		{"self-closing", "a<b/>b", "ab"},
		{"line breaks", "a<br></br>b<BR/>c", "a<br>b<br>c"},
		{"a removed element with others in it", "<h1><b>x</h1>y", "<b>xy</b>"},
		{"text with signs", "a > b < c & d", "a &gt; b &lt; c &amp; d"},
		{"a comment within an element", "<b>x<!-- </b> -->y", "<b>xy</b>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := markup.Clean(tt.in)
			if got != tt.want && !(tt.name == "text with signs" && got == tt.in) {
				t.Errorf("Clean(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			checkClean(t, tt.in)
		})
	}
}

// TestCleanAttributes: the values that each attribute may have, in simple form and rewritten.
func TestCleanAttributes(t *testing.T) {
	for _, tt := range []struct {
		name, tag string
		keeps     bool
	}{
		{"class", "<b class='ph ph-book'>", true},
		{"class of a family", "<b class='badge-x_1'>", true},
		{"class without a family", "<b class='x-badge'>", false},
		{"empty class", "<b class=''>", true},
		{"title", "<b title='a &amp; b'>", true},
		{"data-title", "<b data-title='x'>", true},
		{"data-toggle", "<b data-toggle='tool-tip'>", true},
		{"data-toggle with code", "<b data-toggle='x()'>", false},
		{"other data", "<b data-x='1'>", false},
		{"style", "<b style='x'>", false},
		{"id", "<b id='x'>", false},
		{"href of an element that is not a link", "<b href='/x'>", false},
		{"target of an element that is not a link", "<b target='_blank'>", false},
		{"target", "<a href='/x' target='_blank'>", true},
		{"named target", "<a href='/x' target='frame'>", false},
		{"relations", "<a href='/x' rel='noopener noreferrer nofollow'>", true},
		{"unknown relation", "<a href='/x' rel='opener'>", false},
		{"https", "<a href='https://a.org/?b=c&amp;d#e'>", true},
		{"mailto", "<a href='mailto:a@b.org'>", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			end := "</b>"
			if strings.HasPrefix(tt.tag, "<a") {
				end = "</a>"
			}
			whole := tt.tag + "x" + end
			if got := markup.Clean(whole); (got == whole) != tt.keeps {
				t.Errorf("Clean(%q) = %q, want it unchanged: %v", whole, got, tt.keeps)
			}
			rewritten := markup.Clean(strings.ReplaceAll(whole, "'", `"`) + "<script></script>")
			if want := strings.ReplaceAll(whole, "'", `"`); (rewritten == want) != tt.keeps {
				t.Errorf("the policy makes %q of %q, want it unchanged: %v", rewritten, want, tt.keeps)
			}
		})
	}
}
