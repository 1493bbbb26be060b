package proxy

import "time"

// StoreStatus is how the store behind the views stands, as /admin/views spells it.
type StoreStatus struct {
	Name    string     `json:"name"`
	Up      bool       `json:"up"`
	Circuit string     `json:"circuit"` // closed or open
	Since   *time.Time `json:"since"`   // when the circuit last changed; nil: never
	Contact *time.Time `json:"contact"` // when the store last answered
	Opened  uint64     `json:"opened"`  // times the circuit opened
	Refused uint64     `json:"refused"` // operations that failed at once meanwhile
	Error   string     `json:"error,omitempty"`
}

// storeStatus is nil where nobody tells.
func (s *Server) storeStatus() *StoreStatus {
	if s.store == nil {
		return nil
	}
	st := s.store()
	shown := &StoreStatus{
		Name: st.Store, Up: !st.Open, Circuit: "closed", Since: instant(st.Since), Contact: instant(st.Contact),
		Opened: st.Opened, Refused: st.Refused,
	}
	if st.Open {
		shown.Circuit = "open"
	}
	if st.Err != nil {
		shown.Error = st.Err.Error()
	}
	return shown
}
