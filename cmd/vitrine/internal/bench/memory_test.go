package bench

import (
	"runtime"
	"testing"
)

func TestMemory(t *testing.T) {
	_, s := newHouse(t)
	var reply Memory
	if err := s.Memory(struct{}{}, &reply); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" && reply.Own <= 0 {
		t.Errorf("memory %+v", reply)
	}
}
