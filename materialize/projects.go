package materialize

import "vitrine/rules"

// Projects makes the projects view: the stored records. Labels depend on the
// language of a request and are given when it is answered.
func Projects() Job { return identity(rules.ViewProjects, "projects") }
