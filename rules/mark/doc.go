// Package mark decides which records are public, and what lists may select them by.
//
// The materializer writes a mark into the row of each public record of the views
// activities, projects, persons and events, in the reserved field Field:
//
//	{year: int32, type: string, subtype: string,
//	 units: [{id, name, name_de}],            the record's units
//	 in: [unit ids],                          these and all their ancestors
//	 persons: [{id, name, orcid}],            public persons of ours: username, "Family, Given"
//	 projects: [{id, name}],                  public projects: name, title
//	 topics: [{id, name}]}                    assignments to the scholarly catalogue
//
// What is empty is absent, except that a public record always has a mark. Rows of other
// records have no such field. So lists, counts, facets, search and exports have one rule:
// they read rows that have a mark, and only the mark says what a row is listed under. The
// types are fixed, whatever the record holds: a year as text becomes a number.
//
// All functions are pure and safe for concurrent use.
package mark
