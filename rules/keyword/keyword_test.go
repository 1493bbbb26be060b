package keyword_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/keyword"
)

func value(t testing.TB, json string) bson.RawValue {
	t.Helper()
	doc, err := ejson.Parse([]byte(`{"v":`+json+`}`), ejson.Options{})
	if err != nil {
		t.Fatalf("%s: %v", json, err)
	}
	return doc.Lookup("v")
}

// TestAppend: keywords are read from every form in which records have them.
func TestAppend(t *testing.T) {
	for json, want := range map[string]string{
		`"owls; moths, lamps; owls"`: "owls|moths, lamps",
		`"owls, moths"`:              "owls|moths", `"owls,moths,"`: "owls|moths", `" owls "`: "owls", `""`: "",
		`"-"`: "", `null`: "", `true`: "", `{}`: "",
		`"Owls; owls; OWLS"`:                                   "Owls",
		`"Keywords: owls, moths."`:                             "owls|moths",
		`"Key words — owls · moths"`:                           "owls|moths",
		`"Schlagwörter: Eulen; Nachtfalter"`:                   "Eulen|Nachtfalter",
		`"Keywords"`:                                           "Keywords",
		`"owls • moths • CuSO4·5H2O"`:                          "owls|moths|CuSO4·5H2O",
		`"owls | moths"`:                                       "owls|moths",
		`"owls\nbarn owls\r\n- moths\n"`:                       "owls|barn owls|moths",
		`"owls,\nmoths"`:                                       "owls|moths",
		`"1,2-dichloroethane, 2,4-D"`:                          "1,2-dichloroethane|2,4-D",
		`"owls (barn, tawny), moths"`:                          "owls (barn, tawny)|moths",
		`"owls (barn, moths"`:                                  "owls (barn|moths",
		`"a), (b, c"`:                                          "a)|(b|c",
		`"猫头鹰；飞蛾，夜"`:                                           "猫头鹰|飞蛾，夜",
		`"夜、蛾"`:                                                "夜|蛾",
		`"R&amp;D; owls &gt; moths; <i>Bubo</i>"`:              "R&D|owls > moths|Bubo",
		`["*Owls", "Owls/*physiology", "Climate Change"]`:      "Owls|Owls/physiology|Climate Change",
		`["Diabetes Mellitus, Type 2", "owls; moths", " ", 7]`: "Diabetes Mellitus, Type 2|owls|moths|7",
		`[{"tag": "owls", "type": 1}, {"display_name": "Moths", "id": "x"}, {"subject": "lamps"}, {"name": "ice"}, ` +
			`{"id": "x"}, [["x"]], null, true]`: "owls|Moths|lamps|ice",
		`["C", "C++", "C#", "pot", "poet"]`: "C|C++|C#|pot|poet",
	} {
		if got := strings.Join(keyword.Append(nil, value(t, json)), "|"); got != want {
			t.Errorf("%s has %s, want %s", json, got, want)
		}
	}
	if got := keyword.Append([]string{"Owls"}, value(t, `["owls","moths"]`)); !slices.Equal(got,
		[]string{"Owls", "moths"}) {
		t.Errorf("another field adds %q", got)
	}
}

// TestAppendIsBounded: a value of any size adds 200 keywords at most.
func TestAppendIsBounded(t *testing.T) {
	var long strings.Builder
	for i := range 1000 {
		long.WriteString(strings.Repeat("a", i+1) + ";")
	}
	doc, err := bson.Marshal(bson.D{{Key: "v", Value: long.String()}})
	if err != nil {
		t.Fatal(err)
	}
	if got := keyword.Append(nil, bson.Raw(doc).Lookup("v")); len(got) != 200 {
		t.Errorf("%d keywords", len(got))
	}
}

func TestKey(t *testing.T) {
	for word, want := range map[string]string{
		"Climate  Change": "climate change", "climate-change": "climate change", "Müller": "muller",
		"MUELLER": "muller", "β-Catenin": "β catenin",
		"H₂O": "h2o", "C++": "c++", "C#": "c#", "c": "c", "CD8+": "cd8+", " owls. ": "owls", "++": "++", "": "",
		"Ⅳ":                        "iv",
		strings.Repeat("owl ", 60): "", "夜の蛾": "夜の の蛾",
	} {
		got := keyword.Key(word)
		if got != want {
			t.Errorf("%q has the key %q, want %q", word, got, want)
		}
		if again := keyword.Key(got); again != got {
			t.Errorf("%q has the key %q, and that %q", word, got, again)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b"}, "a, b"}, {[]string{"a, b", "c"}, "a, b; c"},
		{[]string{"1,2-diol", "c"}, "1,2-diol; c"},
	} {
		if got := keyword.Join(c.words); got != c.want {
			t.Errorf("%q are joined as %q, want %q", c.words, got, c.want)
		}
	}
}

// FuzzAppend: keywords have words, none is there twice, their keys are their own keys, and a list is read again as it
// is.
func FuzzAppend(f *testing.F) {
	for _, text := range []string{"owls; moths (a, b), c", "Keywords: 1,2-a, b.", "a | b\nc", "*a; b/*c", "；、،",
		"(a;b",
		"C++, Æ, ß–e, 夜", "\xff;\xfe"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := bson.Marshal(bson.D{{Key: "v", Value: text}})
		if err != nil {
			t.Fatal(err)
		}
		all := keyword.Append(nil, bson.Raw(doc).Lookup("v"))
		for i, word := range all {
			if strings.TrimSpace(word) != word || word == "" || slices.Contains(all[:i], word) {
				t.Fatalf("%q has %q", text, all)
			}
			key := keyword.Key(word)
			if again := keyword.Key(key); again != key || !utf8.ValidString(key) || key == "" && len(word) < 60 {
				t.Fatalf("%q has the key %q, and that %q", word, key, again)
			}
		}
		list, err := bson.Marshal(bson.D{{Key: "v", Value: all}})
		if err != nil {
			t.Fatal(err)
		}
		if again := keyword.Append(nil, bson.Raw(list).Lookup("v")); !slices.Equal(all, again) &&
			!strings.ContainsAny(text, "&<*•-") {
			t.Fatalf("%q has %q, and these %q", text, all, again)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	v, all := value(b, `"climate change; owls; moths (night, day); light pollution"`), make([]string, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		all = keyword.Append(all[:0], v)
	}
}
