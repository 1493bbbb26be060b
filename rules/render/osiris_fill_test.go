package render_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/render"
)

func TestFill(t *testing.T) {
	const (
		unaffiliated = `,"affiliated":false,"affiliated_positions":["unspecified"]}`
		alone        = `"affiliated":true,"affiliated_positions":["single","all","first","first_or_last","not_last","not_middle","not_corresponding"]}`
	)
	for _, tt := range []struct{ name, record, want string }{
		{"a day", `{"year":2021,"month":3,"day":4}`,
			`{"year":2021,"month":3,"day":4,"start_date":"2021-03-04","end_date":"2021-03-04"` + unaffiliated},
		{"a month", `{"year":"2021","month":3,"day":null}`,
			`{"year":"2021","month":3,"day":null,"start_date":"2021-03-01","end_date":"2021-03-01"` + unaffiliated},
		{"no date", `{"title":"T"}`, `{"title":"T"` + unaffiliated},
		{"parts", `{"start":{"year":2021,"month":3,"day":4},"end":{"year":2022,"month":1,"day":2}}`,
			`{"start":{"year":2021,"month":3,"day":4},"end":{"year":2022,"month":1,"day":2},` +
				`"start_date":"2021-03-04","end_date":"2022-01-02"` + unaffiliated},
		{"no end", `{"start":"2021-03-04","end":null}`,
			`{"start":"2021-03-04","end":null,"start_date":"2021-03-04","end_date":null` + unaffiliated},
		{"stored",
			`{"year":2021,"start_date":"2020-01-01","end_date":null,"affiliated":true,"affiliated_positions":[]}`,
			`{"year":2021,"start_date":"2020-01-01","end_date":null,"affiliated":true,"affiliated_positions":[]}`},
		{"rendered", `{"year":2021,"rendered":{"print":"P"}}`, `{"year":2021,"rendered":{"print":"P"}}`},
		{"rendered, but empty", `{"rendered":{}}`, `{"rendered":{}` + unaffiliated},
		{"alone", `{"authors":[{"last":"A","aoi":true,"position":"first"}]}`,
			`{"authors":[{"last":"A","aoi":true,"position":"first"}],` + alone},
		{"affiliated editor", `{"authors":[{"last":"A"}],"editors":[{"last":"B","aoi":"1"}]}`,
			`{"authors":[{"last":"A"}],"editors":[{"last":"B","aoi":"1"}],"affiliated":true,` +
				`"affiliated_positions":["unspecified"]}`},
		{"affiliated supervisor", `{"supervisors":[{"last":"B","aoi":1}]}`,
			`{"supervisors":[{"last":"B","aoi":1}],"affiliated":true,"affiliated_positions":["unspecified"]}`},
		{"among others",
			`{"authors":[{"position":"first"},{"aoi":1,"position":"middle"},{"aoi":1,"position":"last"}]}`,
			`{"authors":[{"position":"first"},{"aoi":1,"position":"middle"},{"aoi":1,"position":"last"}],` +
				`"affiliated":true,` +
				`"affiliated_positions":["last","first_or_last","middle","not_first","not_corresponding"]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := render.Fill(activity(t, tt.record), render.Options{})
			if err := got.Validate(); err != nil {
				t.Fatal(err)
			}
			if got := string(ejson.AppendDocument(nil, got)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	broken := bson.Raw{9, 0, 0, 0, 2, 'a', 0, 1, 0}
	if got := render.Fill(broken, render.Options{}); string(got) != string(broken) {
		t.Errorf("a broken record: %x", got)
	}
}
