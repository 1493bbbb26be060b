package process_test

import (
	"os"
	"runtime"
	"testing"

	"vitrine/cmd/vitrine/internal/bench/process"
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

func TestWatch(t *testing.T) {
	end := process.Watch(os.Getpid())
	most := end()
	if again := end(); runtime.GOOS == "linux" && most <= 0 || most != again {
		t.Errorf("%d bytes, then %d", most, again)
	}
	if most := process.Watch(-1)(); most != 0 {
		t.Errorf("a process that does not exist has %d bytes", most)
	}
}
