package element

import (
	"crypto/sha256"
	"crypto/sha512"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"path"
	"sync"
	"time"
)

//go:embed assets releases
var embedded embed.FS

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
var Script = sync.OnceValue(func() File { return Hashed(embedded, "assets/list.js") })

// Style returns the current style sheet under its hashed path.
var Style = sync.OnceValue(func() File { return Hashed(embedded, "assets/list.css") })

// Files returns every file that is served, by path. Callers must not change the map.
var Files = sync.OnceValue(func() map[string]File {
	all := map[string]File{}
	add := func(f File) { all[f.Path] = f }
	released, _ := fs.Glob(embedded, "releases/list.*") // the pattern is a valid one
	for _, file := range released {
		add(newFile(path.Base(file), Read(embedded, file), hashedFor))
	}
	for _, current := range []File{Script(), Style()} { // may be a release, too
		add(current)
		add(newFile("list"+path.Ext(current.Path), current.Body, 10*time.Minute))
	}
	return all
})

// hashedFor is how long a cache may use a copy of a file that its path names by content.
const hashedFor = 365 * 24 * time.Hour

// Hashed returns an embedded file under a path that has a hash of its content.
func Hashed(files embed.FS, name string) File {
	body := Read(files, name)
	return newFile(hashedName(path.Base(name), body), body, hashedFor)
}

// mediaTypes has the extensions of files that are served.
var mediaTypes = map[string]string{
	".js":  "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
}

func newFile(name string, body []byte, maxAge time.Duration) File {
	sum := sha512.Sum384(body)
	return File{
		Path: "/lists/" + name, Type: mediaTypes[path.Ext(name)], Body: body, MaxAge: maxAge, Immutable: maxAge == hashedFor,
		Integrity: "sha384-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
}

// hashedName returns list.{hash}.js for list.js. The hash has 12 digits of SHA-256.
func hashedName(name string, body []byte) string {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	return name[:len(name)-len(ext)] + "." + hex.EncodeToString(sum[:6]) + ext
}

// Read returns an embedded file, which must be there.
func Read(files embed.FS, name string) []byte {
	body, err := files.ReadFile(name)
	if err != nil {
		panic("lists: " + err.Error())
	}
	return body
}
