// Package lists tests the answers of the program for whole institutes: the demo, a made-up OSIRIS database, dumps.
package lists

import (
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m) }
