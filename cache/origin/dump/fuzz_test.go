package dump_test

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/dump"
)

// FuzzArchive: no bytes make the reader panic or hang, and it accepts only what can be decoded.
func FuzzArchive(f *testing.F) {
	whole := institute(f)
	f.Add(whole)
	f.Add(zipped(f, whole))
	f.Add(whole[:len(whole)/2])
	f.Add(newArchive(f, "a.x").block("a", "x", everyType(f)).end("a", "x").out)
	f.Fuzz(func(t *testing.T, data []byte) { readAny(t, "dump.archive", data) })
}

// FuzzBSON: the same for BSON files.
func FuzzBSON(f *testing.F) {
	f.Add(everyType(f))
	f.Add(numbered(f, 1, 2))
	f.Add(withLength("\x0fa\x00\x09\x00\x00\x00\x01\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) { readAny(t, "c.bson", data) })
}

// FuzzJSON: the same for JSON, lines and arrays.
func FuzzJSON(f *testing.F) {
	f.Add([]byte("{\"_id\":1}\n\n{\"a\":[{\"b\":\"\\\"\"}]}"))
	f.Add([]byte(`[{"_id":1},{"_id":{"$oid":"5f5f5f5f5f5f5f5f5f5f5f5f"}}]`))
	f.Fuzz(func(t *testing.T, data []byte) { readAny(t, "c.json", data) })
}

// readAny loads the bytes as a file and checks what holds for every file: loaded documents can be
// decoded, and an error says that the dump is at fault.
func readAny(t *testing.T, name string, data []byte) {
	d, err := dump.OpenFS(files{name: data}.fsys(), name, dump.Options{})
	if err != nil {
		return
	}
	m := newMemory()
	report, err := dump.Load(context.Background(), m, d, dump.LoadOptions{SkipBad: true, Drop: true})
	var broken *dump.BrokenFile
	if err != nil && !errors.As(err, &broken) && len(data) > 1 && data[0] != 0x1f {
		t.Fatalf("error %T %v", err, err)
	}
	if err != nil && len(m.calls) > 0 {
		t.Fatalf("calls %v beside error %v", m.calls, err)
	}
	stored := 0
	for _, docs := range m.docs {
		for _, d := range docs {
			stored++
			var into bson.D
			if err := bson.Unmarshal(d, &into); err != nil {
				t.Fatalf("accepted %x: %v", []byte(d), err)
			}
		}
	}
	if err == nil && stored > report.Stored() {
		t.Fatalf("stored %d, reported %d", stored, report.Stored())
	}
}
