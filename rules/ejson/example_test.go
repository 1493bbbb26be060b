package ejson_test

import (
	"fmt"

	"vitrine/rules/ejson"
)

func Example() {
	doc, err := ejson.Parse(
		[]byte(`{"year":{"$gte":2.0},"_id":{"$oid":"507f1f77bcf86cd799439011"},"at":{"$date":0}}`), ejson.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(doc.Lookup("year", "$gte").Type, doc.Lookup("_id").Type)
	fmt.Printf("%s\n", ejson.AppendDocument(nil, doc))
	// Output:
	// double objectID
	// {"year":{"$gte":2.0},"_id":{"$oid":"507f1f77bcf86cd799439011"},"at":{"$date":"1970-01-01T00:00:00Z"}}
}

func ExampleParse_error() {
	_, err := ejson.Parse([]byte(`{"year":2023,"year":2024}`), ejson.Options{Param: "json"})
	fmt.Println(err)
	// Output: json: offset 13: key "year" is there twice
}
