package view_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/snapfile"
	"vitrine/rules/access"
)

// stripping returns options that leave some fields out of files of rows.
func stripping(t testing.TB, dir string, hidden ...string) view.Options {
	t.Helper()
	fields, err := access.NewFields(hidden)
	if err != nil {
		t.Fatal(err)
	}
	o := filing(dir)
	if fields != nil {
		o.Strip, o.Files.Stripped = fields.Strip, fields.String()
	}
	return o
}

// titled reports whether a snapshot's rows have a title.
func titled(t testing.TB, snap *view.Snapshot) bool {
	t.Helper()
	return len(ids(t, snap, `{"title":{"$exists":true}}`)) > 0
}

// TestStrippedFile: a file lacks all hidden fields, and a set uses it only if every field that it
// lacks is still hidden.
func TestStrippedFile(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after []string // hidden fields
		used, titles  bool     // whether the set uses the file and shows titles
	}{
		{"the same", []string{"title"}, []string{"title"}, true, false},
		{"hidden since", nil, []string{"title"}, true, false},
		{"hidden since, beside a field that no row has", []string{"mail"}, []string{"mail", "title"}, true, false},
		{"no longer", []string{"title"}, nil, false, true},
		{"other fields", []string{"title"}, []string{"year"}, false, true},
		{"more fields", []string{"title"}, []string{"title", "year"}, false, false},
		{"a field that no row has", []string{"mail"}, nil, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := threeThings(), filepath.Join(t.TempDir(), "files")
			t.Run("write", func(t *testing.T) { <-run(t, s, stripping(t, dir, tt.before...)).swaps })
			_, rows, err := snapfile.Read(snapfile.Path(dir, "things"))
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				for _, name := range tt.before {
					if bytes.Contains(row, []byte("\x02"+name+"\x00")) {
						t.Errorf("the file has %s", row)
					}
				}
			}
			loads, _ := s.calls()
			snap := <-run(t, s, stripping(t, dir, tt.after...)).swaps
			if got := titled(t, snap); got != tt.titles {
				t.Errorf("titles are shown: %v", got)
			}
			if again, _ := s.calls(); (again == loads) != tt.used {
				t.Errorf("the file is used: %v", again == loads)
			}
		})
	}
}

// TestStripRefreshes: the set also strips rows that come with a refresh, and filters see only the
// rest.
func TestStripRefreshes(t *testing.T) {
	s := threeThings()
	r := run(t, s, stripping(t, "", "title"))
	if snap := <-r.swaps; titled(t, snap) {
		t.Error("titles are shown")
	}
	s.publish([]bson.D{thing("e", 2019, "E"), thing("a", 2020, "Again")})
	if snap := r.next(); titled(t, snap) || len(ids(t, snap, `{"title":null}`)) != 4 {
		t.Error("titles are shown after a refresh")
	}
}
