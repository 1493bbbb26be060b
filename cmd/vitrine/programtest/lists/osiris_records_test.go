package lists

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestOsirisLabels: answers have the database's own labels from the first request on, in every
// language, whether this process materializes or not.
func TestOsirisLabels(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := programtest.ImportOsiris(t)
	programtest.WriteLines(t, filepath.Join(dir, "activities.jsonl"),
		`{"_id":"z","type":"lecture","subtype":"keynote","title":"Unheard of","year":2030}`)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	programtest.Run(t, dir, "materialize", "--store", "bolt://v.db", "--preset", "osiris")
	for _, args := range [][]string{nil, {"--no-materialize"}} {
		s := programtest.Start(t, dir, append(args, "--store", "bolt://v.db", "--preset", "osiris")...).Ready()
		for lang, want := range map[string]string{"de": "Vorträge Vorträge, Vorträge Vortrag",
			"en": "Talks Talks, Talks Talk"} {
			_, body := s.Get(`/api/activities?json={"type":"lecture"}&apikey=institute-key&lang=` + lang)
			var got []string
			for _, row := range programtest.Decode(t, body).Data {
				got = append(got, fmt.Sprint(row["type"], " ", row["subtype"]))
			}
			if got := strings.Join(got, ", "); got != want {
				t.Errorf("%q in %s: got %q, want %q", args, lang, got, want)
			}
		}
		s.Stop()
	}
}

// TestOsirisFilled: an activity that OSIRIS has not rendered gets the fields that OSIRIS would add,
// in lists as in the spectrum.
func TestOsirisFilled(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := programtest.ImportOsiris(t)
	programtest.WriteLines(t, filepath.Join(dir, "activities.jsonl"),
		`{"_id":"z","type":"publication","subtype":"article","title":"New","year":2030,"month":2,`+
			`"authors":[{"last":"Frost","user":"ada","aoi":true,"position":"first"}],`+
			`"openalex":{"topics":[{"id":"T1","name":"Polar Ice","score":0.5}]}}`)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	s := programtest.Start(t, dir, "--store", "bolt://v.db", "--preset", "osiris").Ready()
	_, body := s.Get(
		`/api/activities?json={"affiliated_positions":"single"}&columns[]=start_date&columns[]=end_date&` +
			`columns[]=affiliated&columns[]=authors&apikey=institute-key`)
	want := map[string]any{"id": "z", "start_date": "2030-02-01", "end_date": "2030-02-01", "affiliated": true,
		"authors": "<a href='/person/65a900000000000000000001'>Frost</a>"}
	if rows := programtest.Decode(t, body).Data; len(rows) != 1 || !reflect.DeepEqual(map[string]any(rows[0]), want) {
		t.Errorf("got %s\nwant %v", body, want)
	}
	_, body = s.Get("/portfolio/spectrum?apikey=portal-key")
	if rows := programtest.Decode(t, body).Data; len(rows) != 1 || fmt.Sprint(rows[0]["count"]) != "2" {
		t.Errorf("spectrum: %.300s", body)
	}
}
