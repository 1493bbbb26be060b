package testoutput

import (
	"bytes"
	"strings"
	"testing"
)

// TestLimit: of each test the beginning is printed, and every test's name.
func TestLimit(t *testing.T) {
	long := strings.Repeat("    x_test.go:1: many words\n", 5000) + "    " + strings.Repeat("x", 1<<20) + "\n"
	reports := "--- FAIL: TestOne (0.00s)\n" + long + "    --- FAIL: TestOne/part (0.00s)\n" + long +
		"--- FAIL: TestTwo (0.00s)\n    short\n--- FAIL: TestThree (0.00s)\n    " + strings.Repeat("y", 5000) + "\nFAIL\n"
	var out bytes.Buffer
	if err := limit(&out, strings.NewReader(reports)); err != nil {
		t.Fatal(err)
	}
	tests := strings.Split(out.String(), "--- FAIL: ")
	if len(tests) != 4 || !strings.HasSuffix(out.String(), "\nFAIL\n") {
		t.Fatalf("%d tests are left:\n%.1000s", len(tests)-1, out.String())
	}
	for i, cut := range []bool{false, true, false, true} {
		if n := len(tests[i]); n > 2048 || strings.Count(tests[i], "cut off") > 1 || strings.Contains(tests[i], "cut off") != cut {
			t.Errorf("test %d: %d bytes, want some cut off: %t", i, n, cut)
		}
	}
}
