package materialize_test

import (
	"os"
	"testing"

	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Exit(materializeAndWait(path))
	}
	leaktest.Main(m)
}
