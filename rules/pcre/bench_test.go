package pcre_test

import (
	"testing"

	"vitrine/rules/pcre"
)

var benchmarks = []struct{ name, pattern, options string }{
	{"literal", "adaptations", ""},
	{"fold", "ADAPTATIONS", "i"},
	{"alternation", "marine.*(sea|ocean)", "i"},
	{"between dots", ".*marine [a-z]+.*", ""},
	{"class", `[\w-]+ genomics\b`, "i"},
	{"property", `\p{Lu}\p{Ll}+ Sea$`, ""},
	{"look-ahead", "marine(?= bact)", ""},
	{"look-ahead between dots", ".*marine(?! fish).*", "i"},
	{"reference", `(\w)\1`, ""},
}

func BenchmarkCompile(b *testing.B) {
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := pcre.Compile(bm.pattern, bm.options); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMatchString(b *testing.B) {
	const title = "Comparative genomics of marine bacteria reveals niche-specific adaptations in the North Sea"
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			re, err := pcre.Compile(bm.pattern, bm.options)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := re.MatchString(title, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
