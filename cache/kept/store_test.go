package kept_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/kept"
	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
)

// openStore opens an embedded store, whose files are not in the way of fake time.
func openStore(t *testing.T) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// faulty is a store that can fail.
type faulty struct {
	origin.Responses
	down, readOnly atomic.Bool
	hanging        atomic.Bool // requests take until their context ends
	writes         atomic.Int64
}

func (f *faulty) fail(ctx context.Context, write bool) error {
	if f.hanging.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if write {
		f.writes.Add(1)
	}
	switch {
	case f.down.Load():
		return errDown
	case write && f.readOnly.Load():
		return origin.ErrUnsupported
	}
	return nil
}

func (f *faulty) Response(ctx context.Context, key string) (origin.Response, error) {
	if err := f.fail(ctx, false); err != nil {
		return origin.Response{}, err
	}
	return f.Responses.Response(ctx, key)
}

func (f *faulty) Claim(
	ctx context.Context, key, holder string, term time.Duration,
) (origin.Claim, origin.Response, error) {
	if err := f.fail(ctx, true); err != nil {
		return origin.Claim{}, origin.Response{}, err
	}
	return f.Responses.Claim(ctx, key, holder, term)
}

func (f *faulty) Put(ctx context.Context, c origin.Claim, r origin.Response) (origin.Response, error) {
	if err := f.fail(ctx, true); err != nil {
		return origin.Response{}, err
	}
	return f.Responses.Put(ctx, c, r)
}

func (f *faulty) Drop(ctx context.Context, keys []string) error {
	if err := f.fail(ctx, true); err != nil {
		return err
	}
	return f.Responses.Drop(ctx, keys)
}

func (f *faulty) Changes(ctx context.Context, since uint64) (iter.Seq2[origin.Response, error], uint64, error) {
	if err := f.fail(ctx, false); err != nil {
		return nil, 0, err
	}
	return f.Responses.Changes(ctx, since)
}

func (f *faulty) Marks(ctx context.Context) (origin.Marks, uint64, error) {
	if err := f.fail(ctx, false); err != nil {
		return nil, 0, err
	}
	return f.Responses.Marks(ctx)
}

// pair returns two keepers that share a server and a store, and run. It is for synthetic time.
func pair(t *testing.T, store origin.Responses, change func(o *kept.Options)) (a, b *world) {
	t.Helper()
	a = newWorld(t, func(o *kept.Options, _ *kept.Rule) {
		if o.Store = store; change != nil {
			change(o)
		}
	})
	b = &world{server: a.server, views: &views{}}
	o := kept.Options{Fetch: a.server.fetch, Views: b.views.all, Store: store, Holder: "test"}
	if change != nil {
		change(&o)
	}
	b.start(t, o, portfolio())
	running(t, a)
	running(t, b)
	synctest.Wait() // for what they read at the start
	return a, b
}

// running runs a keeper until the test ends or stop is called.
func running(t *testing.T, w *world) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// TestShared: two processes share one request for each answer and change.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t).Responses()
		a, b := pair(t, store, nil)
		a.want(t, bio, kept.Fetched, 0)
		b.want(t, bio, kept.Shared, 0)
		other := "/portfolio/other"
		a.want(t, other, kept.Fetched, 0)
		time.Sleep(3 * time.Second)
		b.want(t, other, kept.Hit, 0)

		a.views.publish("activities")
		b.views.publish("activities")
		a.server.set(func(s *server) { s.version, s.wait = 1, make(chan struct{}) })
		done := make(chan struct{})
		for _, w := range []*world{a, b} {
			go func() {
				found, err := w.Get(t.Context(), client, w.rule, bio)
				if err != nil || w.body(t, found) != `{"key":"/portfolio/unit/BIO","version":1}` {
					t.Errorf("%s %v", found.Outcome, err)
				}
				done <- struct{}{}
			}()
		}
		synctest.Wait()
		time.Sleep(time.Second)
		a.server.set(func(s *server) { close(s.wait); s.wait = nil })
		<-done
		<-done
		if n := a.server.count(bio); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
		time.Sleep(3 * time.Second)
		a.want(t, bio, kept.Hit, 1)
		b.want(t, bio, kept.Hit, 1)

		// An answer that did not change keeps its digest and body.
		a.views.publish("persons")
		b.views.publish("persons")
		a.want(t, bio, kept.Confirmed, 1)
		b.want(t, bio, kept.Confirmed, 1)
		if n := a.server.count(bio); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
	})
}

