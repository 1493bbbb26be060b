package mark_test

import (
	"testing"
	"time"

	"vitrine/rules"
	"vitrine/rules/mark"
)

// TestEntered: the mark has the date on which a record was entered, in every form in which
// institutes store it, and ignores impossible dates.
func TestEntered(t *testing.T) {
	const id = `"_id":{"$oid":"6019f5800000000000000000"}` // 2021-02-03T00:59:44Z
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		record string
		zone   *time.Location
		want   string
	}{
		{`{"created":"2021-02-03"}`, time.UTC, "2021-02-03T00:00:00Z"},
		{`{"created":"2021-02-03"}`, berlin, "2021-02-02T23:00:00Z"},
		{`{"created":" 2021-02-03 10:11:12"}`, time.UTC, "2021-02-03T00:00:00Z"},
		{`{"created":{"$date":"2021-02-03T04:05:06Z"}}`, berlin, "2021-02-03T04:05:06Z"},
		{`{"created":{"year":2021,"month":2,"day":3}}`, time.UTC, "2021-02-03T00:00:00Z"},
		{`{` + id + `}`, time.UTC, "2021-02-03T00:59:44Z"},
		{`{` + id + `,"created":"2021-02-03"}`, time.UTC, "2021-02-03T00:59:44Z"},
		{`{` + id + `,"created":"2021-02-02"}`, time.UTC, "2021-02-02T00:00:00Z"},
		{`{` + id + `,"created":"2022-02-03"}`, time.UTC, "2022-02-03T00:00:00Z"},
		{`{` + id + `,"created":"2021"}`, time.UTC, "2021-02-03T00:59:44Z"},
		{`{` + id + `,"created":"2021-02-30"}`, time.UTC, "2021-02-03T00:59:44Z"},
		{`{` + id + `,"created":["2020-01-01"]}`, time.UTC, "2021-02-03T00:59:44Z"},
		{`{` + id + `,"created":{"$date":{"$numberLong":"-9223372036854775808"}}}`, time.UTC, "2021-02-03T00:59:44Z"},
		{`{` + id + `,"created":"2091-01-01"}`, time.UTC, "2021-02-03T00:59:44Z"},
		{`{"created":"2026-11-22"}`, time.UTC, "2026-11-22T00:00:00Z"},
		{`{"created":{"$date":"2026-11-22T23:59:59Z"}}`, time.UTC, "2026-11-22T23:59:59Z"},
		{`{"created":"2026-11-23"}`, time.UTC, ""},
		{`{"_id":{"$oid":"f00000000000000000000000"}}`, time.UTC, ""},
		{`{"_id":"a","created":"soon"}`, time.UTC, ""},
		{`{"created":"0001-01-01"}`, time.UTC, ""},
	}
	for _, tt := range tests {
		o := options(t, public)
		o.Now = time.Date(2026, 11, 22, 9, 0, 0, 0, tt.zone)
		made, _, err := mark.NewDirectory(o, nil, nil, nil).Make(rules.ViewActivities, parse(t, tt.record))
		if err != nil {
			t.Fatal(err)
		}
		row, err := mark.Set(parse(t, `{"_id":1}`), made)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if at := mark.EnteredOf(row); at != 0 {
			got = time.Unix(at, 0).UTC().Format(time.RFC3339)
		}
		if got != tt.want {
			t.Errorf("%s: entered %q, want %q", tt.record, got, tt.want)
		}
	}
}
