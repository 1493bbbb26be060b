package materialize_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // the tables must not depend on the machine's zone files

	"github.com/robfig/cron/v3"
	"pgregory.net/rapid"

	"vitrine/configs"
	"vitrine/materialize"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// Days on which clocks change, forward and back, in zones with different rules: by an hour at
// night, at midnight, by half an hour, a whole day at once.
func TestScheduleAcrossClockChanges(t *testing.T) {
	tests := []struct {
		name, zone, spec, from string
		want                   []string
	}{
		{"jumped over: at the moment of the change", "Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00+01:00",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"several times jumped over are one", "Europe/Berlin", "*/10 2 * * *", "2026-03-28T12:00:00+01:00",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00", "2026-03-30T02:10:00+02:00"}},
		{"jumped over, and due just behind", "Europe/Berlin", "0 2,3 * * *", "2026-03-29T01:00:00+01:00",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}},
		{"comes twice: the first time", "Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00+02:00",
			[]string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		{"asked for between the two: not again", "Europe/Berlin", "30 2 * * *", "2026-10-25T02:10:00+01:00",
			[]string{"2026-10-26T02:30:00+01:00"}},
		{"just behind the repeated hour", "Europe/Berlin", "0 3 * * *", "2026-10-25T02:30:00+01:00",
			[]string{"2026-10-25T03:00:00+01:00", "2026-10-26T03:00:00+01:00"}},
		{"every half hour goes on when clocks go forward", "Europe/Berlin", "*/30 * * * *",
			"2026-03-29T01:15:00+01:00",
			[]string{"2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"}},
		{"every half hour goes on when clocks go back", "Europe/Berlin", "*/30 * * * *", "2026-10-25T02:15:00+02:00",
			[]string{"2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00",
				"2026-10-25T03:00:00+01:00"}},
		{"every other hour skips nothing", "Europe/Berlin", "0 */2 * * *", "2026-03-29T00:30:00+01:00",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00"}},
		{"no midnight that day", "America/Sao_Paulo", "0 0 * * *", "2018-11-03T12:00:00-03:00",
			[]string{"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"}},
		{"no midnight on the only day", "America/Sao_Paulo", "15 0 4 11 *", "2018-11-01T00:00:00-03:00",
			[]string{"2018-11-04T01:00:00-02:00", "2019-11-04T00:15:00-03:00"}},
		{"two midnights", "America/Sao_Paulo", "30 23 * * *", "2018-02-17T12:00:00-02:00",
			[]string{"2018-02-17T23:30:00-02:00", "2018-02-18T23:30:00-03:00"}},
		{"half an hour jumped over", "Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00:00+10:30",
			[]string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"half an hour comes twice", "Australia/Lord_Howe", "45 1 * * *", "2026-04-04T12:00:00+11:00",
			[]string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		{"a day left out", "Pacific/Apia", "0 12 * * *", "2011-12-29T00:00:00-10:00",
			[]string{"2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"}},
		{"a zone of its own", "UTC", "CRON_TZ=Europe/Berlin 30 2 * * *", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		{"intervals know no clock", "Europe/Berlin", "@every 1h30m", "2026-03-29T01:00:00+01:00",
			[]string{"2026-03-29T03:30:00+02:00", "2026-03-29T05:00:00+02:00"}},
		{"leap day", "UTC", "0 0 29 2 *", "2026-01-01T00:00:00Z",
			[]string{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			loc := zone(t, tt.zone)
			s, err := materialize.ParseSchedule(tt.spec, loc)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, tt.from)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range tt.want {
				at = s.Next(at)
				wanted, err := time.Parse(time.RFC3339, want)
				if err != nil {
					t.Fatal(err)
				}
				if !at.Equal(wanted) {
					t.Fatalf("time %d: got %s, want %s", i+1, at.In(loc).Format(time.RFC3339), want)
				}
			}
		})
	}
}

func TestParseScheduleRefuses(t *testing.T) {
	for _, spec := range []string{
		"", " ", "* * * *", "* * * * * *", "61 * * * *", "*/0 * * * *", "5-1 * * * *", "a b c d e",
		"TZ=Europe/Berlin", "CRON_TZ=", "CRON_TZ=Nowhere/Land * * * * *", "@fortnightly", "@every", "@every ",
		"@every soon",
		"@every 0s", "@every -5m", "@every 999ms", "CRON_TZ=UTC @every 0s", "0 0 30 2 *", "0 0 31 4,6,9,11 *",
	} {
		if s, err := materialize.ParseSchedule(spec, nil); err == nil {
			t.Errorf("%q: accepted, next %s", spec, s.Next(time.Unix(0, 0)))
		}
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, spec := range []string{"*/5 * * * *", "@every 2m", "@daily", "CRON_TZ=Europe/Berlin 0 4 * * 1-5", "TZ=X",
		"0 0 29 2 *"} {
		f.Add(spec)
	}
	from := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, spec string) {
		s, err := materialize.ParseSchedule(spec, nil)
		if err != nil {
			return
		}
		if next := s.Next(from); !next.IsZero() && !next.After(from) {
			t.Errorf("%q: next of %s is %s", spec, from, next)
		}
	})
}

// A spec that names an hour is due once on every calendar day of its zone, however clocks change.
// On other days, package cron gives the same times.
func TestDailyScheduleIsDueOnceADay(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe",
		"Africa/Casablanca", "Asia/Kathmandu"}
	rapid.Check(t, func(rt *rapid.T) {
		loc := zone(t, rapid.SampledFrom(zones).Draw(rt, "zone"))
		minute, hour := rapid.IntRange(0, 59).Draw(rt, "minute"), rapid.IntRange(0, 23).Draw(rt, "hour")
		year := rapid.IntRange(2000, 2035).Draw(rt, "year")
		spec := time.Date(2000, 1, 1, hour, minute, 0, 0, time.UTC).Format("4 15 * * *")
		s, err := materialize.ParseSchedule(spec, loc)
		if err != nil {
			rt.Fatal(err)
		}
		plain, err := cron.ParseStandard(spec)
		if err != nil {
			rt.Fatal(err)
		}
		day := time.Date(year, 1, 1, 12, 0, 0, 0, loc)
		at := s.Next(day)
		for range 366 {
			day = day.AddDate(0, 0, 1)
			before := at
			if at = s.Next(before); !at.After(before) {
				rt.Fatalf("%s: next of %s is %s", spec, before, at)
			}
			if got, want := at.YearDay()-before.YearDay(), 1; got != want && at.Year() == before.Year() {
				rt.Fatalf("%s: %s is followed by %s", spec, before, at)
			}
			if offset(before) == offset(at) && before.Hour()*60+before.Minute() == hour*60+minute &&
				!plain.Next(before).Equal(at) {
				rt.Fatalf("%s: cron follows %s by %s, we by %s", spec, before, plain.Next(before), at)
			}
		}
	})
}

func offset(t time.Time) int {
	_, seconds := t.Zone()
	return seconds
}

func BenchmarkScheduleNext(b *testing.B) {
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		b.Fatal(err)
	}
	s, err := materialize.ParseSchedule("30 2 * * *", loc)
	if err != nil {
		b.Fatal(err)
	}
	from := time.Date(2026, 3, 28, 12, 0, 0, 0, loc)
	b.ReportAllocs()
	for b.Loop() {
		s.Next(from)
	}
}

