package materialize

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a parsed cron spec that keeps its promise when clocks change. Package cron alone skips a local time
// that does not exist on the day clocks go forward and keeps twice one that exists twice on the day they go back.
// Here
//
//   - a spec that names hours ("30 2 * * *") is due once each day: at the moment of
//     the change if clocks jump over its time, the first time round if it comes twice;
//   - a spec for every hour ("*/5 * * * *") goes on in real time through the change;
//   - an interval ("@every 2m") knows no clock and is not concerned.
type Schedule struct {
	interval  cron.Schedule      // set for "@every"
	clock     *cron.SpecSchedule // set for other specs; evaluated as if local times were UTC
	location  *time.Location     // zone of the local times
	everyHour bool
}

// ParseSchedule parses a cron spec of five fields, a descriptor like "@daily", or "@every 2m" (a second or more). It
// is evaluated in location, nil meaning UTC, unless the spec names its own ("CRON_TZ=Europe/Berlin 0 4 * * *"). A
// spec that never comes due ("0 0 30 2 *") is an error.
func ParseSchedule(spec string, location *time.Location) (*Schedule, error) {
	parsed, err := parseCron(spec)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", spec, err)
	}
	s := &Schedule{location: cmp.Or(location, time.UTC)}
	clock, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		s.interval = parsed
		return s, nil
	}
	face := *clock
	if face.Location != time.Local {
		s.location = face.Location
	}
	face.Location = time.UTC
	s.clock = &face
	const hours = 1<<24 - 1
	s.everyHour = face.Hour&hours == hours
	if s.Next(time.Unix(0, 0)).IsZero() {
		return nil, fmt.Errorf("schedule %q: never comes due", spec)
	}
	return s, nil
}

// parseCron parses a spec and recovers, because some malformed specs make package cron panic.
func parseCron(spec string) (cron.Schedule, error) {
	parsed, err := guard(func() (cron.Schedule, error) { return cron.ParseStandard(spec) })
	if errors.As(err, new(*panicError)) {
		return nil, errors.New("malformed")
	}
	if err != nil {
		return nil, err
	}
	if _, every, ok := strings.Cut(spec, "@every "); ok {
		// Package cron would silently round this up.
		if d, err := time.ParseDuration(every); err != nil || d < time.Second {
			return nil, errors.New("want an interval of a second or more")
		}
	}
	return parsed, nil
}

// Next returns the first due time after the given one, or zero if there is none within five years, or no schedule.
//
// Between two changes of the clocks a location's offset is constant, so local times can be searched as if they were
// UTC. If a found time is beyond the next change, the clocks skipped it, or the search continues after the change.
func (s *Schedule) Next(after time.Time) time.Time {
	switch {
	case s == nil:
		return time.Time{}
	case s.interval != nil:
		return s.interval.Next(after)
	}
	period := after.In(s.location)
	shown := face(period)
	for {
		start, end := period.ZoneBounds()
		if !start.IsZero() && !s.everyHour {
			if repeated := repeatedUntil(start); repeated.After(shown) {
				shown = repeated
			}
		}
		slot := s.clock.Next(shown)
		if slot.IsZero() {
			return time.Time{}
		}
		_, offset := period.Zone()
		due := slot.Add(-time.Duration(offset) * time.Second).In(s.location)
		if end.IsZero() || due.Before(end) {
			return due
		}
		if !s.everyHour && slot.Before(face(end)) {
			return end
		}
		period, shown = end, face(end).Add(-time.Second)
	}
}

// anew returns when a schedule that was due at a time is due after the clock was set: at once if it skipped that.
func (s *Schedule) anew(due, now time.Time) time.Time {
	if due.IsZero() {
		return due
	}
	if !due.After(now) {
		return now
	}
	return s.Next(now)
}

// tolerance is how far the wall clock may drift from the monotonic one, between two looks, before it counts as set.
const tolerance = 2 * time.Second

// wallClock detects that the wall clock was set. A suspended machine looks the same: its monotonic clock stands
// still.
type wallClock struct {
	now   func() time.Time
	shown time.Time // the wall clock's time at the last look
	at    time.Time // the last look, by the monotonic clock
}

// step returns by how much the clock was set since the last look, or 0.
func (c *wallClock) step() time.Duration {
	shown, at := c.now(), time.Now()
	by := shown.Sub(c.shown) - at.Sub(c.at)
	c.shown, c.at = shown, at
	if by.Abs() < tolerance {
		return 0
	}
	return by
}

// face returns the local time of t as if it were UTC.
func face(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// repeatedUntil returns the last local second before a change of the clocks. Times up to it have passed for good.
func repeatedUntil(change time.Time) time.Time {
	_, before := change.Add(-time.Nanosecond).Zone()
	return change.UTC().Add(time.Duration(before)*time.Second - time.Second)
}
