package bench

import (
	"runtime"
	"testing"
)

func TestMemory(t *testing.T) {
	_, s := newHouse(t)
	for _, collect := range []bool{false, true} {
		var reply Memory
		if err := s.Memory(collect, &reply); err != nil {
			t.Fatal(err)
		}
		if m := reply; runtime.GOOS == "linux" && (m.Anonymous <= 0 || m.Resident < m.Anonymous || m.Peak < m.Anonymous) {
			t.Errorf("collect %t: memory %+v", collect, m)
		}
	}
}
