package views

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/display"
)

// resolved are rows with the names, under display.Reserved, of the people and organisations that the record refers
// to. Labels are not among them: they depend on the language of a request, which adds them.
var resolved = Rows{
	Deps:        []string{"organizations", "persons"},
	Fingerprint: "resolved/2",
	Make: func(deps map[string][]bson.Raw) func(bson.Raw) (bson.Raw, error) {
		return display.NewDirectory(deps["organizations"], deps["persons"]).Row
	},
}
