package raw

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Paths are paths that are walked together: a document with many fields is passed over
// once, not once for each path.
type Paths struct {
	heads []string // the first names of the paths, each once
	paths []headed
}

// headed is a path by its first name.
type headed struct {
	head int
	rest []part
}

// NewPaths returns paths to walk together. None of them may be the zero Path.
func NewPaths(paths []Path) Paths {
	var all Paths
	for _, path := range paths {
		head := slices.Index(all.heads, path.parts[0].name)
		if head < 0 {
			head = len(all.heads)
			all.heads = append(all.heads, path.parts[0].name)
		}
		all.paths = append(all.paths, headed{head, path.parts[1:]})
	}
	return all
}

// manyHeads is how many first names Walk finds without allocating.
const manyHeads = 24

// Walk yields for each path, by its number, what the function Walk yields for it.
func (p Paths) Walk(doc bson.Raw, yield func(path int, v Value)) {
	var room [manyHeads]Element
	found := append(room[:0], make([]Element, len(p.heads))...)
	left := len(found)
	r := Read(doc)
	for e, ok := r.Next(); ok && left > 0; e, ok = r.Next() {
		for i, head := range p.heads {
			if string(e.Key) == head && found[i].Type == 0 {
				found[i] = e
				left--
			}
		}
	}
	for i, path := range p.paths {
		walkField(found[path.head], path.rest, true, func(v Value) bool { yield(i, v); return true })
	}
}
