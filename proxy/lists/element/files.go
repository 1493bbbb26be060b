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

// Script returns the current script under its hashed path.
var Script = sync.OnceValue(func() File { return Hashed("list.js", read("assets/list.js")) })

// Style returns the current style sheet under its hashed path.
var Style = sync.OnceValue(func() File { return Hashed("list.css", read("assets/list.css")) })

// Files returns every file that is served, in the order of their paths. Callers must not
// change the slice.
var Files = sync.OnceValue(func() []File {
	all := []File{Script(), Style(), newFile("list.js", read("assets/list.js"), stableFor), newFile("list.css", read("assets/list.css"), stableFor)}
	released, err := embedded.ReadDir("releases")
	if err != nil {
		panic("element: " + err.Error())
	}
	for _, entry := range released {
		file := newFile(entry.Name(), read("releases/"+entry.Name()), hashedFor)
		current := file.Path == all[0].Path || file.Path == all[1].Path // a release may be the current one
		if file.Type != "" && !current {
			all = append(all, file)
		}
	}
	slices.SortFunc(all, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return all
})

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
