package mongo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/metadoc"
)

// publication is one attempt at a view's next generation; the package comment
// tells the protocol.
//
// One late write cannot be told from a timely one: a process that settles, sleeps
// in the middle for longer than KeepDeltas generations and then writes a row that
// was since taken away and whose tombstone is deleted. That row comes back until
// the next job, which compares all hashes with the source, takes it away again.
type publication struct {
	store      *Store
	view       string
	lease      origin.Lease
	begun      metaDoc // as of Begin; Attempt is ours
	generation uint64
	put        bool // something was staged
	done       bool // committed or aborted
}

// errDone tells of a publication used after its end.
var errDone = errors.New("publication is over")

// Begin implements origin.Views.
func (s *Store) Begin(ctx context.Context, view string, lease origin.Lease) (origin.Publication, error) {
	p := &publication{store: s, view: view, lease: lease}
	if err := p.begin(ctx); err != nil {
		return nil, fmt.Errorf("begin publication of view %s: %w", view, err)
	}
	return p, nil
}

// begin fences off earlier publications and repairs what they left.
func (p *publication) begin(ctx context.Context) error {
	if err := origin.CheckView(p.view); err != nil {
		return err
	}
	if err := p.store.checkLease(ctx, p.lease); err != nil {
		return err
	}
	if err := p.store.createIndex(ctx, p.view); err != nil {
		return err
	}
	d, err := p.store.attempt(ctx, p.view, p.lease)
	if err != nil {
		return err
	}
	if d.Staged != 0 {
		if err := p.store.settle(ctx, d, p.lease); err != nil {
			return err
		}
	}
	if err := p.store.discard(ctx, p.view, d.Attempt); err != nil {
		return err
	}
	if d.Generation == 0 && d.Floor > 0 {
		if err := p.store.clear(ctx, p.view, d.Floor); err != nil {
			return err
		}
	}
	p.begun, p.generation = d, d.next()
	return p.store.prune(ctx, d)
}

// createIndex makes sure that deltas find their rows without a scan.
func (s *Store) createIndex(ctx context.Context, view string) error {
	return storeError(s.side(view).index(ctx, bson.D{{Key: pathGeneration, Value: 1}}))
}

