package element_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/lists/element"
)

// maxScript is the limit of the compressed script in bytes.
const maxScript = 9200

// file returns the content served under a path.
func file(t *testing.T, path string) element.File {
	t.Helper()
	f, ok := element.Files()[path]
	if !ok {
		t.Fatalf("%s is not served", path)
	}
	return f
}

func TestFiles(t *testing.T) {
	hashed := regexp.MustCompile(
		`^/lists/(badges|list|page|start(-[a-z]+)?|list\.portrait)\.[0-9a-f]{12}\.(js|css|svg)$`)
	current := map[string]element.File{"/lists/list.js": element.Current("list.js"),
		"/lists/list.css":          element.Current("list.css"),
		"/lists/list.portrait.svg": element.Current("list.portrait.svg"),
		"/lists/badges.js":         element.Current("badges.js")}
	for served, f := range element.Files() {
		if f.Path != served {
			t.Errorf("%s is served under %s", f.Path, served)
		}
		_, stable := current[f.Path]
		if !stable && !hashed.MatchString(f.Path) {
			t.Errorf("path %s", f.Path)
		}
		if stable && f.MaxAge > time.Hour || !stable && f.MaxAge < 24*time.Hour {
			t.Errorf("%s: for %v", f.Path, f.MaxAge)
		}
		want := map[string]string{".js": "text/javascript; charset=utf-8",
			".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}[path.Ext(f.Path)]
		if f.Type != want || len(f.Body) == 0 {
			t.Errorf("%s: type %q, %d bytes", f.Path, f.Type, len(f.Body))
		}
		sum := sha512.Sum384(f.Body)
		if want := "sha384-" + base64.StdEncoding.EncodeToString(sum[:]); f.Integrity != want {
			t.Errorf("%s: integrity %s, want %s", f.Path, f.Integrity, want)
		}
	}
	for stable, current := range current {
		if got := file(t, stable).Body; !bytes.Equal(got, current.Body) {
			t.Errorf("%s is not %s", stable, current.Path)
		}
		if got := file(t, current.Path); got.Integrity != current.Integrity {
			t.Errorf("%s: integrity %s, want %s", current.Path, got.Integrity, current.Integrity)
		}
	}
}

func TestScriptSize(t *testing.T) {
	var small bytes.Buffer
	w, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(element.Current("list.js").Body)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if small.Len() > maxScript {
		t.Errorf("list.js has %d bytes as gzip; at most %d", small.Len(), maxScript)
	}
	t.Logf("list.js: %d bytes, %d as gzip", len(element.Current("list.js").Body), small.Len())
}

// TestFilesNameNoOther: script and style load nothing from other sites and contain nothing that a
// strict Content-Security-Policy would refuse.
func TestFilesNameNoOther(t *testing.T) {
	for _, f := range []element.File{element.Current("list.js"), element.Current("list.css")} {
		for _, word := range []string{"http://", "https://", "@import", ": url(", "innerHTML", "insertAdjacentHTML",
			"document.write", "eval(", "new Function", ".style."} {
			if strings.Contains(string(f.Body), word) {
				t.Errorf("%s has %q", f.Path, word)
			}
		}
	}
}
