package response

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/rules"
)

// Views is where answers come from; *view.Set is one.
type Views interface {
	// Snapshot returns a view's current snapshot, or rules.ErrUnavailable.
	Snapshot(view string) (*view.Snapshot, error)
	// Newer waits for a snapshot newer than one that was replaced while it was read.
	Newer(ctx context.Context, moved *view.MovedError) error
	// Status returns the state of every view.
	Status() []view.Status
}

// Snapshots are what an answer is made from: a snapshot of each view that its plan names. Only a Responder makes
// them. The key of the answer is made from the same ones, so that an answer cannot have rows that its key does not
// name.
type Snapshots struct {
	own  *view.Snapshot
	also []*view.Snapshot // of the views in Plan.Also, in its order
}

// Build evaluates a query on snapshots. It may be called more than once, and while a later snapshot is prepared: it
// has no other way to rows, and takes the time from the plan.
type Build func(context.Context, Snapshots) (*Body, error)

// Own returns the snapshot of Plan.View.
func (s Snapshots) Own() *view.Snapshot { return s.own }

// Of returns the snapshot of a view. It is a programming mistake if the plan does not name the view.
func (s Snapshots) Of(name string) (*view.Snapshot, error) {
	if s.own.Meta().View == name {
		return s.own, nil
	}
	for _, other := range s.also {
		if other.Meta().View == name {
			return other, nil
		}
	}
	return nil, fmt.Errorf("response: build on view %s, which the plan does not name", name)
}

// intact returns a view.MovedError if rows of a snapshot are lost. Answers made before are right.
func (s Snapshots) intact() error {
	err := s.own.Intact()
	for _, other := range s.also {
		err = cmp.Or(err, other.Intact())
	}
	return err
}

// doubts returns rules.ErrUnavailable if the store lacks rows of a snapshot, unless a is a kept answer from before
// that. A nil a is an answer that is yet to be made.
func (s Snapshots) doubts(a *result.Answer) error {
	var made time.Time
	if a != nil && a.ETag != "" {
		made = a.Made
	}
	err := s.own.CheckAnswer(made)
	for _, other := range s.also {
		err = cmp.Or(err, other.CheckAnswer(made))
	}
	return err
}

// moved returns a view.MovedError if rows were lost while work on them failed: that is then the cause, and a retry
// the remedy. Otherwise it returns the error of the work.
func (s Snapshots) moved(err error) error {
	err = s.own.Moved(err)
	for _, other := range s.also {
		err = other.Moved(err)
	}
	return err
}

// Version returns a text that other snapshots of the same views do not have.
func (s Snapshots) Version() string { return string(appendVersions(appendVersion(nil, s.own), s.also)) }

func appendVersions(dst []byte, all []*view.Snapshot) []byte {
	for _, s := range all {
		dst = appendVersion(append(dst, 0), s)
	}
	return dst
}

func appendVersion(dst []byte, s *view.Snapshot) []byte {
	k := SnapshotKey(s)
	dst = append(append(dst, k.Epoch...), ' ')
	dst = append(strconv.AppendUint(dst, k.Generation, 36), ' ')
	return strconv.AppendInt(dst, k.Published, 36)
}

// SnapshotKey returns what the keys of all answers from a snapshot have in common.
func SnapshotKey(s *view.Snapshot) result.Key {
	meta := s.Meta()
	return result.Key{
		View: meta.View, Epoch: s.Edition(), Generation: meta.Generation, Published: meta.Published.UnixMilli(),
	}
}

// on returns the snapshots for a plan, each read once. The error is a view.MovedError if the plan was made from
// another snapshot of a view. Whole is for Plan.View alone.
func (p *servedPlan) on(views Views) (s Snapshots, err error) {
	if s.own, err = views.Snapshot(p.View); err != nil {
		return s, err
	}
	if p.Whole {
		s.own = s.own.Whole()
	}
	for _, name := range p.Also {
		other, err := views.Snapshot(name)
		if err != nil {
			return s, err
		}
		s.also = append(s.also, other)
	}
	// The plan holds for these snapshots alone. After the error Serve makes it anew, from a newer one.
	for _, of := range p.of {
		if now, err := s.Of(of.View); err != nil || SnapshotKey(now) != of {
			from := origin.Meta{Epoch: of.Epoch, Generation: of.Generation}
			return s, &view.MovedError{View: of.View, From: from}
		}
	}
	return s, nil
}

// keyOn returns the key of the answer from snapshots.
func (p *servedPlan) keyOn(s Snapshots, coding result.Coding) result.Key {
	key := SnapshotKey(s.own)
	key.Query, key.Coding = p.key, coding
	if len(s.also) > 0 {
		key.Query = string(appendVersions([]byte(p.key), s.also))
	}
	return key
}

// MakePlan makes the plan of a request.
type MakePlan func(*Planning) (Plan, error)

// On makes the plan of a request at a time, and reads the snapshots to answer it from, for callers without a
// Responder.
func (m MakePlan) On(views Views, now time.Time) (Plan, Snapshots, error) {
	made, planning, err := m.plan(views, now)
	if err != nil {
		return made, Snapshots{}, err
	}
	s, err := (&servedPlan{Plan: made, of: planning.of}).on(views)
	return made, s, err
}

// plan makes a plan, and returns what it was made with: the snapshots that it read, for which alone it holds.
func (m MakePlan) plan(views Views, now time.Time) (Plan, *Planning, error) {
	planning := &Planning{views: views, now: now.Round(0)}
	made, err := m(planning)
	planning.end(&made)
	return made, planning, err
}

// Planning is what a plan is made with, beside its request. It ends when the plan is returned: a Build that kept it
// gets nothing from it.
type Planning struct {
	views Views
	now   time.Time    // without a monotonic reading
	of    []result.Key // of the snapshots that Snapshot returned
	ended bool
}

// Now returns the wall clock's time of the plan. A plan that depends on it says so in its Caching and its Query.
func (p *Planning) Now() time.Time { return p.now }

// Snapshot returns the current snapshot of a view. The plan holds only for it, and its answers name it in their keys.
func (p *Planning) Snapshot(name string) (*view.Snapshot, error) {
	s, err := p.read(name)
	if err != nil {
		return nil, err
	}
	if of := SnapshotKey(s); !slices.Contains(p.of, of) {
		p.of = append(p.of, of)
	}
	return s, nil
}

// ErrGuess is the error of a Build for whose snapshots Planning.Guess would find something else: the plan is made
// anew.
var ErrGuess = fmt.Errorf("response: a plan was made for other snapshots: %w", rules.ErrUnavailable)

// Guess returns the current snapshot of a view for a plan that holds for later ones, too, because its Build looks
// again, and returns ErrGuess if it finds something else.
func (p *Planning) Guess(name string) (*view.Snapshot, error) { return p.read(name) }

func (p *Planning) read(name string) (*view.Snapshot, error) {
	if p.ended {
		return nil, fmt.Errorf("response: view %s is read after the plan was made", name)
	}
	return p.views.Snapshot(name)
}

// end adds what was read to the plan.
func (p *Planning) end(made *Plan) {
	p.ended = true
	for _, of := range p.of {
		if of.View != made.View && !slices.Contains(made.Also, of.View) {
			made.Also = append(slices.Clip(made.Also), of.View)
		}
	}
}
