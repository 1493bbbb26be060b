package kept_test

import (
	"os"
	"path/filepath"
	"testing"

	"vitrine/cache/kept"
)

// TestDamagedCopies: a damaged file is ignored and removed, wherever the damage is.
func TestDamagedCopies(t *testing.T) {
	o := kept.Options{Folder: t.TempDir()}
	w := &world{server: newServer(), views: &views{}}
	o.Fetch, o.Views = w.server.fetch, w.views.all
	w.start(t, o, portfolio())
	w.want(t, bio, kept.Fetched, 0)
	w.Close()
	files, _ := filepath.Glob(filepath.Join(o.Folder, "*"))
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	damage := map[string][]byte{
		"empty": {}, "cut": whole[:len(whole)-1], "long": append(whole[:len(whole):len(whole)], 0),
	}
	for at := range whole {
		changed := append([]byte{}, whole...)
		changed[at] ^= 4
		damage["byte "+string(rune('0'+at%10))+string(rune('a'+at/10))] = changed
	}
	for name, content := range damage {
		if err := os.WriteFile(files[0], content, 0o600); err != nil {
			t.Fatal(err)
		}
		w.start(t, o, portfolio())
		w.server.version = 0
		if found, body := w.getOrFetch(t, bio); body != `{"key":"/portfolio/unit/BIO","version":0}` {
			t.Errorf("%s: %s %s", name, found.Outcome, body)
		}
		w.Close()
	}
	if err := os.WriteFile(files[0], whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(files[0], filepath.Join(o.Folder, "0123.answer")); err != nil {
		t.Fatal(err)
	}
	w.start(t, o, portfolio())
	if w.Peek(bio) != nil {
		t.Error("a file with another name is used")
	}
	if files, _ := filepath.Glob(filepath.Join(o.Folder, "*")); len(files) != 0 {
		t.Errorf("files %v", files)
	}
}

// getOrFetch is get for a client that asks again when the body is gone.
func (w *world) getOrFetch(t *testing.T, key string) (kept.Found, string) {
	t.Helper()
	for range 2 {
		found, err := w.Get(t.Context(), client, w.rule, key)
		if err != nil {
			t.Fatal(err)
		}
		if found.Body != nil {
			return found, string(found.Body)
		}
		if body, err := w.Body(t.Context(), found.Entry); err == nil {
			return found, string(body)
		}
	}
	t.Fatalf("%s has no body", key)
	return kept.Found{}, ""
}

// TestFolderOfOthers: a folder into which others may write is refused.
func TestFolderOfOthers(t *testing.T) {
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	w := &world{server: newServer(), views: &views{}}
	if _, err := kept.New(kept.Options{Folder: folder, Fetch: w.server.fetch, Views: w.views.all}); err == nil {
		t.Error("no error")
	}
}
