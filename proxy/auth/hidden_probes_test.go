package auth_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// revealing are filters that read or test hidden fields in every possible way.
func revealing() []string {
	const object = `{"user":"ada","name":"Ada B","mail":SECRET,"phone":[SECRET,{"phone":SECRET}],"affiliated":true}`
	all := []string{
		`{"mail":SECRET}`, `{"Mail":SECRET}`, `{"authors.mail":SECRET}`, `{"authors.0.mail":SECRET}`,
		`{"contact.mail":{"$exists":true}}`, `{"deep.0.0.mail":SECRET}`,
		`{"deep.mail":SECRET}`, `{"map.0.mail":SECRET}`, `{"units.note":{"$ne":SECRET}}`, `{"units.1.0.note":SECRET}`,
		`{"private_notes":null}`, `{"mail.length":1}`,
		`{"mail":{"$regex":"^ses"}}`, `{"mail":{"$not":{"$regex":"^ses"}}}`, `{"mail":{"$gt":"s"}}`,
		`{"mail":{"$type":"string"}}`, `{"mail":{"$size":2}}`, `{"phone":{"$all":[SECRET]}}`,
		`{"mail":{"$in":[SECRET]}}`, `{"$or":[{"type":"x"},{"mail":SECRET}]}`, `{"$nor":[{"contact.mail":SECRET}]}`,
		`{"phone":{"$mod":[2,0]}}`, `{"phone":{"$bitsAllSet":1}}`,
		`{"phone":{"$elemMatch":{"$eq":SECRET}}}`, `{"authors":{"$elemMatch":{"mail":SECRET}}}`,
		`{"authors":{"$elemMatch":{"$or":[{"phone":SECRET}]}}}`,
		`{"contact":{"mail":SECRET,"user":"ada"}}`, `{"contact":{"user":"ada"}}`, `{"only":{}}`,
		`{"only":{"$ne":{}}}`, `{"only":{"$gt":{}}}`, `{"only":{"$lte":{"mail":SECRET}}}`,
		`{"contact":{"$eq":{"mail":SECRET,"user":"ada"}}}`, `{"contact":{"$gt":{"mail":"s"}}}`,
		`{"contact":{"$gte":{"mail":"s"},"$lt":{"mail":"t"}}}`, `{"contact":{"$in":[{"mail":SECRET,"user":"ada"}]}}`,
		`{"contact":{"$not":{"$eq":{"mail":SECRET,"user":"ada"}}}}`, `{"contact":{"$type":"object"}}`,
		`{"contact":{"$exists":true}}`, `{"contact":{"$regex":"ses"}}`,
		`{"authors":` + object + `}`, `{"authors":[` + object + `]}`, `{"authors":{"$in":[` + object + `]}}`,
		`{"authors":{"$all":[` + object + `]}}`,
		`{"authors":{"$elemMatch":{"$eq":` + object + `}}}`, `{"authors":{"$elemMatch":{"$gt":` + object + `}}}`,
		`{"authors":{"$gt":[` + object + `]}}`, `{"authors":{"$size":1}}`, `{"authors.0":` + object + `}`,
		`{"deep":[[{"mail":SECRET}]]}`, `{"deep":{"$elemMatch":{"$elemMatch":{"$eq":{"mail":SECRET}}}}}`,
		`{"deep.0.0":{"mail":SECRET}}`, `{"deep.0":{"mail":SECRET}}`,
		`{"map":{"$gt":{"0":{"mail":"s"}}}}`, `{"map.0":{"mail":SECRET}}`, `{"year":{"mail":SECRET}}`,
		`{"rendered":{"$gt":{"web":"r1","mail":"s"}}}`, `{"code":{"$exists":true}}`,
		`{"code":{"$code":"f()","$scope":{"mail":SECRET}}}`, `{"code":{"$gt":{"$code":"f()","$scope":{"mail":"s"}}}}`,
		`{"_resolved":{"$gt":{}}}`, `{"_resolved.persons.mail":SECRET}`,
		`{"$where":"this.mail"}`, `{"$text":{"$search":"sesam"}}`,
		`{"$jsonSchema":{"properties":{"mail":{"enum":[SECRET]}}}}`,
		`{"contact":{"$geoWithin":{"$center":[[0,0],1]}}}`,
		`{"$comment":"mail"}`, `{"type":"publication"}`,
		`{"$and":[{"$and":[{"authors":{"$elemMatch":{"phone":{"$elemMatch":{"phone":SECRET}}}}}]}]}`,
	}
	for _, truth := range []string{
		`{"$eq":["$mail",SECRET]}`, `{"$eq":["$contact",{"mail":SECRET,"user":"ada"}]}`,
		`{"$gt":["$contact",{"mail":"s"}]}`, `{"$eq":["$$ROOT.mail",SECRET]}`,
		`{"$eq":["$$CURRENT.contact.mail",SECRET]}`,
		`{"$gt":["$$ROOT",{"_id":"r1","mail":"s"}]}`, `{"$cmp":["$$ROOT","$$CURRENT"]}`,
		`{"$in":[SECRET,{"$ifNull":["$authors.mail",[]]}]}`, `{"$eq":["$authors",[` + object + `]]}`,
		`{"$in":[` + object + `,{"$ifNull":["$authors",[]]}]}`,
		`{"$eq":[{"$arrayElemAt":["$authors",0]},` + object + `]}`, `{"$gt":[{"$first":"$persons"},{"user":"ada"}]}`,
		`{"$anyElementTrue":[{"$map":{"input":{"$ifNull":["$authors",[]]},"in":{"$eq":["$$this.mail",SECRET]}}}]}`,
		`{"$anyElementTrue":[{"$map":{"input":{"$ifNull":["$units",[]]},"in":{"$eq":["$$this.note",SECRET]}}}]}`,
		`{"$size":{"$filter":{"input":{"$ifNull":["$authors",[]]},"as":"a","cond":{"$gt":["$$a.phone","a"]}}}}`,
		`{"$regexMatch":{"input":"$mail","regex":"^ses"}}`,
		`{"$setIsSubset":[[{"mail":SECRET}],{"$ifNull":["$persons",[]]}]}`,
		`{"$gt":[{"$max":"$authors"},{"mail":"s"}]}`, `{"$gt":[{"$strLenCP":{"$toString":"$mail"}},3]}`,
		`{"$toBool":"$only"}`,
		`{"$eq":[{"$type":"$contact.mail"},"string"]}`, `{"$in":[SECRET,{"$objectToArray":"$contact"}]}`,
		`{"$eq":[{"$getField":"mail"},SECRET]}`, `{"$eq":[{"$getField":{"field":"mail","input":"$$ROOT"}},SECRET]}`,
		`{"$let":{"vars":{"m":"$contact"},"in":{"$eq":["$$m.mail",SECRET]}}}`,
		`{"$gt":[{"$mergeObjects":["$contact"]},{}]}`, `{"$gt":[{"$bsonSize":"$$ROOT"},300]}`,
		`{"$reduce":{"input":"$phone","initialValue":0,"in":1}}`,
		`{"$eq":[{"a":"$contact"},{"a":{"mail":SECRET,"user":"ada"}}]}`,
		`{"$switch":{"branches":[{"case":{"$eq":["$phone",SECRET]},"then":true}],"default":false}}`,
		`{"$divide":[1,{"$cond":[{"$eq":["$only",{"mail":SECRET}]},0,1]}]}`,
	} {
		all = append(all, `{"$expr":`+truth+`}`)
	}
	return all
}

