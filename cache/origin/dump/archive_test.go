package dump_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"vitrine/cache/origin/dump"
)

func TestArchive(t *testing.T) {
	tests := []struct {
		name string
		data func(t *testing.T) []byte
		opts dump.Options
		want []string
		err  string
	}{
		{name: "interleaved", data: func(t *testing.T) []byte { return institute(t) },
			want: []string{`activities{"_id":1}`, `activities{"_id":2}`, `persons{"_id":1}`, `activities{"_id":3}`,
				`persons{"_id":2}`}},
		{name: "gzip", data: func(t *testing.T) []byte { return zipped(t, institute(t)) },
			opts: dump.Options{Collection: "persons"}, want: []string{`persons{"_id":1}`, `persons{"_id":2}`}},
		{name: "server's own databases are skipped", data: func(t *testing.T) []byte {
			return newArchive(t, "a.x", "admin.system.users", ".oplog").
				block("admin", "system.users", numbered(t, 7)).end("admin", "system.users").
				block("", "oplog", numbered(t, 8)).end("", "oplog").
				block("a", "x", numbered(t, 1)).end("a", "x").out
		}, want: []string{`x{"_id":1}`}},
		{name: "database of several", opts: dump.Options{Database: "b"}, data: func(t *testing.T) []byte {
			return newArchive(t, "a.x", "b.x").
				block("a", "x", numbered(t, 1)).block("b", "x", numbered(t, 2)).end("b", "x").end("a", "x").out
		}, want: []string{`x{"_id":2}`}},
		{name: "several databases", data: func(t *testing.T) []byte {
			return newArchive(t, "b.x", "a.x").end("a", "x").end("b", "x").out
		},
			err: "dump.archive: holds several databases, name one of a, b"},
		{name: "no such database", opts: dump.Options{Database: "c"},
			data: func(t *testing.T) []byte { return newArchive(t, "a.x").end("a", "x").out },
			err:  `dump.archive: holds no database "c", but a`},
		{name: "views and time series have no documents", data: func(t *testing.T) []byte {
			return newArchive(t, "a.v=view", "a.s=timeseries", "a.x").block("a", "x", numbered(t, 1)).end("a",
				"x").out
		}, want: []string{`x{"_id":1}`}},
		{name: "reserved collections", data: func(t *testing.T) []byte {
			return newArchive(t, "a.system.buckets.s", "a.view_meta", "a.x").
				block("a", "system.buckets.s", numbered(t, 1)).end("a", "system.buckets.s").
				block("a", "view_meta", numbered(t, 1)).end("a", "view_meta").
				block("a", "x", numbered(t, 1)).end("a", "x").out
		}, want: []string{`x{"_id":1}`}},
		{name: "bad document", data: func(t *testing.T) []byte {
			return newArchive(t, "a.x").block("a", "x", withLength("\x08b\x00\x05")).block("a", "x",
				numbered(t, 1)).end("a", "x").out
		}, want: []string{"bad: dump.archive: byte 2", `x{"_id":1}`}},
		{name: "wrong checksum", data: func(t *testing.T) []byte {
			a := newArchive(t, "a.x").block("a", "x", numbered(t, 1))
			a.sums[[2]string{"a", "x"}]++
			return a.end("a", "x").out
		}, want: []string{`x{"_id":1}`}, err: "checksum of x is "},
		{name: "block behind the end", data: func(t *testing.T) []byte {
			return newArchive(t, "a.x").end("a", "x").block("a", "x", numbered(t, 1)).out
		}, err: "a block of x after its last block"},
		{name: "document behind the end", data: func(t *testing.T) []byte {
			a := newArchive(t, "a.x").end("a", "x")
			return append(a.out[:len(a.out)-4], numbered(t, 1)...)
		}, err: "a document of x after its last block"},
		{name: "no end", data: func(t *testing.T) []byte {
			return newArchive(t, "a.x").block("a", "x", numbered(t, 1)).out
		},
			want: []string{`x{"_id":1}`}, err: "the file is cut off: documents of x are missing"},
		{name: "collection missing", data: func(t *testing.T) []byte {
			return newArchive(t, "a.x", "a.y").end("a", "x").out
		},
			err: "the file is cut off: documents of y are missing"},
		{name: "block without header", data: func(t *testing.T) []byte {
			a := newArchive(t, "a.x")
			a.terminate()
			return a.out
		}, err: "a block without header"},
		{name: "header without name", data: func(t *testing.T) []byte {
			return newArchive(t, "a.x").end("a", "").out
		},
			err: "a block's header names no collection"},
		{name: "header of other types", data: func(t *testing.T) []byte {
			return append(newArchive(t, "a.x").out, withLength("\x08db\x00\x01")...)
		}, err: "dump.archive: byte "},
		{name: "other version", data: func(t *testing.T) []byte {
			return bytes.Replace(institute(t), []byte("0.1\x00"), []byte("9.1\x00"), 1)
		}, err: `archive version "9.1" is unknown`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(files{"dump.archive": tt.data(t)}, tt.opts)
			checkRead(t, got, err, tt.want, tt.err)
		})
	}
}

// The reader recognises an archive by its first bytes, not by its name.
func TestArchiveByContent(t *testing.T) {
	for _, name := range []string{"nightly.gz", "nightly", "nightly.bson"} {
		d, err := dump.OpenFS(files{name: institute(t)}.fsys(), name, dump.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, want := d.Sources[0].Collections, []string{"activities", "journals", "persons"}; !slices.Equal(got,
			want) {
			t.Errorf("%s: collections %v, want %v", name, got, want)
		}
	}
}

// If an archive is cut off, wherever that is, the error says where: the reader takes no part of it
// for a smaller dump.
func TestArchiveTruncated(t *testing.T) {
	for name, whole := range map[string][]byte{"plain": institute(t), "gzip": zipped(t, institute(t))} {
		for n := range len(whole) {
			_, err := readAll(files{"dump.archive": whole[:n]}, dump.Options{})
			if err == nil || !strings.Contains(err.Error(), "dump.archive") {
				t.Errorf("%s cut off at %d: error %v", name, n, err)
			}
		}
	}
}
