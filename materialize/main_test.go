package materialize_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"vitrine/rules/testoutput"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Exit(materializeAndWait(path))
	}
	goleak.VerifyTestMain(testoutput.Limited{Tests: m})
}
