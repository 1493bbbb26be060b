package filter

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// operator is one line of the table: the syntax that the parser checks and the function that
// evaluates it. The parser checks the number and names of arguments; eval checks their values.
type operator struct {
	least, most int // how many arguments a list may have; if most is 0, only a document of names is allowed
	// names are the names of arguments in a document. ! marks required ones, - marks those that only MongoDB
	// evaluates.
	names []string
	// If lazy is true, eval evaluates the arguments after the first eager ones itself. Then
	// arguments that it does not need cannot fail, and cost nothing.
	lazy  bool
	eager int
	// If one of the first nulls arguments is null or missing, the result is null, without a call of eval.
	nulls int
	eval  evaluation
}

// evaluation computes an operator from its evaluated arguments.
type evaluation func(f frame) bson.RawValue

// unlimited is the limit of operators that take any number of arguments.
const unlimited = math.MaxInt

// operators are the operators with the usual syntax. exprParser.call parses the others. What is not
// here is a ForeignNode, so an operator that differs between versions of MongoDB is better left out
// than approximated. docs/filters.md lists the same operators for callers.
var operators = map[string]*operator{
	"$eq":  {least: 2, most: 2, eval: comparison(Eq, true)},
	"$ne":  {least: 2, most: 2, eval: comparison(Eq, false)},
	"$gt":  {least: 2, most: 2, eval: comparison(Gt, true)},
	"$gte": {least: 2, most: 2, eval: comparison(Gte, true)},
	"$lt":  {least: 2, most: 2, eval: comparison(Lt, true)},
	"$lte": {least: 2, most: 2, eval: comparison(Lte, true)},
	"$cmp": {least: 2, most: 2, eval: func(f frame) bson.RawValue {
		return intValue(int64(raw.Compare(f.values[0], f.values[1])), bson.TypeInt32)
	}},

	"$and":    {most: unlimited, lazy: true, eval: logical(false)},
	"$or":     {most: unlimited, lazy: true, eval: logical(true)},
	"$not":    {least: 1, most: 1, eval: func(f frame) bson.RawValue { return raw.NewBool(!raw.Truth(f.values[0])) }},
	"$cond":   {least: 3, most: 3, names: []string{"if!", "then!", "else!"}, lazy: true, eager: 1, eval: evalCond},
	"$ifNull": {least: 2, most: unlimited, lazy: true, eval: evalIfNull},
	"$type":   {least: 1, most: 1, eval: func(f frame) bson.RawValue { return raw.NewString(typeName(f.values[0])) }},

	"$add":      {most: unlimited, lazy: true, eval: evalAdd},
	"$subtract": {least: 2, most: 2, nulls: 2, eval: evalSubtract},
	"$multiply": {most: unlimited, lazy: true, eval: evalMultiply},
	"$divide":   {least: 2, most: 2, nulls: 2, eval: evalDivide},
	"$mod":      {least: 2, most: 2, nulls: 2, eval: evalMod},
	"$abs":      {least: 1, most: 1, nulls: 1, eval: evalAbs},
	"$floor":    {least: 1, most: 1, nulls: 1, eval: rounding(math.Floor)},
	"$ceil":     {least: 1, most: 1, nulls: 1, eval: rounding(math.Ceil)},
	"$min":      {most: unlimited, eval: extreme(-1)},
	"$max":      {most: unlimited, eval: extreme(1)},
	"$sum":      {most: unlimited, eval: func(f frame) bson.RawValue { return f.sum().value() }},
	"$avg":      {most: unlimited, eval: evalAvg},

	"$in": {least: 2, most: 2, eval: evalIn},
	"$size": {least: 1, most: 1, eval: func(f frame) bson.RawValue {
		return intValue(int64(raw.Count(f.array(0))), bson.TypeInt32)
	}},
	"$isArray": {least: 1, most: 1, eval: func(f frame) bson.RawValue {
		return raw.NewBool(f.values[0].Type == bson.TypeArray)
	}},
	"$arrayElemAt": {least: 2, most: 2, nulls: 2, eval: func(f frame) bson.RawValue {
		return raw.At(f.array(0), f.int32("position", f.values[1]))
	}},
	"$first": {least: 1, most: 1, nulls: 1, eval: func(f frame) bson.RawValue { return raw.At(f.array(0), 0) }},
	"$last":  {least: 1, most: 1, nulls: 1, eval: func(f frame) bson.RawValue { return raw.At(f.array(0), -1) }},

	"$concat":    {most: unlimited, lazy: true, eval: evalConcat},
	"$toLower":   {least: 1, most: 1, eval: cased('A', 'Z')},
	"$toUpper":   {least: 1, most: 1, eval: cased('a', 'z')},
	"$strLenCP":  {least: 1, most: 1, eval: evalLength},
	"$substrCP":  {least: 3, most: 3, eval: evalSubstring},
	"$indexOfCP": {least: 2, most: 4, nulls: 1, eval: evalIndexOf},

	"$year":       datePart(time.Time.Year),
	"$month":      datePart(func(t time.Time) int { return int(t.Month()) }),
	"$dayOfMonth": datePart(time.Time.Day),
	"$hour":       datePart(time.Time.Hour),
	"$minute":     datePart(time.Time.Minute),
	"$second":     datePart(time.Time.Second),
	"$dateToString": {
		names: []string{"date!", "format", "timezone", "onNull"}, lazy: true, eager: 3, eval: evalDateToString,
	},
	"$dateTrunc": {
		names: []string{"date!", "unit!", "timezone", "-binSize", "-startOfWeek"}, nulls: 2, eval: evalDateTrunc,
	},
}

// $filter declares a variable, and $regexMatch compiles its expression once, for all documents.
// The operators with a syntax of their own, see exprParser.call.
var (
	filterOperator = &operator{
		names: []string{"input!", "as", "cond!", "limit", "-arrayIndexAs"}, lazy: true, eager: 1, nulls: 1,
		eval: evalFilter,
	}
	regexMatchOperator = &operator{names: []string{"input!", "regex!", "options"}, eval: evalRegexMatch}
)

// comparison returns the comparison op if holds is true, and its opposite otherwise.
func comparison(op Op, holds bool) evaluation {
	return func(f frame) bson.RawValue {
		return raw.NewBool(op.holds(raw.Compare(f.values[0], f.values[1])) == holds)
	}
}

// logical returns $and if until is false, and $or if until is true: evaluation stops at an argument
// with that truth value. Without arguments $and is true and $or false.
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

// evalCond evaluates only the chosen branch. An error in the other branch so never reaches the
// caller, as in MongoDB.
func evalCond(f frame) bson.RawValue {
	if raw.Truth(f.values[0]) {
		return f.lazy(1)
	}
	return f.lazy(2)
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
