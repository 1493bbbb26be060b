package date_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/date"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
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
		`2021`:                                  "2021",
		`2021.0`:                                "2021",
		`2021.5`:                                "",
		`21`:                                    "",
		`987`:                                   "",
		`1e300`:                                 "",
		`{"$numberLong":"9223372036854775807"}`: "",
		`{"$numberDecimal":"2021"}`:             "2021",
		`{"$date":"2021-08-01T22:30:00Z"}`:      "2021-08-02",
		`{"$date":{"$numberLong":"9223372036854775807"}}`:     "",
		`{"$date":"0001-01-01T00:00:00Z"}`:                    "",
		`{"year":2021,"month":8,"day":1}`:                     "2021-08-01",
		`{"year":"2021","month":" 8 "}`:                       "2021-08",
		`{"year":2021,"month":null,"day":1}`:                  "2021",
		`{"year":2021,"month":"Aug","day":"1."}`:              "2021-08-01",
		`{"year":"2021-08-01","month":3}`:                     "2021-08-01",
		`{"year":2021,"month":"Jul-Aug"}`:                     "2021-07",
		`{"year":2021,"month":"Spring"}`:                      "2021",
		`{"year":{"$date":"2020-12-31T23:00:00Z"},"month":5}`: "2021-01-01",
		`{"date-parts":[[2021,5,3]]}`:                         "2021-05-03",
		`{"date-parts":[["2021","05","03"]]}`:                 "2021-05-03",
		`{"date-parts":[[2021,5]],"season":2}`:                "2021-05",
		`{"date-parts":[2021,5,3]}`:                           "2021-05-03",
		`{"date-parts":["2021-05-03"]}`:                       "2021-05-03",
		`{"date-parts":[[2021,5,3],[2021,6,1]]}`:              "2021-05-03",
		`{"date-parts":[[2021,13,3]]}`:                        "2021",
		`{"date-parts":[[2021,"May",3]]}`:                     "2021-05-03",
		`{"issued":{"date-parts":[[2021.0,5,3]]}}`:            "2021-05-03",
		`{"date-parts":[[null]],"raw":"3 May 2021"}`:          "2021-05-03",
		`{"literal":"Spring 2021"}`:                           "2021",
		`{"date-parts":[[null]]}`:                             "",
		`{"date-parts":[]}`:                                   "",
		`{"date-parts":[[],[2021]]}`:                          "",
		`{"date-parts":[[[2021]]]}`:                           "",
		`{"date-parts":2021}`:                                 "",
		`{"date-parts":{"year":2021}}`:                        "",
		`{"issued":{"issued":{"date-parts":[[2021]]}}}`:       "",
		`{"issued":"2021-05"}`:                                "2021-05",
		`{"month":8}`:                                         "",
		`{}`:                                                  "",
		`{"year":{"year":2021}}`:                              "",
		`["2021"]`:                                            "",
		`true`:                                                "",
		`null`:                                                "",
	} {
		if got := date.Read(value(t, text), time.FixedZone("", 2*60*60)).String(); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	if got := date.Read(bson.RawValue{}, time.UTC); got != (date.Date{}) {
		t.Errorf("a missing value is %v", got)
	}
	if got := date.Read(value(t, `"2021"`), time.UTC).With(value(t, `"8"`), value(t, `31`)).AppendISO(nil,
		'/'); string(got) != "2021/08/31" {
		t.Errorf("With = %s", got)
	}
}

// TestReadZones: a point in time has its day in the zone, east and west of UTC, and a text keeps its own.
func TestReadZones(t *testing.T) {
	for _, tt := range []struct {
		value string
		hours int
		want  string
	}{
		{`{"$date":"2023-12-31T23:00:00Z"}`, 1, "2024-01-01"}, {`{"$date":"2023-12-31T23:00:00Z"}`, 0, "2023-12-31"},
		{`{"$date":"2024-01-01T04:00:00Z"}`, -5, "2023-12-31"},
		{`{"$date":"2023-12-31T11:00:00Z"}`, 13, "2024-01-01"},
		{`"2023-12-31T23:00:00Z"`, 1, "2023-12-31"}, {`"2024-01-01T04:00:00Z"`, -5, "2024-01-01"},
	} {
		if got := date.Read(value(t, tt.value), time.FixedZone("", tt.hours*60*60)).String(); got != tt.want {
			t.Errorf("%s at %+d is %q, want %q", tt.value, tt.hours, got, tt.want)
		}
	}
}

