package access_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/access"
	"vitrine/rules/ejson"
	"vitrine/rules/filter/filtertest"
	"vitrine/rules/raw"
)

func fields(t testing.TB, paths ...string) *access.Fields {
	t.Helper()
	f, err := access.NewFields(paths)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func doc(t testing.TB, text string) bson.Raw {
	t.Helper()
	d, err := ejson.Parse([]byte(text), ejson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestStrip(t *testing.T) {
	for _, tt := range []struct{ name, paths, doc, want string }{
		{"a name", "mail", `{"a":1,"mail":2,"b":3}`, `{"a":1,"b":3}`},
		{"at every depth", "mail", `{"a":{"b":[{"mail":1},[{"mail":1,"c":2}]]}}`, `{"a":{"b":[{},[{"c":2}]]}}`},
		{"whatever it holds", "mail", `{"mail":{"a":[1]},"a":{"mail":[{"mail":1}]}}`, `{"a":{}}`},
		{"below another name", "authors.mail", `{"mail":1,"authors":[{"mail":2,"last":3}]}`,
			`{"mail":1,"authors":[{"last":3}]}`},
		{"below it with names between", "authors.mail",
			`{"authors":{"0":{"mail":1},"home":{"mail":2}},"x":{"authors":{"mail":3}}}`,
			`{"authors":{"0":{},"home":{}},"x":{"authors":{}}}`},
		{"in order alone", "a.b.c", `{"b":{"a":{"c":1}},"a":{"b":{"x":{"c":2}},"c":3}}`,
			`{"b":{"a":{"c":1}},"a":{"b":{"x":{}},"c":3}}`},
		{"a beginning", "private_*", `{"private_mail":1,"private_":2,"private":3,"Private_X":4}`, `{"private":3}`},
		{"a beginning above", "pers*.mail", `{"persons":[{"mail":1}],"per":{"mail":2}}`,
			`{"persons":[{}],"per":{"mail":2}}`},
		{"capitals", "mail", `{"Mail":1,"MAIL":2,"mAil":3,"mails":4,"ma":5}`, `{"mails":4,"ma":5}`},
		{"beyond ASCII", "größe", `{"GRÖßE":1,"grösse":2}`, `{"grösse":2}`},
		{"dots in names", "a.mail", `{"a.mail":1,"a.b":{"mail":2},"mail.a":3,"b.mail":4}`,
			`{"a.b":{},"mail.a":3,"b.mail":4}`},
		{"a name with dots is below each", "mail", `{"mail.a":1,"a.mail":2}`, `{}`},
		{"elements of arrays have no names", "mail", `{"a":["mail",["mail"]]}`, `{"a":["mail",["mail"]]}`},
		{"code", "mail", `{"a":{"$code":"f()","$scope":{"b":{"mail":1}}},"c":{"$code":"g()","$scope":{"b":1}}}`,
			`{"a":null,"c":{"$code":"g()","$scope":{"b":1}}}`},
		{"an empty name", "mail", `{"":{"mail":1},"a":2}`, `{"":{},"a":2}`},
		{"nothing to hide", "mail, phone", `{"a":{"b":[1,{"c":2}]}}`, `{"a":{"b":[1,{"c":2}]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := doc(t, tt.doc)
			whole := bytes.Clone(before)
			got := fields(t, strings.Split(tt.paths, ", ")...).Strip(before)
			if text := string(ejson.AppendDocument(nil, got)); text != tt.want {
				t.Errorf("%s\nwant %s", text, tt.want)
			}
			if !bytes.Equal(before, whole) {
				t.Error("the record was changed")
			}
			if tt.doc == tt.want && &got[0] != &before[0] {
				t.Error("a record without hidden fields was copied")
			}
		})
	}
}

func TestHides(t *testing.T) {
	f := fields(t, "mail", "units.note", "private_*")
	for path, want := range map[string]bool{
		"mail": true, "MAIL": true, "authors.mail": true, "authors.0.mail": true, "mail.domain": true,
		"a.mail.b": true, "private_": true, "a.Private_x.y": true,
		"units.note": true, "units.0.note": true, "units.x.note": true, "x.units.note": true, "0.units.1.note": true,
		"mails": false, "note": false, "note.units": false, "units": false, "units.notes": false, "private": false,
		"": false, ".": false, "authors": false,
	} {
		if got := f.Hides(path); got != want {
			t.Errorf("Hides(%q) = %v, want %v", path, got, want)
		}
		if got := f.Refusal(path) != ""; got != want {
			t.Errorf("Refusal(%q) is %q", path, f.Refusal(path))
		}
	}
}

func TestNoFields(t *testing.T) {
	none := fields(t)
	record := doc(t, `{"mail":1}`)
	if none != nil || none.Hides("mail") || none.Refusal("mail") != "" || none.String() != "" ||
		!bytes.Equal(none.Strip(record), record) {
		t.Error("an empty list hides a field")
	}
	if got := fields(t, "phone", "mail").String(); got != "mail, phone" {
		t.Errorf("String = %q", got)
	}
}

func TestNewFieldsRefuses(t *testing.T) {
	for _, path := range []string{
		"", "*", "a.", ".a", "a..b", "$a", "a.$b", "a*b", "*a", "a.*", "0", "a.0", "a\x00",
		"_id", "_*", "type", "Type", "t*", "user", "username", "us*", "roles", "created_by", "persons",
		"persons.user", "rendered", "rendered.users", "users", "rendered.u*",
	} {
		if f, err := access.NewFields([]string{"mail", path}); err == nil {
			t.Errorf("%q is accepted: %s", path, f)
		}
	}
}

// TestStripAgrees: in random records no remaining field has a hidden path, and each removed field
// has one.
func TestStripAgrees(t *testing.T) {
	g := filtertest.New(3)
	for _, paths := range []string{"b", "a.b", "c, d.a", "b.a.b", "0x*, a"} {
		f := fields(t, strings.Split(paths, ", ")...)
		for range 3000 {
			record := g.Doc()
			rest := f.Strip(record)
			if err := raw.Check(rest); err != nil {
				t.Fatalf("%s of %s: %v", paths, record, err)
			}
			if got, want := texts(rest, f, ""), texts(record, f, ""); got != want {
				t.Fatalf("%s of %s\ngot  %s\nwant %s", paths, record, got, want)
			}
			if again := f.Strip(rest); &again[0] != &rest[0] {
				t.Fatalf("%s of %s: stripped twice", paths, record)
			}
		}
	}
}

// texts lists the fields of a document or array that are not hidden, with their paths.
func texts(doc []byte, f *access.Fields, above string) string {
	var b strings.Builder
	for e := range raw.All(doc) {
		path := above + string(e.Key)
		switch {
		case f.Hides(path):
		case e.Type == bson.TypeEmbeddedDocument, e.Type == bson.TypeArray:
			fmt.Fprintf(&b, "%s{%s}", path, texts(e.Data, f, path+"."))
		case e.Type == bson.TypeCodeWithScope, e.Type == bson.TypeNull: // Strip may replace the code with null
			b.WriteString(path)
		default:
			fmt.Fprintf(&b, "%s=%x ", path, e.Data)
		}
	}
	return b.String()
}

func FuzzStrip(f *testing.F) {
	hidden := fields(f, "b", "a.c", "d*")
	for range 20 {
		f.Add([]byte(filtertest.New(5).Doc()))
	}
	f.Add([]byte("\x05\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, record []byte) {
		rest := hidden.Strip(record)
		for e := range raw.All(rest) {
			if hidden.Hides(string(e.Key)) {
				t.Errorf("%x keeps %s", record, e.Key)
			}
		}
	})
}

func BenchmarkStrip(b *testing.B) {
	hidden := fields(b, "mail", "mail_*", "email", "email_*", "e_mail", "telephone", "phone", "phone_*", "mobile",
		"fax", "private_*", "password", "birthday", "birthdate", "date_of_birth", "internal_id")
	record := doc(b,
		`{"_id":"1","type":"publication","subtype":"article","title":"World of moths","year":2020,"month":3,`+
			`"authors":[`+
			strings.Repeat(
				`{"first":"Ada","last":"Byron","user":"ada","affiliated":true,"aoi":true,"position":"first",`+
					`"units":["A","B"]},`, 8)+
			`{"first":"Bob","last":"Moth"}],"doi":"10.1/2","pubmed":1,"journal":"Moths","pages":"1-2",`+
			`"publisher":"P","rendered":{"web":"`+strings.Repeat("x", 2000)+`","print":"y"}}`)
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		hidden.Strip(record)
	}
}
