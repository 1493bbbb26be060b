package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/rules"
)

// envDamage names the environment variable that sets the number of rounds of random damage.
const envDamage = "VITRINE_TEST_DAMAGE"

const damagePage = 4096

// The sources and views of the store that the test damages.
var damageSources, damageViews = []string{"activities", "persons"}, []string{"activities", "persons"}

// damages are the kinds of damage to a closed file.
var damages = map[string]func(r *rand.Rand, file []byte) []byte{
	"flipped bits": func(r *rand.Rand, file []byte) []byte {
		for range 1 + r.IntN(200) {
			file[r.IntN(len(file))] ^= 1 << r.IntN(8)
		}
		return file
	},
	"a flipped bit": func(r *rand.Rand, file []byte) []byte {
		file[r.IntN(len(file))] ^= 1 << r.IntN(8)
		return file
	},
	"flipped bits in the heads of pages": func(r *rand.Rand, file []byte) []byte {
		for range 1 + r.IntN(3) {
			file[r.IntN(len(file)/damagePage)*damagePage+r.IntN(160)] ^= 1 << r.IntN(8)
		}
		return file
	},
	"zeroed pages": func(r *rand.Rand, file []byte) []byte {
		for range 1 + r.IntN(3) {
			at := r.IntN(len(file)/damagePage) * damagePage
			clear(file[at : at+damagePage])
		}
		return file
	},
	"a zeroed stretch": func(r *rand.Rand, file []byte) []byte {
		at := r.IntN(len(file) - 512)
		clear(file[at : at+1+r.IntN(512)])
		return file
	},
	"swapped pages": func(r *rand.Rand, file []byte) []byte {
		a, b := r.IntN(len(file)/damagePage)*damagePage, r.IntN(len(file)/damagePage)*damagePage
		page := bytes.Clone(file[a : a+damagePage])
		copy(file[a:], file[b:b+damagePage])
		copy(file[b:], page)
		return file
	},
	"a page under another's number": func(r *rand.Rand, file []byte) []byte {
		a, b := r.IntN(len(file)/damagePage)*damagePage, r.IntN(len(file)/damagePage)*damagePage
		copy(file[a+8:a+damagePage], file[b+8:b+damagePage])
		return file
	},
	"a cut end": func(r *rand.Rand, file []byte) []byte { return file[:r.IntN(len(file))] },
}

// accidents damage a file while a store has it open. other is the content of another store.
var accidents = map[string]func(t *testing.T, r *rand.Rand, path string, other []byte){
	"cut": func(t *testing.T, r *rand.Rand, path string, _ []byte) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, r.Int64N(info.Size())); err != nil {
			t.Fatal(err)
		}
	},
	"replaced": func(t *testing.T, _ *rand.Rand, path string, other []byte) {
		if err := os.WriteFile(path+".new", other, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	},
	"written over": func(t *testing.T, _ *rand.Rand, path string, other []byte) {
		if err := os.WriteFile(path, other, 0o600); err != nil {
			t.Fatal(err)
		}
	},
	"removed": func(t *testing.T, _ *rand.Rand, path string, _ []byte) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	},
	"a page zeroed": func(t *testing.T, r *rand.Rand, path string, _ []byte) {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(make([]byte, damagePage), r.Int64N(info.Size()/damagePage)*damagePage); err != nil {
			t.Fatal(err)
		}
	},
}

// damaged holds what the store should have: records and rows, by collection and id.
type damaged struct {
	t    *testing.T
	path string
	docs map[string]map[string]bson.Raw
}

// TestRandomDamage: whatever happens to the file, the store returns only what was written, no
// operation panics or hangs, and every error names the file.
func TestRandomDamage(t *testing.T) {
	rounds := 26
	if testing.Short() {
		rounds = 5
	}
	if n, err := strconv.Atoi(os.Getenv(envDamage)); err == nil {
		rounds = n
	}
	good, docs := damageStore(t, 1)
	other, _ := damageStore(t, 2)
	kinds := append(sortedNames(damages), sortedNames(accidents)...)
	const seed = 1 // more rounds damage the file in other ways
	outcomes := map[string]int{}
	for round := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		kind := kinds[round%len(kinds)]
		d := damaged{t: t, path: filepath.Join(t.TempDir(), "v.db"), docs: docs}
		outcome := ""
		if damage, ok := damages[kind]; ok {
			d.write(damage(r, bytes.Clone(good)))
			outcome = d.open()
			if _, err := bolt.Check(t.Context(), d.path); err != nil && !strings.Contains(err.Error(), d.path) {
				t.Errorf("Check: %v", err)
			}
			d.open()
		} else {
			d.write(good)
			outcome = d.struck(func() { accidents[kind](t, r, d.path, other) })
		}
		outcomes[kind+": "+outcome]++
		if t.Failed() {
			t.Fatalf("round %d: %s", round, kind)
		}
	}
	for _, name := range sortedNames(outcomes) {
		t.Logf("%4d %s", outcomes[name], name)
	}
}