// Schedules go on if the clock is set, and do not run for the time that it skipped.
func TestSchedulesFollowAClockThatIsSet(t *testing.T) {
	for _, by := range []time.Duration{-24 * time.Hour, -time.Minute, time.Minute, 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var set atomic.Int64
				d, due := newDiary(), map[string]time.Duration{}
				observer := d.observer()
				observer.Due = func(view string, in time.Duration) { due[view] = in }
				r := newRunner(t, materialize.Options{
					Store: newFakeStore(), Observer: observer,
					Jobs: []materialize.Job{idle("every"), idle("cron"), idle("never")},
					Materialize: configs.Materialize{
						Schedule: map[string]string{"every": "@every 2m", "cron": "*/5 * * * *"}, Full: "30 2 * * *"},
					Now: func() time.Time { return time.Now().Add(time.Duration(set.Load())) },
				})
				stop := started(t, r)
				time.Sleep(11*time.Minute + 30*time.Second)
				d.mu.Lock()
				before, last := len(d.runs), time.Since(d.start)
				d.mu.Unlock()
				set.Store(int64(by))
				time.Sleep(11 * time.Minute)
				stop()
				after := map[string]int{}
				for _, run := range d.runs[before:] {
					if late := run.after - last; late > 5*time.Minute+10*time.Second {
						t.Errorf("no run for %v", late)
					}
					last = run.after
					after[run.view]++
				}
				if after["every"] < 5 || after["every"] > 7 || after["cron"] < 2 || after["cron"] > 4 ||
					after["never"] > 1 {
					t.Errorf("runs in 11 minutes: %v", after)
				}
				if d.missed > 0 {
					t.Errorf("%d missed", d.missed)
				}
				if due["every"] <= 0 || due["every"] > 2*time.Minute || due["cron"] <= 0 ||
					due["cron"] > 5*time.Minute || len(due) != 2 {
					t.Errorf("due in %v", due)
				}
			})
		})
	}
}

// If the clock is set during a run, the runner does not count the skipped time as missed runs.
func TestClockSetDuringARun(t *testing.T) {
	for _, by := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var set atomic.Int64
				d := newDiary()
				r := newRunner(t, materialize.Options{
					Store: newFakeStore(), Observer: d.observer(),
					Jobs: []materialize.Job{slow("slow", 30*time.Second), idle("other")},
					Materialize: configs.Materialize{
						Schedule: map[string]string{"slow": "@every 2m", "other": "@every 2m"}},
					Now: func() time.Time { return time.Now().Add(time.Duration(set.Load())) },
				})
				stop := started(t, r)
				time.Sleep(15 * time.Second)
				set.Store(int64(by))
				time.Sleep(10 * time.Minute)
				stop()
				runs := map[string]int{}
				for _, run := range d.runs {
					runs[run.view]++
				}
				if runs["slow"] < 4 || runs["slow"] > 6 || runs["other"] < 4 || runs["other"] > 7 || d.missed > 1 {
					t.Errorf("runs in 10 minutes: %v, missed %d", runs, d.missed)
				}
			})
		})
	}
}
