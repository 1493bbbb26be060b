package index_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/filter"
)

func TestGroup(t *testing.T) {
	author := func(user any) bson.D { return bson.D{{Key: "user", Value: user}} }
	doc := func(id string, fields ...bson.E) bson.D { return append(bson.D{{Key: "_id", Value: id}}, fields...) }
	snap := load(t, []bson.D{
		doc("a", bson.E{Key: "n", Value: int32(1)},
			bson.E{Key: "authors", Value: bson.A{author("ada"), author("bob"), author(nil)}}),
		doc("b", bson.E{Key: "n", Value: 1.0},
			bson.E{Key: "authors", Value: bson.A{author("ada"), bson.D{}, author("ada")}}),
		doc("c", bson.E{Key: "n", Value: "1"}, bson.E{Key: "authors", Value: bson.A{}}),
		doc("d", bson.E{Key: "n", Value: nil}, bson.E{Key: "authors", Value: nil}),
		doc("e", bson.E{Key: "tags", Value: bson.A{"x", "y"}}, bson.E{Key: "authors", Value: author("cyd")}),
		doc("f", bson.E{Key: "n", Value: int64(2)}, bson.E{Key: "tags", Value: bson.A{"x", "y"}}),
	}, nil)
	tests := []struct {
		name, filter, field, unwind string
		want                        []string
	}{
		{"equal numbers are one group; missing is null", `{}`, "n", "", []string{"null×2", "1×2", "2×1", `"1"×1`}},
		{"only selected rows count", `{"_id":{"$in":["a","c"]}}`, "n", "", []string{"1×1", `"1"×1`}},
		{"an array groups whole", `{"tags":"x"}`, "tags", "", []string{"[x y]×2"}},
		{"a path through an array is an array", `{"_id":"a"}`, "authors.user", "", []string{"[ada bob null]×1"}},
		{"unwound: once per element, missing as null, no array as itself", `{}`, "authors.user", "authors",
			[]string{`"ada"×3`, "null×2", `"bob"×1`, `"cyd"×1`}},
		{"unwound by another field: rows repeat", `{"_id":{"$in":["a","b"]}}`, "_id", "authors",
			[]string{`"a"×3`, `"b"×3`}},
		{"nothing selected", `{"_id":"zzz"}`, "n", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := filter.Parse([]byte(tt.filter), filter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			sel, err := snap.Select(context.Background(), f)
			if err != nil {
				t.Fatal(err)
			}
			groups, err := sel.Group(context.Background(), tt.field, tt.unwind)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, g := range groups {
				got = append(got, fmt.Sprintf("%s×%d", spell(g.Value), g.Count))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// spell writes a value for comparison in tests: a number without its type.
func spell(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeNull:
		return "null"
	case bson.TypeString:
		return fmt.Sprintf("%q", v.StringValue())
	case bson.TypeArray:
		var a []any
		if err := v.Unmarshal(&a); err != nil {
			return err.Error()
		}
		for i := range a {
			if a[i] == nil {
				a[i] = "null"
			}
		}
		return fmt.Sprint(a)
	}
	n, _ := v.AsFloat64OK()
	return fmt.Sprint(n)
}
