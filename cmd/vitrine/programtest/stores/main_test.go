// Package stores tests the program while its store is away, damaged, emptied or restored, and with its snapshot
// files.
package stores

import (
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m) }
