package person_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/person"
	"vitrine/rules/raw"
)

// list parses a stored list.
func list(t testing.TB, src string) bson.RawValue {
	t.Helper()
	doc, err := ejson.Parse([]byte(`{"a": `+src+`}`), ejson.Options{})
	if err != nil {
		t.Fatal(src, err)
	}
	return raw.Get(doc, "a")
}

// read returns the persons of a stored list as "family|given|suffix" or "=literal", and "+" for others.
func read(t testing.TB, src string) string {
	t.Helper()
	var all []string
	others := person.Each(list(t, src), func(p person.Person, _ bson.Raw) {
		if p.Literal != "" {
			all = append(all, "="+p.Literal)
		} else {
			all = append(all, strings.TrimRight(p.Family+"|"+p.Given+"|"+p.Suffix, "|"))
		}
	})
	if others {
		all = append(all, "+")
	}
	return strings.Join(all, "; ")
}

func check(t *testing.T, tests [][2]string) {
	t.Helper()
	for _, tt := range tests {
		if got := read(t, tt[0]); got != tt[1] {
			t.Errorf("%s\n got %s\nwant %s", tt[0], got, tt[1])
		}
	}
}

// TestSuffix: a suffix is a part of its own wherever it is stored.
func TestSuffix(t *testing.T) {
	const costa = "Costa|P. T.|Jr."
	check(t, [][2]string{
		{`[{"last": "Costa, Jr.", "first": "P. T."}]`, costa},
		{`[{"last": "Costa", "first": "P. T., Jr."}]`, costa},
		{`[{"last": "Costa Jr.", "first": "P. T."}]`, costa},
		{`[{"last": "Costa", "first": "P. T. Jr."}]`, costa},
		{`[{"last": "Costa", "first": "Jr., P. T."}]`, costa},
		{`[{"last": "Costa", "first": "P. T.", "suffix": "Jr."}]`, costa},
		{`[{"last": "Costa", "first": "P.", "middle": "T.", "suffix": "Jr."}]`, costa},
		{`[{"last": "Jr.", "first": "P. T. Costa"}]`, costa},
		{`[{"last": "Costa, Jr., P. T."}]`, costa},
		{`[{"name": "Costa, P. T., Jr."}]`, costa},
		{`[{"name": "Costa, P. T.", "suffix": "Jr."}]`, costa},
		{`[{"name": "P. T. Costa", "suffix": "Jr."}]`, costa},
		{`["Costa, Jr., P. T."]`, costa},
		{`["Costa, P. T., Jr."]`, costa},
		{`["Costa Jr., P. T."]`, costa},
		{`["Costa, P. T. Jr."]`, costa},
		{`["P. T. Costa Jr."]`, costa},
		{`["P. T. Costa, Jr."]`, costa},
		{`"Costa, Jr., P. T."`, costa},
		{`["Costa PT Jr"]`, "Costa|PT|Jr"},
		{`["Costa PT 3rd"]`, "Costa|PT|3rd"},
		{`[{"last": "Costa III", "first": "Paul"}]`, "Costa|Paul|III"},
		{`[{"last": "Costa", "first": "Paul III"}]`, "Costa|Paul|III"},
		{`[{"last": "Costa, IV", "first": "Paul"}]`, "Costa|Paul|IV"},
		{`["Costa, II, Paul", "Costa, Paul, Sr.", "Costa, V, Paul"]`, "Costa|Paul|II; Costa|Paul|Sr.; Costa|Paul|V"},
		{`[{"last": "Costa Junior", "first": "P."}, {"last": "da Costa Júnior", "first": "P."}]`,
			"Costa|P.|Junior; da Costa|P.|Júnior"},
		{`[{"last": "Meier", "first": "Hans jun."}, {"last": "Meier sen.", "first": "Hans"}]`,
			"Meier|Hans|jun.; Meier|Hans|sen."},
		{`[{"last": "van der Berg Jr", "first": "Jan"}]`, "van der Berg|Jan|Jr"},
		{`[{"last": "Costa Jr.", "first": ""}]`, "Costa||Jr."},
		{`["Costa, Jr."]`, "Costa||Jr."},
		{`[{"last": "Costa", "first": "Jr."}]`, "Costa||Jr."},
		// What could be a name or initials is no suffix.
		{`[{"last": "Costa", "first": "JR"}, {"last": "Costa", "first": "IV"}, {"last": "Costa", "first": "V."}]`,
			"Costa|JR; Costa|IV; Costa|V."},
		{`["Costa, JR", "Costa, II", "Costa, Junior"]`, "Costa|JR; Costa|II; Costa|Junior"},
		{`[{"last": "Junior", "first": "Ada"}, {"last": "Das Gupta Sen", "first": "A"}, {"last": "Sato", ` +
			`"first": "Ken Jun"}]`, "Junior|Ada; Das Gupta Sen|A; Sato|Ken Jun"},
		{`[{"last": "dos Junior", "first": "Ada"}, {"last": "Elizabeth II"}, "Project III"]`,
			"dos Junior|Ada; =Elizabeth II; =Project III"},
	})
}

