package mongo

import (
	"context"
	"crypto/rand"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/metadoc"
	"vitrine/cache/origin/internal/wrap"
)

// publication is one attempt at a view's next generation; the package comment
// describes the protocol.
//
// One late write looks like a timely one: a process that settles, sleeps
// in the middle for longer than KeepDeltas generations and then writes a row that
// was since taken away and whose tombstone is deleted. That row comes back until
// the next job, which compares all hashes with the source, takes it away again.
type publication struct {
	views      *views
	view       string
	lease      origin.Lease
	begun      metaDoc // as of Begin; Attempt is ours
	generation uint64
	put        bool // something was staged
	done       bool // committed or aborted
}

// errDone reports the use of a publication after its end.
var errDone = errors.New("publication is over")

// Begin implements origin.Views. It fences off earlier publications and repairs what they left.
func (v *views) Begin(ctx context.Context, view string, lease origin.Lease) (_ origin.Publication, err error) {
	defer wrap.Error(&err, "begin publication of view %s", view)
	if err := origin.CheckView(view); err != nil {
		return nil, err
	}
	if err := v.leases.check(ctx, lease); err != nil {
		return nil, err
	}
	byGeneration := bson.D{{Key: pathGeneration, Value: 1}} // deltas find their rows without a scan
	if err := v.rowsOf(view).index(ctx, byGeneration); err != nil {
		return nil, err
	}
	d, err := v.attempt(ctx, view, lease)
	if err != nil {
		return nil, err
	}
	if d.Staged != 0 {
		if err := v.settle(ctx, d, lease); err != nil {
			return nil, err
		}
	}
	if err := v.discard(ctx, view, d.Attempt); err != nil {
		return nil, err
	}
	if d.Generation == 0 && d.Floor > 0 { // rows of an earlier life
		old := bson.D{{Key: pathGeneration, Value: bson.D{{Key: "$lte", Value: d.Floor}}}}
		if _, err := v.rowsOf(view).deleteMany(ctx, old); err != nil {
			return nil, err
		}
	}
	p := &publication{views: v, view: view, lease: lease, begun: d, generation: d.next()}
	return p, v.prune(ctx, d)
}

