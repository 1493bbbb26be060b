package element

import (
	"crypto/sha256"
	"crypto/sha512"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed assets
var embedded embed.FS

// File is a file that pages load.
type File struct {
	Path      string        // path on the server, such as /lists/list.js
	Type      string        // media type
	Body      []byte        // must not be changed
	MaxAge    time.Duration // how long a cache may use a copy
	Integrity string        // the value for the integrity attribute of a link to the file
}

// Current returns a file with its hashed path, by its name, such as list.js.
func Current(name string) File { return current()[name] }

var current = sync.OnceValue(func() map[string]File {
	all := map[string]File{}
	files, _ := embedded.ReadDir("assets") // cannot fail: the folder is embedded
	for _, file := range files {
		name, body := read(file.Name())
		all[file.Name()] = newFile(name, body, hashedFor)
	}
	return all
})

// imported matches the name of a module in an import of another one.
var imported = regexp.MustCompile(`( from "\./)([a-z-]+\.js)(";)`)

// read returns a file and its hashed name. A module imports others by their hashed names, so that a browser never mixes
// those of two versions of the program.
func read(file string) (name string, body []byte) {
	body, _ = embedded.ReadFile("assets/" + file)
	body = imported.ReplaceAllFunc(body, func(found []byte) []byte {
		parts := imported.FindSubmatch(found)
		other, _ := read(string(parts[2])) // imports make no circle
		return slices.Concat(parts[1], []byte(other), parts[3])
	})
	return hashedName(file, body), body
}

// Files returns all served files by path. Callers must not change the map.
var Files = sync.OnceValue(func() map[string]File {
	all := map[string]File{}
	for name, f := range current() {
		all[f.Path] = f
		if strings.HasPrefix(name, "list.") || name == "badges.js" { // other sites may use the path without the hash
			all["/lists/"+name] = newFile(name, f.Body, 10*time.Minute)
		}
	}
	return all
})

// hashedFor is how long a cache may use a copy of a file whose path contains its hash.
const hashedFor = 365 * 24 * time.Hour

// mediaTypes has the media types of served files, by extension.
var mediaTypes = map[string]string{
	".js":  "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
}

func newFile(name string, body []byte, maxAge time.Duration) File {
	sum := sha512.Sum384(body)
	return File{
		Path: "/lists/" + name, Type: mediaTypes[path.Ext(name)], Body: body, MaxAge: maxAge,
		Integrity: "sha384-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
}

// hashedName returns list.{hash}.js for list.js. The hash is 12 digits of SHA-256.
func hashedName(name string, body []byte) string {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	return name[:len(name)-len(ext)] + "." + hex.EncodeToString(sum[:6]) + ext
}
