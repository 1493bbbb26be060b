package page

import (
	"embed"
	"sync"

	"vitrine/proxy/lists/element"
)

// page.css is the style of what is around a list in our own pages; the list itself has the
// style of proxy/lists/element. page.js tells the page around an iframe how high ours is,
// and copies. start.js is the builder of the start page.
//
//go:embed assets templates
var embedded embed.FS

// Files are the files that pages load beside those of proxy/lists/element, by name. Callers
// must not change the map.
var Files = sync.OnceValue(func() map[string]element.File {
	all := map[string]element.File{}
	for _, name := range []string{"page.css", "page.js", "start.js"} {
		all[name] = element.Hashed(name, asset(name))
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
