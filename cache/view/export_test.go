package view

// DropIndexes forgets every path index of a snapshot, for benchmarks of building them.
func (s *MemorySnapshot) DropIndexes() { s.budget.Replaced(s, nil) }
