package crashes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/programtest"
)

// TestKilledServer kills the program again and again, while it loads the demo, materializes and
// serves: the store stays whole, and in the end serves the same as that of a program that was never
// killed.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	undisturbed := programtest.Start(t, t.TempDir(), "--demo").Ready()
	_, want := undisturbed.Get("/api/all-activities")
	undisturbed.Kill()

	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 5))
	rounds := programtest.CrashRounds(t, programtest.CrashesEnv, 8)
	for range rounds {
		s := programtest.Start(t, dir, "--demo")
		<-time.After(time.Duration(rng.IntN(150)) * time.Millisecond) // at any point of its start
		s.Kill()
	}
	s := programtest.Start(t, dir, "--demo").Ready()
	status, got := s.Get("/api/all-activities")
	if status != http.StatusOK || got != want {
		t.Errorf("after %d kills: status %d, %d bytes; undisturbed %d bytes", rounds, status, len(got), len(want))
	}
}

// known records what readers of any kind have seen of a store's views: the store may not lose any
// of it.
type known struct {
	institute stamped

	mu          sync.Mutex        // guards the fields below
	generations map[string]uint64 // by view
	rounds      map[string]int    // by view
}

func newKnown(s stamped) *known {
	return &known{institute: s, generations: map[string]uint64{}, rounds: map[string]int{}}
}

// saw records that a reader saw a view at a round.
func (k *known) saw(view string, round int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rounds[view] = max(k.rounds[view], round)
}

// floor returns the newest round seen of a view: no reader may get an older one.
func (k *known) floor(view string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.rounds[view]
}

// at counts the views whose newest round seen is round.
func (k *known) at(round int) (n int) {
	for _, r := range k.rounds {
		if r == round {
			n++
		}
	}
	return n
}

// inspect reads every view from scratch: it must be whole, of one round, and not older than any
// reader has seen it.
func (k *known) inspect(t testing.TB, store origin.Store) {
	t.Helper()
	metas, err := store.Metas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range metas {
		floor := k.floor(m.View)
		rows := map[string][]byte{}
		meta, err := store.Rows(t.Context(), m.View, 0, func(r origin.Row) error {
			if delete(rows, r.ID.String()); r.Doc != nil {
				rows[r.ID.String()] = bson.Raw(r.Doc)
			}
			return nil
		})
		if errors.Is(err, origin.ErrStale) {
			continue // a write of a killed process still arrives; the next round reads again
		}
		if err != nil {
			t.Fatal(err)
		}
		if meta.Generation == 0 {
			continue
		}
		round, err := roundOfRows(rows)
		switch {
		case err != nil:
			t.Errorf("view %s, generation %d: %v", m.View, meta.Generation, err)
		case len(rows) != meta.Rows:
			t.Errorf("view %s, generation %d: %d rows, its meta says %d", m.View, meta.Generation, len(rows),
				meta.Rows)
		case m.View == "activities" && !k.institute.fits(len(rows), round):
			t.Errorf("view %s, round %d: %d rows, want %d", m.View, round, len(rows), k.institute.count(round))
		case meta.Generation < k.generations[m.View]:
			t.Errorf("view %s is back at generation %d after %d", m.View, meta.Generation, k.generations[m.View])
		}
		if round < floor {
			t.Errorf("view %s is back at round %d after %d", m.View, round, floor)
		}
		k.saw(m.View, round)
		k.generations[m.View] = max(k.generations[m.View], meta.Generation)
	}
}

// roundOfRows returns the one round of all rows.
func roundOfRows(rows map[string][]byte) (round int, err error) {
	for id, row := range rows {
		n, err := roundOf(row)
		if err != nil {
			return 0, fmt.Errorf("row %s: %w", id, err)
		}
		if n != 0 && round != 0 && n != round {
			return 0, fmt.Errorf("mixed: rows of rounds %d and %d", round, n)
		}
		round = max(n, round)
	}
	return round, nil
}

// watch sends a server every request, again and again, until ctx ends or the server is gone. None
// of its views may go back. It returns the number of answers.
func (k *known) watch(ctx context.Context, t *testing.T, s *programtest.Server) (answers int) {
	floor := map[string]int{} // what this server has shown; others may be ahead
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for questions := k.institute.questions(); ctx.Err() == nil; {
		for _, q := range questions {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Base+q.path, nil)
			if err != nil {
				t.Error(err)
				return answers
			}
			res, err := client.Do(req)
			if err != nil {
				return answers // killed
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil {
				return answers
			}
			if res.StatusCode == http.StatusServiceUnavailable { // not loaded yet
				<-time.After(time.Millisecond)
				continue
			}
			round, err := q.check(k.institute, body)
			if err == nil && round < floor[q.view] {
				err = fmt.Errorf("back at round %d after %d", round, floor[q.view])
			}
			if err != nil {
				t.Errorf("%s: %s: %v", q.path, res.Status, err)
			}
			floor[q.view] = max(floor[q.view], round)
			k.saw(q.view, round)
			answers++
			<-time.After(time.Millisecond) // leaves the server time for other work
		}
	}
	return answers
}

