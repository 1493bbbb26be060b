package element

import (
	"cmp"
	"crypto/sha256"
	"crypto/sha512"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"path"
	"slices"
	"sync"
	"time"
)

//go:embed assets releases
var embedded embed.FS

const (
	// stableFor is how long a cache may use a copy of a file whose content changes with
	// the program.
	stableFor = 10 * time.Minute
	// hashedFor is the same for a file that its path names by content.
	hashedFor = 365 * 24 * time.Hour

	hashLength = 12 // hexadecimal digits of SHA-256 in a path
)

// The stable paths of the current files.
const (
	ScriptPath = "/lists/list.js"
	StylePath  = "/lists/list.css"
)

// mediaTypes has the extensions of files that are served.
var mediaTypes = map[string]string{
	".js":  "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
}

// File is a file that pages load.
type File struct {
	Path      string        // on the server, such as /lists/list.js
	Type      string        // media type
	Body      []byte        // not to be changed
	MaxAge    time.Duration // how long a cache may use a copy
	Immutable bool          // the path names the content, which never changes
	Integrity string        // the value for the integrity attribute of a link to it
}

// Files returns every file that is served, in the order of their paths. Callers must not
// change the slice.
func Files() []File { return load().files }

// Script returns the current script under its hashed path.
func Script() File { return load().script }

// Style returns the current style sheet under its hashed path.
func Style() File { return load().style }

// catalogue is what there is to serve.
type catalogue struct {
	files         []File
	script, style File
}

// load reads the embedded files once.
var load = sync.OnceValue(func() *catalogue {
	c := new(catalogue)
	c.script = c.addCurrent("list.js")
	c.style = c.addCurrent("list.css")
	for _, entry := range entries("releases") {
		body := read("releases/" + entry)
		if _, served := mediaTypes[path.Ext(entry)]; served && !c.has("/lists/"+entry) {
			c.files = append(c.files, newFile(entry, body, hashedFor))
		}
	}
	slices.SortFunc(c.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return c
})

// addCurrent adds a file under its stable path and under its hashed one, and returns the
// latter.
func (c *catalogue) addCurrent(name string) File {
	body := read("assets/" + name)
	hashed := Hashed(name, body)
	c.files = append(c.files, newFile(name, body, stableFor), hashed)
	return hashed
}

// has reports whether there is a file with a path. A current file may be a release too.
func (c *catalogue) has(path string) bool {
	return slices.ContainsFunc(c.files, func(f File) bool { return f.Path == path })
}

// Hashed returns a file that the path names by content.
func Hashed(name string, body []byte) File { return newFile(hashedName(name, body), body, hashedFor) }

func newFile(name string, body []byte, maxAge time.Duration) File {
	sum := sha512.Sum384(body)
	return File{
		Path:      "/lists/" + name,
		Type:      mediaTypes[path.Ext(name)],
		Body:      body,
		MaxAge:    maxAge,
		Immutable: maxAge == hashedFor,
		Integrity: "sha384-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
}

// hashedName returns list.{hash}.js for list.js.
func hashedName(name string, body []byte) string {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	return name[:len(name)-len(ext)] + "." + hex.EncodeToString(sum[:])[:hashLength] + ext
}

// read returns an embedded file. It cannot fail: the name comes from the folder itself.
func read(name string) []byte {
	body, err := embedded.ReadFile(name)
	if err != nil {
		panic("element: " + err.Error())
	}
	return body
}

// entries returns the names of the files in an embedded folder.
func entries(folder string) []string {
	list, err := embedded.ReadDir(folder)
	if err != nil {
		panic("element: " + err.Error())
	}
	names := make([]string, len(list))
	for i, entry := range list {
		names[i] = entry.Name()
	}
	return names
}
