package materialize

import "vitrine/rules"

// Deadlines makes the deadlines view: the stored records, served like events but
// without their order by date.
func Deadlines() Job { return identity(rules.ViewDeadlines, "deadlines") }
