package snapfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
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

// haltEnv makes a child process halt in the middle of a file until its standard input ends.
const haltEnv = "VITRINE_TEST_SNAPSHOT_HALT"

func TestMain(m *testing.M) {
	if path := os.Getenv(haltEnv); path != "" {
		err := snapfile.Write(path, header(1), func(yield func(bson.Raw) bool) {
			for i, row := range rows(1, 40_000) { // some blocks
				if i == 30_000 {
					fmt.Println("halted")
					_, _ = io.Copy(io.Discard, os.Stdin)
				}
				if !yield(row) {
					return
				}
			}
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
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
		raw, err := bson.Marshal(bson.D{{Key: "_id", Value: int64(i)}, {Key: "g", Value: int64(generation)},
			{Key: "text", Value: strings.Repeat("x", i%700)}})
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
	if _, _, err := snapfile.Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, snapfile.ErrRefused) {
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
		if err != nil || files.Bytes() < 12<<20 ||
			!slices.EqualFunc(got, want, func(a, b bson.Raw) bool { return bytes.Equal(a, b) }) {
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
// halted starts a process that has written the first part of a file. The returned function lets it go on.
func halted(t *testing.T, path string) (cmd *exec.Cmd, resume func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), haltEnv+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := io.ReadFull(out, make([]byte, len("halted"))); err != nil {
		t.Fatal(err)
	}
	return cmd, func() { _ = in.Close() }
}

// unfinished returns the files of writers that have not ended, with their sizes.
func unfinished(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, ".vitrine-*"))
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		sizes[name] = info.Size()
	}
	return sizes
}

// TestKilledWriterLeavesNothing: the next process that starts or writes in a folder removes what a killed writer has
// left, at once, and nothing of a writer that lives.
func TestKilledWriterLeavesNothing(t *testing.T) {
	if slices.Contains([]string{"aix", "illumos", "solaris"}, runtime.GOOS) {
		t.Skip("no locks on files here")
	}
	for name, next := range map[string]func(dir string) error{
		"a start": snapfile.Prepare,
		"a write": func(dir string) error {
			return snapfile.Write(filepath.Join(dir, "other"), header(1), slices.Values(rows(1, 3)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			killed, _ := halted(t, filepath.Join(dir, "killed"))
			left := unfinished(t, dir)
			living, resume := halted(t, filepath.Join(dir, "living"))
			if len(left) != 1 || len(unfinished(t, dir)) != 2 {
				t.Fatalf("unfinished files: %v", unfinished(t, dir))
			}
			if err := next(dir); err != nil {
				t.Fatal(err)
			}
			if got := unfinished(t, dir); len(got) != 2 {
				t.Fatalf("of two living writers %v is left", got)
			}
			if err := killed.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = killed.Wait() // says that it was killed
			if err := next(dir); err != nil {
				t.Fatal(err)
			}
			got := unfinished(t, dir)
			for name := range left {
				if size, stays := got[name]; stays {
					t.Errorf("%d bytes of a killed writer stay", size)
				}
			}
			if len(got) != 1 {
				t.Errorf("unfinished files: %v, want the living writer's alone", got)
			}
			resume()
			if err := living.Wait(); err != nil {
				t.Error(err)
			}
			_, all, err := snapfile.Read(filepath.Join(dir, "living"))
			if err != nil || len(all) != 40_000 || len(unfinished(t, dir)) > 0 {
				t.Errorf("the living writer: %d rows, %v; unfinished %v", len(all), err, unfinished(t, dir))
			}
		})
	}
}

// TestWritersAndStarts: starts beside writers take no file from them, not even one that was made a moment ago. At no
// time is there a file that would stay if its writer was killed then.
func TestWritersAndStarts(t *testing.T) {
	dir := t.TempDir()
	var writers, starts sync.WaitGroup
	ended := make(chan struct{})
	for range 4 {
		starts.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if err := snapfile.Prepare(dir); err != nil {
					t.Error(err)
					return
				}
				entries, _ := os.ReadDir(dir)
				for _, entry := range entries {
					if name := entry.Name(); filepath.Ext(name) == ".tmp" && !strings.HasSuffix(name, ".locked.tmp") {
						t.Errorf("%s looks like one of a writer that takes no locks", name)
					}
				}
			}
		})
	}
	for i := range 4 {
		writers.Go(func() {
			path := filepath.Join(dir, fmt.Sprint(i))
			for generation := range uint64(20) {
				if err := snapfile.Write(path, header(generation), slices.Values(rows(generation, 3))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(ended)
	starts.Wait()
	if left := unfinished(t, dir); len(left) > 0 {
		t.Errorf("unfinished files: %v", left)
	}
}

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
	// Programs that take no lock have files without the suffix.
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
