package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"
	"sync"
)

// page.css is the style of what is around a list in our own pages; the list itself has the
// style of proxy/lists/element. page.js tells the page around an iframe how high ours is,
// and copies. start.js is the builder of the start page.
//
//go:embed assets templates
var embedded embed.FS

// File is a file that pages load. Its Path has a hash of its content in the name, so that
// it can be kept for ever.
type File struct {
	Path string // below the server's base, such as /lists/page.0123456789ab.css
	Type string // media type
	Body []byte // not to be changed
}

// Files returns the files that pages load beside those of proxy/lists/element.
func Files() []File {
	loaded := files()
	return []File{loaded["page.css"], loaded["page.js"], loaded["start.js"]}
}

// files are the files that pages load, by name.
var files = sync.OnceValue(func() map[string]File {
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
	all := map[string]File{}
	for _, name := range []string{"page.css", "page.js", "start.js"} {
		body := asset(name)
		sum, ext := sha256.Sum256(body), path.Ext(name)
		hashed := "/lists/" + name[:len(name)-len(ext)] + "." + hex.EncodeToString(sum[:6]) + ext
		all[name] = File{Path: hashed, Type: types[ext], Body: body}
	}
	return all
})

// asset returns an embedded file. It cannot fail: all names are in this package.
func asset(name string) []byte {
	body, err := embedded.ReadFile("assets/" + name)
	if err != nil {
		panic("page: " + err.Error())
	}
	return body
}
