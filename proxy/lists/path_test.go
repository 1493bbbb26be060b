package lists_test

import (
	"net/url"
	"strings"
	"testing"

	"vitrine/proxy/lists"
)

// FuzzPaths: any path can be read. The id of an item is what precedes the longest suffix of a format, however its
// characters are escaped.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{
		"/items/x.csl.json", "/items/.bib", "/lists/unit/R%26D%2FLab.ris", "//%2e%2E/", "/items/%ff", "/items/%zz.json",
		"/lists.json",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		lists.ItemID(path)
		if lists.IsPage(path) && !lists.MayBePage(path) {
			t.Errorf("%q is a page, and cannot be one", path)
		}
		id := strings.ToValidUTF8(path, "") + "x"
		for suffix := range mediaTypes {
			address := "/items/" + url.PathEscape(id) + suffix
			if got := lists.ItemID(address); got != id || lists.IsPage(address) != (suffix == "") {
				t.Errorf("the id at %s is %q, want %q", address, got, id)
			}
			if escaped := strings.ReplaceAll(address, ".", "%2E"); lists.ItemID(escaped) != id {
				t.Errorf("the id at %s is %q, want %q", escaped, lists.ItemID(escaped), id)
			}
		}
	})
}
