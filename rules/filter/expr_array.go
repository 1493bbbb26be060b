package filter

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// evalIn compares with the elements as a whole: it does not open arrays among them. The array
// mostly comes from the document and is not sorted, so the search is linear.
func evalIn(f frame) bson.RawValue {
	for v := range raw.Elements(f.array(1)) {
		if raw.Compare(v, f.values[0]) == 0 {
			return raw.NewBool(true)
		}
	}
	return raw.NewBool(false)
}

// evalFilter keeps elements in their order, up to the limit. A limit of null means no limit. Each
// element costs a step for the condition, and its bytes if it stays.
func evalFilter(f frame) bson.RawValue {
	limit := math.MaxInt
	if f.has(3) {
		if v := f.lazy(3); !raw.IsNone(v) {
			limit = f.int32("limit", v)
		}
		if limit < 1 {
			f.fail("takes a limit of at least 1")
		}
	}
	var b raw.Builder
	for element := range raw.Elements(f.array(0)) {
		// Scopes nest, so the variables before this one are set.
		f.state.vars = append(f.state.vars[:f.call.slot], element)
		if !raw.Truth(f.lazy(2)) {
			continue
		}
		b.Push(element)
		f.state.work(element)
		if limit--; limit == 0 {
			break
		}
	}
	return b.Finish(bson.TypeArray)
}