// probes are requests to every endpoint that would reveal whether the guess is right.
func probes() []string {
	var all []string
	add := func(format string, values ...string) {
		args := make([]any, len(values))
		for i, value := range values {
			args[i] = url.QueryEscape(strings.ReplaceAll(value, "SECRET", guess))
		}
		all = append(all, fmt.Sprintf(format, args...))
	}
	paths := []string{
		"mail", "MAIL", "contact", "contact.mail", "only", "authors", "authors.mail", "authors.0.mail",
		"authors.phone.phone", "persons", "persons.mail", "persons.0", "deep", "deep.mail", "map", "map.0",
		"map.0.mail",
		"some", "some.mail", "private_notes", "deep.x", "units", "units.note", "note", "rendered", "rendered.mail",
		"editors", "applicant", "supervisor", "code", "year", "start", "start_date", "tags", "topics",
		"funding_number", "workflow", "spectrum.score", "epub", "mail.a", "_resolved", "_resolved.persons",
		"private_address", "roles",
	}
	lists := []string{"activities", "projects", "proposals", "all-activities"}
	for _, collection := range []string{"proposals", "projects", "journals", "persons", "activities", "conferences"} {
		lists = append(lists, "search/"+collection)
	}
	for i, list := range lists {
		every := 5 // some lists share the code below
		if slices.Contains([]string{"activities", "projects", "search/persons"}, list) {
			every = 1
		}
		for _, form := range []string{"", "full=1", "raw=1", "formatted=1", "lang=de", "limit=1&offset=1",
			"search=sesam", "search=World", "filter[mail]=sesam@hidden.example",
			"filter[authors][$elemMatch][mail][$regex]=^ses", "filter[contact][mail]=sesam@hidden.example",
			"filter[only][$gt][mail]=a", "filter[authors][0][mail]=sesam@hidden.example",
			"full=1&raw=1&filter[type]=publication", "page=my-activities&user=ada", "path=/x",
			"aggregate=type&aggregate_function=count&aggregate_value=mail"} {
			add("/api/" + list + "?" + form)
		}
		for j, c := range revealing() {
			if (i+j)%every != 0 {
				continue
			}
			add("/api/"+list+"?json=%s", c)
			add("/api/"+list+"?full=1&limit=2&json=%s", c)
		}
		for j, path := range paths {
			if (i+j)%every != 0 {
				continue
			}
			add("/api/"+list+"?columns[]=%s", path)
			add("/api/"+list+"?columns=type,%s&raw&limit=3", path)
			add("/api/"+list+"?aggregate=%s", path)
			add("/api/"+list+"?aggregate=%s&json=%s", path, `{"_id":{"$ne":1}}`)
			for _, function := range []string{"sum", "mean", "median"} {
				add("/api/"+list+"?aggregate=type&aggregate_function="+function+"&aggregate_value=%s", path)
			}
		}
	}
	for _, target := range []string{"users/ada", "users/66c000000000000000000011", "users/adam", "users/new",
		"users/unknown", "user-units/ada", "user-units/new"} {
		add("/api/" + target)
		for _, path := range paths {
			add("/api/"+target+"?columns[]=%s", path)
		}
	}
	for _, target := range []string{"events", "conferences", "deadlines", "html", "html?limit=1",
		"projects-by-funding-number?number=N1", "projects-by-funding-number?number=sesam@hidden.example",
		"levenshtein?title=World", "levenshtein?title=sesam@hidden.example", "spectrum-activities?spectrum=Soil",
		"spectrum-activities?spectrum=sesam@hidden.example", "citation-index?user="} {
		add("/api/" + target)
	}
	return append(all, "/portfolio/spectrum", "/portfolio/spectrum?limit=1", "/healthz", "/readyz", "/openapi.json")
}
