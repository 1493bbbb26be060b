package api

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/rules/ejson"
	"vitrine/rules/label"
)

// labels has a German label of one type.
func labels() label.Sets {
	return label.Sets{label.ActivityType: {"publication": {EN: "Publication", DE: "Publikation"}}}
}

// TestTranslate: the labels of type and subtype are in the language; everything else is unchanged.
func TestTranslate(t *testing.T) {
	const kind = "Publikation"
	tr := &translator{labels: labels(), lang: "de"}
	for record, want := range map[string]string{
		`{"type":"publication","rendered":{"type":"Publication","web":"w"},"x":1}`:          `{"type":"publication","rendered":{"type":"` + kind + `","web":"w"},"x":1}`,
		`{"type":"nope","subtype":"x","rendered":{"type":"Nope","subtype":"X"}}`:            `{"type":"nope","subtype":"x","rendered":{"type":"Nope","subtype":"X"}}`,
		`{"type":"publication","subtype":"nope","rendered":{"type":"P","subtype":"nope"}}`:  `{"type":"publication","subtype":"nope","rendered":{"type":"` + kind + `","subtype":"nope"}}`,
		`{"type":"publication","subtype":"nope","rendered":{"type":"P","subtype":"Other"}}`: `{"type":"publication","subtype":"nope","rendered":{"type":"` + kind + `","subtype":"` + kind + `"}}`,
		`{"type":"publication","rendered":{"web":"w"}}`:                                     `{"type":"publication","rendered":{"web":"w"}}`,
		`{"type":"publication","rendered":"w"}`:                                             `{"type":"publication","rendered":"w"}`,
		`{}`:                                                                                `{}`,
	} {
		if got := string(ejson.AppendDocument(nil, tr.translate(parse(t, record)))); got != want {
			t.Errorf("%s is %s, want %s", record, got, want)
		}
	}
}

// TestTranslator: only a language other than the configured one needs a translator, which keeps the
// shape of the rows.
func TestTranslator(t *testing.T) {
	e, err := New(Options{Labels: labels(), Resources: configs.Resources{Language: "de"}},
		Shared{Now: func() time.Time { return time.Unix(1700000000, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"": "", "lang=de": "", "lang=en": " in en"} {
		if got := e.translator(params(text)).key(); got != want {
			t.Errorf("%q has the key %q, want %q", text, got, want)
		}
	}
	b := index.NewBuilder(activityView(), index.NewBudget(1<<20, 1<<20))
	doc := parse(t,
		`{"_id":"a","type":"unknown","year":2020,"rendered":{"web":"w","icon":"i","type":"T","subtype":"S",`+
			`"print":"p"}}`)
	row := index.Row{Table: b.Load([]bson.Raw{doc})}
	var none *translator
	for name, write := range map[string]rowFunc{
		"list": activityRow, "table": tableRow{citation: fragWeb}.append,
		"print":   tableRow{citation: fragPrint}.append,
		"columns": recordRow{columns: params("columns=web,year,title").Columns(), rendered: renderedColumns}.row,
		"entry":   func(dst []byte, a index.Row) []byte { return appendEntry(dst, a.Doc(), doc.Lookup("year")) },
	} {
		prepared, made := string(none.rows(write)(nil, row)), string(
			e.translator(params("lang=en")).rows(write)(nil, row))
		if prepared != made || prepared == "" {
			t.Errorf("%s: prepared %s, made %s", name, prepared, made)
		}
	}
}

// TestNamedIn: a record names its persons and its creator, and never the empty user.
func TestNamedIn(t *testing.T) {
	for _, tt := range []struct {
		user, record string
		want         bool
	}{
		{"ada", `{"persons":[{"user":"bob"},{"user":"ada"}]}`, true},
		{"ada", `{"created_by":"ada"}`, true},
		{"ada", `{"created_by":"Ada","persons":[]}`, false},
		{"", `{"created_by":"","persons":[{"user":null}]}`, false},
		{"", `{}`, false},
	} {
		f := namedIn(tt.user, "persons.user", "created_by")
		if got, err := f.Match(parse(t, tt.record)); got != tt.want || err != nil {
			t.Errorf("%q in %s: %v, %v", tt.user, tt.record, got, err)
		}
	}
}
