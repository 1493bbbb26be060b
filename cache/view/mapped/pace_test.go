package mapped_test

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"vitrine/cache/view/mapped"
)

// TestPace: while much is mapped, the collector allows the heap, of which mapped files are a part, to grow by less.
func TestPace(t *testing.T) {
	defer debug.SetGCPercent(100)
	files := &mapped.Files{Create: mapped.In(t.TempDir()), Failed: failing(t)}
	mapped.Pace(100)
	until := func(is func(percent uint64) bool) {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		for metrics.Read(sample); !is(sample[0].Value.Uint64()); metrics.Read(sample) {
			runtime.GC()
		}
	}
	all := pieces(1<<10, 64<<20)
	mapped.Move(files, all)
	until(func(percent uint64) bool { return percent < 50 })
	runtime.KeepAlive(all)
	all = nil
	until(func(percent uint64) bool { return percent > 70 })
}
