package configs_test

import (
	"os"
	"testing"

	"vitrine/configs"
	"vitrine/materialize"
)

// TestMain gives the tests the parser of cron specs that the program uses.
func TestMain(m *testing.M) {
	configs.SetCron(func(text string) error {
		_, err := materialize.ParseSchedule(text, nil)
		return err
	})
	os.Exit(m.Run())
}
