package raw_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

func TestKey(t *testing.T) {
	for _, v := range []bson.RawValue{raw.NewString("a"), raw.NewBool(true), {Type: bson.TypeNull}} {
		if got := raw.KeyValue(raw.Key(v)); !got.Equal(v) {
			t.Errorf("KeyValue(Key(%s)) = %s", v, got)
		}
	}
}
