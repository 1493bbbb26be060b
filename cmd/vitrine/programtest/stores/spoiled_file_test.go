package stores

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"vitrine/cache/view/snapfile"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/configs"
)

// spoiledPaths ask every kind of question about views whose files are spoiled.
var spoiledPaths = []string{
	"/api/activities?full=1&limit=0", "/api/all-activities", "/api/html?limit=0", "/portfolio/spectrum?limit=0",
	"/api/activities?limit=0&json=%7B%22title%22:%7B%22$regex%22:%22%5E%5BA-M%5D%22%7D%7D",
	"/api/search/activities?search=night", "/api/projects",
	"/api/search/activities?aggregate=authors.last&aggregate_value=year",
	"/api/levenshtein?title=Flight+Paths+of+Badgers",
	"/lists/activities", "/lists/activities.csv", "/lists/activities.bib", "/lists/activities.json?year=2020",
	"/lists/activities.atom",
	"/sitemap.xml", "/lists.json",
}

// asOf matches what depends on when a process started.
var asOf = regexp.MustCompile(`"as_of":"[^"]*"|<updated>[^<]*</updated>|"generated":"[^"]*"`)

// spoiledAnswers returns the answers to spoiledPaths, and how many requests failed.
func spoiledAnswers(t *testing.T, s *programtest.Server) (all map[string]string, failed int) {
	all = map[string]string{}
	for _, path := range spoiledPaths {
		res, body := programtest.Ask(t, s.Base+path)
		switch res.StatusCode {
		case http.StatusInternalServerError, http.StatusServiceUnavailable:
			failed++
		case http.StatusOK:
			all[path] = strings.ReplaceAll(asOf.ReplaceAllString(body, ""), s.Base, "")
		default:
			t.Errorf("%s: %d %.200s", path, res.StatusCode, body)
		}
	}
	return all, failed
}

// TestSpoiledSnapshotFile: a server whose snapshot files another program cuts or overwrites answers on: right, or for
// one question with an error. It reads the views again, reports it once for each, and ends cleanly.
func TestSpoiledSnapshotFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are mapped on Linux only")
	}
	t.Parallel()
	for name, spoil := range map[string]func(file *os.File, size int64) error{
		"cut":     func(file *os.File, size int64) error { return file.Truncate(size / 3) },
		"emptied": func(file *os.File, _ int64) error { return file.Truncate(0) },
		"overwritten": func(file *os.File, size int64) (err error) {
			for at := int64(4096); at < size && err == nil; at += 512 {
				_, err = file.WriteAt([]byte("?"), at)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, "demo"), configs.Demo()); err != nil {
				t.Fatal(err)
			}
			programtest.Run(t, dir, "import", "--store", "bolt://v.db", "demo")
			programtest.Setenv(dir, programtest.SnapshotEnv, "files")
			args := []string{"--store", "bolt://v.db"}
			s := programtest.Start(t, dir, args...).Ready()
			want, failed := spoiledAnswers(t, s)
			if code := s.Stop(); code != 0 || failed > 0 || len(want) < 10 {
				t.Fatalf("exit code %d, %d answers, %d failed", code, len(want), failed)
			}
			s = programtest.Start(t, dir, args...).Ready()
			if _, body := programtest.Fetch(t, http.MethodGet,
				s.Admin+
					"/metrics"); !regexp.MustCompile(`vitrine_view_mapped_bytes\{view="activities"\} [1-9.e+]{7}`).
				MatchString(body) {
				t.Fatalf("the rows are not mapped: %s",
					regexp.MustCompile(`vitrine_view_mapped_bytes.*`).FindAllString(body, -1))
			}
			spoilFiles(t, dir, spoil)
			for most := range 2 { // nothing is kept at first
				got, failed := spoiledAnswers(t, s)
				if failed > 1-most {
					t.Errorf("%d requests failed", failed)
				}
				for path, answer := range got {
					if answer != want[path] {
						t.Errorf("%s: %d bytes that differ: %.300s", path, len(answer), answer)
					}
				}
			}
			if _, body := programtest.Fetch(t, http.MethodGet, s.Admin+"/metrics"); !strings.Contains(body,
				`vitrine_view_lost_total{view="activities"} 1`) {
				t.Error("the loss is not counted")
			}
			if code := s.Stop(); code != 0 {
				t.Errorf("SIGTERM: exit code %d\n%s", code, s.Log())
			}
			if n := strings.Count(s.Log(), "rows lost"); n != 1 {
				t.Errorf("reported %d times:\n%s", n, s.Log())
			}
			if _, rows, err := snapfile.Read(snapfile.Path(filepath.Join(dir, "files"), "activities")); err != nil ||
				len(rows) == 0 {
				t.Errorf("the file is not replaced: %d rows, %v", len(rows), err)
			}
		})
	}
}

// spoilFiles spoils all snapshot files and files of indexes in place.
func spoilFiles(t *testing.T, dir string, spoil func(file *os.File, size int64) error) {
	t.Helper()
	all, err := filepath.Glob(snapfile.Path(filepath.Join(dir, "files"), "*"))
	if err != nil || len(all) < 5 {
		t.Fatal(all, err)
	}
	for _, path := range all {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		info, err := file.Stat()
		if err == nil {
			err = spoil(file, info.Size())
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = file.Close() // its content was written
	}
}