// TestSourceMarks: a collection that is no view changes by the marks in the store.
func TestSourceMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t)
		a, _ := pair(t, store.Responses(), nil)
		lease, err := store.Acquire(t.Context(), "materialize", "test", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		a.want(t, bio, kept.Fetched, 0)
		time.Sleep(3 * time.Second)
		if err := store.Responses().SetMarks(t.Context(), lease,
			origin.Marks{"persons": {At: time.Now().UnixMilli()}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		a.want(t, bio, kept.Confirmed, 0)
		a.want(t, bio, kept.Hit, 0)
	})
}

// TestDropped: what one process drops is gone in all, and the caches in front learn of it.
func TestDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var changed []string
		a, b := pair(t, openStore(t).Responses(), func(o *kept.Options) {
			o.Changed = func(keys []string) {
				mu.Lock()
				defer mu.Unlock()
				changed = append(changed, keys...)
			}
		})
		a.want(t, bio, kept.Fetched, 0)
		b.want(t, bio, kept.Shared, 0)
		time.Sleep(3 * time.Second)
		if err := a.Drop(t.Context(), []string{bio}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			return len(changed)
		}
		if b.Peek(bio) != nil || count() != 2 {
			t.Errorf("kept in the other process; %d changes", count())
		}
		a.server.version = 1
		b.want(t, bio, kept.Fetched, 1)
		time.Sleep(2 * time.Minute) // the drop is read again meanwhile
		a.want(t, bio, kept.Hit, 1)
		b.want(t, bio, kept.Hit, 1)
		if count() != 2 {
			t.Errorf("%d changes", count())
		}
	})
}

// TestDropDuringFlight: an answer that was requested before a drop is not kept, in whichever process.
func TestDropDuringFlight(t *testing.T) {
	for name, mine := range map[string]bool{"own": true, "another's": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := pair(t, openStore(t).Responses(), nil)
				wait := make(chan struct{})
				a.server.wait = wait
				done := make(chan kept.Found)
				go func() {
					found, _ := a.Get(t.Context(), client, a.rule, bio)
					done <- found
				}()
				synctest.Wait()
				by := b
				if mine {
					by = a
				}
				if err := by.Drop(t.Context(), []string{bio}); err != nil {
					t.Fatal(err)
				}
				a.server.set(func(s *server) { s.version, s.wait = 1, nil })
				close(wait)
				if found := <-done; found.Entry == nil || a.Current(found.Entry) || string(found.Body) == "" {
					t.Errorf("%s %+v", found.Outcome, found.Entry)
				}
				a.want(t, bio, kept.Fetched, 1)
				b.want(t, bio, kept.Shared, 1)
			})
		})
	}
}

// TestStoreFails: no answer is lost when the store fails, and the store gets all when it works again.
func TestStoreFails(t *testing.T) {
	for name, fail := range map[string]func(*faulty, bool){
		"down":      func(f *faulty, is bool) { f.down.Store(is) },
		"read-only": func(f *faulty, is bool) { f.readOnly.Store(is) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &faulty{Responses: openStore(t).Responses()}
				a, b := pair(t, store, nil)
				fail(store, true)
				key := func(i int) string { return fmt.Sprintf("/portfolio/%d", i) }
				for i := range 100 {
					a.want(t, key(i), kept.Fetched, 0)
				}
				for i := range 100 {
					a.want(t, key(i), kept.Hit, 0)
				}
				time.Sleep(10 * time.Minute)
				if n := store.writes.Load(); n > 40 {
					t.Errorf("%d writes to a store that fails", n)
				}
				if err := a.Drop(t.Context(), []string{key(99)}); err == nil {
					t.Error("no error from Drop")
				}
				fail(store, false)
				time.Sleep(5 * time.Minute)
				for i := range 99 {
					b.want(t, key(i), kept.Hit, 0)
				}
				a.want(t, key(99), kept.Fetched, 0)
			})
		})
	}
}

// TestStoreHangs: answers are not delayed by more than about a second, and then not at all.
func TestStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Responses: newMemory()}
		a, _ := pair(t, store, nil)
		a.want(t, bio, kept.Fetched, 0)
		store.hanging.Store(true)
		began := time.Now()
		a.want(t, "/portfolio/1", kept.Fetched, 0)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the first answer took %v", took)
		}
		began = time.Now()
		a.want(t, "/portfolio/2", kept.Fetched, 0)
		a.want(t, "/portfolio/1", kept.Hit, 0)
		if took := time.Since(began); took > 0 {
			t.Errorf("the next answers took %v", took)
		}
		store.hanging.Store(false)
		time.Sleep(3 * time.Minute)
		if r, err := store.Response(t.Context(), "/portfolio/2"); err != nil ||
			string(r.Body) != `{"key":"/portfolio/2","version":0}` {
			t.Errorf("%q %v", r.Body, err)
		}
	})
}

