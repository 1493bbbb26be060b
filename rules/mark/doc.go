// Package mark decides which records are public, and by which fields lists may select them.
//
// The materializer writes a mark into the row of each public record of the views
// activities, projects, persons and events, in the reserved field Field:
//
//	{public: true, item: binary,              the citation, see package cite
//	 year: int32, day: int32,                 of it; the day is month * 100 + day of the month
//	 type: string, subtype: string,
//	 units: [{id, name, name_de}],            the record's units
//	 in: [unit ids],                          these and all their ancestors
//	 above: [{id, name, name_de}],            the ancestors beyond the record's units
//	 persons: [{id, name, orcid}],            public persons of the institute: username, "Family, Given"
//	 projects: [{id, title, funder,           public projects, by name; their funders' codes,
//	             funding_number}],            and the numbers of their grants, separated by ", "
//	 topics: [{id, name}],                    assignments to the scholarly catalogue
//	 keywords: [{id, name}],                  keywords by their keys; no name if it is the key
//	 oa: string,                              "1" if the record is open access, "0" if it says that it is not
//	 doi: string,                             the DOI, bare and in small letters
//	 about: [string],                         DOIs or ids of works with which a retraction or the like connects it
//	 by_title: string, by_author: string,     title and first author's name, folded, to sort by; of a person
//	                                          both are "family given", of a project the first public person's,
//	                                          of an activity without authors the first editor's or supervisor's
//	 styled: binary,                          the citation in styles, see package styles, and
//	 alike: [int64],                          numbers by which year suffixes find entries with one author and year
//	 updated: int64,                          the day on which the record was last changed, and
//	 entered: int64,                          when it was entered, in seconds since 1970
//	 past: true}                              of a person whose is_active is denied
//
// Empty fields are absent. Rows of other records have no mark. So lists, counts, facets, search and exports follow
// one rule: they read rows that have a mark, and select and sort them by the mark alone. The types of its fields are
// fixed: a year stored as text becomes a number.
//
// A record is public if Options.Public matches it. A project must also have public: true, and a person or unit must
// not have hide. Any value of hide hides but false, 0, "0", "false", "" and null, and only the value true publishes:
// the type of a flag must not make a record public.
//
// Decisions about the content of a mark:
//
//   - Names and titles are plain words (markup.Plain), so that lists show, sort and find them alike. Identifiers and
//     the codes of funders are as stored.
//   - The year, the day, open access, the DOI and the keywords are those that citations show, see Options.Cited. They,
//     the citation and the persons of a record are without what Options.Visible leaves out.
//   - The citation is binary: no part of it has a name that a site may hide.
//   - A record was entered on the day in its field created. The time of day is that of its ObjectID if both are of the
//     same day. Without created, the time is that of the ObjectID. Future days do not count. For other records the
//     materializer stores the time when it first published their row with a mark.
//   - The persons of a record are those of all its lists (person.Lists), each once: editors, supervisors and others
//     count like authors.
//   - The units of a record are the stored units, which in an OSIRIS database already include those of the persons and
//     the ancestors, or else the units of its persons. The units of a person are those of the memberships that have not
//     ended. A unit that is missing in the database has no name. A mark leaves out hidden units, but not their
//     ancestors.
//   - A mark leaves out referenced persons and projects that are not public themselves. If several records have the
//     same username or name, all of them must be public.
//   - A person's own row names the person, and a project's own row the project, so that filters use the same paths in
//     all views.
//   - A mark leaves out identifiers of more than 1000 bytes, cuts longer names, and has at most 1000 entries in a list,
//     so that it stays small for any record. Package cite bounds the citation.
//
// All functions are pure and safe for concurrent use.
package mark
