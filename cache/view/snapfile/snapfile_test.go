package snapfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/mapped"
	"vitrine/cache/view/snapfile"
)

// writeEnv makes the test binary write files until the test kills it.
const writeEnv = "VITRINE_TEST_SNAPSHOT"

func TestMain(m *testing.M) {
	if path := os.Getenv(writeEnv); path != "" {
		for generation := uint64(1); ; generation++ {
			if err := snapfile.Write(path, header(generation), slices.Values(rows(generation, 3000))); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Println(generation)
		}
	}
	os.Exit(m.Run())
}

func header(generation uint64) snapfile.Header {
	return snapfile.Header{Store: "bolt://v.db", Confirmed: time.UnixMilli(3000).UTC(), Meta: origin.Meta{
		View: "things", Epoch: "one", Generation: generation, Rows: 2, Rules: "r", Pruned: 1,
		Published: time.UnixMilli(1000).UTC(), Checked: time.UnixMilli(2000).UTC(),
	}}
}

// rows returns n rows that all carry the number of their generation.
func rows(generation uint64, n int) []bson.Raw {
	all := make([]bson.Raw, n)
	for i := range all {
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: int64(i)}, {Key: "g", Value: int64(generation)}, {Key: "text", Value: strings.Repeat("x", i%700)}})
		if err != nil {
			panic(err)
		}
		all[i] = raw
	}
	return all
}

// written returns the bytes of a file.
func written(t testing.TB, h snapfile.Header, rows []bson.Raw) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := snapfile.Write(path, h, slices.Values(rows)); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// read reads bytes as a file.
func read(t testing.TB, content []byte) (snapfile.Header, []bson.Raw, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return snapfile.Read(path)
}

func TestThereAndBack(t *testing.T) {
	large, err := bson.Marshal(bson.D{{Key: "_id", Value: "large"}, {Key: "b", Value: make([]byte, 5<<20)}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]bson.Raw{
		"none": nil, "one": rows(1, 1), "many": rows(1, 20_000), "a large one": append(rows(1, 3), large),
	} {
		t.Run(name, func(t *testing.T) {
			h, got, err := read(t, written(t, header(7), want))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(h, header(7)) {
				t.Errorf("header %+v", h)
			}
			if !slices.EqualFunc(got, want, func(a, b bson.Raw) bool { return bytes.Equal(a, b) }) {
				t.Errorf("%d rows, want %d", len(got), len(want))
			}
		})
	}
	if _, _, err := snapfile.Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, snapfile.ErrRefused) {
		t.Errorf("no file: %v", err)
	}
}

// TestRefused: the reader refuses a damaged file as a whole.
func TestRefused(t *testing.T) {
	good := written(t, header(7), rows(7, 1000))
	refuse := func(name string, content []byte, why string) {
		t.Helper()
		_, got, err := read(t, content)
		if !errors.Is(err, snapfile.ErrRefused) || got != nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %d rows, %v", name, len(got), err)
		}
	}
	refuse("empty", nil, "too early")
	refuse("something else", []byte("PK\x03\x04 and so on"), "not a snapshot file")
	other := bytes.Clone(good)
	other[7] = 9
	refuse("another version", other, "version 9")
	refuse("with a tail", append(bytes.Clone(good), 0), "follows")
	refuse("twice", append(bytes.Clone(good), good...), "follows")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		cut := rng.IntN(len(good))
		refuse(fmt.Sprintf("cut at %d", cut), good[:cut], "")
		flipped := bytes.Clone(good)
		at := rng.IntN(len(good))
		flipped[at] ^= 1 << rng.IntN(8)
		refuse(fmt.Sprintf("a bit at %d", at), flipped, "")
	}
	// The rows of another file follow this one's header.
	stranger := written(t, header(8), rows(8, 1000))
	same := 0
	for same < len(good) && good[same] == stranger[same] {
		same++
	}
	for at := same + 997; at < min(len(good), len(stranger)); at += 997 {
		refuse("mixed", append(bytes.Clone(good[:at]), stranger[at:]...), "")
	}
	// Blocks are whole, but one is missing, or two have changed places.
	many := written(t, header(7), rows(7, 40_000))
	var starts []int
	for at := 8; at < len(many); at += 8 + int(binary.LittleEndian.Uint32(many[at+4:])) {
		starts = append(starts, at)
	}
	if len(starts) < 5 {
		t.Fatalf("%d blocks", len(starts))
	}
	a, b, c := many[starts[1]:starts[2]], many[starts[2]:starts[3]], many[starts[3]:]
	refuse("without a block", slices.Concat(many[:starts[1]], b, c), "checksum")
	refuse("in another order", slices.Concat(many[:starts[1]], b, a, c), "checksum")
}

