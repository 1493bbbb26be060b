// Package crashes kills and pauses processes of the program while their institute changes, one process or several
// that share a store: no answer mixes two generations, and nothing is lost.
package crashes

import (
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m) }
