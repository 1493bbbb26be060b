package query

// Page is the shared pagination (API.md: Shared pagination).
type Page struct {
	Limit  int // 0: not paginated
	Offset int
}

// Page reads limit and offset. A limit of 0 or less does not paginate, a
// negative offset is 0 (DESIGN.md: 2).
func (p Params) Page() (Page, error) {
	limit, err := p.Integer("limit")
	if err != nil {
		return Page{}, err
	}
	offset, err := p.Integer("offset")
	if err != nil || limit <= 0 {
		return Page{}, err
	}
	return Page{Limit: limit, Offset: max(offset, 0)}, nil
}

// Cut returns the half-open range of n rows that the page shows. It forms no sum of
// limit and offset: both may be as large as an int gets.
func (g Page) Cut(n int) (from, to int) {
	from = min(g.Offset, n)
	to = n
	if g.Limit > 0 && g.Limit < n-from {
		to = from + g.Limit
	}
	return from, to
}
