package materialize

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// Activities makes the activities view: each stored record with its rendered
// representation filled in (API.md: Activity). render returns the whole "rendered"
// document of a record, what the record already carries kept, and everything in it
// passed through the allow-list of HTML; it is called from several goroutines at once.
// fingerprint stands for everything else that its outcome depends on: rules,
// language, time zone.
func Activities(render func(record bson.Raw) (bson.Raw, error), fingerprint string) Job {
	row := func(_ context.Context, record bson.Raw) (bson.Raw, error) {
		rendered, err := render(record)
		if err != nil {
			return nil, err
		}
		return withField(record, "rendered", rendered)
	}
	return Job{
		View:        rules.ViewActivities,
		Source:      "activities",
		Fingerprint: "activities/1 " + fingerprint,
		Rows:        func(Deps) (RowFunc, error) { return row, nil },
	}
}
