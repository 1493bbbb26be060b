// Package kept tests answers of another server that the program keeps by rule.
package kept

import (
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m) }
