// Package wire tests what the program asks of a MongoDB-compatible server: which commands, how many bytes, what it
// writes.
package wire

import (
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m) }
