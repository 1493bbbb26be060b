// Package mark decides which records are public, and what lists may select them by.
//
// The materializer writes a mark into the row of each public record of the views
// activities, projects, persons and events, in the reserved field Field:
//
//	{public: true, year: int32, type: string, subtype: string,
//	 units: [{id, name, name_de}],            the record's units
//	 in: [unit ids],                          these and all their ancestors
//	 above: [{id, name, name_de}],            the ancestors beyond the record's units
//	 persons: [{id, name, orcid}],            public persons of ours: username, "Family, Given"
//	 projects: [{id, title}],                 public projects, by name
//	 topics: [{id, name}],                    assignments to the scholarly catalogue
//	 by_title: string, by_author: string,     title and first author's name, folded, to sort by
//	 entered: int64}                          when the record was entered, in seconds since 1970
//
// Empty fields are absent. Rows of other records have no mark. So lists, counts,
// facets, search and exports have one rule: they read rows that have a mark, and only the
// mark says what a row is listed under. The types are fixed, whatever the record holds: a
// year as text becomes a number.
//
// A record is public if Options.Public matches it. A project must also have public: true,
// and neither a person nor a unit may have hide: true; 1, "1" and "true" hide as well,
// since a record must not be shown because of the type of a flag.
//
// Decisions about what a mark holds:
//
//   - The year is the stored one, or else that of start_date or start.
//   - A record was entered on the day that its field created says, at the time that its
//     ObjectID has if that is of the same day; without such a day, at the ObjectID's time.
//     Days to come do not count. For other records the materializer adds when it first
//     published their row with a mark.
//   - The units of an activity are the stored units, which in an OSIRIS database include
//     the ancestors already, or else the units of its authors. The units of a person are
//     the units of the memberships that have not ended. A unit that the institute does not
//     know has no name. A hidden unit is left out, its ancestors are not.
//   - A person or project that marks refer to is left out unless it is public itself. Of
//     several records with one username, or one name, all must be public.
//   - A person's own row names the person, and a project's the project, so that all views
//     are selected by the same paths.
//   - An identifier of more than 1000 bytes is left out, a longer name is cut, and no list
//     has more than 1000 entries: a mark is small, whatever the record holds.
//
// All functions are pure and safe for concurrent use.
package mark
