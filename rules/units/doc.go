// Package units gives a person's memberships in units as GET /api/user-units/{id}
// answers them (API.md: that section).
//
// The data's way: NewNames indexes the unit tree, Row makes the row of a person from the
// stored record, and AppendData writes a row as JSON when a request is answered.
// What depends on the moment is left to the last step: in_past on today's date, unit
// names on the language. So a row changes only with its record or the units, and an
// answer is right from the first moment of a day on.
//
// What API.md leaves open, decided:
//
//   - A membership that is no document is left out; those without a unit count as
//     memberships in one and the same unknown unit. A person without a list has an
//     empty one.
//   - A unit without the name of a language has that of the other.
//   - A stored field called name or in_past gives way to the computed one; all others
//     are kept as they are.
//   - end is a date if it is a BSON date, which has its day in the configured zone, or
//     text that begins as 2024-05-01, 2024-05 or 2024, where a time of day may follow.
//     A month or a year is over with its last day. Everything else is no date, and the
//     membership not in the past.
//
// All functions are pure and safe in parallel, and no value that a document holds makes
// them panic.
package units
