// Package units computes a person's memberships in units for the response of GET
// /api/user-units/{id} (openapi.json).
//
// Data flow: NewNames indexes the unit tree, Row makes the row of a person from the stored record, and AppendData
// writes a row as JSON for a request. The last step adds the values that depend on the request: in_past depends on
// today's date, unit names on the language. So a row changes only with its record or the units, and in_past is
// right from the first moment of a day.
//
// Decisions where the description of the API is silent:
//
//   - A membership that is not a document is left out. All memberships without a unit
//     belong to one unknown unit. A person without a list has an empty list.
//   - A unit without a name in one language has its name in the other.
//   - The computed name and in_past replace stored fields of these names. All other stored fields stay.
//   - end is a date in any form that package date reads, a BSON date in the configured zone. A month or a year ends
//     with its last day. With any other value the membership is not in the past.
//
// All functions are pure and safe in parallel, and no value that a document holds makes them panic.
package units
