package lists

// Moved is the error for a path that has the name of a subject in place of its id, or the id in another case. The
// server answers it with a redirect to At, so that a list has one address and one kept answer.
type Moved struct {
	Address string // of the list of the id in the format of the path, without parameters
}

// Error implements error.
func (m *Moved) Error() string { return "The list is at " + m.Address + "." }

// At returns the address with a query, which may be empty.
func (m *Moved) At(query string) string {
	if query == "" {
		return m.Address
	}
	return m.Address + "?" + query
}
