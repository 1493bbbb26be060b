package bench

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestEdit(t *testing.T) {
	own := shapes(t)
	once, err := edited(own[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := edited(once, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := own[0].Lookup("title").StringValue() + ", edition 2"
	if got := twice.Lookup("title").StringValue(); got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	if _, err := twice.LookupErr("rendered"); err == nil {
		t.Error("the record still has the fields rendered from the old title")
	}
	if _, err := edited(bson.Raw{1}, 1); err == nil {
		t.Error("a malformed record: no error")
	}
}
