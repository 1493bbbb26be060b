// Package pages tests the pages that the program serves, in a browser, and the snippets that other sites embed.
package pages

import (
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m) }
