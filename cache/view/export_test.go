package view

// DropIndexes forgets every path index of a snapshot, for benchmarks of building them.
func (s *Snapshot) DropIndexes() { s.budget.forget(s.segments, nil) }
