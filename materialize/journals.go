package materialize

import "vitrine/rules"

// Journals makes the journals view: the stored records, which are never rendered
// (API.md: GET /api/search/journals).
func Journals() Job { return identity(rules.ViewJournals, "journals") }
