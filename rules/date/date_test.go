package date_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/date"
	"vitrine/rules/ejson"
)

// value reads a value written as Extended JSON.
func value(t *testing.T, text string) bson.RawValue {
	t.Helper()
	doc, err := ejson.Parse([]byte(`{"v":`+text+`}`), ejson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return doc.Lookup("v")
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`"2021-08-01"`: "2021-08-01", `"2021-8-1"`: "2021-08-01", `" 2021-08 "`: "2021-08", `"2021"`: "2021", `"0987-12-31"`: "0987-12-31",
		`"2021-08-01T23:59:00Z"`: "2021-08-01", `"2021-08-01 23:59"`: "2021-08-01", `"2021-02-30"`: "2021-02", `"2024-02-29"`: "2024-02-29",
		`"2021-13-01"`: "2021", `"2021-08-01-02"`: "", `"21-08-01"`: "", `"20211-08"`: "", `"0000-01-01"`: "", `"-2021"`: "", `"May 2021"`: "", `"<script>"`: "", `""`: "",
		`2021`: "2021", `2021.0`: "2021", `2021.5`: "", `1e300`: "", `{"$numberLong":"9223372036854775807"}`: "", `{"$numberDecimal":"2021"}`: "2021",
		`{"$date":"2021-08-01T22:30:00Z"}`: "2021-08-02", `{"$date":{"$numberLong":"9223372036854775807"}}`: "",
		`{"year":2021,"month":8,"day":1}`: "2021-08-01", `{"year":"2021","month":" 8 "}`: "2021-08", `{"year":2021,"month":null,"day":1}`: "2021",
		`{"month":8}`: "", `{}`: "", `{"year":{"year":1}}`: "", `["2021"]`: "", `true`: "", `null`: "",
	} {
		if got := date.Read(value(t, text), time.FixedZone("", 2*60*60)).String(); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	if got := date.Read(bson.RawValue{}, time.UTC); got != (date.Date{}) {
		t.Errorf("a missing value is %v", got)
	}
	if got := date.Read(value(t, `"2021"`), time.UTC).With(value(t, `"8"`), value(t, `31`)).AppendISO(nil, '/'); string(got) != "2021/08/31" {
		t.Errorf("With = %s", got)
	}
}

func TestBefore(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`"2020"`, `"2021"`, true}, {`"2021"`, `"2021"`, false}, {`"2021"`, `"2021-05"`, false}, {`"2021-04"`, `"2021-05"`, true}, {`"2021-04-02"`, `"2021-05"`, true},
		{`"2021-05-01"`, `"2021-05-02"`, true}, {`"2021-05-02"`, `"2021-05-02"`, false}, {`"2021-05"`, `"2021-05-02"`, false}, {`"2022"`, `"2021-05-02"`, false},
		{`null`, `"2021"`, false}, {`"2021"`, `null`, false}, {`null`, `null`, false},
	} {
		if got := date.Read(value(t, tt.a), time.UTC).Before(date.Read(value(t, tt.b), time.UTC)); got != tt.want {
			t.Errorf("%s before %s: %v", tt.a, tt.b, got)
		}
	}
}
