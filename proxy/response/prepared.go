package response

import (
	"context"
	"iter"

	"vitrine/cache/result"
	"vitrine/cache/view/index"
)

// prepared is a body whose rows lie in memory as they are sent, each behind a comma.
type prepared struct {
	Envelope
	runs iter.Seq[index.Run]
}

// JoinRuns returns the body of an envelope with prepared rows. Pieces are of about a
// chunk, or larger where the memory of the rows can be sent as it is.
func JoinRuns(e Envelope, runs iter.Seq[index.Run]) *Body {
	p := &prepared{e, runs}
	return &Body{Count: e.Count, prepared: p, pieces: func(context.Context) Pieces { return p.pieces }}
}

// size returns how many bytes the pieces have.
func (p *prepared) size() int {
	n := 0
	for run := range p.runs {
		n += run.Len()
	}
	return len(p.Head) + len(p.Tail) + max(n-1, 0) // without the first comma
}

func (p *prepared) pieces(yield func([]byte, error) bool) {
	buffer := make([]byte, 0, chunk+chunk/4)
	long := func(run index.Run) bool { return len(run.Text()) >= chunk/2 } // sent without a copy
	for g := range p.groups(bulkyByRow(p.runs), chunk/2, long) {
		if !yield(g.text(buffer[:0]), nil) {
			return
		}
	}
}

// bulkyByRow yields runs, row by row those that are not in memory and too long to be
// made as a whole.
func bulkyByRow(runs iter.Seq[index.Run]) iter.Seq[index.Run] {
	return func(yield func(index.Run) bool) {
		for run := range runs {
			if run.Text() != nil || run.Len() <= chunk {
				if !yield(run) {
					return
				}
				continue
			}
			for row := range run.Rows() {
				if !yield(row) {
					return
				}
			}
		}
	}
}

// group is what is sent, or compressed, together: some runs, or what stands around all.
type group struct {
	around []byte // nil for runs
	runs   []index.Run
	size   int // of the runs in bytes
	skip   int // what is left out of them: the comma that the first run of a body begins with
}

// groups divides a body with runs into groups. A run that is to be alone is a group by
// itself; others are gathered until they have most bytes. There is no error.
func (p *prepared) groups(runs iter.Seq[index.Run], most int, alone func(index.Run) bool) iter.Seq2[*group, error] {
	return func(yield func(*group, error) bool) {
		if !yield(&group{around: p.Head}, nil) {
			return
		}
		g := &group{skip: 1}
		for run := range runs {
			if len(g.runs) > 0 && (alone(run) || g.size >= most || alone(g.runs[0])) {
				if !yield(g, nil) {
					return
				}
				g = &group{}
			}
			g.runs = append(g.runs, run)
			g.size += run.Len()
		}
		if len(g.runs) == 0 || yield(g, nil) {
			yield(&group{around: p.Tail}, nil)
		}
	}
}

// text returns the bytes of a group: as they lie in memory if they do as one piece, else
// appended to dst.
func (g *group) text(dst []byte) []byte {
	if g.around != nil {
		return g.around
	}
	if text := g.runs[0].Text(); text != nil && len(g.runs) == 1 {
		return text[g.skip:]
	}
	for _, run := range g.runs {
		dst = run.Append(dst)
	}
	return dst[g.skip:]
}

// name returns what determines every byte of the text.
func (g *group) name() string {
	var name []byte
	if g.skip > 0 {
		name = []byte("first ")
	}
	for _, run := range g.runs {
		name = run.AppendName(name)
	}
	return string(name)
}

// blockBytes is how many bytes of runs that are no blocks of the view are compressed
// together: enough to compress well.
const blockBytes = 128 << 10

// blocks divides a body for compression. Blocks of the view stay by themselves, so that
// they are the same in every list that has all of their rows.
func (p *prepared) blocks() iter.Seq2[*group, error] {
	return p.groups(p.runs, blockBytes, index.Run.Block)
}

// gzipped returns a body of prepared rows as gzip, whose blocks are compressed once and
// shared by all lists that have them.
func (r *Responder) gzipped(ctx context.Context, p *prepared) Pieces {
	return func(yield func([]byte, error) bool) {
		var joint result.Joint
		if !yield(joint.Head(), nil) {
			return
		}
		add := func(block result.Block) bool { return yield(joint.Add(block), nil) }
		if more, err := inOrder(ctx, p.blocks(), r.compress, add); more {
			yield(joint.Tail(), err)
		}
	}
}

// compress compresses a group, or finds that done.
func (r *Responder) compress(g *group) (result.Block, error) {
	if g.around != nil {
		return r.Results.NewBlock(g.around)
	}
	return r.Results.Block(g.name(), func() []byte { return g.text(nil) })
}
