package dump_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/dump"
)

func TestBSON(t *testing.T) {
	one, two := numbered(t, 1), numbered(t, 2)
	bad := bytes.Clone(one)
	bad[4] = 0x99 // the type of its field
	tests := []struct {
		name string
		file string // if empty, c.bson is used
		data []byte
		want []string
		err  string
	}{
		{name: "empty"},
		{name: "documents", data: append(bytes.Clone(one), two...), want: []string{`c{"_id":1}`, `c{"_id":2}`}},
		{name: "gzip", file: "c.bson.gz", data: zipped(t, one), want: []string{`c{"_id":1}`}},
		{name: "dots in the name", file: "fs.files.bson", data: one, want: []string{`fs.files{"_id":1}`}},
		{name: "escapes in the name", file: "a%2Fb.bson", data: one, want: []string{`a/b{"_id":1}`}},
		{name: "bad among good", data: append(append(bytes.Clone(one), bad...), two...),
			want: []string{`c{"_id":1}`, `bad: c.bson: byte 14: field "_id": unknown type 0x99`, `c{"_id":2}`}},
		{name: "length 0", data: make([]byte, 8), err: "c.bson: byte 0: no BSON document begins here: length 0"},
		{name: "negative length", data: []byte{0xfe, 0xff, 0xff, 0xff, 0},
			err: "no BSON document begins here: length -2"},
		{name: "terminator", data: []byte{0xff, 0xff, 0xff, 0xff, 0}, err: "no BSON document begins here: length -1"},
		{name: "huge length", data: append(bytes.Clone(one), 0, 0, 0, 0x7f), want: []string{`c{"_id":1}`},
			err: "c.bson: byte 14: document of 2130706432 bytes"},
		{name: "text", data: []byte(`{"_id":1}`), err: "c.bson: byte 0: document of"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.file == "" {
				tt.file = "c.bson"
			}
			got, err := readAll(files{tt.file: tt.data}, dump.Options{})
			checkRead(t, got, err, tt.want, tt.err)
		})
	}
}

// The reader refuses a BSON file that ends anywhere but between two documents.
func TestBSONTruncated(t *testing.T) {
	whole := numbered(t, 1, 2)
	for n := range len(whole) {
		_, err := readAll(files{"c.bson": whole[:n]}, dump.Options{})
		if atBoundary := n%14 == 0; atBoundary != (err == nil) {
			t.Errorf("cut off at %d: error %v", n, err)
		}
		if err != nil && !strings.Contains(err.Error(), "cut off") {
			t.Errorf("cut off at %d: error %v does not say so", n, err)
		}
	}
}

// everyType holds a value of each BSON type, at the top and nested.
func everyType(t testing.TB) []byte {
	oid := bson.ObjectID{1, 2, 3}
	inner := bson.D{
		{Key: "double", Value: 1.5}, {Key: "string", Value: "é"}, {Key: "array", Value: bson.A{1, "x", bson.D{}}},
		{Key: "binary", Value: bson.Binary{Data: []byte{1}}},
		{Key: "old", Value: bson.Binary{Subtype: 2, Data: []byte{1, 2}}},
		{Key: "undefined", Value: bson.Undefined{}}, {Key: "oid", Value: oid}, {Key: "bool", Value: true},
		{Key: "date", Value: bson.DateTime(5)}, {Key: "null", Value: nil},
		{Key: "regex", Value: bson.Regex{Pattern: "a", Options: "i"}},
		{Key: "pointer", Value: bson.DBPointer{DB: "d", Pointer: oid}}, {Key: "code", Value: bson.JavaScript("x")},
		{Key: "symbol", Value: bson.Symbol("s")},
		{Key: "scoped", Value: bson.CodeWithScope{Code: "x", Scope: bson.D{{Key: "y", Value: 1}}}},
		{Key: "int32", Value: int32(1)}, {Key: "timestamp", Value: bson.Timestamp{T: 1, I: 2}},
		{Key: "int64", Value: int64(1)},
		{Key: "decimal", Value: bson.NewDecimal128(1, 2)}, {Key: "min", Value: bson.MinKey{}},
		{Key: "max", Value: bson.MaxKey{}},
	}
	return doc(t, append(bson.D{{Key: "_id", Value: 1}, {Key: "in", Value: inner}}, inner...))
}

func TestBSONEveryType(t *testing.T) {
	got, err := readAll(files{"c.bson": everyType(t)}, dump.Options{})
	want, _ := bson.MarshalExtJSON(bson.Raw(everyType(t)), false, false)
	checkRead(t, got, err, []string{"c" + string(want)}, "")
}