// TestFailsBeforeReading: a process that has not read yet what others have kept answers with that, fresh or stale,
// while the other server fails, whether or not the store grants it a claim.
func TestFailsBeforeReading(t *testing.T) {
	for name, readOnly := range map[string]bool{"claimed": false, "read-only": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &faulty{Responses: newMemory()}
				a, _ := pair(t, store, nil)
				a.want(t, bio, kept.Fetched, 0)
				a.want(t, "/portfolio/1", kept.Fetched, 0)
				a.server.set(func(s *server) {
					s.answer = func(kept.Request) (kept.Answer, error) { return kept.Answer{}, errDown }
				})
				store.readOnly.Store(readOnly)
				b := &world{server: a.server, views: &views{}}
				b.start(t, kept.Options{Fetch: a.server.fetch, Views: b.views.all, Store: store}, portfolio())
				if _, got := b.get(t, bio); got != `{"key":"/portfolio/unit/BIO","version":0}` {
					t.Errorf("fresh: %s", got)
				}
				b.views.publish("activities")
				b.want(t, "/portfolio/1", kept.Stale, 0)
				if _, err := b.Get(t.Context(), client, b.rule, "/portfolio/2"); !errors.Is(err, errDown) {
					t.Errorf("an answer that is not in the store: %v", err)
				}
			})
		})
	}
}

// TestDeadProcess: a claim whose holder does nothing delays an answer for a while, and is taken over at its end.
func TestDeadProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t).Responses()
		a, b := pair(t, store, nil)
		if _, _, err := store.Claim(t.Context(), bio, "dead", 30*time.Second); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		a.want(t, bio, kept.Fetched, 0)
		if took := time.Since(began); took > 11*time.Second {
			t.Errorf("took %v", took)
		}
		time.Sleep(time.Minute)
		b.want(t, bio, kept.Hit, 0)
	})
}

// TestSlowWriter: a change that arrives after one with a greater generation is read.
func TestSlowWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		_, b := pair(t, store, nil)
		time.Sleep(3 * time.Minute)
		put := func(key string, slow time.Duration) {
			store.mu.Lock()
			defer store.mu.Unlock()
			store.number++
			r := origin.Response{
				Key: key, Generation: store.number, Digest: "d", Status: 200, Body: []byte{}, Checked: time.Now(),
			}
			time.AfterFunc(slow, func() {
				store.mu.Lock()
				defer store.mu.Unlock()
				store.docs[key] = memoryDoc{r: r}
			})
		}
		put("/portfolio/slow", 50*time.Second)
		put("/portfolio/quick", 0)
		time.Sleep(3 * time.Second)
		if b.Peek("/portfolio/quick") == nil || b.Peek("/portfolio/slow") != nil {
			t.Error("want the quick one only")
		}
		time.Sleep(time.Minute)
		if b.Peek("/portfolio/slow") == nil {
			t.Error("the slow one was not read")
		}
	})
}

// TestOtherStore: a new store gets what is kept, and one that was restored from a backup is followed.
func TestOtherStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		a, b := pair(t, store, func(o *kept.Options) { o.Folder = t.TempDir() })
		a.want(t, bio, kept.Fetched, 0)
		time.Sleep(time.Minute + time.Second) // so that no poll comes at the time of a request
		b.want(t, bio, kept.Hit, 0)
		store.mu.Lock()
		backup, number := maps.Clone(store.docs), store.number
		store.mu.Unlock()
		a.want(t, "/portfolio/1", kept.Fetched, 0)
		a.server.set(func(s *server) { s.version = 1 })
		a.views.publish("activities")
		b.views.publish("activities")
		a.want(t, bio, kept.Fetched, 1)
		time.Sleep(time.Minute)
		b.want(t, bio, kept.Hit, 1)

		store.mu.Lock()
		store.docs, store.number = backup, number
		store.mu.Unlock()
		time.Sleep(time.Minute)
		a.want(t, bio, kept.Fetched, 1) // the answer in the backup is stale by its marks
		b.want(t, bio, kept.Shared, 1)
		if a.Peek("/portfolio/1") != nil {
			t.Error("an answer that the store has lost")
		}

		store.mu.Lock()
		store.docs, store.number = map[string]memoryDoc{}, 1
		store.mu.Unlock()
		time.Sleep(time.Minute)
		a.want(t, bio, kept.Hit, 1)
		if r, err := store.Response(t.Context(), bio); err != nil ||
			string(r.Body) != `{"key":"/portfolio/unit/BIO","version":1}` {
			t.Errorf("%q %v", r.Body, err)
		}
	})
}

