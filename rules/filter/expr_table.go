package filter

import (
	"math"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// operator is an operator of expressions.
type operator struct {
	least, most int // how many arguments a list may have; if most is 0, only a document of names is allowed
	// names are the names of arguments in a document. ! marks required ones, - marks those that only MongoDB evaluates.
	names []string
	// eager is how many arguments are evaluated before eval is called. eval evaluates the others if it needs them.
	eager int
	nulls int // if one of the first nulls arguments is null or missing, the result is null
	eval  evaluation
}

// evaluation computes an operator from its evaluated arguments.
type evaluation func(f frame) bson.RawValue

// unlimited is the limit of operators that take any number of arguments.
const unlimited = math.MaxInt

// exactly returns an operator with n arguments. If n is 0, they must be named.
func exactly(n int, eval evaluation) *operator { return between(n, n, eval) }

// anyNumber returns an operator with any number of arguments.
func anyNumber(eval evaluation) *operator { return between(0, unlimited, eval) }

// between returns an operator with least to most arguments, all of them eager.
func between(least, most int, eval evaluation) *operator {
	return &operator{least: least, most: most, eager: unlimited, eval: eval}
}

// unary returns an operator with one argument of any type.
func unary(of func(v bson.RawValue) bson.RawValue) *operator {
	return exactly(1, func(f frame) bson.RawValue { return of(f.values[0]) })
}

// lazily makes all arguments after the first eager ones lazy.
func (o *operator) lazily(eager int) *operator {
	o.eager = eager
	return o
}

// nullIf makes the result null if one of the first n arguments is.
func (o *operator) nullIf(n int) *operator {
	o.nulls = n
	return o
}

// named adds the names of arguments.
func (o *operator) named(names string) *operator {
	o.names = strings.Fields(names)
	return o
}

// operators are the operators with the usual syntax. exprParser.call parses the others.
var operators = map[string]*operator{
	"$eq":  exactly(2, comparison(Eq, true)),
	"$ne":  exactly(2, comparison(Eq, false)),
	"$gt":  exactly(2, comparison(Gt, true)),
	"$gte": exactly(2, comparison(Gte, true)),
	"$lt":  exactly(2, comparison(Lt, true)),
	"$lte": exactly(2, comparison(Lte, true)),
	"$cmp": exactly(2, func(f frame) bson.RawValue {
		return intValue(int64(raw.Compare(f.values[0], f.values[1])), bson.TypeInt32)
	}),

	"$and":    anyNumber(logical(false)).lazily(0),
	"$or":     anyNumber(logical(true)).lazily(0),
	"$not":    unary(func(v bson.RawValue) bson.RawValue { return raw.NewBool(!raw.Truth(v)) }),
	"$cond":   exactly(3, evalCond).lazily(1).named("if! then! else!"),
	"$ifNull": between(2, unlimited, evalIfNull).lazily(0),
	"$type":   unary(func(v bson.RawValue) bson.RawValue { return raw.NewString(typeName(v)) }),

	"$add":      anyNumber(evalAdd),
	"$subtract": exactly(2, evalSubtract).nullIf(2),
	"$multiply": anyNumber(evalMultiply),
	"$divide":   exactly(2, evalDivide).nullIf(2),
	"$mod":      exactly(2, evalMod).nullIf(2),
	"$abs":      exactly(1, evalAbs).nullIf(1),
	"$floor":    exactly(1, fractional(math.Floor, decimals.Floor)).nullIf(1),
	"$ceil":     exactly(1, fractional(math.Ceil, decimals.Ceil)).nullIf(1),
	"$round":    between(1, 2, evalRound).nullIf(1),
	"$min":      anyNumber(extreme(-1)),
	"$max":      anyNumber(extreme(1)),
	"$sum":      anyNumber(func(f frame) bson.RawValue { return f.sum().value(f.state) }),
	"$avg":      anyNumber(evalAvg),

	"$in":              exactly(2, evalIn),
	"$size":            exactly(1, func(f frame) bson.RawValue { return intValue(int64(raw.Count(f.array(0))), bson.TypeInt32) }),
	"$isArray":         unary(func(v bson.RawValue) bson.RawValue { return raw.NewBool(v.Type == bson.TypeArray) }),
	"$arrayElemAt":     exactly(2, func(f frame) bson.RawValue { return raw.At(f.array(0), f.int32("position", f.values[1])) }).nullIf(2),
	"$first":           exactly(1, func(f frame) bson.RawValue { return raw.At(f.array(0), 0) }).nullIf(1),
	"$last":            exactly(1, func(f frame) bson.RawValue { return raw.At(f.array(0), -1) }).nullIf(1),
	"$anyElementTrue":  exactly(1, elementsTrue(true)),
	"$allElementsTrue": exactly(1, elementsTrue(false)),
	"$setIntersection": anyNumber(evalIntersection),
	"$setIsSubset":     exactly(2, evalSubset),

	"$concat":    anyNumber(evalConcat),
	"$toLower":   exactly(1, cased('A', 'Z')),
	"$toUpper":   exactly(1, cased('a', 'z')),
	"$strLenCP":  exactly(1, evalLength),
	"$substrCP":  exactly(3, evalSubstring),
	"$indexOfCP": between(2, 4, evalIndexOf).nullIf(1),

	"$year":         exactly(1, datePart(time.Time.Year)).nullIf(1).named("date! timezone"),
	"$month":        exactly(1, datePart(func(t time.Time) int { return int(t.Month()) })).nullIf(1).named("date! timezone"),
	"$dayOfMonth":   exactly(1, datePart(time.Time.Day)).nullIf(1).named("date! timezone"),
	"$dateToString": exactly(0, evalDateToString).lazily(3).named("date! format timezone onNull"),
	"$dateDiff":     exactly(0, evalDateDiff).nullIf(3).named("startDate! endDate! unit! timezone startOfWeek"),

	"$convert":    exactly(0, evalConvert).lazily(2).named("input! to! onError onNull -format -base -byteOrder"),
	"$toBool":     exactly(1, conversion(bson.TypeBoolean)).nullIf(1),
	"$toInt":      exactly(1, conversion(bson.TypeInt32)).nullIf(1),
	"$toLong":     exactly(1, conversion(bson.TypeInt64)).nullIf(1),
	"$toDouble":   exactly(1, conversion(bson.TypeDouble)).nullIf(1),
	"$toDecimal":  exactly(1, conversion(bson.TypeDecimal128)).nullIf(1),
	"$toString":   exactly(1, conversion(bson.TypeString)).nullIf(1),
	"$toDate":     exactly(1, conversion(bson.TypeDateTime)).nullIf(1),
	"$toObjectId": exactly(1, conversion(bson.TypeObjectID)).nullIf(1),
}

// The operators with a syntax of their own, see exprParser.call.
var (
	mapOperator        = exactly(0, evalMap).lazily(1).nullIf(1).named("input! as in! -arrayIndexAs")
	filterOperator     = exactly(0, evalFilter).lazily(1).nullIf(1).named("input! as cond! limit -arrayIndexAs")
	switchOperator     = exactly(0, evalSwitch).lazily(0).named("branches! default")
	branchOperator     = exactly(0, nil).named("case! then!")
	regexMatchOperator = exactly(0, evalRegexMatch).named("input! regex! options")
)

// comparison returns the comparison op if holds is true, and its opposite otherwise.
func comparison(op Op, holds bool) evaluation {
	return func(f frame) bson.RawValue {
		return raw.NewBool(op.holds(raw.Compare(f.values[0], f.values[1])) == holds)
	}
}

// logical returns $and if until is false, and $or if until is true: evaluation stops at an argument with that truth
// value.
func logical(until bool) evaluation {
	return func(f frame) bson.RawValue {
		for i := range f.call.args {
			if raw.Truth(f.lazy(i)) == until {
				return raw.NewBool(until)
			}
		}
		return raw.NewBool(!until)
	}
}

// evalCond evaluates only the chosen branch.
func evalCond(f frame) bson.RawValue {
	if raw.Truth(f.values[0]) {
		return f.lazy(1)
	}
	return f.lazy(2)
}

// evalSwitch takes alternating conditions and values, then the default or nil.
func evalSwitch(f frame) bson.RawValue {
	last := len(f.call.args) - 1
	for i := 0; i < last; i += 2 {
		if raw.Truth(f.lazy(i)) {
			return f.lazy(i + 1)
		}
	}
	if !f.has(last) {
		f.fail("found no branch for a document, and has no default")
	}
	return f.lazy(last)
}

// evalIfNull returns the first argument that is neither null nor missing, or the last.
func evalIfNull(f frame) (v bson.RawValue) {
	for i := range f.call.args {
		if v = f.lazy(i); !raw.IsNone(v) {
			return v
		}
	}
	return v
}