// sortedNames sorts the names, so that the seed gives the same rounds.
func sortedNames[T any](m map[string]T) []string {
	return slices.Sorted(maps.Keys(m))
}

// damageStore makes a store and returns its file and its content.
func damageStore(t *testing.T, seed uint64) ([]byte, map[string]map[string]bson.Raw) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	path := filepath.Join(t.TempDir(), "good.db")
	s, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]map[string]bson.Raw{}
	fill := func(name string) (all []bson.Raw) {
		docs[name] = map[string]bson.Raw{}
		for i := range 300 {
			text := make([]byte, r.IntN(200)*r.IntN(20))
			for i := range text {
				text[i] = 'a' + byte(r.IntN(26))
			}
			id := fmt.Sprintf("%s %d", name, i)
			doc, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "text", Value: string(text)},
				{Key: "store", Value: int64(seed)}})
			if err != nil {
				t.Fatal(err)
			}
			docs[name][id], all = doc, append(all, doc)
		}
		return all
	}
	for _, name := range damageSources {
		if _, err := s.Upsert(t.Context(), name, fill("source/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range damageViews {
		for range 2 { // the second time over rows whose pages become free
			if err := damagePublish(t.Context(), s, name, fill("views/"+name), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	docs[damageAnswers] = map[string]bson.Raw{}
	for _, id := range sortedNames(docs["source/"+damageSources[0]])[:damageKept] {
		docs[damageAnswers][id] = docs["source/"+damageSources[0]][id]
		if err := damageKeep(t.Context(), s, id, docs[damageAnswers][id]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file, docs
}

// Kept answers have the documents of a collection as bodies, and their ids in their keys.
const (
	damageAnswers = "upstream"
	damageKept    = 40
)

// damageKeep stores an answer.
func damageKeep(ctx context.Context, s *bolt.Store, id string, body bson.Raw) error {
	c, _, err := s.Responses().Claim(ctx, "/"+id, "test", time.Hour)
	if err == nil {
		_, err = s.Responses().Put(ctx, c, origin.Response{Digest: "d", Status: 200, Body: body})
	}
	return err
}

// damagePublish publishes rows of a view. live is the number of live rows afterwards; 0 means all.
func damagePublish(ctx context.Context, s *bolt.Store, view string, docs []bson.Raw, live int) error {
	lease, err := s.Acquire(ctx, "damage", "test", time.Hour)
	if err != nil {
		return err
	}
	p, err := s.Begin(ctx, view, lease)
	if err != nil {
		return err
	}
	rows := make([]origin.Row, len(docs))
	for i, doc := range docs {
		rows[i] = origin.Row{ID: doc.Lookup("_id"), Hash: 1, Doc: doc}
	}
	if err := p.Put(ctx, rows); err != nil {
		return err
	}
	_, err = p.Commit(ctx, max(live, len(rows)), "rules")
	return err
}

func (d *damaged) write(file []byte) {
	if err := os.WriteFile(d.path, file, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// open opens the store, reads it, repairs its views and reads it again.
func (d *damaged) open() (outcome string) {
	s, err := bolt.Open(d.path, bolt.Options{})
	if err != nil {
		d.error(err)
		if errors.Is(err, origin.ErrDamaged) {
			return "refused as damaged"
		}
		return "not opened"
	}
	outcome = fmt.Sprintf("%d records, %d rows", d.records(s)/100*100, d.rows(s)/100*100)
	d.answers(s)
	d.repair(s)
	d.rows(s)
	if err := s.Close(); err != nil {
		d.error(err)
	}
	return outcome
}

// struck opens the store and has an accident happen while goroutines use it.
func (d *damaged) struck(accident func()) string {
	s, err := bolt.Open(d.path, bolt.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	var busy sync.WaitGroup
	busy.Go(func() { // while other goroutines write,
		var docs []bson.Raw
		for _, id := range sortedNames(d.docs["source/persons"]) {
			docs = append(docs, d.docs["source/persons"][id])
		}
		for i := 0; i < 20 && err == nil; i++ {
			_, err = s.Upsert(d.t.Context(), "persons", docs[:50])
		}
		d.error(err)
	})
	n := 0
	for doc, err := range s.Sift(d.t.Context(), damageSources[0], func(bson.Raw) bool {
		if n++; n == 10 {
			accident() // and while this one reads in a transaction
		}
		return true
	}) {
		if d.error(err); err == nil {
			d.same("source/"+damageSources[0], doc)
		}
	}
	busy.Wait()
	ping := s.Ping(d.t.Context())
	d.error(ping)
	seen := d.records(s) + d.rows(s) + d.answers(s)
	d.repair(s)
	d.records(s)
	d.error(s.Close())
	return fmt.Sprintf("%d read on, unavailable %t", seen/100*100, errors.Is(ping, rules.ErrUnavailable))
}

// error checks that an error names the file.
func (d *damaged) error(err error) {
	if err != nil && !strings.Contains(err.Error(), d.path) {
		d.t.Errorf("the error does not name the file: %v", err)
	}
}

// records reads the source collections in every way and counts the records.
func (d *damaged) records(s *bolt.Store) (n int) {
	ctx := d.t.Context()
	for _, name := range damageSources {
		want := d.docs["source/"+name]
		for doc, err := range s.Scan(ctx, name) {
			if d.error(err); err != nil {
				continue
			}
			n++
			d.same("source/"+name, doc)
		}
		for _, id := range sortedNames(want) {
			byID, err := bson.Marshal(bson.D{{Key: "_id", Value: id}})
			if err != nil {
				d.t.Fatal(err)
			}
			for doc, err := range s.Find(ctx, name, origin.Query{Filter: byID}) {
				if d.error(err); err == nil {
					d.same("source/"+name, doc)
				}
			}
		}
	}
	_, err := s.Collections(ctx)
	d.error(err)
	return n
}

// rows reads the views and counts their rows.
func (d *damaged) rows(s *bolt.Store) (n int) {
	for _, name := range damageViews {
		meta, err := s.Rows(d.t.Context(), name, 0, func(row origin.Row) error {
			n++
			d.same("views/"+name, row.Doc)
			return nil
		})
		d.error(err)
		for doc, err := range s.Select(d.t.Context(), meta, origin.Query{Sort: by(d.t, "text", false)}) {
			if d.error(err); err == nil {
				d.same("views/"+name, doc)
			}
		}
	}
	_, err := s.Metas(d.t.Context())
	d.error(err)
	return n
}

// answers reads the kept answers, stores the missing ones again, and counts those that it found.
func (d *damaged) answers(s *bolt.Store) (n int) {
	ctx := d.t.Context()
	all, _, err := s.Responses().Changes(ctx, 0)
	if d.error(err); err != nil {
		return 0
	}
	for r, err := range all {
		if d.error(err); err == nil && d.docs[damageAnswers][r.Key[1:]] == nil {
			d.t.Errorf("an answer under %q", r.Key)
		}
	}
	for _, id := range sortedNames(d.docs[damageAnswers]) {
		doc := d.docs[damageAnswers][id]
		r, err := s.Responses().Response(ctx, "/"+id)
		if err == nil {
			n++
			d.same(damageAnswers, r.Body)
			continue
		}
		if !errors.Is(err, origin.ErrNotFound) {
			d.error(err)
			continue
		}
		if err := damageKeep(ctx, s, id, doc); err != nil {
			d.error(err)
		} else if r, err = s.Responses().Response(ctx, "/"+id); err != nil || !bytes.Equal(r.Body, doc) {
			d.t.Errorf("%s is not whole after it was stored again: %v", id, err)
		}
	}
	return n
}

// same checks that a document equals the one written under its id.
func (d *damaged) same(place string, doc bson.Raw) {
	id, _ := doc.Lookup("_id").StringValueOK()
	if !bytes.Equal(d.docs[place][id], doc) {
		d.t.Errorf("%s: an altered document under %q: %d bytes, %q", place, id, len(doc),
			[]byte(doc[:min(len(doc), 200)]))
	}
}

// repair publishes the rows that Hashes does not know, as a run would.
func (d *damaged) repair(s *bolt.Store) {
	for _, name := range damageViews {
		missing := maps.Clone(d.docs["views/"+name])
		err := s.Hashes(d.t.Context(), name, func(id bson.RawValue, hash uint64) error {
			if hash == 1 {
				delete(missing, id.StringValue())
			}
			return nil
		})
		if d.error(err); err != nil || len(missing) == 0 {
			continue
		}
		rows := make([]bson.Raw, 0, len(missing))
		for _, id := range sortedNames(missing) {
			rows = append(rows, missing[id])
		}
		if err := damagePublish(d.t.Context(), s, name, rows, 300); err != nil {
			d.error(err)
			continue
		}
		n := 0
		meta, err := s.Rows(d.t.Context(), name, 0, func(origin.Row) error { n++; return nil })
		if err != nil || n != 300 {
			d.t.Errorf("view %s is not whole after a run: %d of %d rows, %v", name, n, meta.Rows, err)
		}
	}
}
