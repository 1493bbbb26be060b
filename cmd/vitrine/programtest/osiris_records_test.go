package programtest

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestOsirisLabels: answers have the database's own labels from the first request on, in every
// language, whether this process materializes or not.
func TestOsirisLabels(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	dir := importOsiris(t)
	write(t, filepath.Join(dir, "activities.jsonl"),
		`{"_id":"z","type":"lecture","subtype":"keynote","title":"Unheard of","year":2030}`)
	vitrine(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	vitrine(t, dir, "materialize", "--store", "bolt://v.db", "--preset", "osiris")
	for _, args := range [][]string{nil, {"--no-materialize"}} {
		s := startServer(t, dir, append(args, "--store", "bolt://v.db", "--preset", "osiris")...).ready()
		for lang, want := range map[string]string{"de": "Vorträge Vorträge, Vorträge Vortrag",
			"en": "Talks Talks, Talks Talk"} {
			_, body := s.get(`/api/activities?json={"type":"lecture"}&apikey=institute-key&lang=` + lang)
			var got []string
			for _, row := range decode(t, body).Data {
				got = append(got, fmt.Sprint(row["type"], " ", row["subtype"]))
			}
			if got := strings.Join(got, ", "); got != want {
				t.Errorf("%q in %s: got %q, want %q", args, lang, got, want)
			}
		}
		s.stop()
	}
}

// TestOsirisFilled: an activity that OSIRIS has not rendered gets the fields that OSIRIS would add,
// in lists as in the spectrum.
func TestOsirisFilled(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	dir := importOsiris(t)
	write(t, filepath.Join(dir, "activities.jsonl"),
		`{"_id":"z","type":"publication","subtype":"article","title":"New","year":2030,"month":2,`+
			`"authors":[{"last":"Frost","user":"ada","aoi":true,"position":"first"}],"openalex":{"topics":[{"id":"T1","name":"Polar Ice","score":0.5}]}}`)
	vitrine(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
	s := startServer(t, dir, "--store", "bolt://v.db", "--preset", "osiris").ready()
	_, body := s.get(
		`/api/activities?json={"affiliated_positions":"single"}&columns[]=start_date&columns[]=end_date&columns[]=affiliated&columns[]=authors&apikey=institute-key`)
	want := map[string]any{"id": "z", "start_date": "2030-02-01", "end_date": "2030-02-01", "affiliated": true,
		"authors": "<a href='/person/65a900000000000000000001'>Frost</a>"}
	if rows := decode(t, body).Data; len(rows) != 1 || !reflect.DeepEqual(map[string]any(rows[0]), want) {
		t.Errorf("got %s\nwant %v", body, want)
	}
	_, body = s.get("/portfolio/spectrum?apikey=portal-key")
	if rows := decode(t, body).Data; len(rows) != 1 || fmt.Sprint(rows[0]["count"]) != "2" {
		t.Errorf("spectrum: %.300s", body)
	}
}
