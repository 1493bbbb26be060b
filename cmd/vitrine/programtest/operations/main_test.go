// Package operations tests what operators see of the program and do with it: commands, logs, metrics, start and end.
package operations

import (
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m) }