// attempt counts up the view's attempts and returns the meta with our number. For a
// view without a generation it also sets the floor: should its collection hold
// rows of an earlier life, whose meta was lost, then generations go on above theirs.
func (v *views) attempt(ctx context.Context, view string, lease origin.Lease) (metaDoc, error) {
	d, err := v.read(ctx, view)
	if err != nil {
		return d, err
	}
	filter, fields := is(view), bson.D{}
	if d.Generation == 0 {
		floor, err := v.newest(ctx, view)
		if err != nil {
			return d, err
		}
		// $not, for the field is missing at first.
		filter = append(filter, bson.E{Key: "gen", Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gt", Value: int64(0)}}}}})
		fields = append(fields, bson.E{Key: "floor", Value: max(floor, d.Floor)})
	}
	return v.fence(ctx, filter, lease, fields, bson.D{{Key: "attempt", Value: int64(1)}})
}

// newest returns the highest generation in a view's collection, 0 if it is empty.
func (v *views) newest(ctx context.Context, view string) (uint64, error) {
	o := options.FindOne().SetSort(bson.D{{Key: pathGeneration, Value: -1}}).SetProjection(bson.D{{Key: viewField, Value: 1}})
	doc, err := v.rowsOf(view).findOne(ctx, bson.D{}, o)
	if errors.Is(err, origin.ErrNotFound) {
		return 0, nil
	}
	generation, _ := doc.Lookup(viewField, "gen").AsInt64OK()
	return uint64(generation), err
}

// Put implements origin.Publication.
func (p *publication) Put(ctx context.Context, rows []origin.Row) (err error) {
	defer wrap.Error(&err, "put rows of view %s", p.view)
	if p.done {
		return errDone
	}
	for _, r := range rows {
		if err := r.Check(); err != nil {
			return err
		}
	}
	p.put = p.put || len(rows) > 0
	return p.views.stage(ctx, stagedPrefix(p.view, p.begun.Attempt), p.generation, rows)
}

// Commit implements origin.Publication. Once meta is moved on the generation is
// published, so that trouble with settling afterwards, or ctx ending there, is no
// error of Commit: readers overlay what is not settled, and the next Begin settles it.
func (p *publication) Commit(ctx context.Context, rows int, rules string) (_ origin.Meta, err error) {
	defer wrap.Error(&err, "commit view %s", p.view)
	if p.done {
		return origin.Meta{}, errDone
	}
	if err := p.views.leases.check(ctx, p.lease); err != nil {
		return origin.Meta{}, err
	}
	d, err := p.advance(ctx, rows, rules)
	if err != nil {
		return origin.Meta{}, err
	}
	p.done = true
	if p.views.settle(ctx, d, p.lease) == nil && p.views.prune(ctx, d) == nil {
		if settled, err := p.views.read(ctx, p.view); err == nil {
			d.Pruned = settled.Pruned
		}
	}
	return d.Meta, nil
}

// advance moves the view's meta on to the generation.
func (p *publication) advance(ctx context.Context, rows int, rules string) (d metaDoc, err error) {
	fields := bson.D{
		{Key: "gen", Value: p.generation}, {Key: "rows", Value: rows}, {Key: "rules", Value: rules},
		{Key: "published", Value: metadoc.Next(p.begun.Published, p.views.leases.now())},
	}
	if p.put {
		fields = append(fields, bson.E{Key: "staged", Value: p.begun.Attempt})
	}
	if p.begun.Generation == 0 {
		fields = append(fields, bson.E{Key: "epoch", Value: rand.Text()})
		if p.begun.Floor > 0 { // from generations of an earlier life no delta leads here
			fields = append(fields, bson.E{Key: "pruned", Value: p.generation})
		}
	}
	lost := p.views.metas.findAndUpdate(ctx, append(p.unpublished(), notNewer(p.lease)), set(fields), false, &d)
	if lost == nil || errors.Is(lost, origin.ErrNotFound) {
		return d, fencedUnlessFound(lost)
	}
	// The answer was lost: the commit may have gone through.
	d, err = p.views.read(ctx, p.view)
	if err == nil && d.Attempt == p.begun.Attempt && d.Generation == p.generation {
		return d, nil
	}
	return d, lost
}

// unpublished finds the view's meta as long as this publication can be committed.
func (p *publication) unpublished() bson.D {
	return bson.D{{Key: "_id", Value: p.view}, {Key: "attempt", Value: p.begun.Attempt}, {Key: "gen", Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gt", Value: p.begun.Generation}}}}}}
}

// Abort implements origin.Publication. Before anything is deleted the attempt is
// counted up: a commit of ours that is still on its way, its answer lost, then
// comes too late. If it came before, the rows are published and stay.
func (p *publication) Abort(ctx context.Context) (err error) {
	defer wrap.Error(&err, "abort publication of view %s", p.view)
	if p.done {
		return nil
	}
	next := bson.D{{Key: "$inc", Value: bson.D{{Key: "attempt", Value: int64(1)}}}}
	ours, err := p.views.metas.updateOne(ctx, p.unpublished(), next)
	if err == nil && ours {
		err = p.views.discard(ctx, p.view, p.begun.Attempt+1)
	}
	p.done = err == nil
	return err
}

// prune deletes tombstones older than the deltas that are kept. How far deltas
// reach is recorded first, then readers that need the tombstones find out.
func (v *views) prune(ctx context.Context, d metaDoc) error {
	pruned := d.Pruned
	if d.Generation > v.keep {
		pruned = max(pruned, d.Generation-v.keep)
	}
	if d.Swept >= pruned {
		return nil
	}
	ours := bson.D{{Key: "_id", Value: d.View}, {Key: "attempt", Value: d.Attempt}}
	record := func(field string) error {
		_, err := v.metas.updateOne(ctx, ours, bson.D{{Key: "$max", Value: bson.D{{Key: field, Value: pruned}}}})
		return err
	}
	if err := record("pruned"); err != nil {
		return err
	}
	old := bson.D{
		{Key: pathGeneration, Value: bson.D{{Key: "$gt", Value: d.Swept}, {Key: "$lte", Value: pruned}}},
		{Key: pathGone, Value: true},
	}
	if _, err := v.rowsOf(d.View).deleteMany(ctx, old); err != nil {
		return err
	}
	return record("swept")
}
