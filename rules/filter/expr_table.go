package filter

import (
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// operator is an operator of expressions.
type operator struct {
	least, most int // how many arguments a list may have; most 0: the names alone are taken
	// names are those of the arguments where they come as a document: with ! if
	// required, with - before those that MongoDB has and memory does not.
	names []string
	// eager is how many arguments are evaluated before eval is called; the others, which
	// may not be needed, are left to it.
	eager int
	eval  evaluation
}

// evaluation computes an operator from its evaluated arguments.
type evaluation func(c *call, s *state, args []bson.RawValue) (bson.RawValue, error)

const unlimited = math.MaxInt

func exactly(n int, eval evaluation) *operator { return between(n, n, eval) }

func anyNumber(eval evaluation) *operator { return between(0, unlimited, eval) }

func between(least, most int, eval evaluation) *operator {
	return &operator{least: least, most: most, eager: unlimited, eval: eval}
}

// unary is an operator that takes every value.
func unary(of func(v bson.RawValue) bson.RawValue) *operator {
	return exactly(1, func(_ *call, _ *state, args []bson.RawValue) (bson.RawValue, error) { return of(args[0]), nil })
}

// lazily has all arguments but the first few left to eval.
func (o *operator) lazily(eager int) *operator {
	o.eager = eager
	return o
}

// named adds the names of arguments.
func (o *operator) named(names string) *operator {
	o.names = strings.Fields(names)
	return o
}

// operators are those with nothing special about how they are written; the others are
// in parser.exprOperator.
var operators = map[string]*operator{
	"$eq":  exactly(2, comparison(func(order int) bool { return order == 0 })),
	"$ne":  exactly(2, comparison(func(order int) bool { return order != 0 })),
	"$gt":  exactly(2, comparison(func(order int) bool { return order > 0 })),
	"$gte": exactly(2, comparison(func(order int) bool { return order >= 0 })),
	"$lt":  exactly(2, comparison(func(order int) bool { return order < 0 })),
	"$lte": exactly(2, comparison(func(order int) bool { return order <= 0 })),
	"$cmp": exactly(2, func(_ *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
		return intValue(int64(raw.Compare(args[0], args[1])), bson.TypeInt32), nil
	}),

	"$and":    between(0, unlimited, logical(false)).lazily(0),
	"$or":     between(0, unlimited, logical(true)).lazily(0),
	"$not":    unary(func(v bson.RawValue) bson.RawValue { return raw.NewBool(!raw.Truth(v)) }),
	"$cond":   between(3, 3, evalCond).lazily(1).named("if! then! else!"),
	"$ifNull": between(2, unlimited, evalIfNull).lazily(0),
	"$type":   unary(func(v bson.RawValue) bson.RawValue { return raw.NewString(typeName(v)) }),

	"$add":      anyNumber(evalAdd),
	"$subtract": exactly(2, evalSubtract),
	"$multiply": anyNumber(evalMultiply),
	"$divide":   exactly(2, evalDivide),
	"$mod":      exactly(2, evalMod),
	"$abs":      exactly(1, evalAbs),
	"$floor":    exactly(1, integral(math.Floor, decimals.Floor)),
	"$ceil":     exactly(1, integral(math.Ceil, decimals.Ceil)),
	"$round":    between(1, 2, evalRound),
	"$min":      anyNumber(extreme(-1)),
	"$max":      anyNumber(extreme(1)),
	"$sum":      anyNumber(evalSum),
	"$avg":      anyNumber(evalAvg),

	"$in":              exactly(2, evalIn),
	"$size":            exactly(1, evalSize),
	"$isArray":         unary(func(v bson.RawValue) bson.RawValue { return raw.NewBool(v.Type == bson.TypeArray) }),
	"$arrayElemAt":     exactly(2, evalElemAt),
	"$first":           exactly(1, evalFirst),
	"$last":            exactly(1, evalLast),
	"$anyElementTrue":  exactly(1, elementsTrue(true)),
	"$allElementsTrue": exactly(1, elementsTrue(false)),
	"$setIntersection": anyNumber(evalIntersection),
	"$setIsSubset":     exactly(2, evalSubset),

	"$concat":    anyNumber(evalConcat),
	"$toLower":   exactly(1, cased('A', 'Z', 'a'-'A')),
	"$toUpper":   exactly(1, cased('a', 'z', 'A'-'a')),
	"$strLenCP":  exactly(1, evalLength),
	"$substrCP":  exactly(3, evalSubstring),
	"$indexOfCP": between(2, 4, evalIndexOf),

	"$year":         between(1, 1, datePart(yearOf)).named("date! timezone"),
	"$month":        between(1, 1, datePart(monthOf)).named("date! timezone"),
	"$dayOfMonth":   between(1, 1, datePart(dayOf)).named("date! timezone"),
	"$dateToString": between(0, 0, evalDateToString).lazily(3).named("date! format timezone onNull"),
	"$dateDiff":     between(0, 0, evalDateDiff).named("startDate! endDate! unit! timezone startOfWeek"),

	"$convert":    between(0, 0, evalConvert).lazily(2).named("input! to! onError onNull -format -base -byteOrder"),
	"$toBool":     exactly(1, conversion(bson.TypeBoolean)),
	"$toInt":      exactly(1, conversion(bson.TypeInt32)),
	"$toLong":     exactly(1, conversion(bson.TypeInt64)),
	"$toDouble":   exactly(1, conversion(bson.TypeDouble)),
	"$toDecimal":  exactly(1, conversion(bson.TypeDecimal128)),
	"$toString":   exactly(1, conversion(bson.TypeString)),
	"$toDate":     exactly(1, conversion(bson.TypeDateTime)),
	"$toObjectId": exactly(1, conversion(bson.TypeObjectID)),
}

// The operators that parser.exprOperator reads by their own rules.
var (
	mapOperator        = between(0, 0, evalMap).lazily(1).named("input! as in! -arrayIndexAs")
	filterOperator     = between(0, 0, evalFilter).lazily(1).named("input! as cond! limit -arrayIndexAs")
	switchOperator     = between(0, 0, evalSwitch).lazily(0).named("branches! default")
	branchOperator     = between(0, 0, nil).named("case! then!")
	regexMatchOperator = between(0, 0, evalRegexMatch).named("input! regex! options")
)

func comparison(holds func(order int) bool) evaluation {
	return func(_ *call, _ *state, args []bson.RawValue) (bson.RawValue, error) {
		return raw.NewBool(holds(raw.Compare(args[0], args[1]))), nil
	}
}

// logical is $and, with until false, or $or, with until true: evaluation goes on until
// an argument has that truth.
func logical(until bool) evaluation {
	return func(c *call, s *state, _ []bson.RawValue) (bson.RawValue, error) {
		for _, a := range c.args {
			v, err := a.eval(s)
			if err != nil {
				return v, err
			}
			if raw.Truth(v) == until {
				return raw.NewBool(until), nil
			}
		}
		return raw.NewBool(!until), nil
	}
}

func evalCond(c *call, s *state, args []bson.RawValue) (bson.RawValue, error) {
	if raw.Truth(args[0]) {
		return c.args[1].eval(s)
	}
	return c.args[2].eval(s)
}

// evalSwitch takes a condition and a value in turns, then the default or nil.
func evalSwitch(c *call, s *state, _ []bson.RawValue) (bson.RawValue, error) {
	last := len(c.args) - 1
	for i := 0; i < last; i += 2 {
		v, err := c.args[i].eval(s)
		if err != nil {
			return v, err
		}
		if raw.Truth(v) {
			return c.args[i+1].eval(s)
		}
	}
	if !c.given(last) {
		return null, c.wrongf("found no branch for a document, and has no default")
	}
	return c.args[last].eval(s)
}

// evalIfNull returns the first argument that is neither null nor missing, or the last.
func evalIfNull(c *call, s *state, _ []bson.RawValue) (v bson.RawValue, err error) {
	for _, a := range c.args {
		if v, err = a.eval(s); err != nil || !nullish(v) {
			return v, err
		}
	}
	return v, nil
}
