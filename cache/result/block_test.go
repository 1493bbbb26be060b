package result_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vitrine/cache/result"
)

// joined returns the gzip body of some parts.
func joined(t require, stretches [][]byte, block func([]byte) (result.Block, error)) []byte {
	var j result.Joint
	out := j.Head()
	for _, plain := range stretches {
		b, err := block(plain)
		if err != nil {
			t.Fatalf("block: %v", err)
		}
		out = append(out, j.Add(b)...)
	}
	return append(out, j.Tail()...)
}

type require interface{ Fatalf(string, ...any) }

// inflated reads exactly one gzip member. The
// reader checks sum and size.
func inflated(t require, body []byte) []byte {
	source := bytes.NewReader(body)
	r, err := stdgzip.NewReader(source)
	if err != nil {
		t.Fatalf("header: %v", err)
	}
	r.Multistream(false)
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("body: %v", err)
	}
	if source.Len() != 0 {
		t.Fatalf("%d bytes behind the first member", source.Len())
	}
	return plain
}

func TestJointIsOneMember(t *testing.T) {
	c := open(t, result.Options{})
	rapid.Check(t, func(t *rapid.T) {
		stretches := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 0, 12).Draw(t, "stretches")
		got := inflated(t, joined(t, stretches, c.NewBlock))
		if want := bytes.Join(stretches, nil); !bytes.Equal(got, want) {
			t.Fatalf("got %d bytes, want %d", len(got), len(want))
		}
	})
}

func TestJointOfLargeBlocks(t *testing.T) {
	c := open(t, result.Options{})
	random := rand.New(rand.NewPCG(1, 2))
	var stretches [][]byte
	for range 12 {
		noise := make([]byte, random.IntN(90_000))
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		stretches = append(stretches, noise, []byte(strings.Repeat("lorem ipsum ", random.IntN(30_000))))
	}
	if got := inflated(t, joined(t, stretches, c.NewBlock)); !bytes.Equal(got, bytes.Join(stretches, nil)) {
		t.Error("the body differs from its stretches")
	}
}

// TestBlockIsCompressedOnce: later requests find the block, in another body too.
func TestBlockIsCompressedOnce(t *testing.T) {
	c := open(t, result.Options{Budget: 1 << 20, BlockBudget: 1 << 20})
	calls := 0
	plain := func() []byte { calls++; return []byte("the same") }
	for range 3 {
		b, err := c.Block("name", plain)
		if err != nil {
			t.Fatal(err)
		}
		var j result.Joint
		body := append(append(j.Head(), j.Add(b)...), j.Tail()...)
		if got := string(inflated(t, body)); got != "the same" {
			t.Fatalf("got %q", got)
		}
	}
	if calls != 1 {
		t.Errorf("compressed %d times", calls)
	}
}

func TestBlockAfterClose(t *testing.T) {
	c, err := result.New(result.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if b, err := c.Block("name", func() []byte { return []byte("text") }); err != nil || len(b.Body) == 0 {
		t.Errorf("got %v, %v, want a block that is not kept", b, err)
	}
}

func BenchmarkBlock(b *testing.B) {
	c := open(b, result.Options{})
	plain := []byte(strings.Repeat(`{"id":"64a0","activity":"<b>Someone</b> (2020)","year":2020},`, 3000))
	b.SetBytes(int64(len(plain)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.NewBlock(plain); err != nil {
			b.Fatal(err)
		}
	}
}
