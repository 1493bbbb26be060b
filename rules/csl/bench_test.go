package csl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkEntry renders the sample by a style with all kinds of elements.
func BenchmarkEntry(b *testing.B) {
	s, err := ParseStyle([]byte(styled(everything, "")))
	require.NoError(b, err)
	it, err := ReadItem([]byte(sample))
	require.NoError(b, err)
	r := s.Renderer(BuiltinLocales(), "en-US")
	for b.Loop() {
		r.Entry(it)
	}
}

// BenchmarkReadItem reads the sample.
func BenchmarkReadItem(b *testing.B) {
	for b.Loop() {
		_, err := ReadItem([]byte(sample))
		require.NoError(b, err)
	}
}

// BenchmarkParseStyle reads a short style.
func BenchmarkParseStyle(b *testing.B) {
	src := []byte(styled(everything, ""))
	for b.Loop() {
		_, err := ParseStyle(src)
		require.NoError(b, err)
	}
}
