package materialize

import "vitrine/rules"

// Proposals makes the proposals view: as Projects, of the stored proposals.
func Proposals() Job { return resolved(rules.ViewProposals, "proposals") }