// TestSeveral: a text has several persons only if it cannot be one name.
func TestSeveral(t *testing.T) {
	const both = "Quill|Ada; Fern|Bo"
	check(t, [][2]string{
		{`"Quill, Ada; Fern, Bo"`, both},
		{`["Quill, Ada; Fern, Bo;"]`, both},
		{`[{"last": "Quill, Ada; Fern, Bo", "first": ""}]`, both},
		{`[{"name": "Quill, Ada; and Fern, Bo"}]`, both},
		{`"Quill, Ada and Fern, Bo"`, both},
		{`"Quill, Ada & Fern, Bo"`, both},
		{`"Quill, Ada und Fern, Bo"`, both},
		{`"Quill, Ada AND Fern, Bo"`, both},
		{`"Quill, Ada；Fern, Bo"`, both},
		{`"{Barnes and Noble} and Quill, Ada"`, "=Barnes and Noble; Quill|Ada"},
		{`"Quill, Ada and Fern, Bo and ATLAS Collaboration"`, both + "; =ATLAS Collaboration"},
		{`"Quill, A., Fern, B. C., & Plus, C."`, "Quill|A.; Fern|B. C.; Plus|C."},
		{`"Quill, A., Costa, P. T., Jr., Fern, B."`, "Quill|A.; Costa|P. T.|Jr.; Fern|B."},
		{`"Quill A, Fern BC, van Plus C, Costa PT Jr"`, "Quill|A; Fern|BC; van Plus|C; Costa|PT|Jr"},
		{`"A. Quill and B. van den Fern"`, "Quill|A.; van den Fern|B."},
		{`"Ada Quill, Bo van Fern and Cy Plus"`, "Quill|Ada; van Fern|Bo; Plus|Cy"},
		{`"Ada Quill; Bo Fern"`, both},
		{`"王小明、李华"`, "=王小明; =李华"},
		// One name:
		{`["Barnes and Noble, Inc."]`, "=Barnes and Noble, Inc."},
		{`[{"last": "Barnes and Noble, Inc.", "first": ""}]`, "=Barnes and Noble, Inc."},
		{`[{"last": "Barnes and Noble, Inc.", "first": "", "user": null}]`, "=Barnes and Noble, Inc."},
		{`["Ortega y Gasset, José", "García Márquez, Gabriel José"]`,
			"Ortega y Gasset|José; García Márquez|Gabriel José"},
		{`"The A, B and C Collaboration"`, "=The A, B and C Collaboration"},
		{`["University of Owls, Department of Moths", "Simon and Schuster", "Owl & Co"]`,
			"=University of Owls, Department of Moths; =Simon and Schuster; =Owl & Co"},
		{`["A. V. Roe and Company"]`, "=A. V. Roe and Company"},
		{`["Owl &amp;amp; Co", "Quill, Ad&amp;#225;; Fern, Bo"]`, "=Owl &amp; Co; Quill|Ad&#225; Fern|Bo"},
		{`[{"last": "Quill; Fern", "first": "Ada"}]`, "Quill; Fern|Ada"},
	})
}

