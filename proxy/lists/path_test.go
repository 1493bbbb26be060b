package lists_test

import (
	"net/url"
	"strings"
	"testing"

	"vitrine/proxy/lists"
	"vitrine/proxy/proxytest"
)

// FuzzPaths: any path can be read. The id of an item is what precedes the longest suffix of a format, however its
// characters are escaped, unless a record has a longer one.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{
		"/items/x.csl.json", "/items/.bib", "/lists/unit/R%26D%2FLab.ris", "//%2e%2E/", "/items/%ff",
		"/items/%zz.json",
		"/lists.json",
	} {
		f.Add(seed)
	}
	s, o := proxytest.OpenLists(f, nil), proxytest.ListOptions(f)
	l, err := lists.New(o.Lists, lists.Shared{})
	if err != nil {
		f.Fatal(err)
	}
	itemID := func(t *testing.T, path string) string {
		id, err := l.ItemID(t.Context(), s.Views.Snapshot, path)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	f.Fuzz(func(t *testing.T, path string) {
		itemID(t, path)
		if split := lists.SplitPath(path); split.IsPage() && !split.MayBePage() {
			t.Errorf("%q is a page, and cannot be one", path)
		}
		id := strings.ToValidUTF8(path, "") + "x"
		for suffix := range mediaTypes {
			address := "/items/" + url.PathEscape(id) + suffix
			if got := itemID(t, address); got != id || lists.SplitPath(address).IsPage() != (suffix == "") {
				t.Errorf("the id at %s is %q, want %q", address, got, id)
			}
			if escaped := strings.ReplaceAll(address, ".", "%2E"); itemID(t, escaped) != id {
				t.Errorf("the id at %s is %q, want %q", escaped, itemID(t, escaped), id)
			}
		}
	})
}
