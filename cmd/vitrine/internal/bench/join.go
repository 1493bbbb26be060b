package bench

import "slices"

// Join adds to a report what another one has beside it: numbers of activities that
// were measured apart, and of the same number cases, stores and steps. What both have
// stays as it is here.
func (r *Report) Join(other Report) {
	for _, m := range other.Runs {
		same := slices.IndexFunc(r.Runs, func(have Measurement) bool { return have.alike(m) })
		if same < 0 {
			r.Runs = append(r.Runs, m)
			continue
		}
		r.Runs[same].join(m)
	}
	slices.SortStableFunc(r.Runs, func(a, b Measurement) int { return a.Rows - b.Rows })
}

// alike reports whether two runs were on the same activities. Their size changes a
// little with every refresh that is measured.
func (m *Measurement) alike(other Measurement) bool {
	return m.Rows == other.Rows && max(m.BSON-other.BSON, other.BSON-m.BSON) <= m.BSON/100
}

func (m *Measurement) join(other Measurement) {
	for _, r := range other.Results {
		have := m.result(r.Name)
		if have == nil {
			m.Results = append(m.Results, r)
			continue
		}
		for _, asked := range r.Stores {
			if have.asked(asked.Store) == nil {
				have.Stores = append(have.Stores, asked)
			}
		}
	}
	if m.Against == "" {
		m.Against, m.Indexed = other.Against, other.Indexed
	}
	if m.Fill == 0 {
		m.Fill, m.Build, m.BuildMost = other.Fill, other.Build, other.BuildMost
	}
	if len(m.Starts) < len(other.Starts) {
		m.Starts = other.Starts
	}
	if m.Memory == nil {
		m.Memory, m.Pauses = other.Memory, other.Pauses
	}
	if m.Refresh == nil {
		m.Refresh = other.Refresh
	}
	for _, note := range other.Notes {
		if !slices.Contains(m.Notes, note) {
			m.Notes = append(m.Notes, note)
		}
	}
}