// TestOthers: "et al." and the like are no persons.
func TestOthers(t *testing.T) {
	const quill = `{"last": "Quill", "first": "Ada"}`
	for _, entry := range []string{
		`{"last": "et al.", "first": ""}`, `{"last": "al.", "first": "et"}`, `{"first": "et al."}`,
		`{"name": "et al"}`,
		`"et al."`, `"et. al."`, `"ET AL."`,
		`"and others"`, `"others"`, `{"first": "and", "last": "others"}`, `{"last": "others"}`, `"& others"`,
		`"u. a."`,
		`"u.a."`, `{"first": "u.", "last": "a."}`,
		`"und andere"`, `"[et al.]"`, `"..."`, `"…"`, `"等"`, `"et coll."`, `"y otros"`, `"et autres"`,
		`{"last": "et al.", "suffix": "Jr."}`,
	} {
		check(t, [][2]string{{"[" + quill + "," + entry + "]", "Quill|Ada; +"}})
	}
	check(t, [][2]string{
		{`"Quill, Ada et al."`, "Quill|Ada; +"},
		{`"Quill, Ada, et al."`, "Quill|Ada; +"},
		{`"Quill, Ada; Fern, Bo; et al."`, "Quill|Ada; Fern|Bo; +"},
		{`"Quill, Ada and Fern, Bo and others"`, "Quill|Ada; Fern|Bo; +"},
		{`"Quill, Ada u. a."`, "Quill|Ada; +"},
		{`"Quill, Ada [et al.]"`, "Quill|Ada; +"},
		{`[{"last": "Quill et al.", "first": "Ada"}]`, "Quill|Ada; +"},
		{`[{"last": "Quill", "first": "Ada et al."}]`, "Quill|Ada; +"},
		{`["et al.", "Quill, Ada"]`, "Quill|Ada; +"},
		{`["Quill, U. A.", {"last": "Al", "first": "Et"}, {"last": "Al", "first": "Y"}]`, "Quill|U. A.; Al|Et; Al|Y"},
		{`["Et Cetera Group", {"last": "Others", "first": "Ada"}]`, "=Et Cetera Group; Others|Ada"},
	})
}

// TestNoParts: titles, degrees, e-mail addresses and footnote signs.
func TestNoParts(t *testing.T) {
	const quill = "Quill|Ada"
	check(t, [][2]string{
		{`["Prof. Dr. Ada Quill"]`, quill},
		{`["Univ.-Prof. Dr.-Ing. Ada Quill", "Prof.Dr. Ada Quill", "Dr. rer. nat. Ada Quill", ` +
			`"Dr. h. c. mult. Ada Quill", "PD Dr. Ada Quill"]`, strings.Repeat(quill+"; ", 4) + quill},
		{`["Ada Quill, PhD", "Ada Quill, Ph. D.", "Ada Quill PhD", "Quill, Ada, MD", "Quill, Ada, M.D., Ph.D.", ` +
			`"Quill, Dr. Ada", "Quill, Ada, Dr."]`, strings.Repeat(quill+"; ", 6) + quill},
		{`[{"last": "Quill", "first": "Prof. Dr. Ada"}, {"last": "Dr. Quill", "first": "Ada"}, {"last": "Quill, MD", ` +
			`"first": "Ada"}, {"last": "Quill", "first": "Ada, PhD"}]`, strings.Repeat(quill+"; ", 3) + quill},
		{`[{"last": "Quill", "first": "Ada", "suffix": "PhD"}, {"last": "Quill", "first": "Ada", "suffix": "MD"}]`,
			quill + "; " + quill},
		{`["Dr. Ada van den Quill Jr."]`, "van den Quill|Ada|Jr."},
		{`[{"last": "Quill", "first": "DR"}, {"last": "Quill", "first": "MS"}, "Quill, M.D.", "Quill, MD", ` +
			`{"last": "Quill", "first": "PD"}]`, "Quill|DR; Quill|MS; Quill|M.D.; Quill|MD; Quill|PD"},
		{`[{"last": "Ma", "first": "Jun. H."}, {"last": "Li", "first": "Ing"}, {"last": "Med", "first": "C. H."}]`,
			"Ma|Jun. H.; Li|Ing; Med|C. H."},
		{`["Dr. Oetker GmbH", "Dr. Who"]`, "=Dr. Oetker GmbH; Who"},
		{`["Quill, Ada <ada.q@owl.example>", "Quill, Ada (ada@owl.example)", "Quill, Ada, e-mail: ada@owl.example", ` +
			`"Quill, Ada &lt;ada@owl.example&gt;"]`, strings.Repeat(quill+"; ", 3) + quill},
		{`[{"last": "Quill ada@owl.example", "first": "Ada"}, "Owls @ Home"]`, quill + "; =Owls @ Home"},
		{`["Quill, Ada*", "Quill*, Ada†", "Quill, Ada¹,²", "Quill<sup>1,2</sup>, Ada<sup>*</sup>", "Quill, Ada (1)", ` +
			`"Quill, Ada [1,2]", "† Quill, Ada", "Quill, Ada<SUP>a</SUP>"]`, strings.Repeat(quill+"; ", 7) + quill},
		{`[{"last": "Quill(1,2)", "first": "Ada"}, {"last": "Quill*,†", "first": "Ada"}, {"last": "Quill²", ` +
			`"first": "Ada#"}]`, strings.Repeat(quill+"; ", 2) + quill},
		{`"Quill, Ada*; Fern, Bo†"`, "Quill|Ada; Fern|Bo"},
		{`[{"last": "M<sup>c</sup>Donald", "first": "Ada"}, {"last": "O&#39;Brien", "first": "Seán"}]`,
			"McDonald|Ada; O'Brien|Seán"},
		{`["*", {"last": "†"}, "", null, 7, ["nested"], {}]`, ""},
		{`["-", "?", {"last": "—"}, {"name": "???"}, "-; –", "..."]`, "+"},
		{`["#Owls Network", "Team 42"]`, "=#Owls Network; =Team 42"},
		{`[{"last": " Quill\u00a0\n", "first": "\tAda\u3000B. "}]`, "Quill|Ada B."},
	})
}

