package filter

import "slices"

// Fields returns the dotted paths of the stored fields that the conditions of a filter name, sorted. Expressions
// ($expr) count for nothing: what they read may depend on values.
func (f *Filter) Fields() []string {
	all := fieldsOf(f.root, "")
	slices.Sort(all)
	return slices.Compact(all)
}

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
