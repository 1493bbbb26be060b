package person

import "vitrine/rules"

// lists are the fields by view; see Lists.
var lists = map[string][]string{
	rules.ViewActivities: {"authors", "editors", "supervisors", "persons"},
	rules.ViewProjects:   {"persons", "contact", "supervisor", "scholar", "stipendiate", "applicants"},
	rules.ViewEvents:     {"organizers", "participants", "persons"},
}

// Lists returns the stored fields that name the persons of a view's records, the foremost first. Persons count alike
// in all of them, so a person may be in several. Callers must not change the result.
//
// OSIRIS counts those of activities the same way; it stores the persons of some theses and courses as supervisors
// only. Of the fields of projects, older versions wrote those after persons. A field may also hold a single person.
func Lists(view string) []string { return lists[view] }
