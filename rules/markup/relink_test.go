package markup_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"

	"vitrine/rules/markup"
)

// publicOnly knows pages of the activity "1" and of the person "u".
func publicOnly(kind markup.LinkKind, id string) string {
	switch {
	case kind == markup.LinkActivity && id == "1":
		return "https://i.example/pub?id=1&v='\"2"
	case kind == markup.LinkPerson && (id == "u" || id == "a b/c"):
		return "/lists/person/" + markup.PathSegment(id)
	}
	return ""
}

func TestRelink(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"activity", `<a class='colorless' href='/activities/view/1'>x</a>`,
			`<a class='colorless' href='https://i.example/pub?id=1&amp;v=%27%222'>x</a>`},
		{"person", `<b><a href="/profile/u" target="_blank">x</a></b>`,
			`<b><a href="/lists/person/u" target="_blank">x</a></b>`},
		{"escaped id", `<a href="/profile/a%20b%2Fc">x</a>`, `<a href="/lists/person/a%20b%2Fc">x</a>`},
		{"query and fragment", `<a href="/profile/u?tab=1&amp;x=2#y">x</a><a href="/profile/u#y">x</a>`,
			`<a href="/lists/person/u">x</a><a href="/lists/person/u">x</a>`},
		{"no page", `1 <a href='/activities/view/2'>A <i>title</i></a>, <a href='/profile/v'><b>N.</b></a> 2`,
			`1 A <i>title</i>, <b>N.</b> 2`},
		{"within another", `<a href='/profile/v'>a <a href='/profile/u'>b</a> c <a href='/x'>d</a></a> e`,
			`a <a href='/lists/person/u'>b</a> c d e`},
		{"no id", `<a href='/profile/'>x</a><a href='/profile'>y</a><a href='/profile/?u'>z</a>`, `xyz`},
		{"bad escape", `<a href='/profile/%zz'>x</a>`, `x`},
		{"other page of the system", `<a href='/journals/view/1'>x</a><a href='#a'>y</a><a href='//u.example/'>z</a>`,
			`xyz`},
		{"absolute", `<a href='https://doi.org/10.1/x'>x</a>`, `<a href='https://doi.org/10.1/x'>x</a>`},
		{"no link", `<a>x</a><a title=" href='/profile/u'">y</a>`, `<a>x</a><a title=" href='/profile/u'">y</a>`},
		{"text", `/profile/u &lt;a href='/profile/u'&gt;`, `/profile/u &lt;a href='/profile/u'&gt;`},
		{"broken", `<a href='/profile/u`, `<a href='/profile/u`},
		{"closing nothing", `x</a>`, `x</a>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := markup.Relink(tt.in, publicOnly); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestRelinkKeepsText: for any cleaned input the result is clean, has the same text, and links only
// to addresses from target and to absolute URLs.
func TestRelinkKeepsText(t *testing.T) {
	pieces := append([]string{
		"<a href='/profile/u'>", "<a href='/profile/v'>", "<a class='text' href='/activities/view/1'>", "<a>", "</a>",
		"<a href=\"/x\">", "<b title=\"<a href='/x'>\">", "</b>",
		"<a href='https://x.example/?a=1&amp;b'>", "text",
	}, fragments...)
	rapid.Check(t, func(t *rapid.T) {
		in := markup.Clean(strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "html"), ""))
		out := markup.Relink(in, publicOnly)
		if again := markup.Clean(out); again != out {
			t.Fatalf("Relink(%q) = %q, which Clean makes %q", in, out, again)
		}
		if got, want := markup.Text(out), markup.Text(in); got != want {
			t.Fatalf("Relink(%q) reads %q, want %q", in, got, want)
		}
		z := html.NewTokenizer(strings.NewReader(out))
		for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
			for _, a := range z.Token().Attr {
				if atom.Lookup([]byte(a.Key)) == atom.Href && !strings.HasPrefix(a.Val, "http") &&
					a.Val != "/lists/person/u" {
					t.Fatalf("Relink(%q) = %q leads to %s", in, out, a.Val)
				}
			}
		}
	})
}

func BenchmarkRelink(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		markup.Relink(webForm, func(markup.LinkKind, string) string { return "/lists/person/u" })
	}
}
