package process_test

import (
	"runtime"
	"testing"

	"vitrine/cmd/vitrine/internal/bench/report"
)

func TestMemory(t *testing.T) {
	_, s := newHouse(t)
	for _, collect := range []bool{false, true} {
		var reply report.Memory
		if err := s.Memory(collect, &reply); err != nil {
			t.Fatal(err)
		}
		if m := reply.Loaded; runtime.GOOS == "linux" && (m.Anonymous <= 0 || m.Resident < m.Anonymous || m.Peak < m.Anonymous) {
			t.Errorf("collect %t: memory %+v", collect, m)
		}
	}
}