// If any single byte of a document changes, the reader either refuses it or returns a document that
// can be decoded.
func TestBSONEveryByte(t *testing.T) {
	whole := everyType(t)
	for i := 4; i < len(whole)-1; i++ {
		for _, change := range []byte{0x01, 0x02, 0x80, 0xff} {
			damaged := bytes.Clone(whole)
			damaged[i] ^= change
			if got, err := readAll(files{"c.bson": damaged}, dump.Options{}); err != nil || len(got) != 1 {
				t.Fatalf("byte %d: got %v, %v: want one document, good or bad", i, got, err)
			} else if strings.HasPrefix(got[0], "c") {
				var d bson.D
				if err := bson.Unmarshal(damaged, &d); err != nil {
					t.Errorf("byte %d: accepted a document that cannot be decoded: %v", i, err)
				}
			}
		}
	}
}

func TestBSONMalformed(t *testing.T) {
	i32 := func(n int32) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	nested := withLength("")
	for range 250 {
		nested = withLength("\x03a\x00" + string(nested))
	}
	tests := []struct {
		name string
		data []byte
		want string // the error
	}{
		{"name without end", withLength("\x08abc"), "field name without end"},
		{"value beyond the end", withLength("\x01a\x00\x00"), `field "a": double is cut off or malformed`},
		{"boolean", withLength("\x08a\x00\x02"), `field "a": boolean is neither 0 nor 1`},
		{"no end", append(withLength("\x08a\x00\x01")[:8], 1), "document does not end with a zero byte"},
		{"string of length 0", withLength("\x02a\x00" + i32(0)), `field "a": string is cut off or malformed`},
		{"string of the largest length", withLength("\x02a\x00" + i32(1<<31-1)),
			`field "a": string is cut off or malformed`},
		{"string without zero", withLength("\x02a\x00" + i32(2) + "xy"), `field "a": string is cut off or malformed`},
		{"binary of the largest length", withLength("\x05a\x00" + i32(1<<31-1) + "\x00"),
			`field "a": binary is cut off or malformed`},
		{"binary of negative length", withLength("\x05a\x00" + i32(-1) + "\x00"),
			`field "a": binary is cut off or malformed`},
		{"old binary without length", withLength("\x05a\x00" + i32(1) + "\x02x"),
			`field "a": old binary of length 1 does not fit`},
		{"old binary of another length", withLength("\x05a\x00" + i32(5) + "\x02" + i32(2) + "x"),
			`field "a": old binary of length 5 does not fit`},
		{"pointer of the largest length", withLength("\x0ca\x00" + i32(1<<31-1)),
			`field "a": dbPointer is cut off or malformed`},
		{"document of length 4", withLength("\x03a\x00" + i32(4)),
			`field "a": embedded document is cut off or malformed`},
		{"scope of no size", withLength("\x0fa\x00" + i32(9) + i32(1) + "\x00"),
			`field "a": code with scope is cut off or malformed`},
		{"scope of negative length", withLength("\x0fa\x00" + i32(-9) + i32(1) + "\x00" + string(withLength(""))),
			`code with scope is cut off or malformed`},
		{"regex without options", withLength("\x0ba\x00xyz\x00i"), ""},
		{"regex without end", withLength("\x0ba\x00xyz"), `field "a": regex is cut off or malformed`},
		{"deep in arrays",
			withLength("\x04a\x00" + string(withLength("\x030\x00"+string(withLength("\x08b\x00\x07"))))),
			`field "a.0.b": boolean is neither 0 nor 1`},
		{"too deep", nested, "nested more than 200 levels deep"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(files{"c.bson": tt.data}, dump.Options{})
			if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], "bad: c.bson: byte 0: ") ||
				!strings.Contains(got[0], tt.want) {
				t.Errorf("read %.300q, error %v, want %q", got, err, tt.want)
			}
		})
	}
}

// The reader accepts the largest possible document; one byte more is damage.
func TestBSONLargest(t *testing.T) {
	const limit = 16<<20 + 16<<10 // the limit of reading; Load limits what it stores
	room := strings.Repeat("x", limit-len(withLength("\x02a\x00\x00\x00\x00\x00\x00")))
	text := string(binary.LittleEndian.AppendUint32(nil, uint32(len(room)+1))) + room + "\x00"
	got, err := readAll(files{"c.bson": withLength("\x02a\x00" + text)}, dump.Options{})
	checkRead(t, got, err, []string{`c{"a":"` + room + `"}`}, "")

	text = string(binary.LittleEndian.AppendUint32(nil, uint32(len(room)+2))) + room + "x\x00"
	got, err = readAll(files{"c.bson": withLength("\x02a\x00" + text)}, dump.Options{})
	checkRead(t, got, err, nil, "more than MongoDB's limit")
}
