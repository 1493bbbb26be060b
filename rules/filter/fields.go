package filter

import "slices"

// Fields returns the dotted paths of the stored fields that the conditions of a filter name,
// sorted. Expressions ($expr) count for nothing: what they read may depend on values. The check of
// a configuration looks up these names among the known fields. Paths also says whether a filter
// reads anything else.
func (f *Filter) Fields() []string {
	all := fieldsOf(f.root, "")
	slices.Sort(all)
	return slices.Compact(all)
}

// fieldsOf collects the paths of a tree. prefix is the path of the $elemMatch around it with a dot,
// or "".
func fieldsOf(n Node, prefix string) (all []string) {
	switch n := n.(type) {
	case *Leaf:
		return []string{prefix + n.Path.String()}
	case *Elem:
		if n.Node == nil {
			return []string{prefix + n.Path.String()}
		}
		return fieldsOf(n.Node, prefix+n.Path.String()+".")
	}
	for _, part := range Parts(n) {
		all = append(all, fieldsOf(part, prefix)...)
	}
	return all
}