// TestKilledAnywhere kills in each round, at any point of its work, a process that only
// materializes, or one that also serves. Every reader, before or after, finds every view whole, at
// the previous round or at the new one, and never older than it has seen it. In the end the store
// equals one whose processes were never killed.
func TestKilledAnywhere(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir, spared, k := t.TempDir(), t.TempDir(), newKnown(stamped{activities: 60})
	for _, d := range []string{dir, spared} {
		programtest.Setenv(d, "VITRINE_ACCESS_ANONYMOUS", programtest.Everything)
		programtest.Setenv(d, programtest.BatchEnv, "10")
		programtest.Setenv(d, "VITRINE_MATERIALIZE_MAX_SHRINK", "0.5")
	}
	uri := "bolt://" + dir + "/v.db"
	rounds := programtest.CrashRounds(t, programtest.CrashesEnv, 10)
	var tally struct{ killed, ended, answers, before, between, after int }
	patience := 2 * time.Second
	for round := 1; round <= rounds && !t.Failed(); round++ {
		programtest.WithStore(t, uri, func(store origin.Store) {
			k.inspect(t, store)
			switch n := k.at(round - 1); n {
			case 0:
				tally.before++
			case len(k.rounds):
				tally.after++
			default:
				tally.between++
			}
			if err := k.institute.write(t.Context(), store, round); err != nil {
				t.Fatal(err)
			}
		})
		if rand.IntN(2) == 0 {
			began := time.Now()
			ended := killMaterializer(t, dir, patience)
			if ended {
				tally.ended++
				patience = time.Since(began) // a later kill would hit no process
				for _, q := range k.institute.questions() {
					k.saw(q.view, round) // the process reported success: the store may not lose this
				}
				continue
			}
		} else {
			tally.answers += killServer(t, dir, k)
		}
		tally.killed++
	}
	programtest.WithStore(t, uri, func(store origin.Store) { k.inspect(t, store) })
	t.Logf(
		"%d rounds: %d processes killed, %d had ended before; %d rounds before any view was published, %d between, "+
			"%d after all; %d answers, all whole",
		rounds, tally.killed, tally.ended, tally.before, tally.between, tally.after, tally.answers)

	programtest.WithStore(t, "bolt://"+spared+"/v.db", func(store origin.Store) {
		if err := k.institute.write(t.Context(), store, rounds); err != nil {
			t.Fatal(err)
		}
	})
	programtest.Run(t, spared, "materialize", "--store", "bolt://v.db")
	programtest.Run(t, dir, "materialize", "--store", "bolt://v.db")
	a, b := programtest.Start(t, dir, "--store", "bolt://v.db").Ready(), programtest.Start(t, spared, "--store",
		"bolt://v.db").Ready()
	for _, q := range k.institute.questions() {
		if got, want := programtest.Body(a, q.path), programtest.Body(b, q.path); got != want {
			t.Errorf("%s: %d bytes, where nothing was killed %d", q.path, len(got), len(want))
		}
	}
}

// killMaterializer kills `vitrine materialize` within patience, and reports whether the process had
// ended before.
func killMaterializer(t *testing.T, dir string, patience time.Duration) (ended bool) {
	t.Helper()
	cmd := programtest.Command(dir, "materialize", "--store", "bolt://v.db")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("materialize: %v", err)
		}
		return true
	case <-time.After(rand.N(patience)):
	}
	_ = cmd.Process.Kill() // the process may just have ended
	return (<-done) == nil
}

// killServer kills a server at a random time after it began to listen, during requests of all
// kinds, and returns how many answers it gave.
func killServer(t *testing.T, dir string, k *known) (answers int) {
	t.Helper()
	s := programtest.Start(t, dir, "--store", "bolt://v.db")
	watched := make(chan int)
	go func() { watched <- k.watch(t.Context(), t, s) }()
	<-time.After(rand.N(250 * time.Millisecond)) // the server listens, loads and materializes
	s.Kill()
	return <-watched
}
