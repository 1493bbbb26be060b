package materialize

import "vitrine/rules"

// Proposals makes the proposals view: the stored records, labelled like projects when
// a request is answered.
func Proposals() Job { return identity(rules.ViewProposals, "proposals") }
