package filter

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// evalIn compares with the elements as a whole: it does not open arrays among them.
func evalIn(f frame) bson.RawValue {
	return raw.NewBool(some(f.array(1), func(v bson.RawValue) bool { return raw.Compare(v, f.values[0]) == 0 }))
}

// some reports whether holds is true for an element of an array.
func some(array bson.RawValue, holds func(v bson.RawValue) bool) bool {
	for v := range raw.Elements(array) {
		if holds(v) {
			return true
		}
	}
	return false
}

// elementsTrue returns $anyElementTrue if until is true, and $allElementsTrue otherwise.
func elementsTrue(until bool) evaluation {
	return func(f frame) bson.RawValue {
		return raw.NewBool(some(f.array(0), func(v bson.RawValue) bool { return raw.Truth(v) == until }) == until)
	}
}

// evalIntersection returns the common elements, sorted and distinct. It returns null if an argument is null, and an
// empty set without arguments.
func evalIntersection(f frame) bson.RawValue {
	var common []bson.RawValue
	if !f.all(func(i int) {
		elements := distinct(f.array(i))
		if i == 0 {
			common = elements
		}
		common = slices.DeleteFunc(common, func(v bson.RawValue) bool { return !contains(elements, v) })
	}) {
		return null
	}
	var b raw.Builder
	for _, v := range common {
		b.Push(v)
	}
	return b.Finish(bson.TypeArray)
}

// evalSubset refuses null, unlike evalIntersection.
func evalSubset(f frame) bson.RawValue {
	part, whole := f.array(0), distinct(f.array(1))
	return raw.NewBool(!some(part, func(v bson.RawValue) bool { return !contains(whole, v) }))
}

// distinct returns the elements of an array, sorted and distinct.
func distinct(array bson.RawValue) []bson.RawValue {
	return raw.SortUnique(slices.Collect(raw.Elements(array)))
}

// evalMap replaces a missing result by null, so that the array keeps its length.
func evalMap(f frame) bson.RawValue {
	var b raw.Builder
	f.each(func(_, v bson.RawValue) bool {
		b.Push(orNull(v))
		return true
	})
	return b.Finish(bson.TypeArray)
}

// evalFilter keeps elements in their order, up to the limit. A limit of null means no limit.
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
	f.each(func(element, v bson.RawValue) bool {
		if raw.Truth(v) {
			b.Push(element)
			f.state.work(element)
			limit--
		}
		return limit > 0
	})
	return b.Finish(bson.TypeArray)
}
