package display_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// BenchmarkAppend renders every field of one project.
func BenchmarkAppend(b *testing.B) {
	row := parse(b, `{"type":"third-party","title":"Moths <i>around</i> lamps","start_date":"2022-07-01","units":["A","B","C"],
		"topics":["light","rest"],"persons":[{"user":"ann","name":"Ann Ada"},{"user":"bob"}],"timeline":[{"date":"2022-08-01","event":"start"}],
		"funding_organization":"moon","_resolved":{"organizations":[{"ref":"moon","id":"moon","name":"Moon & Sons"}],"persons":[{"user":"bob","name":"Bob B."}]}}`)
	fields := []string{"type", "title", "start_date", "units", "topics", "persons", "timeline",
		"funding_organization"}
	values := make([]bson.RawValue, len(fields))
	for i, field := range fields {
		values[i] = row.Lookup(field)
	}
	s := style(b, "en")
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = dst[:0]
		for i, field := range fields {
			dst = s.Append(dst, field, values[i], row)
		}
	}
	if len(dst) == 0 {
		b.Fatal("nothing rendered")
	}
}
