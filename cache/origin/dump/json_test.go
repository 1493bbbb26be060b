package dump_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vitrine/cache/origin/dump"
)

func TestJSON(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	tests := []struct {
		name string
		file string // if empty, c.jsonl is used
		text string
		want []string
		err  string // why the reading ended
	}{
		{name: "empty"},
		{name: "lines", text: "{\"_id\":1}\n{\"_id\":2}\n", want: []string{`c{"_id":1}`, `c{"_id":2}`}},
		{name: "no newline at the end", text: `{"_id":1}`, want: []string{`c{"_id":1}`}},
		{name: "carriage returns", text: "{\"_id\":1}\r\n{\"_id\":2}\r\n",
			want: []string{`c{"_id":1}`, `c{"_id":2}`}},
		{name: "empty lines count", text: "\n  \n{\"_id\":1}\n\n{]\n",
			want: []string{`c{"_id":1}`, `bad: c.jsonl: line 5: offset 1: `}},
		{name: "byte order mark", text: "\ufeff{\"_id\":1}\n", want: []string{`c{"_id":1}`}},
		{name: "extended JSON",
			text: `{"_id":{"$oid":"5f5f5f5f5f5f5f5f5f5f5f5f"},"d":{"$date":"2024-01-31T00:00:00Z"}}`,
			want: []string{`c{"_id":{"$oid":"5f5f5f5f5f5f5f5f5f5f5f5f"},"d":{"$date":"2024-01-31T00:00:00Z"}}`}},
		{name: "legacy regex is a value", text: `{"r":{"$regex":"a","$options":"i"}}`,
			want: []string{`c{"r":{"$regularExpression":{"pattern":"a","options":"i"}}}`}},
		{name: "no document", text: "5\n\"a\"\nnull\n",
			want: []string{"bad: c.jsonl: line 1: ", "bad: c.jsonl: line 2: ", "bad: c.jsonl: line 3: "}},
		{name: "cut off", text: "{\"_id\":1}\n{\"_id\":", want: []string{`c{"_id":1}`, "bad: c.jsonl: line 2: "}},
		{name: "two on a line", text: `{"_id":1}{"_id":2}`, want: []string{"bad: c.jsonl: line 1: offset 9: "}},
		{name: "not UTF-8", text: "{\"a\":\"\xff\"}", want: []string{"bad: c.jsonl: line 1: offset 6: "}},
		{name: "line longer than the buffers", text: `{"a":"` + big + "\"}\n{\"_id\":2}",
			want: []string{`c{"a":"` + big + `"}`, `c{"_id":2}`}},
		{name: "too deep", text: strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300),
			want: []string{"bad: c.jsonl: line 1: "}},

		{name: "array", text: " [ {\"_id\":1},\n{\"_id\":{\"a\":[\"]}\\\"\"]}} ]\n",
			want: []string{`c{"_id":1}`, `c{"_id":{"a":["]}\""]}}`}},
		{name: "empty array", text: "[]"},
		{name: "array with a bad document", text: "[{\"a\":01},\n{\"b\":+1},{\"c\":1}]",
			want: []string{"bad: c.jsonl: line 1: ", "bad: c.jsonl: line 2: ", `c{"c":1}`}},
		{name: "array of numbers", text: "[1]", err: `c.jsonl: line 1: unexpected '1' in the array`},
		{name: "array without comma", text: `[{"a":1}{"b":1}]`, want: []string{`c{"a":1}`},
			err: `unexpected '{' in the array`},
		{name: "array with a comma too many", text: `[{"a":1},]`, want: []string{`c{"a":1}`},
			err: `unexpected ']' where a document should begin`},
		{name: "array cut off between", text: `[{"a":1},`, want: []string{`c{"a":1}`}, err: "the file is cut off"},
		{name: "array cut off within", text: "[{\"a\":1},\n{\"b", want: []string{`c{"a":1}`},
			err: "c.jsonl: line 2: the file is cut off"},
		{name: "array not closed", text: `[{"a":1}`, want: []string{`c{"a":1}`}, err: "the file is cut off"},
		{name: "more behind the array", text: "[{\"a\":1}]\n{}", want: []string{`c{"a":1}`},
			err: `unexpected '{' after the array`},
		{name: "gzip by content", text: string(zipped(t, []byte(`{"_id":1}`))), want: []string{`c{"_id":1}`}},
		{name: "gzip in two members", text: string(zipped(t, []byte(`{"_id":1}`+"\n"))) +
			string(zipped(t, []byte(`{"_id":2}`))), want: []string{`c{"_id":1}`, `c{"_id":2}`}},
		{name: "gzip only by name", file: "c.jsonl.gz", text: `{"_id":1}`, want: []string{`c{"_id":1}`}},
		{name: "name up to the first dot", file: "c.2024-05.json.gz", text: string(zipped(t, []byte(`{"_id":1}`))),
			want: []string{`c{"_id":1}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.file == "" {
				tt.file = "c.jsonl"
			}
			got, err := readAll(files{tt.file: []byte(tt.text)}, dump.Options{})
			checkRead(t, got, err, tt.want, tt.err)
		})
	}
}

// checkRead compares documents and errors with those wanted. A wanted bad document is the beginning
// of its message; a wanted error is part of it.
func checkRead(t *testing.T, got []string, err error, want []string, wantErr string) {
	t.Helper()
	same := func(g, w string) bool { return g == w || strings.HasPrefix(w, "bad: ") && strings.HasPrefix(g, w) }
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("read %.300q, want %.300q", got, want)
	}
	switch {
	case wantErr == "" && err != nil:
		t.Errorf("error %v, want none", err)
	case wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)):
		t.Errorf("error %v, want %q", err, wantErr)
	}
}

// A line too long for any document is bad, and does not hide the next line.
func TestJSONTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 260 MB")
	}
	long := `{"a":"` + strings.Repeat("x", 64<<20) + `"}`
	for name, text := range map[string]string{
		"lines": long + "\n" + `{"_id":1}`,
		"array": "[" + long + "," + `{"_id":1}]`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAll(files{"c.json": []byte(text)}, dump.Options{})
			want := []string{fmt.Sprintf("bad: c.json: line 1: more than %d bytes", 64<<20), `c{"_id":1}`}
			checkRead(t, got, err, want, "")
		})
	}
}

// If a gzip file is cut off anywhere, or one of its bits is turned, the error names the file.
func TestGzipDamage(t *testing.T) {
	whole := zipped(t, []byte("{\"_id\":1}\n{\"_id\":2}\n{\"_id\":3}\n"))
	for n := 2; n < len(whole); n++ { // a single byte is not recognised as gzip
		if _, err := readAll(files{"c.jsonl.gz": whole[:n]}, dump.Options{}); err == nil ||
			!strings.Contains(err.Error(), "c.jsonl.gz") {
			t.Errorf("cut off at %d: error %v, want one that names the file", n, err)
		}
	}
	want := []string{`c{"_id":1}`, `c{"_id":2}`, `c{"_id":3}`}
	for i := 10; i < len(whole); i++ { // not the header, which holds the time and the system
		damaged := slices.Clone(whole)
		damaged[i] ^= 0x10
		got, err := readAll(files{"c.jsonl.gz": damaged}, dump.Options{})
		if err == nil && slices.Equal(got, want) {
			continue // the bit pads the last byte of compressed data
		}
		if err == nil || !strings.Contains(err.Error(), "c.jsonl.gz") {
			t.Errorf("bit turned in byte %d: error %v, want one that names the file", i, err)
		}
	}
}
