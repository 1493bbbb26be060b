package raw_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

func BenchmarkCompare(b *testing.B) {
	pairs := [][2]string{
		{`1`, `{"$numberLong": "2"}`}, {`1`, `1.5`}, {`"publication"`, `"publicity"`},
		{`{"$numberDecimal": "1.5"}`, `{"$numberDecimal": "1.50"}`},
		{`{"$numberDecimal": "0.1"}`, `0.1`}, {`{"a": 1, "b": [1, 2]}`, `{"a": 1, "b": [1, 3]}`},
	}
	for _, pair := range pairs {
		var values [2]bson.RawValue
		for i, s := range pair {
			v, err := parseValue([]byte(s), ejson.Options{})
			if err != nil {
				b.Fatal(err)
			}
			values[i] = v
		}
		b.Run(fmt.Sprintf("%s and %s", pair[0], pair[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				raw.Compare(values[0], values[1])
			}
		})
	}
}
