package materialize_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Exit(materializeAndWait(path))
	}
	goleak.VerifyTestMain(m)
}
