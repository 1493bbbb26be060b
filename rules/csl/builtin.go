package csl

import (
	"embed"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed locales/*.xml styles/*.csl
var builtin embed.FS

// BuiltinLocales returns the built-in locales: en-US and de-DE. The map is shared: do not change it.
var BuiltinLocales = sync.OnceValue(func() Locales {
	all := Locales{}
	for name, src := range embedded("locales", ".xml") {
		l, err := ParseLocale(src)
		if err != nil {
			panic(name + ": " + err.Error())
		}
		all[l.lang] = l
	}
	return all
})

// BuiltinStyles returns the sources of the built-in styles by name: "institute" (author and year) and "compact" (one
// line).
func BuiltinStyles() map[string][]byte { return embedded("styles", ".csl") }

// embedded returns the embedded files of a folder by their names without extension.
func embedded(dir, extension string) map[string][]byte {
	names, err := fs.Glob(builtin, dir+"/*"+extension)
	if err != nil {
		panic(err) // the pattern is a constant
	}
	all := map[string][]byte{}
	for _, name := range names {
		src, err := builtin.ReadFile(name)
		if err != nil {
			panic(err) // an embedded file that was just listed
		}
		all[strings.TrimSuffix(path.Base(name), extension)] = src
	}
	return all
}
