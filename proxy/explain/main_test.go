package explain_test

import (
	"testing"

	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