// TestReadText: forms of dates in texts.
func TestReadText(t *testing.T) {
	for text, want := range map[string]string{
		// ISO 8601, with other separators, and with the time
		"2021-08-01":           "2021-08-01",
		"2021-8-1":             "2021-08-01",
		" 2021-08 ":            "2021-08",
		"2021":                 "2021",
		"2021-08-01T23:59:00Z": "2021-08-01",
		"2021-08-01 23:59":     "2021-08-01",
		"2021/08/01":           "2021-08-01",
		"2021/8/1":             "2021-08-01",
		"2021/08":              "2021-08",
		"2021.08.01":           "2021-08-01",
		"2021.8.1":             "2021-08-01",
		"2021.08":              "2021-08",
		"20210801":             "2021-08-01",
		"20210801T223000Z":     "2021-08-01",
		"20210801223000":       "2021-08-01",
		"2021/08/01/":          "2021-08-01",
		"2021\u201008\u201001": "2021-08-01",
		"2011-12":              "2011-12",
		// parts out of range
		"2021-02-30": "2021-02",
		"2024-02-29": "2024-02-29",
		"2021-13-01": "2021",
		"2021-00-00": "2021",
		"31.04.2021": "2021-04",
		"13.13.2021": "2021",
		"20211301":   "",
		"2021-08-32": "2021-08",
		// letters
		"01.08.2021":                   "2021-08-01",
		"1.8.2021":                     "2021-08-01",
		"1. 8. 2021":                   "2021-08-01",
		"08.2021":                      "2021-08",
		"01.08.2021, 10:00 Uhr":        "2021-08-01",
		"1 August 2021":                "2021-08-01",
		"1. August 2021":               "2021-08-01",
		"August 2021":                  "2021-08",
		"Aug 2021":                     "2021-08",
		"Aug. 2021":                    "2021-08",
		"AUGUST 1, 2021":               "2021-08-01",
		"Aug 1st, 2021":                "2021-08-01",
		"1st of August 2021":           "2021-08-01",
		"Sunday, 1 August 2021":        "2021-08-01",
		"am Sonntag, 01.08.2021":       "2021-08-01",
		"01-Aug-2021":                  "2021-08-01",
		"01Aug2021":                    "2021-08-01",
		"2021-Aug-01":                  "2021-08-01",
		"10:30 August 2021":            "2021-08",
		"1. März 2021":                 "2021-03-01",
		"1. Ma\u0308rz 2021":           "2021-03-01",
		"MÄRZ 2021":                    "2021-03",
		"Mrz 2021":                     "2021-03",
		"Mai 2021":                     "2021-05",
		"Okt. 2021":                    "2021-10",
		"24. Dez. 2021":                "2021-12-24",
		"6. Jänner 2021":               "2021-01-06",
		"May 2021":                     "2021-05",
		"Sept. 2021":                   "2021-09",
		"31 June 2021":                 "2021-06",
		"Published: 1 August 2021":     "2021-08-01",
		"published online August 2021": "2021-08",
		// PubMed, e-mail, programs
		"2021 Aug 1":                     "2021-08-01",
		"2021 Aug":                       "2021-08",
		"2021 Jul-Aug":                   "2021-07",
		"2021 Aug 1-5":                   "2021-08-01",
		"1998 Dec-1999 Jan":              "1998-12",
		"2021 Spring":                    "2021",
		"Sun, 01 Aug 2021 22:30:00 GMT":  "2021-08-01",
		"Sun Aug  1 22:30:00 2021":       "2021-08-01",
		"Sun Aug 22:30:00 2021":          "2021-08",
		"Sun Aug 01 22:30:00 +0200 2021": "2021-08-01",
		"Sun Aug 01 22:30:00 +1000 2021": "2021-08-01",
		"2021 Aug 22:30":                 "2021-08",
		// years as catalogues write them
		"c2021":           "2021",
		"©2021":           "2021",
		"ca. 2021":        "2021",
		"[2021]":          "2021",
		"[2021?]":         "2021",
		"(2021)":          "2021",
		"2021a":           "2021",
		"2021*":           "2021",
		"2021, c2020":     "2021",
		"2021.0":          "2021",
		"2021 (in press)": "2021",
		"in press 2021":   "2021",
		"im Druck":        "",
		"Summer 2021":     "2021",
		"WS 2021/22":      "2021",
		"Q1 2021":         "2021",
		"Q1/2021":         "2021",
		"2021-Q3":         "2021",
		"2021-W30":        "2021",
		"2021-W30-2":      "2021",
		"2021-213":        "2021",
		"Issue 3/2021":    "2021",
		"Spring 2020":     "2020",
		"Herbst 2020":     "2020",
		"2019a":           "2019",
		"c2019":           "2019",
		"o. J. [2019]":    "2019",
		"2021年5月3日":       "2021",
		// ranges begin at their start
		"2019-2020":                     "2019",
		"2019\u20132020":                "2019",
		"2019 - 2020":                   "2019",
		"2019/2020":                     "2019",
		"2019\u201320":                  "2019",
		"2019-20":                       "2019",
		"2019/20":                       "2019",
		"2010/11":                       "2010",
		"1999/00":                       "1999",
		"2021-08-01/2021-08-03":         "2021-08-01",
		"2021-08-01 - 2021-08-03":       "2021-08-01",
		"01.08.2021-03.08.2021":         "2021-08-01",
		"1.-3. August 2021":             "2021-08-01",
		"1\u20133 August 2021":          "2021-08-01",
		"30 April \u2013 2 May 2021":    "2021-04-30",
		"August 1\u20133, 2021":         "2021-08-01",
		"April 30 - May 2, 2021":        "2021-04-30",
		"30. Dezember - 2. Januar 2023": "2023",
		"Jul-Aug 2021":                  "2021-07",
		"28.-30.4.2021":                 "2021-04-28",
		"28.4.-2.5.2021":                "2021-04-28",
		"30.12.-2.1.2023":               "2023",
		// ambiguous
		"01/02/2021":    "2021",
		"01-02-2021":    "2021",
		"13/02/2021":    "2021-02-13",
		"02/13/2021":    "2021-02-13",
		"13-02-2021":    "2021-02-13",
		"05/05/2021":    "2021-05-05",
		"08/2021":       "2021-08",
		"08-2021":       "2021-08",
		"1/2-3/2021":    "2021",
		"2021-08-01-02": "2021-08-01",
		"2021 8 1":      "2021",
		// no dates
		"o. J.":       "",
		"n.d.":        "",
		"s.a.":        "",
		"forthcoming": "",
		"201?":        "",
		"19XX":        "",
		"21-08-01":    "",
		"20211-08":    "",
		"0987-12-31":  "",
		"0000-01-01":  "",
		"-2021":       "",
		"202108":      "",
		"May":         "",
		"1.8.21":      "",
		"<script>":    "",
		"December":    "",
		"":            "",
		"12:30":       "",
		strings.Repeat("x",
			200) + " 2021": "",
	} {
		if got := date.Read(raw.NewString(text), time.UTC).String(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// FuzzRead: any text is a valid date or none, and what String writes is read as the same date.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"2021-08-01", "1. März 2021", "28.4.-2.5.2021", "Sun Aug 01 22:30:00 +0200 2021",
		"2021 Jul-Aug", "20210801", "\xff2021\u0308"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := date.Read(raw.NewString(text), time.UTC)
		if valid := date.New(d.Year, d.Month, d.Day); valid != d {
			t.Errorf("%q is %v", text, d)
		}
		if again := date.Read(raw.NewString(d.String()), time.UTC); again != d {
			t.Errorf("%q is %v, and its text %v", text, d, again)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, text := range []string{"2021", "2021-08-01", "1. August 2021"} {
		b.Run(text, func(b *testing.B) {
			v := raw.NewString(text)
			b.ReportAllocs()
			for b.Loop() {
				date.Read(v, time.UTC)
			}
		})
	}
}

func TestBefore(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`"2020"`, `"2021"`, true}, {`"2021"`, `"2021"`, false}, {`"2021"`, `"2021-05"`, false},
		{`"2021-04"`, `"2021-05"`, true}, {`"2021-04-02"`, `"2021-05"`, true},
		{`"2021-05-01"`, `"2021-05-02"`, true}, {`"2021-05-02"`, `"2021-05-02"`, false},
		{`"2021-05"`, `"2021-05-02"`, false}, {`"2022"`, `"2021-05-02"`, false},
		{`null`, `"2021"`, false}, {`"2021"`, `null`, false}, {`null`, `null`, false},
	} {
		if got := date.Read(value(t, tt.a), time.UTC).Before(date.Read(value(t, tt.b), time.UTC)); got != tt.want {
			t.Errorf("%s before %s: %v", tt.a, tt.b, got)
		}
	}
}
