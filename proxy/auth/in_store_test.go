package auth_test

import (
	"testing"

	"vitrine/proxy/proxytest"
)

// TestInStore runs the suites that fix what is answered with views that stay in the
// store: where rows are makes no difference.
func TestInStore(t *testing.T) {
	proxytest.InStore(t, map[string]func(*testing.T){
		"Visibility":  TestVisibility,
		"DisplayForm": TestDisplayForm,
	})
}
