package page

// HasText reports whether the table of texts has a name.
func HasText(name string) bool {
	_, ok := table()[name]
	return ok
}
