package auth_test

import (
	"testing"

	"vitrine/proxy/proxytest"
)

func TestMain(m *testing.M) { proxytest.Main(m) }