// TestUnchanged: names without any of these.
func TestUnchanged(t *testing.T) {
	check(t, [][2]string{
		{`[{"last": "Department for Owls", "first": null}]`, "=Department for Owls"},
		{`[{"name": "World Owl Organization"}]`, "=World Owl Organization"},
		{`["ATLAS Collaboration", "Quill, Ada"]`, "=ATLAS Collaboration; Quill|Ada"},
		{`[{"last": "Chandrahas", "first": ""}]`, "Chandrahas"},
		{`[{"first": "Plato"}]`, "=Plato"},
		{`[{"last": "van der Berg", "first": "Jan"}]`, "van der Berg|Jan"},
		{`[{"last": "de Silva", "first": ""}]`, "de Silva"},
		{`[{"last": "Humboldt", "first": "Alexander von"}]`, "Humboldt|Alexander von"},
		{`[{"last": "LI", "first": "X."}]`, "LI|X."},
		{`[{"last": "WHO"}]`, "=WHO"},
		{`[{"last": "Dalla Torre", "user": "torre"}, {"last": "Dalla Torre"}]`, "Dalla Torre; =Dalla Torre"},
		{`[{"last": "王", "first": "小明"}, {"last": "山田"}]`, "王|小明; 山田"},
		{"[{\"last\": \"Mu\u0308ller\", \"first\": \"Ju\u0308rgen\"}]", "Mu\u0308ller|Ju\u0308rgen"},
		{`{"last": "One"}`, "One"},
		{`[{"last": 42, "first": ["A"]}, {"last": [], "first": {}}]`, "42|A; "},
	})
	kept := 0
	person.Each(list(t, `[{"user": "x"}, {"last": "et al.", "user": "y"}]`), func(p person.Person, doc bson.Raw) {
		if kept++; !p.IsZero() || raw.StringField(doc, "user") != "x" {
			t.Errorf("got %v of %s", p, doc)
		}
	})
	if kept != 1 {
		t.Errorf("%d users without a name", kept)
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		p              person.Person
		name, inverted string
	}{
		{person.Person{Given: "P. T.", Family: "Costa", Suffix: "Jr."}, "P. T. Costa Jr.", "Costa, P. T., Jr."},
		{person.Person{Family: "Costa", Suffix: "Jr."}, "Costa Jr.", "Costa Jr."},
		{person.Person{Given: "Ada", Family: "Quill"}, "Ada Quill", "Quill, Ada"},
		{person.Person{Given: "小明", Family: "王"}, "王 小明", "王, 小明"},
		{person.Person{Literal: "WHO"}, "WHO", "WHO"},
		{person.Person{}, "", ""},
	} {
		if name, inverted := tt.p.Name(), tt.p.Inverted(); name != tt.name || inverted != tt.inverted {
			t.Errorf("%v: %q and %q", tt.p, name, inverted)
		}
	}
	if p := person.First(list(t, `["et al.", {"user": "x"}, "Quill, Ada", "Fern, Bo"]`)); p.Family != "Quill" {
		t.Errorf("first is %v", p)
	}
}

