package display_test

import (
	"encoding/json"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/display"
	"vitrine/rules/ejson"
)

func TestResolve(t *testing.T) {
	d := display.NewDirectory(
		[]bson.Raw{
			parse(t, `{"_id":{"$oid":"245d6cb04265c77322a34969"},"id":"ROR1","name":"Moon"}`),
			parse(t, `{"_id":"sun","name":"Sun"}`),
			parse(t, `{"_id":"nameless"}`),
		},
		[]bson.Raw{
			parse(t, `{"username":"ann","first":"Ann","last":"Ada","displayname":"A. Ada"}`),
			parse(t, `{"_id":{"$oid":"345d6cb04265c77322a34969"},"username":"bob","displayname":"Bob B."}`),
			parse(t, `{"username":"ann","first":"Another"}`),
			parse(t, `{"username":null,"first":"Nobody"}`),
			parse(t, `{"username":"eve"}`),
		},
	)
	tests := []struct{ name, record, want string }{
		{"nothing to resolve", `{"title":"A"}`, ``},
		{"organisation by _id", `{"scholarship":{"$oid":"245d6cb04265c77322a34969"}}`,
			`{"organizations":[{"ref":"245d6cb04265c77322a34969","id":"245d6cb04265c77322a34969","name":"Moon"}]}`},
		{"by its digits", `{"scholarship":"245d6cb04265c77322a34969"}`,
			`{"organizations":[{"ref":"245d6cb04265c77322a34969","id":"245d6cb04265c77322a34969","name":"Moon"}]}`},
		{"by its own id", `{"funding_organization":["ROR1","sun"]}`,
			`{"organizations":[{"ref":"ROR1","id":"245d6cb04265c77322a34969","name":"Moon"},{"ref":"sun",` +
				`"id":"sun","name":"Sun"}]}`},
		{"twice the same", `{"scholarship":"sun","funding_organization":"sun"}`,
			`{"organizations":[{"ref":"sun","id":"sun","name":"Sun"}]}`},
		{"unknown, nameless, empty", `{"scholarship":"mars","funding_organization":["nameless","",null]}`, ``},
		{"persons without a name",
			`{"persons":[{"user":"ann"},{"user":"bob","name":"Robert"},{"user":"eve"},{"user":"who"}]}`,
			`{"persons":[{"user":"ann","name":"Ann Ada"}]}`},
		{"applicant, contact, supervisor", `{"applicant":"ann","contact":"bob","supervisor":{"user":"ann"}}`,
			`{"persons":[{"user":"bob","name":"Bob B."},{"user":"ann","name":"Ann Ada"}]}`},
		{"a person by _id", `{"contact":{"$oid":"345d6cb04265c77322a34969"}}`,
			`{"persons":[{"user":"345d6cb04265c77322a34969","name":"Bob B."}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			if doc := d.Resolve(parse(t, tt.record)); doc != nil {
				if err := doc.Validate(); err != nil {
					t.Fatal(err)
				}
				got = string(ejson.AppendDocument(nil, doc))
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestStrip(t *testing.T) {
	tests := []struct{ row, want string }{
		{`{"_id":1,"a":2}`, `{"_id":1,"a":2}`},
		{`{"_id":1,"_resolved":{"persons":[]},"a":{"_resolved":1}}`, `{"_id":1,"a":{"_resolved":1}}`},
	}
	for _, tt := range tests {
		got := display.Strip(parse(t, tt.row))
		if err := got.Validate(); err != nil {
			t.Fatal(err)
		}
		if s := string(ejson.AppendDocument(nil, got)); s != tt.want {
			t.Errorf("Strip(%s) = %s, want %s", tt.row, s, tt.want)
		}
	}
}

func FuzzAppend(f *testing.F) {
	f.Add("persons", []byte(parse(f, `{"v":[{"user":"a"}],"_resolved":{"persons":[{"user":"a","name":"b"}]}}`)))
	f.Fuzz(func(t *testing.T, field string, row []byte) {
		doc := bson.Raw(row)
		if doc.Validate() != nil {
			return
		}
		out := display.Style{}.Append(nil, field, doc.Lookup("v"), doc)
		if !json.Valid(out) {
			t.Errorf("no JSON: %s", out)
		}
		_ = display.NewDirectory([]bson.Raw{doc}, []bson.Raw{doc}).Resolve(doc)
		_ = display.Strip(doc)
	})
}
