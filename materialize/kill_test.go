package materialize_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/configs"
	"vitrine/materialize"
)

// childEnv names the environment variable with the path of the store that a child process
// materializes.
const childEnv = "VITRINE_TEST_MATERIALIZE"

// killRecords is how many records the killed process works on, in batches of 20.
const killRecords = 300

// A process that is killed at any point of its work leaves a view that is whole at one generation
// or the next, both for readers that load it anew and for those that follow it. The next run brings
// it up to date.
func TestKilledProcessLeavesWholeViews(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	follower := map[int32]string{}
	since := uint64(0)
	for round := 1; round <= 16; round++ {
		want := versioned(round)
		withBolt(t, path, func(s boltHouse) {
			var docs []any
			for id, title := range want {
				docs = append(docs, rec(id, title))
			}
			s.replace("records", docs...)
		})
		// A run has about 19 events: begin, 15 batches, commit and its return.
		steps := rand.IntN(20)
		killChildAfter(t, path, steps)
		withBolt(t, path, func(s boltHouse) {
			got := loud(t, s)
			if before := versioned(round - 1); !maps.Equal(got, want) && !maps.Equal(got, before) {
				t.Fatalf("round %d, killed after %d steps: %d rows, equal neither to the old view nor to the new",
					round, steps, len(got))
			}
			since = follow(t, s, follower, since)
			if !maps.Equal(follower, got) {
				t.Fatalf("round %d, killed after %d steps: the following reader has %d rows, a new one %d", round,
					steps, len(follower), len(got))
			}
			out := once(t, killRunner(t, s), materialize.Request{Full: round%2 == 0})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			wantLoud(t, s, want)
			since = follow(t, s, follower, since)
			if !maps.Equal(follower, want) {
				t.Fatalf("round %d: the following reader lacks the last changes", round)
			}
		})
	}
}

// versioned returns the view's rows in a round: some records come and go, all others change. Before
// the first round the view has no rows.
func versioned(round int) map[int32]string {
	rows := map[int32]string{}
	if round == 0 {
		return rows
	}
	for id := range int32(killRecords) {
		if (int(id)+round)%10 != 0 {
			rows[id] = fmt.Sprintf("round %d", round)
		}
	}
	return rows
}

// follow updates a reader's rows and returns their generation.
func follow(t *testing.T, views origin.Views, rows map[int32]string, since uint64) uint64 {
	t.Helper()
	newest := map[int32]uint64{}
	meta, err := views.Rows(t.Context(), "loud", since, func(r origin.Row) error {
		id := r.ID.Int32()
		if r.Generation < newest[id] {
			return nil
		}
		newest[id] = r.Generation
		delete(rows, id)
		if r.Doc != nil {
			rows[id] = r.Doc.Lookup("loud").StringValue()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return meta.Generation
}

func withBolt(t testing.TB, path string, do func(boltHouse)) {
	t.Helper()
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	do(boltHouse{s})
}

// killRunner and the child share one holder name, so that neither waits for the other's lease.
func killRunner(t testing.TB, s materialize.Store) *materialize.Runner {
	return newRunner(t, killOptions(s))
}

func killOptions(s materialize.Store) materialize.Options {
	plain := &shouting{}
	return materialize.Options{Store: s, Jobs: []materialize.Job{plain.job()}, Holder: "one of two", Batch: 20,
		Materialize: configs.Materialize{Lease: 30 * time.Second}, Log: quiet()}
}

// killChildAfter starts a child process on the store and kills it with SIGKILL when it has reported
// that many steps, or has ended its run.
func killChildAfter(t *testing.T, path string, steps int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+path)
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }() // the child is gone by then
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for n := 0; n < steps && lines.Scan(); n++ {
		if lines.Text() == "end" {
			break
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stdout)
	if err := child.Wait(); err == nil {
		t.Error("child ended before it was killed")
	}
}

// materializeAndWait is the child's main: it runs the job once, reports every step on standard
// output, and waits until it is killed.
func materializeAndWait(path string) int {
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r, err := materialize.New(killOptions(telling{s}))
	if err == nil {
		_, err = r.RunOnce(context.Background(), materialize.Request{}, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("end")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// telling is a store that reports each step of a publication before and after it.
type telling struct{ *bolt.Store }

func (s telling) Begin(ctx context.Context, view string, l origin.Lease) (origin.Publication, error) {
	pub, err := s.Store.Begin(ctx, view, l)
	fmt.Println("begun")
	return tellingPublication{pub}, err
}

type tellingPublication struct{ origin.Publication }

func (p tellingPublication) Put(ctx context.Context, rows []origin.Row) error {
	fmt.Println("put")
	return p.Publication.Put(ctx, rows)
}

func (p tellingPublication) Commit(ctx context.Context, rows int, rules string) (origin.Meta, error) {
	fmt.Println("commit")
	meta, err := p.Publication.Commit(ctx, rows, rules)
	fmt.Println("committed")
	return meta, err
}
