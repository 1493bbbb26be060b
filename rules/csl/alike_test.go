package csl

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAlike renders the cases of testdata/alike.jsonl: one for each way in which entries once differed from those
// of citeproc-js, with its text. TestFacesOfStyles asks citeproc-js whether that is still so.
func TestAlike(t *testing.T) {
	src, err := os.ReadFile("testdata/alike.jsonl")
	require.NoError(t, err)
	for line := range bytes.Lines(src) {
		var test struct {
			Case, Layout, Want string
			Item               json.RawMessage
		}
		require.NoError(t, json.Unmarshal(line, &test), "%s", line)
		e := entryOf(t, styled(test.Layout, ""), string(test.Item))
		assert.Equal(t, test.Want, e.Text(1, ""), test.Case)
	}
}