// TestDemand: the process that refreshes knows what clients of others ask for.
func TestDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		a, b := pair(t, store, nil)
		for i := range 4 {
			for range i + 1 {
				a.get(t, fmt.Sprintf("/portfolio/%d", i))
			}
		}
		time.Sleep(2 * time.Minute)
		for i := range 4 {
			if n := store.requests(fmt.Sprintf("/portfolio/%d", i)); n != int64(i+1) {
				t.Errorf("%d requests for %d", n, i)
			}
		}
		for range 100 {
			a.get(t, "/portfolio/0")
		}
		time.Sleep(2 * time.Minute)
		if n := store.requests("/portfolio/0"); n != 1 {
			t.Errorf("%d requests within ten minutes", n)
		}
		time.Sleep(10 * time.Minute)
		if n := store.requests("/portfolio/0"); n != 101 {
			t.Errorf("%d requests", n)
		}
		time.Sleep(time.Minute)
		b.views.publish("activities")
		if run, err := b.Refresh(t.Context(), b.rule, nil, kept.Pass{Due: time.Now()}); err != nil ||
			run.Confirmed != 4 {
			t.Errorf("%+v %v", run, err)
		}
	})
}

// TestRestart: a process that starts has all answers, from the store or, if that is down, from its folder.
func TestRestart(t *testing.T) {
	for _, test := range []struct{ folder, store, storeDown bool }{
		{folder: true}, {store: true}, {folder: true, store: true}, {folder: true, store: true, storeDown: true},
	} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var store *faulty
				o := kept.Options{Poll: 10 * time.Minute}
				if test.store {
					store = &faulty{Responses: openStore(t).Responses()}
					o.Store = store
				}
				if test.folder {
					o.Folder = t.TempDir()
				}
				w := &world{server: newServer(), views: &views{}}
				w.views.publish("activities")
				o.Fetch, o.Views = w.server.fetch, w.views.all
				w.start(t, o, portfolio())
				stop := running(t, w)
				var keys []string
				for i := range 20 {
					keys = append(keys, fmt.Sprintf("/portfolio/%d", i))
					w.want(t, keys[i], kept.Fetched, 0)
				}
				stop()

				if test.store {
					store.down.Store(test.storeDown)
				}
				w.server.answer = func(kept.Request) (kept.Answer, error) { return kept.Answer{}, errDown }
				w.start(t, o, portfolio())
				stop = running(t, w)
				synctest.Wait()
				for _, key := range keys {
					w.want(t, key, kept.Hit, 0)
				}
				time.Sleep(25 * time.Hour)
				for _, key := range keys {
					w.want(t, key, kept.Stale, 0)
				}
				stop()
			})
		})
	}
}

// TestFolderFollows: the folder gets the answers of other processes, too, and loses those that are dropped.
func TestFolderFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Responses: openStore(t).Responses()}
		a, _ := pair(t, store, nil)
		folder := t.TempDir()
		b := &world{server: a.server, views: &views{}}
		b.start(t, kept.Options{Store: store, Fetch: a.server.fetch, Views: b.views.all, Folder: folder}, portfolio())
		running(t, b)
		a.want(t, bio, kept.Fetched, 0)
		a.want(t, "/portfolio/other", kept.Fetched, 0)
		time.Sleep(time.Minute)
		if files, _ := filepath.Glob(filepath.Join(folder, "*.answer")); len(files) != 2 {
			t.Errorf("files %v", files)
		}
		store.down.Store(true)
		b.want(t, bio, kept.Hit, 0)
		store.down.Store(false)
		if err := a.Drop(t.Context(), []string{bio}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if files, _ := filepath.Glob(filepath.Join(folder, "*")); len(files) != 1 {
			t.Errorf("files %v", files)
		}
	})
}

// TestBodyUnreadable: an answer whose body cannot be read is fetched again.
func TestBodyUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &faulty{Responses: openStore(t).Responses()}
		a, b := pair(t, store, nil)
		a.want(t, bio, kept.Fetched, 0)
		time.Sleep(3 * time.Second)
		store.down.Store(true)
		e := b.Peek(bio)
		if _, err := b.Body(t.Context(), e); !errors.Is(err, origin.ErrNotFound) || !errors.Is(err, errDown) {
			t.Errorf("error %v", err)
		}
		found, body := b.get(t, bio)
		if found.Outcome != kept.Confirmed || body != `{"key":"/portfolio/unit/BIO","version":0}` {
			t.Errorf("%s %s", found.Outcome, body)
		}
		b.want(t, bio, kept.Hit, 0)
		if got := slices.Contains(b.Keys("/portfolio", true), bio); !got {
			t.Error("no key")
		}
	})
}
