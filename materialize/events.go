package materialize

import "vitrine/rules"

// Events makes the events view: the stored conferences (API.md: GET /api/events).
func Events() Job { return identity(rules.ViewEvents, "conferences") }
