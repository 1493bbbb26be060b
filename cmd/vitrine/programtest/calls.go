package programtest

import (
	_ "embed"
	"strings"
	"testing"
)

// The calls that a server answers and those that it refuses, one on each line.
var (
	//go:embed testdata/calls/right.txt
	rightCalls string
	//go:embed testdata/calls/wrong.txt
	WrongCalls string
)

// CallsOfPersons returns the calls that a server answers, and more of them about every person.
func CallsOfPersons(t *testing.T, s *Server) []string {
	t.Helper()
	calls := strings.Fields(rightCalls)
	// a busy store may not answer at once
	_, body := s.Until("/api/search/persons?columns[]=username", `"status":200`)
	for _, person := range Decode(t, body).Data {
		id := person["id"].(string)
		calls = append(calls, "/api/users/"+id, "/api/user-units/"+id, "/api/user-units/"+id+"?lang=de")
	}
	return calls
}
