package filtertest

import "strings"

// rule has the alternatives for a name. Those that nest count against maxDepth.
type rule struct{ flat, nesting []string }

// rules are those of the grammar, by name.
var rules = parse(grammar)

// parse reads the lines of a grammar.
func parse(grammar string) map[string]rule {
	rules := map[string]rule{}
	for line := range strings.Lines(strings.ReplaceAll(grammar, "\n\t", " ")) {
		name, alternatives, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
		if !ok {
			continue
		}
		flat, nesting, nests := strings.Cut(alternatives, " || ")
		r := rule{flat: strings.Split(flat, " | ")}
		for i, text := range r.flat {
			if text == "-" {
				r.flat[i] = ""
			}
		}
		if nests {
			r.nesting = strings.Split(nesting, " | ")
		}
		rules[name] = r
	}
	return rules
}

// grammar makes Extended JSON. A line is a name and its alternatives, the simplest first
// and likely ones several times; behind || stand those that nest. "-" makes nothing.
const grammar = `
holder = {"value": <value>}
value = <comparable> | <comparable> | <comparable> | <comparable> | <comparable> | <comparable> | {"$undefined": true}
comparable = <orderable> | <orderable> | <orderable> | <orderable> | <orderable> | <orderable> | <regex>
orderable = <scalar> | <scalar> | <scalar> || <object> | <array>
scalar = 0 | 1 | 2 | "<text>" | <number> | <odd>
text = - | a | ab | A | b | abc\n | ä | Ab | 0 | 000000000000000000000001
number = 1.0 | {"$numberLong": "1"} | 0.5 | -0.0 | {"$numberDouble": "NaN"} | {"$numberDouble": "Infinity"} | {"$numberDouble": "-Infinity"}
	| -1 | 2.5 | {"$numberLong": "9007199254740992"} | {"$numberLong": "9007199254740993"} | 9007199254740992.0
	| {"$numberLong": "9223372036854775807"} | 9223372036854775808.0 | {"$numberLong": "-9223372036854775808"}
	| {"$numberDecimal": "1"} | {"$numberDecimal": "1.00"} | {"$numberDecimal": "0.5"} | {"$numberDecimal": "NaN"}
	| {"$numberDecimal": "9007199254740993"} | {"$numberDecimal": "1E+400"} | {"$numberDecimal": "-Infinity"} | {"$numberDecimal": "2.50"}
odd = null | true | false | {"$minKey": 1} | {"$maxKey": 1} | {"$oid": "000000000000000000000001"} | {"$oid": "000000000000000000000002"}
	| {"$date": "1970-01-01"} | {"$date": "2023-11-14T22:13:20Z"} | {"$timestamp": {"t": 1, "i": 2}} | {"$timestamp": {"t": 1, "i": 3}}
	| {"$binary": {"base64": "BQ==", "subType": "00"}} | {"$binary": {"base64": "AQI=", "subType": "04"}} | {"$symbol": "ab"} | {"$code": "f()"}
	| {"$code": "f()", "$scope": {"a": 1}} | {"$dbPointer": {"$ref": "db", "$id": {"$oid": "000000000000000000000001"}}}
object = {} | {"a": <value>} | {"b": <value>} | {"0": <value>} | {"a": <value>, "b": <value>} | {"b": <value>, "a": <value>}
	| {"a": <value>, "0": <value>} | {"b": <value>, "c": <value>} | {"a": <value>, "b": <value>, "0": <value>, "c": <value>, "1": <value>}
array = [] | [<value>] | [<value>, <value>] | [<value>, <value>, <value>]

doc = {"_id": <id><a><b><c><d>}
id = 1<digit><digit> | 2<digit><digit> | 3<digit><digit> | {"$oid": "00000000000000000000000<digit>"}
digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
a = , "a": <value> | , "a": <value> | , "a": <value> | -
b = , "b": <value> | , "b": <value> | , "b": <value> | -
c = , "c": <value> | , "c": <value> | , "c": <value> | -
d = , "d": <value> | , "d": <value> | , "d": <value> | -

filter = {<condition>} | {<condition>} | {<condition>} | {<condition>, <condition>}
filters = <filter> | <filter>, <filter> | <filter>, <filter>, <filter>
condition = <field> | <field> | <field> | <field> | <field> | <field> | "$comment": "noted" || <logical> | <logical>
logical = "$or": [<filters>] | "$and": [<filters>] | "$nor": [<filters>]
field = "<path>": <comparable> | "<path>": <regex> | "<path>": <operators> | "<path>": <operators> | "<path>": <operators>
path = a | b | c | a | b | c | a | b | a.b | a.0 | a.b.c | a.0.b | b.a | b.1 | a.b.0 | a.1.0 | c.a.b | d | a.0.0
	| c.0 | b.c.a | missing | a.missing | _id | d.b.1.c
operators = {<operator>} | {<operator>} | {<operator>} | {<operator>, <operator>}
operator = "$eq": <comparable> | "$ne": <orderable> | "$ne": <orderable> | "$gt": <orderable> | "$gte": <orderable> | "$gte": <orderable>
	| "$lt": <orderable> | "$lte": <orderable> | "$lte": <orderable> | "$in": [<list>] | "$nin": [<list>] | "$exists": true | "$exists": false
	| "$type": <type> | "$size": 0 | "$size": 1 | "$size": 2 | "$mod": [<divisor>, 0] | "$mod": [<divisor>, 1] | "$mod": [<divisor>, -1]
	| "$all": [<list>] | "$all": [{"$elemMatch": <element>}] | "$regex": <regex> | "$not": <regex> | "$bitsAllSet": <bits> | "$bitsAnySet": <bits>
	| "$bitsAllClear": <bits> | "$bitsAnyClear": <bits> || "$not": <operators> | "$not": <operators> | "$elemMatch": <element> | "$elemMatch": <element>
regex = {"$regularExpression": {"pattern": "<pattern>", "options": "<options>"}}
pattern = a | ^a | b$ | ^$ | [a-c]+$ | (a)(?=b) | (?i)AB | ä | ^(?!a) | . | c$\\n | A|0
options = - | i | m | s
list = - | <comparable> | <comparable>, <comparable> | <comparable>, <regex>, <comparable>
element = {"a": <comparable>} | {"b": <comparable>} | {"0": <comparable>} | {"a.b": <comparable>} || <operators> | <operators> | <filter> | <filter>
type = "string" | "number" | "array" | "object" | "null" | "int" | ["double", "bool"] | 16 | "undefined" | "decimal"
divisor = 2 | {"$numberLong": "3"} | 2.7 | -1
bits = 1 | 5 | [0, 70] | {"$binary": {"base64": "BQ==", "subType": "00"}} | []

plain = {"n": <n><x><s><people><numbers><at><flag>}
n = null | -1 | 0 | 1 | 2 | 3
x = - | , "x": null | , "x": 0.5 | , "x": 2.5 | , "x": 3.0 | , "x": {"$numberLong": "1099511627776"} | , "x": -1.5
s = - | , "s": null | , "s": "<word>" | , "s": "<word>" | , "s": "<word>" | , "s": "<word>"
word = - | Soil | soil and water | Käfer | 12 | 2.5 | x
people = - | , "people": null | , "people": [] | , "people": [<person>] | , "people": [<person>, <person>] | , "people": [<person>, <person>, <person>]
person = {"name": "<word>"} | {"name": "<word>", "n": 0} | {"name": "<word>", "n": 1} | {"name": "<word>", "n": 2}
numbers = - | , "numbers": null | , "numbers": [] | , "numbers": [<size>] | , "numbers": [<size>, <size>] | , "numbers": [<size>, <size>, <size>]
size = 1 | 2 | 2.5 | {"$numberLong": "7"}
at = - | , "at": null | , "at": {"$date": "<year>-<month>-<day>:00:00Z"} | , "at": {"$date": "<year>-<month>-<day>:00:00Z"}
year = 2023 | 2024
month = 01 | 02 | 03 | 05 | 06 | 08 | 11 | 12
day = 01T00 | 01T23 | 09T12 | 17T07 | 28T01 | 28T23
flag = - | , "flag": null | , "flag": true | , "flag": true | , "flag": false | , "flag": false

expression = {"$expr": <truth>}
truth = "$flag" | {"$eq": ["$n", 1]} | {"$eq": [{"$type": "$x"}, "double"]} | true || {"$and": [<truth>, <truth>]} | {"$or": [<truth>, <truth>]}
	| {"$not": [<truth>]} | {"$in": [<numeral>, <series>]} | {"$anyElementTrue": [<series>]} | {"$allElementsTrue": [<series>]}
	| {"$setIsSubset": [<series>, <series>]} | {"$regexMatch": {"input": <string>, "regex": "<search>", "options": "i"}} | {"$eq": [<string>, <string>]}
	| {"$eq": [{"$type": <numeral>}, "<kind>"]} | {"$isArray": ["$people"]} | {"$isArray": ["$s"]} | {"$isArray": [<series>]} | {"$sum": <series>}
	| {"<compare>": [<numeral>, <numeral>]} | {"<compare>": [<numeral>, <numeral>]} | {"<compare>": [<numeral>, <numeral>]}
search = ^s | a | (?=o)
kind = int | double | null | missing
compare = $eq | $ne | $gt | $gte | $lt | $lte
numeral = "$n" | "$x" | 2 | 1.5 | 0 | "$people.n" || {"$add": [<numeral>, <numeral>]} | {"$subtract": [<numeral>, <numeral>]}
	| {"$multiply": [<numeral>, <numeral>]} | {"$divide": [<numeral>, <quotient>]} | {"$mod": [<numeral>, <quotient>]}
	| {"$abs": <numeral>} | {"$floor": <numeral>} | {"$ceil": <numeral>} | {"$round": <numeral>} | {"$min": <series>} | {"$max": <series>}
	| {"$avg": <series>} | {"$sum": <series>} | {"$size": {"$ifNull": [<series>, []]}} | {"$first": <series>} | {"$last": <series>}
	| {"$strLenCP": {"$toLower": <string>}} | {"$year": "$at"} | {"$month": "$at"} | {"$dayOfMonth": "$at"}
	| {"$convert": {"input": <string>, "to": "double", "onError": -1}} | {"$cond": [<truth>, <numeral>, <numeral>]}
quotient = 2 | 0.5 | "$n"
series = "$numbers" | "$people.n" | [1, "$n"] || {"$filter": {"input": <series>, "cond": {"$gt": ["$$this", <numeral>]}}}
	| {"$map": {"input": "$people", "as": "p", "in": {"$ifNull": ["$$p.n", <numeral>]}}} | {"$setIntersection": [<series>, <series>]}
	| {"$switch": {"branches": [{"case": <truth>, "then": <series>}], "default": []}}
string = "$s" | "soil" | {"$arrayElemAt": ["$people.name", 0]} || {"$concat": [<string>, "-", <string>]} | {"$toLower": <string>}
	| {"$toUpper": <string>} | {"$substrCP": [<string>, <digit>, <digit>]} | {"$toString": <numeral>}
	| {"$dateToString": {"date": "$at", "format": "%Y-%m", "onNull": "none"}}
`
