package response_test

import (
	"testing"
	"time"

	"vitrine/proxy/proxytest"
	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// heldSince returns how many more bytes the process holds than before. If they are more than most, it measures again
// some times: what is garbage, and what a goroutine holds that has not had the time to end, is gone then.
func heldSince(before, most int) (held int) {
	for range 50 {
		if held = proxytest.Memory() - before; held <= most {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	return held
}
