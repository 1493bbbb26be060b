package filter

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// array returns an error unless a value is an array.
func (c *call) array(v bson.RawValue) error {
	if v.Type != bson.TypeArray {
		return c.wrongf("takes an array, not %s", typeName(v))
	}
	return nil
}

// int32 returns a whole number of 32 bits.
func (c *call) int32(what string, v bson.RawValue) (int, error) {
	n, integral, ok := raw.Truncate(v)
	if !ok || !integral || n != int64(int32(n)) {
		return 0, c.wrongf("takes a whole number as %s, not %s", what, typeName(v))
	}
	return int(n), nil
}

func evalIn(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	if err := c.array(args[1]); err != nil {
		return null, err
	}
	for v := range raw.Elements(args[1]) {
		if raw.Compare(v, args[0]) == 0 {
			return raw.NewBool(true), nil
		}
	}
	return raw.NewBool(false), nil
}

func evalSize(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	return intValue(int64(length(args[0])), bson.TypeInt32), c.array(args[0])
}

func length(array bson.RawValue) (n int) {
	for range raw.Elements(array) {
		n++
	}
	return n
}

func evalElemAt(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) || nullish(args[1]) {
		return null, nil
	}
	if err := c.array(args[0]); err != nil {
		return null, err
	}
	at, err := c.int32("position", args[1])
	if err != nil {
		return null, err
	}
	return elementAt(args[0], at), nil
}

// elementAt counts from the end if at is negative; beyond the array it is missing.
func elementAt(array bson.RawValue, at int) bson.RawValue {
	if at < 0 {
		at += length(array)
	}
	for v := range raw.Elements(array) {
		if at == 0 {
			return v
		}
		at--
	}
	return bson.RawValue{}
}

func evalFirst(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return null, nil
	}
	return elementAt(args[0], 0), c.array(args[0])
}

func evalLast(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return null, nil
	}
	return elementAt(args[0], -1), c.array(args[0])
}

// elementsTrue is $anyElementTrue, with until true, or $allElementsTrue.
func elementsTrue(until bool) evaluation {
	return func(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
		for v := range raw.Elements(args[0]) {
			if raw.Truth(v) == until {
				return raw.NewBool(until), nil
			}
		}
		return raw.NewBool(!until), c.array(args[0])
	}
}

func evalIntersection(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	var common []bson.RawValue
	for i, v := range args {
		if nullish(v) {
			return null, nil
		}
		if err := c.array(v); err != nil {
			return null, err
		}
		if i == 0 {
			common = distinct(v)
			continue
		}
		other := distinct(v)
		common = slices.DeleteFunc(common, func(v bson.RawValue) bool { return !contains(other, v) })
	}
	var b raw.Builder
	for _, v := range common {
		b.Push(v)
	}
	return b.Finish(bson.TypeArray), nil
}

func evalSubset(c *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
	for _, v := range args {
		if err := c.array(v); err != nil {
			return null, err
		}
	}
	whole := distinct(args[1])
	for v := range raw.Elements(args[0]) {
		if !contains(whole, v) {
			return raw.NewBool(false), nil
		}
	}
	return raw.NewBool(true), nil
}

// distinct returns the elements of an array, sorted and distinct.
func distinct(array bson.RawValue) []bson.RawValue {
	return raw.SortUnique(slices.Collect(raw.Elements(array)))
}

func contains(set []bson.RawValue, v bson.RawValue) bool {
	_, found := slices.BinarySearchFunc(set, v, raw.Compare)
	return found
}

// each evaluates an argument for each element of the input, bound to the operator's
// variable, until take returns false.
func (c *call) each(s *state, input bson.RawValue, arg expr, take func(element, v bson.RawValue) bool) error {
	if err := c.array(input); err != nil {
		return err
	}
	for element := range raw.Elements(input) {
		s.bind(c.slot, element)
		v, err := arg.eval(s)
		if err != nil {
			return err
		}
		if s.work(v); s.left < 0 {
			return c.tooMuch()
		}
		if !take(element, v) {
			return nil
		}
	}
	return nil
}

func evalMap(c *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return null, nil
	}
	var b raw.Builder
	err := c.each(s, args[0], c.args[2], func(_, v bson.RawValue) bool {
		b.Push(orNull(v))
		return true
	})
	return b.Finish(bson.TypeArray), err
}

func evalFilter(c *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return null, nil
	}
	limit := math.MaxInt
	if c.given(3) {
		v, err := c.args[3].eval(s)
		if err == nil && !nullish(v) {
			limit, err = c.int32("limit", v)
		}
		if err == nil && limit < 1 {
			err = c.wrongf("takes a limit of 1 at least")
		}
		if err != nil {
			return null, err
		}
	}
	var b raw.Builder
	err := c.each(s, args[0], c.args[2], func(element, v bson.RawValue) bool {
		if raw.Truth(v) {
			b.Push(element)
			s.work(element)
			limit--
		}
		return limit > 0
	})
	return b.Finish(bson.TypeArray), err
}