// attempt counts up the view's attempts and returns the meta with our number. For a
// view without a generation it also sets the floor: should its collection hold
// rows of an earlier life, whose meta was lost, then generations go on above theirs.
func (s *Store) attempt(ctx context.Context, view string, lease origin.Lease) (metaDoc, error) {
	d, err := s.readMeta(ctx, view)
	if err != nil {
		return d, err
	}
	filter, set := bson.D{{Key: "_id", Value: view}}, bson.D{}
	if d.Generation == 0 {
		floor, err := s.newest(ctx, view)
		if err != nil {
			return d, err
		}
		// $not, for the field is missing at first.
		filter = append(filter, bson.E{Key: "gen", Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gt", Value: int64(0)}}}}})
		set = append(set, bson.E{Key: "floor", Value: max(floor, d.Floor)})
	}
	return s.fence(ctx, filter, lease, set, bson.D{{Key: "attempt", Value: int64(1)}})
}

// newest returns the highest generation in a view's collection, 0 if it is empty.
func (s *Store) newest(ctx context.Context, view string) (uint64, error) {
	o := options.FindOne().SetSort(bson.D{{Key: pathGeneration, Value: -1}}).SetProjection(bson.D{{Key: viewField, Value: 1}})
	doc, err := s.side(view).findOne(ctx, bson.D{}, o)
	if errors.Is(err, driver.ErrNoDocuments) {
		return 0, nil
	}
	if err != nil {
		return 0, storeError(err)
	}
	generation, _ := doc.Lookup(viewField, "gen").AsInt64OK()
	return uint64(generation), nil
}

// clear deletes the rows of an earlier life.
func (s *Store) clear(ctx context.Context, view string, floor uint64) error {
	_, err := s.side(view).deleteMany(ctx, bson.D{{Key: pathGeneration, Value: bson.D{{Key: "$lte", Value: floor}}}})
	return storeError(err)
}

// Generation implements origin.Publication.
func (p *publication) Generation() uint64 { return p.generation }

// Put implements origin.Publication.
func (p *publication) Put(ctx context.Context, rows []origin.Row) error {
	err := p.stage(ctx, rows)
	if err != nil {
		return fmt.Errorf("put rows of view %s: %w", p.view, err)
	}
	return nil
}

// stage checks and stages rows.
func (p *publication) stage(ctx context.Context, rows []origin.Row) error {
	if p.done {
		return errDone
	}
	for _, r := range rows {
		if err := r.Check(); err != nil {
			return err
		}
	}
	p.put = p.put || len(rows) > 0
	return p.store.stage(ctx, stagedPrefix(p.view, p.begun.Attempt), p.generation, rows)
}

// Commit implements origin.Publication. Once meta is moved on the generation is
// published, so that trouble with settling afterwards, or ctx ending there, is no
// error of Commit: readers overlay what is not settled, and the next Begin settles it.
func (p *publication) Commit(ctx context.Context, rows int, rules string) (origin.Meta, error) {
	d, err := p.commit(ctx, rows, rules)
	if err != nil {
		return origin.Meta{}, fmt.Errorf("commit view %s: %w", p.view, err)
	}
	p.done = true
	if p.store.settle(ctx, d, p.lease) == nil && p.store.prune(ctx, d) == nil {
		if settled, err := p.store.readMeta(ctx, p.view); err == nil {
			d.Pruned = settled.Pruned
		}
	}
	return d.Meta(), nil
}

// commit moves the view's meta on.
func (p *publication) commit(ctx context.Context, rows int, rules string) (d metaDoc, err error) {
	if p.done {
		return d, errDone
	}
	if err := p.store.checkLease(ctx, p.lease); err != nil {
		return d, err
	}
	set := bson.D{
		{Key: "gen", Value: p.generation}, {Key: "rows", Value: rows}, {Key: "rules", Value: rules},
		{Key: "published", Value: metadoc.Next(p.begun.Published, p.store.o.Now())},
	}
	if p.put {
		set = append(set, bson.E{Key: "staged", Value: p.begun.Attempt})
	}
	if p.begun.Generation == 0 {
		set = append(set, bson.E{Key: "epoch", Value: rand.Text()})
		if p.begun.Floor > 0 { // from generations of an earlier life no delta leads here
			set = append(set, bson.E{Key: "pruned", Value: p.generation})
		}
	}
	ours := append(p.unpublished(), bson.E{Key: "token", Value: bson.D{{Key: "$lte", Value: p.lease.Token}}})
	err = p.store.metas().findAndUpdate(ctx, ours, bson.D{{Key: "$set", Value: set}}, false, &d)
	if errors.Is(err, driver.ErrNoDocuments) {
		return d, origin.ErrFenced
	}
	if err != nil {
		return p.outcome(ctx, err)
	}
	return d, nil
}

// unpublished finds the view's meta as long as this publication can be committed.
func (p *publication) unpublished() bson.D {
	return bson.D{{Key: "_id", Value: p.view}, {Key: "attempt", Value: p.begun.Attempt}, {Key: "gen", Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$gt", Value: p.begun.Generation}}}}}}
}

// outcome finds out whether a commit whose answer was lost went through.
func (p *publication) outcome(ctx context.Context, lost error) (metaDoc, error) {
	d, err := p.store.readMeta(ctx, p.view)
	if err == nil && d.Attempt == p.begun.Attempt && d.Generation == p.generation {
		return d, nil
	}
	return d, storeError(lost)
}

// Abort implements origin.Publication. Before anything is deleted the attempt is
// counted up: a commit of ours that is still on its way, its answer lost, then
// comes too late. If it came before, the rows are published and stay.
func (p *publication) Abort(ctx context.Context) error {
	if p.done {
		return nil
	}
	next := bson.D{{Key: "$inc", Value: bson.D{{Key: "attempt", Value: int64(1)}}}}
	ours, err := p.store.metas().updateOne(ctx, p.unpublished(), next)
	err = storeError(err)
	if err == nil && ours {
		err = p.store.discard(ctx, p.view, p.begun.Attempt+1)
	}
	if err != nil {
		return fmt.Errorf("abort publication of view %s: %w", p.view, err)
	}
	p.done = true
	return nil
}

// prune deletes tombstones older than the deltas that are kept. How far deltas
// reach is recorded first, then readers that need the tombstones find out.
func (s *Store) prune(ctx context.Context, d metaDoc) error {
	pruned := d.Pruned
	if d.Generation > s.o.KeepDeltas {
		pruned = max(pruned, d.Generation-s.o.KeepDeltas)
	}
	if d.Swept >= pruned {
		return nil
	}
	ours := bson.D{{Key: "_id", Value: d.View}, {Key: "attempt", Value: d.Attempt}}
	record := func(field string) error {
		_, err := s.metas().updateOne(ctx, ours, bson.D{{Key: "$max", Value: bson.D{{Key: field, Value: pruned}}}})
		return storeError(err)
	}
	if err := record("pruned"); err != nil {
		return err
	}
	old := bson.D{
		{Key: pathGeneration, Value: bson.D{{Key: "$gt", Value: d.Swept}, {Key: "$lte", Value: pruned}}},
		{Key: pathGone, Value: true},
	}
	if _, err := s.side(d.View).deleteMany(ctx, old); err != nil {
		return storeError(err)
	}
	return record("swept")
}
