package render_test

import (
	"testing"

	"vitrine/rules/render"
)

// TestDateFormats: a stored date, complete or not, in each format and language.
func TestDateFormats(t *testing.T) {
	for _, tt := range []struct{ name, held, en, de, year, iso string }{
		{"a day", `"2022-05-04"`, "4 May 2022", "4. Mai 2022", "2022", "2022-05-04"},
		{"a day with its time", `"2022-05-04T23:59:00Z"`, "4 May 2022", "4. Mai 2022", "2022", "2022-05-04"},
		{"a day and a time", `"2022-05-04 23:59"`, "4 May 2022", "4. Mai 2022", "2022", "2022-05-04"},
		{"a month", `"2022-03"`, "Mar 2022", "März 2022", "2022", "2022-03"},
		{"a year", `"2022"`, "2022", "2022", "2022", "2022"},
		{"a year as number", `2022`, "2022", "2022", "2022", "2022"},
		{"a year as double", `2022.0`, "2022", "2022", "2022", "2022"},
		{"an early year", `"0987-12-31"`, "", "", "", ""},
		{"a point in time", `{"$date": "2022-05-04T22:00:00Z"}`, "4 May 2022", "4. Mai 2022", "2022", "2022-05-04"},
		{"parts", `{"year": 2022, "month": 5, "day": 4}`, "4 May 2022", "4. Mai 2022", "2022", "2022-05-04"},
		{"parts as text", `{"year": "2022", "month": "05"}`, "May 2022", "Mai 2022", "2022", "2022-05"},
		{"parts with null", `{"year": 2022, "month": null, "day": 4}`, "2022", "2022", "2022", "2022"},
		{"no such day", `"2022-02-30"`, "Feb 2022", "Feb. 2022", "2022", "2022-02"},
		{"no such month", `"2022-13-01"`, "2022", "2022", "2022", "2022"},
		{"a leap day", `"2024-02-29"`, "29 Feb 2024", "29. Feb. 2024", "2024", "2024-02-29"},
		{"more parts", `"2022-05-04-03"`, "4 May 2022", "4. Mai 2022", "2022", "2022-05-04"},
		{"in letters", `"4. Mai 2022"`, "4 May 2022", "4. Mai 2022", "2022", "2022-05-04"},
		{"a short year", `"22-05-04"`, "", "", "", ""},
		{"words", `"last May"`, "", "", "", ""},
		{"a flag", `true`, "", "", "", ""},
		{"null", `null`, "", "", "", ""},
		{"year 0", `"0000-01-01"`, "", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := `{"held": ` + tt.held + `}`
			for _, format := range []struct{ tmpl, language, want string }{
				{"{held}", "en", tt.en}, {"{held}", "de", tt.de}, {"{held:year}", "en", tt.year},
				{"{held:iso}", "de", tt.iso},
			} {
				if got := printed(t, format.tmpl, doc, format.language); got != format.want {
					t.Errorf("%s in %s: got %q, want %q", format.tmpl, format.language, got, format.want)
				}
			}
		})
	}
}

// TestMonths: each month in both languages, short as in the rules file's templates and in full as
// in those of OSIRIS.
func TestMonths(t *testing.T) {
	for _, tt := range []struct{ stored, en, de, longEN, longDE string }{
		{"2022-01", "Jan 2022", "Jan. 2022", "January", "Januar"},
		{"2022-02", "Feb 2022", "Feb. 2022", "February", "Februar"},
		{"2022-03", "Mar 2022", "März 2022", "March", "März"},
		{"2022-04", "Apr 2022", "Apr. 2022", "April", "April"},
		{"2022-05", "May 2022", "Mai 2022", "May", "Mai"},
		{"2022-06", "Jun 2022", "Juni 2022", "June", "Juni"},
		{"2022-07", "Jul 2022", "Juli 2022", "July", "Juli"},
		{"2022-08", "Aug 2022", "Aug. 2022", "August", "August"},
		{"2022-09", "Sep 2022", "Sep. 2022", "September", "September"},
		{"2022-10", "Oct 2022", "Okt. 2022", "October", "Oktober"},
		{"2022-11", "Nov 2022", "Nov. 2022", "November", "November"},
		{"2022-12", "Dec 2022", "Dez. 2022", "December", "Dezember"},
	} {
		doc := `{"start_date": "` + tt.stored + `"}`
		for language, want := range map[string][2]string{"en": {tt.en, tt.longEN}, "de": {tt.de, tt.longDE}} {
			if got := printed(t, "{date-range}", doc, language); got != want[0] {
				t.Errorf("%s in %s: got %q, want %q", tt.stored, language, got, want[0])
			}
			if got, _ := osirisPrinted(t, render.Osiris{}, "{month}", doc, language); got != want[1] {
				t.Errorf("month of %s in %s: got %q, want %q", tt.stored, language, got, want[1])
			}
		}
	}
}

// TestOsirisDates: dates as OSIRIS writes them, the same in both languages.
func TestOsirisDates(t *testing.T) {
	for _, tt := range []struct{ name, doc, want, start, end string }{
		{"a day", `{"start_date": "2023-05-04"}`, "04.05.2023", "04.05.2023", ""},
		{"the same day", `{"start_date": "2023-05-04", "end_date": "2023-05-04"}`, "04.05.2023", "04.05.2023",
			"04.05.2023"},
		{"days of a month", `{"start_date": "2023-05-04", "end_date": "2023-05-06"}`, "04.-06.05.2023", "04.05.2023",
			"06.05.2023"},
		{"days of a year", `{"start_date": "2023-04-30", "end_date": "2023-05-02"}`, "30.04.-02.05.2023",
			"30.04.2023", "02.05.2023"},
		{"days of two years", `{"start_date": "2022-12-30", "end_date": "2023-01-02"}`, "30.12.2022-02.01.2023",
			"30.12.2022", "02.01.2023"},
		{"a month", `{"start_date": "2023-05"}`, "05.2023", "05.2023", ""},
		{"months", `{"start_date": "2023-05", "end_date": "2023-07"}`, "05.2023-07.2023", "05.2023", "07.2023"},
		{"a day and a month", `{"start_date": "2023-05-04", "end_date": "2023-07"}`, "04.05.2023-07.2023",
			"04.05.2023", "07.2023"},
		{"years", `{"start_date": "2021", "end_date": "2023"}`, "2021-2023", "2021", "2023"},
		{"running", `{"start_date": "2023-05-04", "end_date": null}`, "04.05.2023", "04.05.2023", ""},
		{"an end before the start", `{"start_date": "2023-05-04", "end_date": "2023-05-03"}`, "04.05.2023",
			"04.05.2023", ""},
		{"by year and month", `{"year": 2023, "month": 5}`, "05.2023", "05.2023", ""},
		{"nothing", `{"title": "T"}`, "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, language := range []string{"en", "de"} {
				for template, want := range map[string]string{"{date}": tt.want, "{date-range}": tt.want,
					"{start}": tt.start, "{end}": tt.end} {
					if got, faults := osirisPrinted(t, render.Osiris{}, template, tt.doc, language); got != want ||
						faults != nil {
						t.Errorf("%s in %s: got %q, faults %q, want %q", template, language, got, faults, want)
					}
				}
			}
		})
	}
}
