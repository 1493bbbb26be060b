package process_test

import (
	"os"
	"runtime"
	"testing"

	"vitrine/cmd/vitrine/internal/bench/process"
)

func TestUsage(t *testing.T) {
	var before, after process.Usage
	for collect, reply := range map[bool]*process.Usage{false: &before, true: &after} {
		if err := new(process.Bare).Usage(collect, reply); err != nil {
			t.Fatal(err)
		}
	}
	if after.Cycles == 0 || len(after.Pauses) == 0 || after.Pauses[0] <= 0 || after.GC <= 0 {
		t.Errorf("a collection went by unnoticed: %+v", after)
	}
	for _, u := range []process.Usage{before, after} {
		if u.CPU < 0 || u.Memory.Heap <= 0 {
			t.Errorf("got %+v", u)
		}
		if m := u.Memory; runtime.GOOS == "linux" && (u.CPU == 0 || m.Anonymous <= 0 || m.Resident < m.Anonymous || m.Peak < m.Anonymous) {
			t.Errorf("memory %+v", m)
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
