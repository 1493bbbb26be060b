package materialize

import "vitrine/rules"

// Persons makes the persons view: the stored records, from which front ends take
// look-ups by id and username, display settings (display_activities) and roles.
func Persons() Job { return identity(rules.ViewPersons, "persons") }
