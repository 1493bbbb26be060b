package response

import (
	"context"
	"errors"
	"iter"
	"runtime"

	"vitrine/cache/result"
	"vitrine/cache/view/index"
	"vitrine/rules/parallel"
)

// blocks is a body of prepared rows.
type blocks struct {
	head, tail []byte
	runs       iter.Seq[index.Run]
}

// group is a stretch of prepared rows that is compressed together: a block of the
// view as it is, or several runs that are none.
type group struct {
	name []byte // determines every byte
	runs []index.Run
	size int
	skip int // bytes at the beginning that are left out
}

// plain joins the group.
func (g *group) plain() []byte {
	if len(g.runs) == 1 && g.runs[0].Text() != nil {
		return g.runs[0].Text()[g.skip:]
	}
	out := make([]byte, 0, g.size)
	for _, run := range g.runs {
		out = run.Append(out)
	}
	return out[g.skip:]
}

func (g *group) add(run index.Run) {
	g.name = run.AppendName(g.name)
	g.runs = append(g.runs, run)
	g.size += run.Len()
}

// groupBytes is how many bytes of runs that are no blocks are gathered: enough to
// compress well.
const groupBytes = 128 << 10

// groups divides a body's runs. Blocks stay by themselves, so that they are the same
// in every list that has all of their rows. The comma that every run begins with is
// left out of the first.
func groups(runs iter.Seq[index.Run]) iter.Seq[*group] {
	return func(yield func(*group) bool) {
		g := &group{name: []byte("first "), skip: 1}
		for run := range runs {
			if len(g.runs) > 0 && (run.Block() || g.size >= groupBytes || g.runs[0].Block()) {
				if !yield(g) {
					return
				}
				g = &group{}
			}
			g.add(run)
		}
		if len(g.runs) > 0 {
			yield(g)
		}
	}
}

// inBlocks is a body of runs as gzip, whose blocks are compressed once and shared by
// all lists that have them.
func (r *Responder) inBlocks(b *Body) Pieces {
	return func(yield func([]byte, error) bool) {
		var joint result.Joint
		add := func(block result.Block, err error) bool {
			if err != nil {
				yield(nil, err)
				return false
			}
			return yield(joint.Add(block), nil)
		}
		if !yield(joint.Head(), nil) || !add(r.results.NewBlock(b.blocks.head)) {
			return
		}
		next, stop := iter.Pull(groups(b.blocks.runs))
		defer stop()
		for more := true; more; {
			var blocks []result.Block
			var err error
			if blocks, more, err = r.nextBlocks(next); err != nil {
				yield(nil, err)
				return
			}
			for _, block := range blocks {
				if !add(block, nil) {
					return
				}
			}
		}
		if add(r.results.NewBlock(b.blocks.tail)) {
			yield(joint.Tail(), nil)
		}
	}
}

// nextBlocks compresses the groups that come next, as many at a time as there are
// processors, or finds that done; false where there are no more. It has the time a
// request has: whoever reads them may take longer for all.
func (r *Responder) nextBlocks(next func() (*group, bool)) ([]result.Block, bool, error) {
	ctx, cancel := r.deadline(context.Background())
	defer cancel()
	var work parallel.Group
	blocks := make([]result.Block, runtime.GOMAXPROCS(0))
	errs := make([]error, len(blocks))
	n, more := 0, true
	for i := range blocks {
		var g *group
		if g, more = next(); !more {
			break
		}
		n++
		work.Go(func() { blocks[i], errs[i] = r.results.Block(ctx, string(g.name), g.plain) })
	}
	work.Wait()
	return blocks[:n], more, errors.Join(errs...)
}
