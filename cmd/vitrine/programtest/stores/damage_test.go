package stores

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/configs"
)

// envDamage names the variable with the number of rounds of TestDamagedStore; package bolt has its
// own.
const envDamage = "VITRINE_TEST_DAMAGE"

// damagedPaths are the requests to a server on a damaged store, with the member that identifies a
// record.
var damagedPaths = map[string]string{
	"/api/activities?full=1&limit=0": "_id", "/api/html?limit=0": "id", "/portfolio/spectrum?limit=0": "id",
}

// TestDamagedStore: a server whose file is damaged, before the start or while it runs, answers with
// the records as written or with 503, reports the damage, and shuts down cleanly. If the start
// fails, the error names the file.
func TestDamagedStore(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	rounds := 4
	if n, err := strconv.Atoi(os.Getenv(envDamage)); err == nil {
		rounds = n
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "demo"), configs.Demo()); err != nil {
		t.Fatal(err)
	}
	programtest.Run(t, dir, "import", "--store", "bolt://good.db", "demo")
	programtest.Run(t, dir, "materialize", "--store", "bolt://good.db")
	good, err := os.ReadFile(filepath.Join(dir, "good.db"))
	if err != nil {
		t.Fatal(err)
	}
	want := damagedRecords(programtest.Start(t, dir, "--store", "bolt://good.db").Ready())
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		damagedRound(t, r, round, good, want)
		if t.Failed() {
			t.Fatalf("round %d of seed %d", round, seed)
		}
	}
}

// damagedRound damages the file before the start or under the running server.
func damagedRound(t *testing.T, r *rand.Rand, round int, good []byte, want map[string]map[string]string) {
	dir, running := t.TempDir(), round%4 >= 2
	path := filepath.Join(dir, "v.db")
	file := bytes.Clone(good)
	if !running {
		damageFile(r, &file)
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "json",
		"--store", "bolt://v.db"}
	if round%2 == 1 {
		args = append(args, "--no-materialize")
	}
	s := &programtest.Server{T: t, Cmd: programtest.Command(dir, args...)}
	s.Cmd.Stdout = &s.Stdout
	if s.Listens() {
		programtest.Await(t, "the server has settled", func() string { return programtest.Unless(settled(s)) })
		if running {
			damageRunning(t, r, path)
		}
		for place, records := range damagedRecords(s) {
			for id, record := range records {
				if want[place][id] != record {
					t.Errorf("%s: %s is not what it was:\n%.300s\n%.300s", place, id, record, want[place][id])
				}
			}
		}
		if code := s.Stop(); code != 0 {
			t.Errorf("SIGTERM: exit code %d", code)
		}
	}
	log := s.Log()
	if strings.Contains(log, "goroutine ") || strings.Contains(log, "SIGBUS") ||
		len(file) < len(good)/2 && !strings.Contains(log, "v.db") {
		t.Errorf("the log: %.1500s", log)
	}
}

// settled reports whether every view is loaded or has an error.
func settled(s *programtest.Server) bool {
	status, _ := s.Get("/readyz")
	log := s.Log()
	return status == http.StatusOK || strings.Contains(log, "view not refreshed") ||
		strings.Contains(log, "view held") || strings.Contains(log, "damaged")
}

// damagedRecords requests all records; it leaves out views that are not loaded.
func damagedRecords(s *programtest.Server) map[string]map[string]string {
	found := map[string]map[string]string{}
	for path, id := range damagedPaths {
		status, body := s.Get(path)
		if status == http.StatusServiceUnavailable {
			continue
		}
		var answer struct{ Data []map[string]any }
		if err := json.Unmarshal([]byte(body), &answer); status != http.StatusOK || err != nil {
			s.T.Errorf("%s: %d %v %.200s", path, status, err, body)
			continue
		}
		found[path] = map[string]string{}
		for _, record := range answer.Data {
			text, _ := json.Marshal(record)
			name, _ := json.Marshal(record[id])
			found[path][string(name)] = string(text)
		}
	}
	return found
}

// damageFile damages a closed file.
func damageFile(r *rand.Rand, file *[]byte) {
	const page = 4096
	b := *file
	pages := len(b) / page
	switch r.IntN(4) {
	case 0:
		for range 200 {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
	case 1:
		for range 5 {
			at := r.IntN(pages) * page
			clear(b[at : at+page])
		}
	case 2:
		*file = b[:len(b)*r.IntN(100)/100]
	case 3:
		for range 5 {
			x, y := r.IntN(pages)*page, r.IntN(pages)*page
			held := bytes.Clone(b[x : x+page])
			copy(b[x:x+page], b[y:])
			copy(b[y:y+page], held)
		}
	}
}

// damageRunning destroys a file while a server has it open.
func damageRunning(t *testing.T, r *rand.Rand, path string) {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	switch r.IntN(3) {
	case 0:
		err = os.Truncate(path, r.Int64N(info.Size()))
	case 1:
		if err = os.WriteFile(path+".new", make([]byte, r.IntN(1<<20)), 0o600); err == nil {
			err = os.Rename(path+".new", path)
		}
	case 2:
		err = os.WriteFile(path, make([]byte, r.IntN(1<<20)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
