// Package spectrum summarises an institute's activities by topic: the rows behind
// GET /portfolio/spectrum (openapi.json).
//
// Data flow: New reads the small collections that enrich a summary, topic catalogue, units and persons, and keeps the
// fields that may be shown. Put gets each activity once, in any order, and keeps some 60 bytes of it. Rows then
// yields a document for each topic and one of Totals. Later Put gets the activities that have changed, and Rows
// yields the rows of their topics, for which it reads the activities that these show. When a request is answered,
// AppendRow writes a row as JSON.
//
// Rows do not depend on the date. Recent activities are those of the current year and the five before it, but a row
// carries the ten newest of all years. A reader that knows the year cuts the old ones off the end, and the rest are
// the ten newest of the recent ones. So an answer is right from the first moment of a year on, without a new
// summary.
//
// Decisions where the description of the API is silent:
//
//   - An activity counts if affiliated is the boolean true and its topics are an array
//     of at least one element. An element without a string id belongs to no topic.
//   - Everything is counted in assignments: an activity that names a topic twice counts twice, in timelines, too. A
//     unit or user that an activity names twice counts once. Among a topic's activities each is listed once, with its
//     best score.
//   - A year is a whole number, as it is for a filter. An activity without one, or with
//     a year in text, is in no timeline and not recent.
//   - Labels and hierarchy are those of the newest assignment: of the activity with the greatest year, then the
//     greatest id. Ids in digits become numbers, if they fit 18 digits; missing values of an assignment are null.
//   - A unit is shown unless hide is set or it is a root: level 0 or no parent. A
//     person with a username is shown unless hide is set or is_active is not: a missing
//     flag hides no person (raw.Flag). Units and persons not stored are not shown.
//   - The id of a unit is its identifier; the id of persons and activities is the text of their _id, as everywhere
//     in the API. A person without displayname has first and last name.
//   - html is rendered.web. activities is left out of an answer where it would be empty.
//
// A Summary is used by one goroutine; all functions are safe in parallel. No value that
// a document holds makes them panic: a value of the wrong type counts as missing.
package spectrum