// TestMapped: rows are mapped, and lie in the file once; damage is found in them as in memory.
func TestMapped(t *testing.T) {
	dir, want := t.TempDir(), rows(7, 40_000)
	files := &mapped.Files{Create: mapped.In(dir), Failed: func(err error) { t.Skip(err) }}
	path := filepath.Join(dir, "f")
	open := func() ([]bson.Raw, error) {
		_, got, err := snapfile.Open(path, files, func(h snapfile.Header) error {
			if h.Generation != 7 {
				return fs.ErrInvalid
			}
			return nil
		})
		return got, err
	}
	for _, generation := range []uint64{8, 7} {
		if err := snapfile.Write(path, header(generation), slices.Values(want)); err != nil {
			t.Fatal(err)
		}
		got, err := open()
		if generation == 8 {
			if !errors.Is(err, fs.ErrInvalid) || got != nil {
				t.Errorf("a header that is not accepted: %d rows, %v", len(got), err)
			}
			continue
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
		runtime.GC()
		if err != nil || files.Bytes() < 12<<20 || !slices.EqualFunc(got, want, func(a, b bson.Raw) bool { return bytes.Equal(a, b) }) {
			t.Errorf("%d rows, %d bytes are mapped, %v", len(got), files.Bytes(), err)
		}
	}
	content := written(t, header(7), want)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		spoilt := bytes.Clone(content)
		spoilt[rng.IntN(len(content))] ^= 1 << rng.IntN(8)
		if err := os.WriteFile(path, spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := open(); !errors.Is(err, snapfile.ErrRefused) || got != nil {
			t.Errorf("damaged: %d rows, %v", len(got), err)
		}
	}
}

// TestNoFile: the reader refuses at once whatever is not a regular file, such as a named pipe
// without a writer.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	for _, path := range []string{pipe, dir, os.DevNull} {
		if _, _, err := snapfile.Read(path); !errors.Is(err, snapfile.ErrRefused) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := snapfile.Write(pipe, header(1), slices.Values(rows(1, 3))); err != nil {
		t.Fatal(err)
	}
	if _, got, err := snapfile.Read(pipe); err != nil || len(got) != 3 {
		t.Errorf("written in its place: %d rows, %v", len(got), err)
	}
}

// TestKilledWriter kills a process that writes one file after another: the folder always has a
// whole file, the last acknowledged one or a later one.
func TestKilledWriter(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	path := filepath.Join(t.TempDir(), "f")
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writeEnv+"="+path)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Duration(5+rng.IntN(60)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if errs.Len() > 0 {
			t.Fatal(errs.String())
		}
		h, got, err := snapfile.Read(path)
		if errors.Is(err, fs.ErrNotExist) && out.Len() == 0 {
			continue
		}
		if err != nil || len(got) != 3000 {
			t.Fatalf("round %d: %d rows, %v", round, len(got), err)
		}
		var acknowledged uint64
		for _, line := range strings.Fields(out.String()) {
			_, _ = fmt.Sscan(line, &acknowledged)
		}
		if h.Generation < acknowledged {
			t.Fatalf("round %d: generation %d after %d was acknowledged", round, h.Generation, acknowledged)
		}
		for _, row := range got {
			if g := uint64(row.Lookup("g").AsInt64()); g != h.Generation {
				t.Fatalf("round %d: a row of generation %d among those of %d", round, g, h.Generation)
			}
		}
	}
}

// TestPrepareRefuses: Prepare refuses a folder that other users may write to, and does not change
// it.
func TestPrepareRefuses(t *testing.T) {
	for _, mode := range []os.FileMode{0o777, 0o777 | os.ModeSticky, 0o770, 0o702} {
		dir := filepath.Join(t.TempDir(), "files")
		if err := snapfile.Prepare(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := snapfile.Prepare(dir); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%v: %v", mode, err)
		}
		if err := snapfile.Prepare(filepath.Join(dir, "below")); err != nil {
			t.Errorf("a folder below %v: %v", mode, err)
		}
	}
}

// TestPrepare: Prepare removes a killed writer's temporary files, and keeps those that another
// process still writes.
func TestPrepare(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := snapfile.Prepare(dir); err != nil {
		t.Fatal(err)
	}
	old, fresh := filepath.Join(dir, ".vitrine-1.tmp"), filepath.Join(dir, ".vitrine-2.tmp")
	for _, name := range []string{old, fresh} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	if err := snapfile.Prepare(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the abandoned file: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("the fresh file: %v", err)
	}
}
