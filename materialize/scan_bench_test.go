package materialize_test

import (
	"bufio"
	"compress/gzip"
	"os"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/materialize"
	"vitrine/rules/ejson"
	"vitrine/rules/mark"
)

// BenchmarkMarkedScan compares a run that finds nothing to do with and without marks.
func BenchmarkMarkedScan(b *testing.B) {
	read := func(name string) (docs []any) {
		f, err := os.Open("/work/shared/data/institute/" + name + ".jsonl.gz")
		if err != nil {
			b.Skip(err)
		}
		z, _ := gzip.NewReader(f)
		s := bufio.NewScanner(z)
		s.Buffer(nil, 16<<20)
		for s.Scan() {
			d, err := ejson.Parse(s.Bytes(), ejson.Options{MaxBytes: 1 << 24})
			if err != nil {
				b.Fatal(err)
			}
			docs = append(docs, d)
		}
		return docs
	}
	o := &marked{public: `{"hide": {"$ne": true}, "workflow.status": {"$nin": ["rejected", "in-review"]}}`}
	plain := materialize.Activities(func(bson.Raw) (bson.Raw, error) { return doc(m{}), nil }, "rules/1")
	for name, job := range map[string]materialize.Job{"plain": plain, "marked": materialize.Marked(plain, o.options)} {
		b.Run(name, func(b *testing.B) {
			store := newFakeStore()
			for _, c := range []string{"activities", "persons", "groups", "projects"} {
				store.replace(c, read(c)...)
			}
			r, err := materialize.New(materialize.Options{Store: store, Jobs: []materialize.Job{job}})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := r.RunOnce(b.Context(), materialize.Request{}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	d := mark.NewDirectory(o.options(), nil, nil, nil)
	_ = d
}