func TestInitials(t *testing.T) {
	for given, want := range map[string]string{
		"Amara Ann": "A A", "A.B. C": "A B C", "J.-P. B": "J -P B", "Eva-Maria": "E -M", "-Eva": "E", "Eva-": "E",
		"123": "", "Ivo van den": "I v d",
		"E\u0301mile": "E\u0301", "Ada (Addie) B.": "A B", "Ada [A.] B": "A B", "Ada (B": "A B", "小明": "",
		"Xiaoming (小明)": "X", "민수": "", "たろう": "", "": "",
	} {
		var got []string
		person.Initials(given, true, func(initial string, hyphen bool) {
			if hyphen {
				initial = "-" + initial
			}
			got = append(got, initial)
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
	}
	var joined string
	person.Initials("J.-P. Eva-Maria", false, func(initial string, _ bool) { joined += initial })
	if joined != "JPE" {
		t.Errorf("without hyphens: %q", joined)
	}
	if !person.IsWhole("小明") || person.IsWhole("Xiaoming (小明)") || person.IsWhole("Ada") ||
		!person.FamilyFirst("민수", "김") || person.FamilyFirst("小明", "Wang") {
		t.Error("names that are never abbreviated")
	}
}

// TestNoAllocations: usual names cost nothing.
func TestNoAllocations(t *testing.T) {
	stored := list(t, `[{"first": "Amara A.", "last": "Szymczak", "user": "a"}, {"first": "Jürgen", `+
		`"last": "Müller-Lüdenscheidt", "user": null}, {"first": "Jan", "last": "van der Berg"}]`)
	count := 0
	add := func(person.Person, bson.Raw) { count++ }
	if n := testing.AllocsPerRun(100, func() { person.Each(stored, add) }); n != 0 || count == 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzEach: whatever is stored, names are one line, and what they say is read again as the same person.
func FuzzEach(f *testing.F) {
	for _, seed := range []string{"Costa, Jr., P. T.", "Quill, Ada; Fern, Bo", "A and B and {C} et al.",
		"Prof. Dr. Ada Quill <a@b.c>", "Q¹,², A. (1)", "…"} {
		f.Add(seed, "P. T., Jr.", "III")
	}
	f.Fuzz(func(t *testing.T, one, two, three string) {
		parts := bson.D{{Key: "last", Value: one}, {Key: "first", Value: two}, {Key: "suffix", Value: three}}
		whole := bson.D{{Key: "name", Value: two}}
		doc, err := bson.Marshal(bson.D{{Key: "a", Value: bson.A{one, parts, whole}}})
		if err != nil {
			t.Fatal(err)
		}
		person.Each(raw.Get(doc, "a"), func(p person.Person, _ bson.Raw) {
			for _, s := range []string{p.Given, p.Family, p.Suffix, p.Literal} {
				if strings.ContainsAny(s, "\n\r\x00") || strings.TrimSpace(s) != s ||
					strings.ToValidUTF8(s, "?") != s {
					t.Errorf("%q of %q %q %q", s, one, two, three)
				}
			}
			if p.Literal != "" && (p.Family != "" || p.Given != "" || p.Suffix != "") || p.Family == "" &&
				p.Suffix+p.Given != "" {
				t.Errorf("%+v of %q %q %q", p, one, two, three)
			}
			_, _ = p.Name(), p.Inverted()
			person.Initials(p.Given, true, func(string, bool) {})
		})
	})
}

// TestLinear: long texts take no longer than their length.
func TestLinear(t *testing.T) {
	for _, part := range []string{"a@", "(1)", "<sup>", "et al. ", "and ", "A, ", "Quill A, ", "PhD ", "Dr. ", "{",
		"Jr. ", "; ", "¹", "a@b.c ", "Ada Quill, ", ", Jr."} {
		text := "Quill " + strings.Repeat(part, 200_000/len(part))
		stored := list(t, fmt.Sprintf(`[%q, {"last": %[1]q, "first": %[1]q}]`, text))
		person.Each(stored, func(person.Person, bson.Raw) {})
	}
}

func BenchmarkEach(b *testing.B) {
	for name, src := range map[string]string{
		"documents": `[{"first": "Amara A.", "last": "Szymczak", "user": "a"}, {"first": "Jürgen", "last": "Müller", ` +
			`"user": null}]`,
		"text": `"Quill, Ada; Fern, Bo"`,
	} {
		b.Run(name, func(b *testing.B) {
			stored := list(b, src)
			b.ReportAllocs()
			for b.Loop() {
				person.Each(stored, func(person.Person, bson.Raw) {})
			}
		})
	}
}
