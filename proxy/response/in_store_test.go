package response_test

import (
	"testing"

	"vitrine/proxy/proxytest"
)

// TestInStore runs the suites on answers with views that stay in the store: the answers do not
// depend on where the rows are.
func TestInStore(t *testing.T) {
	proxytest.InStore(t, map[string]func(*testing.T){
		"NewGenerationIsAnswered":   TestNewGenerationIsAnswered,
		"LargeCompressed":           TestLargeCompressed,
		"PopularAnswersArePrepared": TestPopularAnswersArePrepared,
		"PopularAnswersShowChanges": TestPopularAnswersShowEveryChange,
	})
}
